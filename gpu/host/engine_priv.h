/*
 * Inside of the CUDA engine, host side: a context, and who does what with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_HOST_ENGINE_PRIV_H
#define SX_GPU_HOST_ENGINE_PRIV_H

#include <pthread.h>
#include <semaphore.h>

#include "gpu/fastdt/fastdt_cuda.h"
#include "gpu/host/device.h"
#include "gpu/host/engine.h"
#include "gpu/slanted/slanted_cuda.h"
#include "gpu/stereo/checkpoint_cuda.h"
#include "gpu/stixels/reduce_cells_cuda.h"
#include "gpu/stixels/sky_cuda.h"
#include "predict/predict.h"

/*
 * Tells by an eventfd that a stream has finished, or failed: a thread of its own sleeps in the driver until
 * then. Who waits may also ask the device, which is sooner: spin_ns before the expected end and after it; 0:
 * never. frame: number of the one that was submitted last, from 1. error, finished_ns: of the last that was
 * waited for. took_ns: the last frames from submit to their end; 0: not yet.
 */
#define SX_COMPLETION_FRAMES 16
struct sx_completion {
	const struct sx_device *device;
	cudaEvent_t event; /* recorded by submit */
	bool busy_wait;	   /* no thread: whoever waits asks the event */
	uint32_t frame;
	cudaError_t error;
	int64_t finished_ns, submitted_ns;
	int64_t spin_ns, took_ns[SX_COMPLETION_FRAMES];
	sem_t submitted;
	pthread_t thread;
	bool has_semaphore, runs;
	atomic_bool stop;
	int fd;
	/* by the thread; written before fd becomes readable, error and finished_ns before frame */
	struct {
		cudaError_t error;
		int64_t finished_ns;
		_Atomic uint32_t frame;
	} told;
};

/*
 * Work beside the context's main stream. fork: recorded there, where stream begins; join: recorded on stream,
 * where the main one waits for it. One stretch of work at a time, each records both anew. Events without
 * timing.
 */
struct sx_side_stream {
	cudaStream_t stream;
	cudaEvent_t fork, join;
};

/* A tap's copy for the host, of frame number. */
struct sx_peek {
	void *host;
	size_t bytes;
	uint32_t number;
};

/* Stamps of a frame: begin, end of each stage, begin of the segmentation; the last one ends the frame. */
enum { SX_STAMP_BEGIN = SX_STAGE_COUNT, SX_STAMP_JOINED, SX_STAMP_END, SX_STAMP_COUNT };

/*
 * stamps: in device memory, NULL: not timed. host: where they are delivered.
 * since: the stamp at which a stage's time begins, -1: it does not run, or in another stage's time.
 * offset_ns: host's clock minus the device's, kept such that no frame begins before it is submitted or ends
 *   after it is known to have ended, so it follows a drift.
 */
struct sx_stage_clock {
	uint64_t *stamps, *host, *host_device;
	int since[SX_STAGE_COUNT];
	int last; /* while capturing: stamp of the stage before */
	int64_t offset_ns;
	bool has_offset;
};

/* The stages that hold tables or scratch. */
struct sx_cuda_stages {
	struct sx_ingest_cuda *ingest;
	struct sx_sgm_cuda *sgm; /* one of these */
	struct sx_checkpoint_cuda *checkpoint;
	struct sx_fastdt_cuda *fastdt;
	struct sx_filter_cuda *filter;
	struct sx_road_finder *finder;
	struct sx_road_finder_cuda *road;
	struct sx_dp_cuda *dp; /* one of these */
	struct sx_rdp_cuda *rdp;
	struct sx_slanted_cuda *slanted;
	struct sx_compact_cuda *compact;
};

/*
 * Class scores on their way. cells: U8, of stixel columns; no data where none are read. raw: room for a
 * frame's scores at scale 1, where they cannot be read in place. in: what kernels read, the input block's own
 * or a copy of it in device memory, as layout says.
 */
struct sx_scores_copy {
	struct sx_image cells;
	uint8_t *raw;
	size_t raw_bytes;
	struct sx_cuda_scores *in, layout;
};

/*
 * Memory: everything device and host share is in memory; *_device: the same as the device addresses it.
 * input: what kernels read for each frame. ingest_input: what the ingest reads of it: the block itself, or
 *   with input by copy one in device memory, since addresses there change next to never (layout: as it holds
 *   them).
 * raw: with input by copy, where pairs are copied to. staging: for pairs that are not pinned.
 */
struct sx_context {
	struct sx_device *device;
	struct sx_context_config config;
	struct sx_cuda_memory memory;
	size_t counted; /* bytes that the device's sum has of this context */

