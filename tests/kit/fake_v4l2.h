/*
 * Fake V4L2 drivers: defines the functions of capture/v4l2/v4l2_io.h, so that the source opens cameras that a
 * test has made up. Like a kernel, the fake trusts no caller: it aborts a program that breaks the contract of
 * the API, with a sentence.
 *
 * A test links fake_v4l2_sources (tests/kit/meson.build), adds cameras with fake_add() and opens a source on
 * their paths. Then it fills their buffers with fake_fill(), unplugs and breaks them, and makes calls fail
 * with fake_fail(). At the end fake_reset() finds what the source has left open. tests/simulate uses the same
 * driver on its own machine (fake_v4l2_priv.h).
 *
 * Waiting is real: a camera's descriptor is an eventfd that counts its filled buffers. EPOLLPRI and EPOLLERR,
 * which an eventfd cannot signal, are added after epoll_wait, which the linker wraps for these tests.
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
/* Request numbers of calls other than ioctls, for fake_fail(). */
#define FAKE_ALL_REQUESTS 0UL
#define FAKE_OPEN 1UL
#define FAKE_MMAP 2UL

/*
 * A video mode. fps 0: the camera does not list rates. interval: time between images, in place of 1/fps; 0/0:
 * unused.
 */
struct fake_mode {
	uint32_t fourcc;
	int width, height, fps;
	struct v4l2_fract interval;
};

/* A control. most_taken: the camera reduces larger values to this one; 0: it accepts all values. */
struct fake_control {
	const char *name;
	uint32_t id, type, flags;
	int64_t minimum, maximum, value, most_taken;
};

/*
 * A picture to deliver. pattern: number of the picture. lost: number of pictures that the driver lost before
 * this one.
 */
struct fake_frame {
	int pattern;
	int64_t ns;
	uint32_t lost;
	bool error;
	uint32_t missing; /* number of bytes missing at the end */
	const void *data; /* MJPG data instead of the pattern; NULL: the pattern */
	size_t bytes;
	bool huge;	   /* reports more bytes than the buffer has */
	int other_index;   /* 1: a buffer number that does not exist; 2: a buffer outside of the driver */
	bool padded_count; /* multi-planar: bytesused is only half of data_offset */
	const void *tag;   /* first bytes of the picture instead of the pattern; the other bytes stay */
	size_t tag_bytes;
};

struct fake_buffer {
	enum { FAKE_OURS, FAKE_QUEUED, FAKE_FILLED } state; /* FAKE_OURS: the program has the buffer */
	uint32_t memory;
	void *data;
	size_t length;
	int mapped, dmabuf;
	const void *first_user; /* address of the buffer when it was first queued */
	struct v4l2_buffer answer;
	struct v4l2_plane plane;
};

struct fake_camera {
	/* properties of the camera, which the test sets before it is opened */
	const char *path;
	struct fake_mode modes[FAKE_MODES];
	int mode_count;
	struct fake_control controls[FAKE_CONTROLS];
	int control_count;
	bool mplane, no_capture, no_device_caps, no_sizes, no_rates, no_rate_at_all, ranges, exporter;
	struct v4l2_fract odd;	 /* interval that replaces that between images; 0/0: unused */
	uint32_t data_offset;	 /* multi-planar: bytes in front of each picture */
	uint32_t says;		 /* V4L2_BUF_CAP_SUPPORTS_*; 0: as before Linux 4.20 */
	bool refuses[5];	 /* memory types that REQBUFS refuses, by V4L2_MEMORY_* */
	bool lied;		 /* reported a wrong buffer number */
	uint32_t refuses_queued; /* memory type that QBUF refuses, V4L2_MEMORY_* */
	uint32_t least_buffers, most_buffers;
	uint32_t wider_by;	/* bytes of a row beyond its pixels */
	size_t buffer_bytes;	/* size of a buffer in the driver's own memory; 0: the size of a picture */
	uint32_t field, planes; /* 0: no field order, one plane */
	int gives_width;	/* width set instead of the requested one; 0: as requested */
	uint32_t stamps;	/* V4L2_BUF_FLAG_TIMESTAMP_* and TSTAMP_SRC_* */
	int id;			/* number of the camera's pattern */

	/* current state */
	struct v4l2_format format;
	int fps;
	bool gone, broken, streaming;
	int opens, subscriptions, events;
	uint32_t sequence;
	int owner; /* descriptor that requested the buffers; -1: none */
	uint32_t memory, count;
	struct fake_buffer buffers[FAKE_BUFFERS];
	uint32_t fifo[FAKE_BUFFERS], queued, filled_fifo[FAKE_BUFFERS], filled;
};

/*
 * Removes all cameras and the failures ordered by fake_fail(). Aborts if the source has left anything open,
 * mapped or exported.
 */
void fake_reset(void);
/*
 * Adds a camera that reports all capabilities. modes: ends with a mode whose fourcc is 0. The fake owns the
 * camera until fake_reset().
 */
struct fake_camera *fake_add(const char *path, const struct fake_mode *modes);
struct fake_camera *fake_add_control(struct fake_camera *c, const struct fake_control *control);
struct fake_control *fake_control(struct fake_camera *c, uint32_t id);

/*
 * Makes the nth call of this request from now on (1: the next) fail with this errno. FAKE_ALL_REQUESTS:
 * counts open, ioctl and mmap together.
 */
void fake_fail(unsigned long request, int nth, int error);
/* Returns whether the failing call has happened. */
bool fake_has_failed(void);
int fake_calls(unsigned long request);

/* Fills the next buffer. Returns false if there is none; then the picture is lost. */
bool fake_fill(struct fake_camera *c, const struct fake_frame *f);
/* Makes all calls fail with ENODEV until fake_plug(). The program's buffers and descriptors stay. */
void fake_unplug(struct fake_camera *c);
void fake_plug(struct fake_camera *c);
/* Makes poll report an error. */
void fake_break(struct fake_camera *c);
void fake_change_source(struct fake_camera *c);

/* Returns the byte in column `byte`, row y of a picture. */
uint8_t fake_pixel(int id, int pattern, size_t byte, int y);
/* Returns true if the image is this part of a picture of camera id. Else prints a line on stderr. */
bool fake_shows(const struct sx_image *img, int id, int pattern, int x, int y);

#endif
