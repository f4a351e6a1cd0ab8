/*
 * The engine interface: one definition of the results, several implementations of different speed. A backend
 * is a table of functions. The reference engine (stages/reference.c) defines the results. cpu/ and gpu/ give
 * the same bytes after every stage.
 *
 * An engine logs nothing and decides nothing. Errors are negative errno. Functions that create something also
 * write a sentence to `why`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_ENGINE_H
#define SX_STAGES_ENGINE_H

#include "base/image.h"
#include "base/pair.h"
#include "base/rig.h"
#include "base/why.h"
#include "stages/diagnostics/diagnostics.h"
#include "stages/params/params.h"
#include "stages/road/road.h"
#include "stages/stereo/stretch.h"

struct stixel; /* see include/stixel.h */
struct sx_motion_ego;
struct sx_motion_objects;
struct sx_motion_velocity;
struct sx_device; /* device of a backend: worker threads, GPU */
struct sx_device_facts;
struct sx_chain;   /* memory of a backend from frame to frame, see chain_create */
struct sx_context; /* context of a backend: every buffer of one frame in flight */

enum sx_backend_choice { SX_BACKEND_AUTO, SX_BACKEND_CPU, SX_BACKEND_CUDA, SX_BACKEND_REFERENCE };

/*
 * cuda: storage of matching costs and path costs. Stored: both in memory. Recompute (its name is "counted"):
 * path costs alone; each path computes the matching costs that it needs. Checkpoint: neither
 * (gpu/stereo/checkpoint_cuda.h). Auto: the choice that is predicted to be faster (predict/predict.h).
 */
enum sx_volume_choice { SX_VOLUME_AUTO, SX_VOLUME_STORED, SX_VOLUME_RECOMPUTE, SX_VOLUME_CHECKPOINT };
/* "auto", "stored", "counted", "checkpoint", indexed by enum sx_volume_choice. NULL follows the last name. */
extern const char *const sx_volume_names[];
/* cuda: transfer of pairs to the kernels. Auto: mapped on an integrated GPU, copy on other GPUs. */
enum sx_input_choice { SX_INPUT_AUTO, SX_INPUT_MAPPED, SX_INPUT_COPY };

struct sx_engine_params {
	enum sx_backend_choice backend;
	int contexts; /* frames in flight, 1..4 */
	int device;   /* GPU index */
	int threads;  /* cpu worker threads, at most 64; 0 = one per available core */
	int sms;      /* cuda: number of multiprocessors to use, for measurements; 0 = all */
	enum sx_volume_choice volume;
	enum sx_input_choice input;
	/* cuda: time before the expected end of a frame when polling begins, us, 0..1000; 0: wait sleeps */
	int spin_us;
};

/*
 * Transfers of pairs to the engine and of results from it, counted since open. The code that requests a copy
 * counts it. path: "mapped" (kernels read the pair in its own memory), "copy" (one asynchronous copy per
 * image from pinned memory), "host" (engines that compute in host memory). staged: images in memory that was
 * not pinned, which the processor had to copy first.
 */
struct sx_transfers {
	const char *path;
	uint64_t frames, copies_in, copied_bytes, staged, copies_out;
	uint64_t peeks; /* maps that were copied for a viewer or a check, in addition to the results */
};

/* Stages in their order of execution. */
enum sx_stage {
	SX_STAGE_INGEST,
	/* descriptors, or window sums of zncc; the cpu engine with zncc includes all costs */
	SX_STAGE_CENSUS,
	SX_STAGE_AGGREGATE, /* aggregation: paths or FastDT; the cpu engine with sgm includes the winner */
	SX_STAGE_WINNER,
	SX_STAGE_MEDIAN,
	SX_STAGE_LEFT_RIGHT,
	SX_STAGE_SPECKLE,
	SX_STAGE_SMOOTH,
	SX_STAGE_CONFIDENCE,
	SX_STAGE_ROAD,
	SX_STAGE_REDUCE,
	SX_STAGE_SEGMENT, /* DP, slanted or RDP */
	SX_STAGE_COMPACT,
	SX_STAGE_DIAGNOSTICS, /* the cuda engine runs this stage beside the two before */
	SX_STAGE_MOTION,
	SX_STAGE_COUNT
};
/*
 * Returns the name of a stage: "ingest", "census", "sgm", ... Depending on p, "zncc" replaces "census",
 * "fastdt" replaces "sgm", and "external" replaces "winner".
 */
const char *sx_stage_name(enum sx_stage stage, const struct sx_stereo_params *p);