	struct sx_cuda_input *input, *input_device, *ingest_input, layout;
	uint8_t *raw;
	size_t raw_bytes;
	struct sx_cuda_range staging;
	struct sx_transfers came;		 /* of the pair that was submitted last */
	struct sx_image taps[SX_TAP_COUNT];	 /* some share memory: see sx_cuda_taps_take() */
	struct sx_image cells, cells_confidence; /* sx_evidence(); of slanted methods */
	struct sx_image unused_median; /* with a map of another process and filters.median: of no right map */
	struct sx_sky_cuda sky;
	struct sx_scores_copy scores;
	struct sx_cuda_road *road;
	uint32_t *monitor;	     /* gpu/monitor/monitor_cuda.h */
	struct sx_segments segments; /* in device memory */
	struct sx_cuda_output *output, *output_device;
	uint32_t *offsets, *offsets_device;
	struct stixel *stixels, *stixels_device;
	uint32_t capacity;	    /* of stixels */
	enum sx_volume_choice flow; /* of costs and paths, not auto */
	char volume[256];	    /* how engine.volume came to that, a sentence */
	uint8_t *costs;		    /* the cost volume; NULL: none, see cost.c */
	struct sx_cuda_stages stages;

	cudaStream_t stream;
	struct sx_side_stream side, watch; /* of the road; of the monitor */
	struct sx_stage_clock clock;
	cudaGraphExec_t graph;
	struct sx_completion completion;

	struct sx_peek *peeks; /* SX_TAP_COUNT */
	cudaEvent_t copied;    /* a map has been copied for the host */
	bool busy;	       /* submitted and not yet waited for */
	uint32_t number;       /* of the frame that was submitted last */
	struct sx_result result;
};

/* Pairs bring the map of another process: there are neither costs nor paths. */
static inline bool sx_cuda_is_external(const struct sx_context *x)
{
	return x->config.params.stereo.matcher == SX_MATCH_EXTERNAL;
}

/*
 * context.c: everything a frame needs. destroy accepts NULL and half-made ones, and waits for a frame in
 * flight.
 */
int sx_cuda_context_create(struct sx_context **ret, struct sx_device *d, const struct sx_context_config *c,
			   char *why, size_t why_bytes);
void sx_cuda_context_destroy(struct sx_context *x);

/* graph.c: captures the chain of x into x->graph. */
cudaError_t sx_cuda_graph_create(struct sx_context *x);
/* Durations of the frame that has just finished into result.stage_ns. */
void sx_cuda_graph_times(struct sx_context *x);

/*
 * volume.c: figures of the device that predictions need; which flow path costs of x take (its parameters are
 * resolved), and why.
 */
cudaError_t sx_cuda_volume_ask(struct sx_device *d);
void sx_cuda_volume_choose(struct sx_context *x);

/* cost.c: takes the cost volume where there is one; fills it on x->stream. */
void sx_cuda_cost_take(struct sx_context *x);
cudaError_t sx_cuda_cost_run(const struct sx_context *x);

/* input.c: pinned memory of sources, and the way of a pair to the kernels: fills x->input, starts copies. */
int sx_cuda_pin(struct sx_device *d, void *memory, size_t bytes);
void sx_cuda_unpin(struct sx_device *d, void *memory);
/* Bytes of a row of one image as it comes in, and what raw and staging must hold of a pair. */
size_t sx_cuda_input_row(const struct sx_context_config *c);
size_t sx_cuda_input_bytes(const struct sx_context_config *c);
/* What raw scores may take. */
size_t sx_cuda_scores_bytes(const struct sx_context_config *c);
cudaError_t sx_cuda_input_set(struct sx_context *x, const struct sx_pair *pair,
			      const struct sx_road *previous);

/* taps.c: the maps of a frame in device memory, and copies of them for the host. */
void sx_cuda_taps_take(struct sx_context *x);
int sx_cuda_taps_peek(const struct sx_context *x, enum sx_tap tap, struct sx_image *view);
void sx_cuda_taps_finish(struct sx_context *x);

/* engine.c: input must be set. Used for the frames and for the one that warms up. */
cudaError_t sx_cuda_launch(struct sx_context *x);
/* 0, or the error of a frame whose event has come: of CUDA, or a record that is not of this frame. */
int sx_cuda_collect(struct sx_context *x);

/* completion.c. finish accepts a zeroed one (fd 0 apart: -1 is none). */
int sx_completion_init(struct sx_completion *c, const struct sx_device *d, bool busy_wait, char *why,
		       size_t why_bytes);
void sx_completion_finish(struct sx_completion *c);
/* Everything on stream so far, then fd. Submit, nearly and wait: one thread. */
cudaError_t sx_completion_submit(struct sx_completion *c, cudaStream_t stream);
/* 1, 0 not within timeout_ms, negative errno. */
int sx_completion_wait(struct sx_completion *c, int timeout_ms);
/* When it is worth asking again and again; false: not known, or never. */
bool sx_completion_nearly(const struct sx_completion *c, int64_t *from_ns, int64_t *until_ns);

#endif
