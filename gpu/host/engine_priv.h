/*
 * Internal header of the CUDA engine, host side: a context and the functions that work on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_HOST_ENGINE_PRIV_H
#define SX_GPU_HOST_ENGINE_PRIV_H

#include <pthread.h>
#include <semaphore.h>

#include "base/why.h"
#include "gpu/fastdt/fastdt_cuda.h"
#include "gpu/host/device.h"
#include "gpu/host/engine.h"
#include "gpu/motion/motion_cuda.h"
#include "gpu/pyramid/pyramid_cuda.h"
#include "gpu/slanted/slanted_cuda.h"
#include "gpu/stereo/checkpoint_cuda.h"
#include "gpu/stixels/reduce_cells_cuda.h"
#include "gpu/stixels/sky_cuda.h"
#include "predict/predict.h"
#include "stages/pyramid/pyramid.h"
#include "stages/stixels/class_cut.h"

/*
 * Signals by an eventfd that a stream has finished or failed. A thread sleeps in the driver until then. A
 * caller that waits may also poll the device, which learns of the end sooner. It polls from spin_ns before
 * the expected end until spin_ns after it; 0: never.
 * frame: number of the last submitted frame, from 1.
 * error, finished_ns: of the last frame that was waited for.
 * took_ns: time from submit to end of the last frames; 0: no frame yet.
 */
#define SX_COMPLETION_FRAMES 16
struct sx_completion {
	const struct sx_device *device;
	cudaEvent_t event; /* recorded by submit */
	bool busy_wait;	   /* no thread: the caller that waits polls the event */
	uint32_t frame;
	cudaError_t error;
	int64_t finished_ns, submitted_ns;
	int64_t spin_ns, took_ns[SX_COMPLETION_FRAMES];
	sem_t submitted;
	pthread_t thread;
	bool has_semaphore, running;
	atomic_bool stop;
	int fd;
	/* written by the thread before fd becomes readable; error and finished_ns before frame */
	struct {
		cudaError_t error;
		int64_t finished_ns;
		_Atomic uint32_t frame;
	} reported;
};

/*
 * A stream for work that runs beside the context's main stream. fork is recorded on the main stream, where
 * the work may begin. join is recorded on this stream; the main stream waits for it. Only one piece of work
 * runs at a time, and each piece records both events again. The events have no timing.
 */
struct sx_side_stream {
	cudaStream_t stream;
	cudaEvent_t fork, join;
};

/* Host copy of a tap. number: number of the frame that it is from. */
struct sx_peek {
	void *host;
	size_t bytes;
	uint32_t number;
};

/*
 * Indices of a frame's stamps: end of each stage, begin of the frame, begin of the segmentation, begin of motion, end
 * of the frame.
 */
enum { SX_STAMP_BEGIN = SX_STAGE_COUNT, SX_STAMP_JOINED, SX_STAMP_MOVES, SX_STAMP_END, SX_STAMP_COUNT };

/*
 * Clock of the stages.
 * stamps: in device memory; NULL: stages are not timed. host: pinned host memory to which stamps are
 *   delivered.
 * since: index of the stamp at which a stage's time begins. -1: the stage does not run, or its time is part
 *   of another stage's.
 * offset_ns: host clock minus device clock. It is kept such that a frame begins after it was submitted and
 *   ends before the host saw its end, so it follows the drift of the clocks.
 */
struct sx_stage_clock {
	uint64_t *stamps, *host, *host_device;
	int since[SX_STAGE_COUNT];
	int last; /* while capturing: stamp of the previous stage */
	int64_t offset_ns;
	bool has_offset;
};

/* Stages that have tables or scratch memory. */
struct sx_cuda_stages {
	struct sx_ingest_cuda *ingest;
	struct sx_sgm_cuda *sgm; /* a context has one of sgm, pyramid, checkpoint and fastdt */
	struct sx_pyramid_cuda *pyramid;
	struct sx_checkpoint_cuda *checkpoint;
	struct sx_fastdt_cuda *fastdt;
	struct sx_filter_cuda *filter;
	struct sx_road_finder *finder;
	struct sx_road_finder_cuda *road;
	struct sx_dp_cuda *dp; /* one of dp, rdp and slanted */
	struct sx_rdp_cuda *rdp;
	struct sx_slanted_cuda *slanted;
	struct sx_compact_cuda *compact;
};

/*
 * Class scores on their way to the kernels.
 * cells: U8, scores per cell of stixel columns. data is NULL if scores are not used.
 * raw: memory for a frame's scores at scale 1, if kernels cannot read them in place.
 * in: descriptor that kernels read, part of the input block or a copy of it in device memory. layout: content
 *   of that copy.
 */
