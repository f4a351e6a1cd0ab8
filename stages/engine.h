/*
 * The engine interface: one meaning, several speeds. A backend is a table of functions; the reference engine
 * (stages/reference.c) is the meaning, cpu/ and gpu/ give the same bytes after every stage.
 *
 * An engine logs nothing and decides nothing. Errors are negative errno; create functions also leave a
 * sentence in why.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_ENGINE_H
#define SX_STAGES_ENGINE_H

#include "base/image.h"
#include "base/pair.h"
#include "base/rig.h"
#include "stages/monitor/monitor.h"
#include "stages/params/params.h"
#include "stages/road/road.h"
#include "stages/stereo/stretch.h"

struct stixel;	  /* include/stixel.h */
struct sx_device; /* a backend's own: worker threads, GPU */
struct sx_device_facts;
struct sx_context; /* a backend's own: every buffer of one frame in flight */

enum sx_backend_choice { SX_BACKEND_AUTO, SX_BACKEND_CPU, SX_BACKEND_CUDA, SX_BACKEND_REFERENCE };

/*
 * cuda: where matching costs and path costs live. Stored: both in memory; counted: path costs alone, each
 * path counts the costs that it wants; checkpoint: neither (gpu/stereo/checkpoint_cuda.h). Auto: what is
 * predicted to be faster (predict/predict.h).
 */
enum sx_volume_choice { SX_VOLUME_AUTO, SX_VOLUME_STORED, SX_VOLUME_COUNTED, SX_VOLUME_CHECKPOINT };
/* "auto", "stored", "counted", "checkpoint", by enum sx_volume_choice; NULL behind the last. */
extern const char *const sx_volume_names[];
/* cuda: how pairs reach the kernels. Auto: mapped on an integrated GPU, copy otherwise. */
enum sx_input_choice { SX_INPUT_AUTO, SX_INPUT_MAPPED, SX_INPUT_COPY };

struct sx_engine_params {
	enum sx_backend_choice backend;
	int contexts; /* frames in flight, 1..4 */
	int device;   /* GPU index */
	int threads;  /* cpu workers, 0 = one per available core, ..64 */
	int sms;      /* cuda: multiprocessors to use, for measurements; 0 = all */
	enum sx_volume_choice volume;
	enum sx_input_choice input;
	int spin_us; /* cuda: polls for a frame from so long before its expected end on, 0..1000; 0: sleeps */
};

/*
 * How pairs came to the engine and results left it, counted since open; each copy is counted where it is
 * asked for. path: "mapped" (kernels read the pair where it lies), "copy" (one asynchronous copy an image
 * from pinned memory), "host" (engines that compute in host memory). staged: images that were not pinned and
 * had to be copied by the processor first.
 */
struct sx_transfers {
	const char *path;
	uint64_t frames, copies_in, copied_bytes, staged, copies_out;
	uint64_t peeks; /* maps that were copied for a viewer or a check, beside the results */
};

/* Stages in the order they run. */
enum sx_stage {
	SX_STAGE_INGEST,
	SX_STAGE_CENSUS, /* what pixels bring to their costs; of the cpu engine with zncc: and all costs */
	SX_STAGE_SGM,	 /* aggregation: paths or FastDT; of the cpu engine with sgm: and winner */
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
	SX_STAGE_MONITOR, /* of the cuda engine beside the two before */
	SX_STAGE_COUNT
};
/* "ingest", "census", "sgm", ...; as p has it, "zncc" instead of "census" and "fastdt" instead of "sgm". */
const char *sx_stage_name(enum sx_stage stage, const struct sx_stereo_params *p);

/* What sx_backend.peek shows after a frame: the output of each stage, for checks and viewers. */
enum sx_tap {
	SX_TAP_LEFT,
	SX_TAP_RIGHT, /* U8: grey images after ingest, rectified */
	SX_TAP_LEFT_FLAT,
	SX_TAP_RIGHT_FLAT, /* U8: tiles of SX_FLAT_TILE by SX_FLAT_TILE pixels, 1 where the image is flat */
	SX_TAP_LEFT_CENSUS,
	SX_TAP_RIGHT_CENSUS, /* U32 or U64 descriptors */
	SX_TAP_SUM,	     /* U16, width*disparities wide: S[y][x][d]; only with keep_volume */
	SX_TAP_WINNER,	     /* U16 Q4 before filters, shifted frame (min_disparity not added) */
	SX_TAP_WINNER_RIGHT, /* U16 integer disparity of the right image */
	SX_TAP_MEDIAN,
	SX_TAP_MEDIAN_RIGHT,
	SX_TAP_LEFT_RIGHT, /* U16 Q4 after the left-right check, min_disparity added */
	SX_TAP_SPECKLE,	   /* U16 Q4 without islands, before it is smoothed */
	SX_TAP_DISPARITY,  /* U16 Q4, final */
	SX_TAP_CONFIDENCE, /* U8, final */
	/* U16 Q4: cells of a column x columns, one row per stixel column, index 0 = image bottom */
	SX_TAP_COLUMNS,
	SX_TAP_COLUMNS_CONFIDENCE, /* U8, same shape */
	SX_TAP_COUNT
};