/* Outputs of stages that sx_backend.peek shows after a frame, for checks and viewers. */
enum sx_tap {
	SX_TAP_LEFT,
	SX_TAP_RIGHT, /* U8: grey images after ingest, rectified */
	SX_TAP_LEFT_FLAT,
	SX_TAP_RIGHT_FLAT, /* U8: tiles of SX_FLAT_TILE by SX_FLAT_TILE px, bits SX_TILE_* (flat.h) */
	SX_TAP_LEFT_CENSUS,
	SX_TAP_RIGHT_CENSUS, /* U32 or U64 descriptors */
	/* U64: struct sx_search_tile of each tile, scale 0 first (pyramid.h); with pyramid search */
	SX_TAP_TILES,
	SX_TAP_SUM,	     /* U16, width*disparities wide: S[y][x][d]; only with keep_volume */
	SX_TAP_WINNER,	     /* U16 Q4 before filters, in the shifted frame (min_disparity is not added) */
	SX_TAP_WINNER_RIGHT, /* U16 integer disparity of the right image */
	SX_TAP_MEDIAN,
	SX_TAP_MEDIAN_RIGHT,
	SX_TAP_LEFT_RIGHT, /* U16 Q4 after the left-right check, min_disparity added */
	SX_TAP_SPECKLE,	   /* U16 Q4 after the speckle filter, before smoothing */
	SX_TAP_DISPARITY,  /* U16 Q4, final */
	SX_TAP_CONFIDENCE, /* U8, final */
	/* U16 Q4: cells of a column x columns, one row per stixel column, index 0 = image bottom */
	SX_TAP_COLUMNS,
	SX_TAP_COLUMNS_CONFIDENCE, /* U8, same shape */
	/* U32: struct sx_motion_feature and struct sx_motion_flow of each cell (motion.h); with a chain */
	SX_TAP_FEATURES,
	SX_TAP_FLOWS,
	SX_TAP_COUNT
};

struct sx_context_config {
	int width, height;   /* size of the rectified images */
	enum sx_pixel pixel; /* format of the images of each pair */
	struct sx_params params;
	bool keep_volume; /* for checks: keep S for SX_TAP_SUM (2 more bytes per cell) */
	/* cuda: measure stage_ns, which itself costs time. The other engines always measure it. */
	bool time_stages;
	/* cuda, for measurements: wait polls the device all the time, and event_fd gives no signal */
	bool busy_wait;
	bool rectify; /* pairs are raw images; the engine rectifies them as it reads them */
	/* cameras for rectify: width, height above are the rectified size, pairs have the raw size */
	struct sx_rig rig;
	/* chain of motion that the frames of the context join; it has the same size and parameters. NULL: none */
	struct sx_chain *chain;
};

/*
 * One finished frame. The context owns everything in it. It is valid until the next submit to the context.
 * offsets: columns + 1 entries. The stixels of column u are stixels[offsets[u] .. offsets[u+1]), bottom to
 * top.
 * stage_ns: duration of each stage, ns; 0 if the stage did not run or is part of another stage. Stages of the
 * cuda engine may run at the same time, so that their sum can exceed the frame's time.
 */
struct sx_result {
	const struct stixel *stixels;
	const uint32_t *offsets;
	uint32_t columns, count;
	struct sx_road road;
	struct sx_diagnostics diagnostics;
	struct sx_stretch stretch; /* Y16: raw values that became grey levels 0 and 255; else {0, 0} */
	/* step of the camera, and a velocity for each stixel; NULL: the context has no chain */
	const struct sx_motion_ego *ego;
	const struct sx_motion_velocity *velocities;
	/* Things that move, and the identity of that of each stixel, 0: none is shown. NULL: motion.mode is not filter */
	const struct sx_motion_objects *objects;
	const uint32_t *object_of;
	int64_t motion_span_ns; /* time since the frame that ego is measured against; 0: there is none */
	int64_t started_ns, finished_ns;
	int64_t device_ns[2]; /* start and end, measured by the device (cuda with time_stages); else 0 */
	int64_t stage_ns[SX_STAGE_COUNT];
};

/*
 * Called once per frame, by a thread of the engine, when the engine has read the images, scores and disparity
 * map of a pair. The caller can then reuse their memory although the frame is still being computed. Engines
 * that read until the end of the frame (cuda) do not call it.
 */
typedef void sx_images_read_fn(void *user);