struct sx_scores_copy {
	struct sx_image cells;
	uint8_t *raw;
	size_t raw_bytes;
	struct sx_cuda_scores *in, layout;
};

/*
 * Memory of motion from frame to frame, for all contexts that name it.
 * ring: which views are kept, with their times; the thread that submits changes it. motion: the views, what was
 *   learned, and the state of the frame, in device memory.
 * measured: an event that each frame records after its motion, and that the next frame waits for.
 */
struct sx_chain {
	struct sx_device *device;
	struct sx_cuda_memory memory;
	size_t bytes; /* bytes of this chain in the device's sum */
	struct sx_motion_ring ring;
	struct sx_motion_cuda *motion;
	cudaEvent_t measured;
};

/*
 * Memory for motion of a context with a chain.
 * shared: the input of a frame, its step, and the number of the frame that was measured last; pinned memory.
 * velocities: one for each stixel; pinned memory.
 * features, flows: the taps; device memory.
 * graph: the launches of a frame's motion.
 */
struct sx_cuda_motion {
	struct sx_cuda_motion_shared {
		struct sx_motion_turn turn;
		struct sx_motion_ego ego;
		uint32_t number, done;
	} * shared, *shared_device;
	struct sx_motion_velocity *velocities, *velocities_device;
	struct sx_motion_feature *features;
	struct sx_motion_flow *flows;
	cudaGraphExec_t graph;
};

/*
 * A context. All memory that device and host share is in memory; *_device is the device's address of the same
 * memory.
 * input: block that kernels read for each frame. ingest_input: block that the ingest reads. It is input
 *   itself, or, if pairs are copied, a copy in device memory, because its addresses hardly ever change then.
 *   layout: content of that copy.
 * raw: destination of copied pairs, if pairs are copied. staging: for pairs that are not pinned.
 */
struct sx_context {
	struct sx_device *device;
	struct sx_context_config config;
	struct sx_cuda_memory memory;
	size_t own_bytes; /* bytes of this context in the device's sum */

	struct sx_cuda_input *input, *input_device, *ingest_input, layout;
	uint8_t *raw;
	size_t raw_bytes;
	struct sx_cuda_range staging;
	struct sx_transfers came;		 /* transfers of the last submitted pair */
	struct sx_image taps[SX_TAP_COUNT];	 /* some share memory: see sx_cuda_taps_take() */
	struct sx_image cells, cells_confidence; /* output of sx_evidence(), for slanted methods */
	/* memory for the median of the missing right map, with an external map and filters.median */
	struct sx_image unused_median;
	struct sx_sky_cuda sky;
	struct sx_scores_copy scores;
	struct sx_class_cut class_cut;
	struct sx_cuda_road *road;
	uint32_t *diagnostics;	     /* gpu/diagnostics/diagnostics_cuda.h */
	struct sx_segments segments; /* lists of segments, in device memory */
	struct sx_cuda_output *output, *output_device;
	uint32_t *offsets, *offsets_device;
	struct stixel *stixels, *stixels_device;
	uint32_t capacity;	    /* number of stixels */
	enum sx_volume_choice flow; /* flow of costs and paths, never auto */
	struct sx_why volume;	    /* sentence that explains the choice of flow */
	uint8_t *costs;		    /* the cost volume; NULL: there is none, see cost.c */
	struct sx_cuda_stages stages;
	struct sx_cuda_motion motion; /* zero without config.chain */

	cudaStream_t stream;
	struct sx_side_stream side, watch; /* side: for the road; watch: for the image diagnostics */
	struct sx_stage_clock clock;
	cudaGraphExec_t graph;
	struct sx_completion completion;

	struct sx_peek *peeks; /* SX_TAP_COUNT */
	cudaEvent_t copied;    /* recorded after a map is copied to the host */
	bool busy;	       /* a frame was submitted and not yet waited for */
	uint32_t number;       /* number of the last submitted frame */
	struct sx_result result;
};

/*
 * Returns true if pairs bring the disparity map of another process. Then there are neither costs nor paths.
 */
static inline bool sx_cuda_is_external(const struct sx_context *x)
{
	return x->config.params.stereo.matcher == SX_MATCH_EXTERNAL;
}

/*
 * context.c: creates and destroys everything that a frame needs. destroy accepts NULL and incomplete
 * contexts, and waits for a frame in flight.
 */
int sx_cuda_context_create(struct sx_context **ret, struct sx_device *d, const struct sx_context_config *c,
			   struct sx_why *why);
void sx_cuda_context_destroy(struct sx_context *x);

/*
 * Returns true if there is more than one scale to search. One scale is searched in full, as without pyramid.
 */
