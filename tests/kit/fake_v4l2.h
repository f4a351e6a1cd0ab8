/*
 * Plays V4L2 drivers: defines the functions of capture/v4l2/v4l2_io.h, so that the source opens cameras that
 * a test has made up. As a kernel, it trusts no caller: a program that breaks the contract of the API is aborted
 * with a sentence.
 *
 * A test links fake_v4l2_sources (tests/kit/meson.build), adds cameras with fake_add() and opens a source on their
 * paths. Then it fills their buffers with fake_fill(), unplugs and breaks them, and lets calls fail with
 * fake_fail(). fake_reset() at its end finds what the source has left open. tests/simulate has the same driver
 * on its own machine (fake_v4l2_priv.h).
 *
 * Waiting is real: a camera's descriptor is an eventfd that counts its filled buffers. What eventfds cannot
 * tell (EPOLLPRI, EPOLLERR) is added behind epoll_wait, which the linker wraps for these tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_KIT_FAKE_V4L2_H
#define SX_TESTS_KIT_FAKE_V4L2_H

#include <linux/videodev2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/image.h"

#define FAKE_MODES 12
#define FAKE_CONTROLS 8
#define FAKE_BUFFERS 32
/* Calls that are no ioctls, for fake_fail(). */
#define FAKE_ALL_REQUESTS 0UL
#define FAKE_OPEN 1UL
#define FAKE_MMAP 2UL

/* fps 0: the camera does not list rates. interval: between images, in place of 1/fps; 0/0: none. */
struct fake_mode {
	uint32_t fourcc;
	int width, height, fps;
	struct v4l2_fract interval;
};

/* most_taken: what the camera makes of larger values; 0: it takes them as they are. */
struct fake_control {
	const char *name;
	uint32_t id, type, flags;
	int64_t minimum, maximum, value, most_taken;
};

/* pattern: which picture. lost: pictures that the driver lost before this one. */
struct fake_frame {
	int pattern;
	int64_t ns;
	uint32_t lost;
	bool error;
	uint32_t missing; /* bytes at the end */
	const void *data; /* instead of the pattern: MJPG */
	size_t bytes;
	bool huge;	   /* says more bytes than the buffer has */
	int other_index;   /* 1: a buffer number that does not exist; 2: one that is not with the driver */
	bool padded_count; /* counts data_offset although there is nothing else */
	const void *tag;   /* instead of the pattern: these are its first bytes, the others stay */
	size_t tag_bytes;
};

struct fake_buffer {
	enum { FAKE_OURS, FAKE_QUEUED, FAKE_FILLED } state; /* ours: of the program */
	uint32_t memory;
	void *data;
	size_t length;
	int mapped, dmabuf;
	const void *first_user; /* where the buffer was when it was queued first */
	struct v4l2_buffer answer;
	struct v4l2_plane plane;
};

struct fake_camera {
	/* what it is: a test's, before it is opened */
	const char *path;
	struct fake_mode modes[FAKE_MODES];
	int mode_count;
	struct fake_control controls[FAKE_CONTROLS];
	int control_count;
	bool mplane, no_capture, no_device_caps, no_sizes, no_rates, no_rate_at_all, ranges, exporter;
	struct v4l2_fract odd;	 /* instead of its interval between images; 0/0: no */
	uint32_t data_offset;	 /* multi-planar: before each picture */
	uint32_t says;		 /* V4L2_BUF_CAP_SUPPORTS_*; 0: as before Linux 4.20 */
	bool refuses[5];	 /* by V4L2_MEMORY_*: at REQBUFS */
	bool lied;		 /* about the number of a buffer */
	uint32_t refuses_queued; /* V4L2_MEMORY_*: at QBUF */
	uint32_t least_buffers, most_buffers;
	uint32_t wider_by;	/* bytes of a row more than its pixels have */
	size_t buffer_bytes;	/* of a buffer of the driver's own memory; 0: as a picture has */
	uint32_t field, planes; /* 0: none, one */
	int gives_width;	/* another width than asked for; 0: no */
	uint32_t stamps;	/* V4L2_BUF_FLAG_TIMESTAMP_* and TSTAMP_SRC_* */
	int id;			/* of its pattern */

	/* how it is */
	struct v4l2_format format;
	int fps;
	bool gone, broken, streaming;
	int opens, subscriptions, events;
	uint32_t sequence;
	int owner; /* descriptor that requested buffers; -1 */
	uint32_t memory, count;
	struct fake_buffer buffers[FAKE_BUFFERS];
	uint32_t fifo[FAKE_BUFFERS], queued, filled_fifo[FAKE_BUFFERS], filled;
};

/* Forgets all cameras and orders. Aborts when something is still open, mapped or exported. */
void fake_reset(void);
/*
 * A camera that says that it does everything; modes: up to one whose fourcc is 0. The fake's, until
 * fake_reset().
 */
struct fake_camera *fake_add(const char *path, const struct fake_mode *modes);
struct fake_camera *fake_add_control(struct fake_camera *c, const struct fake_control *control);
struct fake_control *fake_control(struct fake_camera *c, uint32_t id);

/*
 * The nth call from now on (1: the next) of this request fails with this errno; FAKE_ALL_REQUESTS: of open,
 * ioctl and mmap.
 */
void fake_fail(unsigned long request, int nth, int error);
/* Whether that call has come. */
bool fake_has_failed(void);
int fake_calls(unsigned long request);

/* Fills the next buffer; false: there is none, the picture is lost. */
bool fake_fill(struct fake_camera *c, const struct fake_frame *f);
/* ENODEV everywhere, from now on until fake_plug(); the program's buffers and descriptors stay. */
void fake_unplug(struct fake_camera *c);
void fake_plug(struct fake_camera *c);
/* poll gives an error. */
void fake_break(struct fake_camera *c);
void fake_change_source(struct fake_camera *c);

/* What lies in column byte, row y of a picture. */
uint8_t fake_pixel(int id, int pattern, size_t byte, int y);
/* True when the image is this part of a picture of camera id, else a line on stderr. */
bool fake_shows(const struct sx_image *img, int id, int pattern, int x, int y);

#endif
