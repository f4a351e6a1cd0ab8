/*
 * Sources of stereo pairs: cameras, image files, a synthetic street, another process.
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
#include "base/why.h"
#include "capture/image/notes.h"
#include "capture/source_format.h"

enum sx_source_kind { SX_SOURCE_V4L2, SX_SOURCE_FILES, SX_SOURCE_SYNTHETIC, SX_SOURCE_SHARED };
/*
 * v4l2: memory that drivers write to. userptr: our memory, which the engine reads. dmabuf: buffers of another
 * device or a heap, which the engine also reads. mmap: the driver's own memory, copied once. Auto: the first
 * that works.
 */
enum sx_source_memory { SX_MEMORY_AUTO, SX_MEMORY_USERPTR, SX_MEMORY_DMABUF, SX_MEMORY_MMAP };

#define SX_CONTROL_KEEP (-1) /* value of exposure_ms and gain: leave the camera's setting unchanged */

/* The listening socket of an instance for writers of pairs. It outlives every source. */
struct sx_pairs_socket {
	int fd; /* -1: none */
	const char *path;
};

/* Parameters of a source. Text fields point into the settings and live as long as the source. */
struct sx_source_params {
	enum sx_source_kind kind;
	enum sx_layout layout;
	const char *path;	  /* files: folder, or pattern with a {left|right} part (file_list.h) */
	const char *left, *right; /* v4l2: devices; files: glob patterns of each side instead of path */
	int width, height;	  /* px; 0: size of the source (synthetic: sx_scene_usual_size()) */
	double fps;		  /* pairs per second; 0: as fast as the caller takes them */
	bool recorded; /* files: pairs come at the intervals of their time stamps, if they have any */
	bool loop;
	unsigned seed;	    /* synthetic: seed of the scene */
	const char *scene;  /* synthetic: "street" (NULL: street), "open", ... (scene.h) */
	const char *lenses; /* synthetic: "ideal" (NULL: ideal), otherwise raw images (scene.h) */
	int rectified_width, rectified_height; /* synthetic with raw images: px; 0: as width, height */
	const char *fault; /* synthetic: simulated fault of the cameras (scene_fault.h); NULL: none */
	const struct sx_pairs_socket *socket; /* shared: set by the daemon; NULL: no writer can connect */

	/* The following fields are for v4l2 only. */
	enum sx_source_format format;
	enum sx_source_memory memory;
	const char *dmabuf_from; /* device that exports buffers for dmabuf; NULL: a DMA heap or udmabuf */
	int buffers;		 /* number of buffers per camera; 0: as many as needed */
	/* largest time between the images of a pair, ms, at most half a period; 0: half a period */
	double tolerance_ms;
	/*
	 * also for shared: a camera without images, a writer without pairs for this time, ms, counts as lost
	 */
	double timeout_ms;
	double exposure_ms;   /* SX_CONTROL_KEEP; 0: automatic; otherwise the exposure time, ms */
	double gain;	      /* SX_CONTROL_KEEP, or a gain in units of the driver */
	const char *controls; /* "name=value, ...", set after exposure and gain; NULL: none */
	int decoders;	      /* threads that decode MJPG, Bayer, Y12I; 0: one for each part of a pair */
};

struct sx_source_info {
	int width, height;
	enum sx_pixel pixel;
	const char *
		memory; /* kind of memory: "read" (files), "generated", "userptr", "dmabuf", "mmap", "memfd", "converted" */
	const char *format; /* v4l2, shared: format of the images: "YUYV", "MJPG"; NULL for other sources */
	double fps;	    /* v4l2, shared: rate reported by the driver or writer; 0: unknown */
	int cameras;	    /* number of devices or files of a pair: 1 or 2 */
	const char *path[2];
	bool paced; /* false: a pair is always available; the caller sets the pace */
	/*
	 * Camera, and rig if images are raw, if the source knows them (synthetic, some writers of shared).
	 * NULL: not known. They take precedence over the configuration, except with camera_yields: then a
	 * camera of the configuration takes precedence, and the mounting (height, pitch, roll) is always the
	 * configuration's.
	 */
	const struct sx_camera *camera;
	const struct sx_rig *rig;
	bool camera_yields;
	bool awaited; /* shared: there is no writer yet, so size and format are a guess, and the camera is unknown */
	bool live; /* images of cameras: noise makes every two images differ */
	/*
	 * shared: name and process of the writer, "grab (process 1234)"; belongs to the source. NULL: other
	 * kinds
	 */
	const char *writer;
	/* for the log: why another memory was not used, an exposure other than requested, or the data set */
	char note[256];
};