struct sx_context_config {
	int width, height;   /* of what is matched */
	enum sx_pixel pixel; /* of the pairs that will come */
	struct sx_params params;
	bool keep_volume; /* checks only: keep S for SX_TAP_SUM (2 more bytes per cell) */
	/* cuda: measure stage_ns, which takes part of the time measured; others always do */
	bool time_stages;
	/* cuda, for measurements: wait asks the device again and again, and event_fd stays silent */
	bool busy_wait;
	bool rectify;	   /* pairs are raw, and rectified as they are read, ... */
	struct sx_rig rig; /* ... by this: width, height are its rectified size, pairs have its raw one */
};

/*
 * One finished frame. Everything belongs to the context and is valid until its next submit.
 * offsets: columns + 1 entries; stixels of column u are stixels[offsets[u] .. offsets[u+1]), bottom to top.
 * stage_ns: duration of each stage, 0 where it did not run or is part of another. Stages of the cuda engine
 * may run beside each other, so that their sum can exceed the frame's time.
 */
struct sx_result {
	const struct stixel *stixels;
	const uint32_t *offsets;
	uint32_t columns, count;
	struct sx_road road;
	struct sx_monitor monitor;
	struct sx_stretch stretch; /* raw values that became grey level 0 and 255, of Y16; else {0, 0} */
	int64_t started_ns, finished_ns;
	int64_t device_ns[2]; /* began, ended, as far as the device tells (cuda, time_stages); else 0 */
	int64_t stage_ns[SX_STAGE_COUNT];
};

/*
 * Called once a frame, by a thread of the engine, as soon as it has read images, scores and map of a pair:
 * their memory can be used again while the frame is still being computed. Engines that read until the end of
 * the frame (cuda) do not call it.
 */
typedef void sx_images_read_fn(void *user);

/*
 * Thread: one thread submits to and collects from all contexts of a device.
 * context_create resolves the parameters (sx_stereo_resolve) and takes all memory; submit, wait and result
 *   allocate nothing. It and context_destroy may be called by another thread, one call at a time, while
 *   contexts of the device compute; what they compute stays the same. A context that cannot be made takes
 *   nothing from the others.
 * submit: starts a pair and returns at once (the reference engine computes inside submit). pair must stay
 *   until the frame is done, its images until then or until images_read (may be NULL) is called with user.
 *   previous: last road that was found and its age, or NULL.
 *   -EINVAL: the pair differs from the configuration; -EBUSY: the frame before has not been waited for.
 * event_fd: becomes readable when the submitted frame is done (an eventfd; wait() drains it). Where
 *   nearly_done is followed it may be readable later than the frame was waited for, and means nothing then.
 * wait: 1 done, 0 not within timeout_ms (-1: for ever), negative errno when the frame failed; -ENODATA when
 *   none was submitted.
 */
struct sx_backend {
	const char *name; /* "reference", "cpu", "cuda": the word of configuration, status and tests */
	int (*open)(struct sx_device **ret, const struct sx_engine_params *p, char *why, size_t why_bytes);
	void (*close)(struct sx_device *d);
	const char *(*describe)(const struct sx_device *d); /* "AVX2, 2 threads"; valid while d lives */
	int (*context_create)(struct sx_context **ret, struct sx_device *d, const struct sx_context_config *c,
			      char *why, size_t why_bytes);
	void (*context_destroy)(struct sx_context *x);
	int (*submit)(struct sx_context *x, const struct sx_pair *pair, const struct sx_road *previous,
		      sx_images_read_fn *images_read, void *user);
	int (*event_fd)(const struct sx_context *x);
	int (*wait)(struct sx_context *x, int timeout_ms);
	/*
	 * Optional (NULL: never). When, by sx_now_ns(), the submitted frame should be done: calling wait(x,
	 * 0) again and again from from_ns to until_ns learns it sooner than who sleeps. False: not known.
	 */
	bool (*nearly_done)(const struct sx_context *x, int64_t *from_ns, int64_t *until_ns);
	const struct sx_result *(*result)(const struct sx_context *x);
	/* View of a tap of the last frame; -ENOENT when this engine or configuration does not keep it. */
	int (*peek)(const struct sx_context *x, enum sx_tap tap, struct sx_image *view);
	size_t (*memory)(const struct sx_device *d); /* bytes that it and all its contexts hold */
	/* Optional (NULL: it is no host memory): bytes that a context holds, without what all share. */
	size_t (*context_memory)(const struct sx_context *x);
	/*
	 * Optional (NULL: pairs may lie anywhere). pin makes host memory of a source readable to the device
	 * until unpin or close, not while a frame is in flight; negative errno: its pairs cost a copy more.
	 */
	int (*pin)(struct sx_device *d, void *memory, size_t bytes);
	void (*unpin)(struct sx_device *d, void *memory);
	void (*transfers)(const struct sx_device *d, struct sx_transfers *t); /* NULL: path "host" */
	/* Optional: a sentence about the last negative answer of submit, wait or peek, empty before one. */
	const char *(*failure)(const struct sx_device *d);
	/* Optional: PCI address of the card that computes, "0000:1b:00.0"; NULL: it is none. */
	const char *(*bus_id)(const struct sx_device *d);
	/* Optional: bytes of device memory that path aggregation moves per frame, by its layout. */
	size_t (*traffic)(const struct sx_context *x);
	/* Optional: what became of engine.volume and why, one sentence; valid while the context lives. */
	const char *(*volume)(const struct sx_context *x);
	void (*facts)(const struct sx_device *d, struct sx_device_facts *f); /* NULL: it is no GPU */
};

extern const struct sx_backend sx_backend_reference;

#endif
