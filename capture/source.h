/*
 * Where stereo pairs come from: cameras, image files, a synthetic street.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SOURCE_H
#define SX_CAPTURE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/camera.h"
#include "base/pair.h"
#include "base/rig.h"
#include "capture/image/notes.h"
#include "capture/source_format.h"

enum sx_source_kind { SX_SOURCE_V4L2, SX_SOURCE_FILES, SX_SOURCE_SYNTHETIC };
/*
 * v4l2: where drivers write. userptr: our memory, which the engine reads; dmabuf: buffers of another device
 * or a heap, likewise; mmap: the driver's own, to be copied once. Auto: the first that works.
 */
enum sx_source_memory { SX_MEMORY_AUTO, SX_MEMORY_USERPTR, SX_MEMORY_DMABUF, SX_MEMORY_MMAP };

#define SX_CONTROL_KEEP (-1) /* of exposure_ms and gain: as the camera has it */

/* Text fields point into the settings and live as long as the source. */
struct sx_source_params {
	enum sx_source_kind kind;
	enum sx_layout layout;
	const char *path;	  /* files: folder, or pattern with a {left|right} part (file_list.h) */
	const char *left, *right; /* v4l2: devices; files: glob patterns of each side instead of path */
	int width, height;	  /* px; 0 = what the source has (synthetic: 1242x375) */
	double fps;		  /* pairs a second; 0 = as fast as they are taken */
	bool loop;
	unsigned seed;	    /* synthetic */
	const char *scene;  /* synthetic: "street" (NULL: street), "open" (scene.h) */
	const char *lenses; /* synthetic: "ideal" (NULL: ideal), else raw images (scene.h) */
	int rectified_width, rectified_height; /* synthetic, of raw images: px; 0 = as width, height */
	const char *fault; /* synthetic: a fault of the cameras to be planted (scene_fault.h); NULL: none */

	/* v4l2 */
	enum sx_source_format format;
	enum sx_source_memory memory;
	const char *dmabuf_from; /* device whose buffers are exported for dmabuf; NULL: a DMA heap, udmabuf */
	int buffers;		 /* of each camera; 0: as many as are needed */
	double tolerance_ms;	 /* between the images of a pair, at most half a period; 0: half a period */
	double timeout_ms;	 /* a camera that gives nothing for so long is lost */
	double exposure_ms;	 /* SX_CONTROL_KEEP, 0 automatic, or a time */
	double gain;		 /* SX_CONTROL_KEEP, or in units of the driver */
	const char *controls;	 /* "name=value, ...", after exposure and gain; NULL: none */
	int decoders;		 /* threads that decode MJPG, Bayer, Y12I; 0: one for each part of a pair */
};

struct sx_source_info {
	int width, height;
	enum sx_pixel pixel;
	const char *memory; /* "read" (files), "generated", "userptr", "dmabuf", "mmap" */
	const char *format; /* v4l2: what the cameras send: "YUYV", "MJPG"; NULL elsewhere */
	double fps;	    /* v4l2: what the driver says it gives; 0 unknown */
	int cameras;	    /* devices or files behind a pair: 1 or 2 */
	const char *path[2];
	bool paced; /* false: gives a pair whenever asked; the taker sets the pace */
	/* known better than by the configuration (synthetic), else NULL; rig: if images are raw */
	const struct sx_camera *camera;
	const struct sx_rig *rig;
	/* for the log: why not another memory, exposure that differs from what was asked for */
	char note[256];
};

/* Why an image of a camera became no part of a pair. */
enum sx_image_drop {
	SX_DROP_ERROR_FLAG, /* the driver flagged it as damaged */
	SX_DROP_SHORT,	    /* fewer bytes than the image has */
	SX_DROP_BROKEN,	    /* cannot be decoded */
	SX_DROP_UNPAIRED,   /* one of the two was lost, or the other side has none of that time */
	SX_DROP_OVERLOAD,   /* nobody took the pair: a newer one was there, or no room; always both images */
	SX_DROP_FIRST,	    /* the first after the start: often stale or half exposed */
	SX_DROP_COUNT
};
/* "error_flag", "short", ... */
const char *sx_image_drop_name(enum sx_image_drop drop);

/*
 * gaps, dropped: v4l2 only, but for SX_DROP_OVERLOAD, which has what fell due of any source with a pace while
 * all slots were in use. captured is the sum of all that was dropped and all that became part of a pair that
 * was given out. dropped[0][SX_DROP_OVERLOAD] counts pairs, as the other side's do.
 */
struct sx_source_counters {
	uint64_t captured[2]; /* images per side */
	uint64_t gaps[2];     /* images that the driver lost, by its own numbers */
	uint64_t dropped[2][SX_DROP_COUNT];
	uint64_t odd_jpeg[2][SX_ODD_JPEG_COUNT]; /* v4l2: images that are good, by what is odd about them */
	uint64_t corrupt;  /* pairs dropped: unreadable, wrong size; v4l2: images damaged in any way */
	uint64_t unpaired; /* v4l2: images, both sides together */
	uint64_t reconnects;
};

struct sx_source;

/*
 * Opens a source with room for slots pairs in use at once. *ret only on success; otherwise negative errno and
 * one sentence in why (what, where). All memory is taken here.
 * Errors: -ENOENT nothing there, -EBADMSG unreadable data, -EINVAL sizes differ or parameters contradict,
 * -ENODEV a camera is absent, busy or failing: to be tried again later.
 */
int sx_source_open(struct sx_source **ret, const struct sx_source_params *p, int slots, char *why,
		   size_t why_bytes);
void sx_source_close(struct sx_source *s);

const struct sx_source_info *sx_source_info(const struct sx_source *s);

/* Memory that pairs lie in: whole pages, the same ones from open to close. */
struct sx_block {
	void *memory;
	size_t bytes;
};
/*
 * The blocks of a source, from index 0 on; false behind the last. An engine that reads pairs where they lie
 * (sx_backend.pin) has to know them all, and to forget them before the source is closed.
 */
bool sx_source_block(const struct sx_source *s, int index, struct sx_block *ret);

void sx_source_counters(const struct sx_source *s, struct sx_source_counters *ret);

/* Thread: capture. Polls readable when sx_source_next() may have something (an unpaced source: always). */
int sx_source_fd(const struct sx_source *s);

/*
 * Thread: capture. Takes the next pair without waiting. 1: *pair is filled; 0: nothing yet (or all slots in
 * use); -ENODATA: no more will come, since the last pair was given (why is empty) or none can be read any
 * more (why says it); -ENODEV: camera lost, try again after reopening; -EBADMSG: this pair was unreadable
 * and is skipped, why says which (counted as corrupt).
 */
int sx_source_next(struct sx_source *s, struct sx_pair *pair, char *why, size_t why_bytes);

/* Thread: capture. Gives a warning about the pictures (EXIF tag), once; false: there is none to be given. */
bool sx_source_warning(struct sx_source *s, char *text, size_t bytes);

/* Thread: capture. Takes exposure_ms, gain, controls and fault of p: all, or none with errno and why. */
int sx_source_tune(struct sx_source *s, const struct sx_source_params *p, char *why, size_t why_bytes);

/*
 * Any thread. Gives the pair's images back; every pair exactly once. Buffers go back to their drivers in the
 * next sx_source_next(): who releases from another thread wakes the one that takes.
 */
void sx_source_release(struct sx_source *s, const struct sx_pair *pair);

#endif