/* Reason why a camera image did not become part of a pair. */
enum sx_image_drop {
	SX_DROP_ERROR_FLAG, /* the driver flagged the image as damaged */
	SX_DROP_SHORT,	    /* fewer bytes than the image has */
	SX_DROP_BROKEN,	    /* the image cannot be decoded */
	/* the other image of the pair was lost, or the other side has no image of that time */
	SX_DROP_UNPAIRED,
	/* the pair was not taken: a newer one came, or no slot was free; counts both images */
	SX_DROP_OVERLOAD,
	SX_DROP_FIRST, /* first image after the start: often stale or half exposed */
	SX_DROP_COUNT
};
/* Returns "error_flag", "short", ... */
const char *sx_image_drop_name(enum sx_image_drop drop);

/*
 * Counters of a source. gaps and dropped are for v4l2 only. Exception: SX_DROP_OVERLOAD also counts pairs of
 * any paced source that fell due while all slots were in use. captured is the sum of all dropped images and
 * all images in pairs that were given out. dropped[0][SX_DROP_OVERLOAD] counts pairs, as does dropped[1].
 */
struct sx_source_counters {
	uint64_t captured[2]; /* images of each side */
	uint64_t gaps[2];     /* images that the driver lost, by its sequence numbers */
	uint64_t dropped[2][SX_DROP_COUNT];
	/* v4l2: good images, by what is unusual in their JPEG data */
	uint64_t odd_jpeg[2][SX_ODD_JPEG_COUNT];
	uint64_t corrupt;  /* pairs dropped: unreadable or of wrong size; v4l2: damaged images */
	uint64_t unpaired; /* v4l2: unpaired images, sum of both sides */
	uint64_t reconnects;
};

struct sx_source;

/*
 * Opens a source. slots: how many pairs the caller uses at once. All memory is allocated here. *ret is set on
 * success only; otherwise returns a negative errno with a message in why (not NULL) that says what failed and
 * where.
 * Errors: -ENOENT: not found, no writer; -EBADMSG: unreadable data; -EINVAL: sizes differ or parameters contradict;
 * -ENODEV: a camera is absent, busy or failing, or a writer was refused; try again later.
 */
int sx_source_open(struct sx_source **ret, const struct sx_source_params *p, int slots, struct sx_why *why);
void sx_source_close(struct sx_source *s);

const struct sx_source_info *sx_source_info(const struct sx_source *s);

/* Memory that holds pairs: whole pages, the same from open to close. */
struct sx_block {
	void *memory;
	size_t bytes;
};
/*
 * Returns the memory blocks of a source, from index 0 on; false after the last. An engine that reads pairs in
 * place (sx_backend.pin) must know all blocks, and must unpin them before the source is closed.
 */
bool sx_source_block(const struct sx_source *s, int index, struct sx_block *ret);

void sx_source_counters(const struct sx_source *s, struct sx_source_counters *ret);

/*
 * Thread: capture. Returns a descriptor that is readable when sx_source_next() may have a pair (an unpaced
 * source: always).
 */
int sx_source_fd(const struct sx_source *s);

/*
 * Thread: capture. Takes the next pair without waiting, except for files that are being read. Returns 1:
 * *pair is filled; 0: no pair yet, or all
 * slots are in use; -ENODATA: no more pairs, because the last one was given out (why is empty) or none can be
 * read (why has the reason); -ENODEV: camera lost; reopen and try again; -EBADMSG: this pair was unreadable
 * and was skipped (counted as corrupt); why names it. why may not be NULL.
 */
int sx_source_next(struct sx_source *s, struct sx_pair *pair, struct sx_why *why);

/* Thread: capture. Writes a warning about the images (EXIF tag), once. False: there is no warning. */
bool sx_source_warning(struct sx_source *s, char *text, size_t bytes);

/*
 * Thread: capture. Applies exposure_ms, gain, controls and fault of p: all of them, or none with a negative
 * errno and why.
 */
int sx_source_change_controls(struct sx_source *s, const struct sx_source_params *p, struct sx_why *why);

/*
 * Sends the process that writes the pairs, if there is one, a sentence why they are not taken. The source
 * gives no more pairs and has to be closed. Accepts NULL.
 */
void sx_source_refuse(struct sx_source *s, const char *sentence);

/*
 * Thread: capture. Returns the images of a pair: buffers go back to their drivers. Call it exactly once for
 * every pair.
 */
void sx_source_release(struct sx_source *s, const struct sx_pair *pair);

#endif