static inline bool sx_cuda_is_pyramid(const struct sx_context *x)
{
	const struct sx_stereo_params *p = &x->config.params.stereo;

	return sx_is_pyramid(p) && sx_pyramid_scales(p->disparities) > 1;
}

/* Returns the images that pyramid search reads and writes. */
static inline struct sx_pyramid_images sx_cuda_pyramid_images(const struct sx_context *x)
{
	const struct sx_image *tap = x->taps;

	return (struct sx_pyramid_images){&tap[SX_TAP_LEFT],	     &tap[SX_TAP_LEFT_CENSUS],
					  &tap[SX_TAP_TILES],	     &tap[SX_TAP_WINNER],
					  &tap[SX_TAP_WINNER_RIGHT], &tap[SX_TAP_CONFIDENCE]};
}

/*
 * motion.c: creates and destroys a chain; see stages/engine.h.
 * take: takes the memory for motion. Call after the capacity is set. results: points the result to it.
 *   finish accepts zeroed memory. All three do nothing for a context without a chain.
 * run: launches the kernels of a frame's motion, to be captured. launch: says what the frame is measured against, and
 *   launches the graph after the motion of the frame before. Thread: the one that submits.
 */
int sx_cuda_chain_create(struct sx_chain **ret, struct sx_device *d, const struct sx_context_config *c,
			 struct sx_why *why);
void sx_cuda_chain_destroy(struct sx_chain *chain);
void sx_cuda_motion_take(struct sx_context *x);
void sx_cuda_motion_results(struct sx_context *x);
void sx_cuda_motion_finish(struct sx_cuda_motion *own);
cudaError_t sx_cuda_motion_run(struct sx_context *x);
cudaError_t sx_cuda_motion_launch(struct sx_context *x, int64_t captured_ns);

/* graph.c: captures the chain of x into x->graph, and its motion into x->motion.graph. */
cudaError_t sx_cuda_graph_create(struct sx_context *x);
/* Writes the durations of the last finished frame into result.stage_ns. */
void sx_cuda_graph_times(struct sx_context *x);

/*
 * volume.c: reads the figures of the device that predictions need, and chooses the flow of the path costs of
 * x, whose parameters are resolved, with the reason.
 */
cudaError_t sx_cuda_volume_ask(struct sx_device *d);
void sx_cuda_volume_choose(struct sx_context *x);

/* cost.c: takes the cost volume if the flow needs one; fills it on x->stream. */
void sx_cuda_cost_take(struct sx_context *x);
cudaError_t sx_cuda_cost_run(const struct sx_context *x);

/* input.c: pins memory of sources, and brings a pair to the kernels: fills x->input and starts copies. */
int sx_cuda_pin(struct sx_device *d, void *memory, size_t bytes);
void sx_cuda_unpin(struct sx_device *d, void *memory);
/* Return the bytes of a row of one input image, and the bytes of a pair that raw and staging must hold. */
size_t sx_cuda_input_row(const struct sx_context_config *c);
size_t sx_cuda_input_bytes(const struct sx_context_config *c);
/* Returns the most bytes that raw scores may take. */
size_t sx_cuda_scores_bytes(const struct sx_context_config *c);
cudaError_t sx_cuda_input_set(struct sx_context *x, const struct sx_pair *pair,
			      const struct sx_road *previous);

/* taps.c: takes the maps of a frame in device memory, and copies them to the host on request. */
void sx_cuda_taps_take(struct sx_context *x);
int sx_cuda_taps_peek(const struct sx_context *x, enum sx_tap tap, struct sx_image *view);
void sx_cuda_taps_finish(struct sx_context *x);

/*
 * engine.c: launches the graphs. input must be set. pair: NULL for the warm-up frame, which joins no chain of motion.
 */
cudaError_t sx_cuda_launch(struct sx_context *x, const struct sx_pair *pair);
/* Checks a finished frame. Returns 0 or the error: a CUDA error, or a record that is not of this frame. */
int sx_cuda_collect(struct sx_context *x);

/* completion.c: creates and destroys a completion. finish accepts a zeroed struct whose fd is -1. */
int sx_completion_init(struct sx_completion *c, const struct sx_device *d, bool busy_wait,
		       struct sx_why *why);
void sx_completion_finish(struct sx_completion *c);
/* Signals fd after all work that is on stream now. Submit, nearly and wait must be called by one thread. */
cudaError_t sx_completion_submit(struct sx_completion *c, cudaStream_t stream);
/* Waits for the frame. Returns 1 when it is done, 0 after timeout_ms, or a negative errno. */
int sx_completion_wait(struct sx_completion *c, int timeout_ms);
/* Returns the time span in which polling pays. False: not known, or polling is off. */
bool sx_completion_nearly(const struct sx_completion *c, int64_t *from_ns, int64_t *until_ns);

#endif