/*
 * Thread: one thread submits to and collects from all contexts of a device.
 * context_create resolves the parameters (sx_stereo_resolve) and takes all memory. submit, wait and result
 * allocate nothing. Another thread may call context_create and context_destroy, one call at a time, while
 * contexts of the device compute. The results of these contexts do not change. A context that cannot be
 * created takes nothing from the others.
 * submit: starts a pair and returns at once (the reference engine computes inside submit). pair must stay
 * valid until the frame is done, its images until then or until the engine calls images_read (may be NULL)
 * with user. previous: last road that was found and its age, or NULL. -EINVAL: the pair differs from the
 * configuration; -EBUSY: the caller has not waited for the frame before.
 * event_fd: becomes readable when the submitted frame is done (an eventfd; wait() drains it). If the caller
 * polls as nearly_done suggests, event_fd may become readable after the caller has waited for the frame. It
 * then has no meaning.
 * wait: 1 done; 0 not done within timeout_ms (-1: no timeout); negative errno: the frame failed; -ENODATA: no
 * frame was submitted.
 */
struct sx_backend {
	const char *name; /* "reference", "cpu", "cuda": name in configuration, status and tests */
	int (*open)(struct sx_device **ret, const struct sx_engine_params *p, struct sx_why *why);
	void (*close)(struct sx_device *d);
	const char *(*describe)(const struct sx_device *d); /* "AVX2, 2 threads"; valid while d lives */
	int (*context_create)(struct sx_context **ret, struct sx_device *d, const struct sx_context_config *c,
			      struct sx_why *why);
	void (*context_destroy)(struct sx_context *x);
	/*
	 * Optional (NULL: the backend computes no motion). A chain joins the frames of all contexts that name it,
	 * in the order of submit. c: their configuration; its chain is not read. Use sx_chain_create()
	 * (stages/context.h). Destroy the contexts first. chain_destroy accepts NULL.
	 */
	int (*chain_create)(struct sx_chain **ret, struct sx_device *d, const struct sx_context_config *c,
			    struct sx_why *why);
	void (*chain_destroy)(struct sx_chain *chain);
	int (*submit)(struct sx_context *x, const struct sx_pair *pair, const struct sx_road *previous,
		      sx_images_read_fn *images_read, void *user);
	int (*event_fd)(const struct sx_context *x);
	int (*wait)(struct sx_context *x, int timeout_ms);
	/*
	 * Optional (NULL: not known). Reports when, by sx_now_ns(), the submitted frame should be done:
	 * calling wait(x, 0) again and again from from_ns to until_ns detects the end sooner than sleeping
	 * does. False: not known.
	 */
	bool (*nearly_done)(const struct sx_context *x, int64_t *from_ns, int64_t *until_ns);
	const struct sx_result *(*result)(const struct sx_context *x);
	/*
	 * Returns a view of a tap of the last frame. -ENOENT if this engine or configuration does not keep
	 * it.
	 */
	int (*peek)(const struct sx_context *x, enum sx_tap tap, struct sx_image *view);
	size_t (*memory)(const struct sx_device *d); /* bytes of the device and all its contexts */
	/*
	 * Optional (NULL: the memory is no host memory): bytes of one context, without the part that contexts
	 * share.
	 */
	size_t (*context_memory)(const struct sx_context *x);
	/*
	 * Optional (NULL: pairs may lie anywhere). pin makes host memory of a source readable to the device
	 * until unpin or close. Do not call it while a frame is in flight. Negative errno: pairs in this
	 * memory cost one more copy.
	 */
	int (*pin)(struct sx_device *d, void *memory, size_t bytes);
	void (*unpin)(struct sx_device *d, void *memory);
	void (*transfers)(const struct sx_device *d, struct sx_transfers *t); /* NULL: path "host" */
	/* Optional: a sentence about the last error of submit, wait or peek; empty before the first error. */
	const char *(*failure)(const struct sx_device *d);
	/* Optional: PCI address of the card that computes, "0000:1b:00.0"; NULL: the device is not a card. */
	const char *(*bus_id)(const struct sx_device *d);
	/*
	 * Optional: bytes of device memory that path aggregation moves per frame with the layout of this
	 * context.
	 */
	size_t (*traffic)(const struct sx_context *x);
	/*
	 * Optional: one sentence with the layout that engine.volume led to, and the reason. Valid while the
	 * context lives.
	 */
	const char *(*volume)(const struct sx_context *x);
	/* NULL: the device is not a GPU */
	void (*facts)(const struct sx_device *d, struct sx_device_facts *f);
};

extern const struct sx_backend sx_backend_reference;

#endif
