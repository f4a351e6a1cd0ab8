/*
 * stixel_pairs.h - gives stereo pairs to stixeld from another process, without a copy: from a camera's own
 * library, a GStreamer pipeline, ROS, a simulator.
 *
 * stixeld takes them if source.kind = shared. The library and the ABI are those of <stixel.h>, since 1.6. See
 * docs/use/pairs.md.
 *
 *	struct stixel_pairs_format format = {.width = 1280, .height = 720, .pixel = STIXEL_PIXEL_GREY8};
 *	struct stixel_pairs_images to;
 *	struct stixel_pairs *writer;
 *
 *	if (stixel_pairs_create(&writer, "front", &format, sizeof(format)) < 0) ...
 *	while (grab(...))
 *		if (stixel_pairs_begin(writer, &to, 1000) > 0) {
 *			... fill to.left and to.right, rows of to.pitch bytes ...
 *			stixel_pairs_commit(writer, &to, left_ns, right_ns);
 *		}
 *	stixel_pairs_close(writer);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STIXEL_PAIRS_H
#define STIXEL_PAIRS_H

#include <stixel.h>

#ifdef __cplusplus
extern "C" {
#endif
#define STIXEL_AT(type, field, bytes) STIXEL_ASSERT(offsetof(struct type, field) == (bytes), #type "." #field)
#define STIXEL_SIZE(type, bytes) STIXEL_ASSERT(sizeof(struct type) == (bytes), #type)

/* ---- pairs.sock: SOCK_SEQPACKET ------------------------------------------------------------------------- */

/*
 * The writer connects to pairs.sock in the instance's folder (stixel_place()), and sends a struct
 * stixel_pairs_hello, then a struct stixel_pairs_buffer with one descriptor (SCM_RIGHTS) for each buffer. The
 * daemon maps the buffers to read, and answers with STIXEL_PAIRS_WELCOME. From then on the writer sends a
 * struct stixel_pairs_pair for each pair, and leaves the images unchanged until the daemon has answered it
 * with STIXEL_PAIRS_RETURNED. If the daemon does not accept something, it answers with STIXEL_PAIRS_REFUSED,
 * which has a sentence, and closes the connection. Buffers are memory files (memfd_create()) sealed with
 * F_SEAL_SHRINK, or dma-bufs. An instance has one writer.
 */
#define STIXEL_PAIRS_MAGIC 0x50585453u /* "STXP" */
#define STIXEL_PAIRS_BUFFERS_MAX 64
#define STIXEL_PAIRS_NAME_BYTES 64
#define STIXEL_PAIRS_BUFFERS 6 /* usual number of buffers: two contexts use up to four, one is being filled */

/* Pixels of an image. The engine reads the first six in place. The daemon converts Bayer patterns to grey. */
enum stixel_pixel {
	STIXEL_PIXEL_GREY8 = 1,
	STIXEL_PIXEL_GREY16 = 2, /* little endian; any range of 10 to 16 bits: it is stretched */
	STIXEL_PIXEL_RGB24 = 3,	 /* bytes R, G, B */
	STIXEL_PIXEL_YUYV = 4,
	STIXEL_PIXEL_UYVY = 5,
	STIXEL_PIXEL_NV12 = 6, /* only the plane of Y is read, and only it must be there */
	STIXEL_PIXEL_RGGB8 = 16,
	STIXEL_PIXEL_GRBG8 = 17,
	STIXEL_PIXEL_GBRG8 = 18,
	STIXEL_PIXEL_BGGR8 = 19,
	STIXEL_PIXEL_RGGB16 = 20, /* 16-bit words, little endian, any range of 10 to 16 bits */
	STIXEL_PIXEL_GRBG16 = 21,
	STIXEL_PIXEL_GBRG16 = 22,
	STIXEL_PIXEL_BGGR16 = 23
};

/* Models of a lens. The coefficients have the names and the order of OpenCV and ROS. */
enum stixel_lens {
	STIXEL_LENS_PLUMB_BOB = 0,  /* k1 k2 p1 p2 k3; all 0: no distortion */
	STIXEL_LENS_RATIONAL = 1,   /* k1 k2 p1 p2 k3 k4 k5 k6 */
	STIXEL_LENS_EQUIDISTANT = 2 /* fisheye: k1 k2 k3 k4 */
};

/*
 * A raw camera, as in sensor_msgs/CameraInfo. fx, fy, cx, cy: matrix K, px. rotation: matrix R, row by row,
 * from the axes of this camera to the axes of the rectified pair.
 */
struct stixel_raw_camera {
	uint32_t lens; /* enum stixel_lens */
	uint32_t reserved;
	double fx, fy, cx, cy;
	double distortion[8];
	double rotation[9];
};
STIXEL_AT(stixel_raw_camera, fx, 8);
STIXEL_AT(stixel_raw_camera, distortion, 40);
STIXEL_AT(stixel_raw_camera, rotation, 104);
STIXEL_SIZE(stixel_raw_camera, 176);

/* Bits of struct stixel_pairs_format.flags. */
/* The caller owns the buffers: the library makes none, and stixel_pairs_add_buffer() takes them. */
#define STIXEL_PAIRS_OWN_BUFFERS 1u
/* The images are raw: raw[] and rectified_* say how they are rectified. */
#define STIXEL_PAIRS_RAW 2u
/* Images without noise: an image that repeats the previous one is no sign of a frozen camera. */
#define STIXEL_PAIRS_SIMULATED 4u

/*
 * Format of all pairs of a writer. Later versions may add fields: set the rest to 0. Both images have the
 * same size, pixels and pitch. width, height: 32x32 to 4096x2160 px.
 *
 * fx, fy, cx, cy, baseline_m: the rectified left camera (P of CameraInfo); fx 0: the writer does not know the
 * camera, which only rectified images permit. The daemon uses the camera and raw[] if its configuration has
 * neither camera.calibration nor camera.fx. Height, pitch and roll of the camera always come from the
 * configuration.
 */
struct stixel_pairs_format {
	uint32_t width, height; /* size of one image, px */
	uint32_t pixel;		/* enum stixel_pixel */
	uint32_t pitch;	  /* distance between two rows, bytes, up to 65536; 0: the smallest multiple of 64 */
	uint32_t buffers; /* number of buffers that the library makes, each for a pair, 2..64; 0: 6 */
	uint32_t flags;	  /* STIXEL_PAIRS_* */
	uint32_t clock;	  /* enum stixel_clock of the capture times; 0: CLOCK_MONOTONIC */
	uint32_t stamp;	  /* enum stixel_stamp of the capture times */
	double fps;	  /* pairs per second; 0: unknown */
	double fx, fy, cx, cy, baseline_m;
	uint32_t rectified_width, rectified_height; /* rectified size of raw images, px; 0: width, height */
	struct stixel_raw_camera raw[2];	    /* left and right camera with STIXEL_PAIRS_RAW */
	/* name of the writer, for log and status; empty: the library takes the name of the process */
	char name[STIXEL_PAIRS_NAME_BYTES];
};
STIXEL_AT(stixel_pairs_format, fps, 32);
STIXEL_AT(stixel_pairs_format, fx, 40);
STIXEL_AT(stixel_pairs_format, rectified_width, 80);
STIXEL_AT(stixel_pairs_format, raw, 88);
STIXEL_AT(stixel_pairs_format, name, 440);
STIXEL_SIZE(stixel_pairs_format, 504);

enum stixel_pairs_kind {
	STIXEL_PAIRS_HELLO = 1,	 /* writer: struct stixel_pairs_hello */
	STIXEL_PAIRS_BUFFER = 2, /* writer: struct stixel_pairs_buffer, with a descriptor */
	STIXEL_PAIRS_PAIR = 3,	 /* writer: struct stixel_pairs_pair */
	/* The following are answers of the daemon: struct stixel_pairs_answer. */
	STIXEL_PAIRS_WELCOME = 4,  /* `number` is the largest number of pairs that the daemon keeps at once */
	STIXEL_PAIRS_RETURNED = 5, /* the writer may change the images of pair `number` again; fate is set */
	STIXEL_PAIRS_REFUSED = 6   /* followed by a sentence; the connection ends */
};

/* Fate of a pair. */
enum stixel_pairs_fate {
	STIXEL_PAIR_TAKEN = 0,	  /* an engine has read it, or a newer pair replaced it before the engine */
	STIXEL_PAIR_OVERLOAD = 1, /* a newer pair came before the daemon took this pair */
	STIXEL_PAIR_BAD = 2, /* the images lie outside of the buffers, or the capture times are impossible */
	STIXEL_PAIR_LOST = 3 /* the connection ended first; only stixel_pairs_returned() sets this fate */
};

struct stixel_pairs_hello {
	uint32_t magic, kind; /* STIXEL_PAIRS_MAGIC, STIXEL_PAIRS_HELLO */
	uint16_t abi_major, abi_minor;
	uint32_t bytes;	  /* size of the writer's version of this struct */
	uint32_t buffers; /* number of buffers that follow, 1..64 */
	uint32_t reserved;
	struct stixel_pairs_format format; /* buffers: unused; pitch: not 0 */
};
STIXEL_AT(stixel_pairs_hello, format, 24);
STIXEL_SIZE(stixel_pairs_hello, 528);

struct stixel_pairs_buffer {
	uint32_t magic, kind;
	uint32_t index; /* number of the buffer: 0, 1, ... in order */
	uint32_t reserved;
	uint64_t bytes; /* number of bytes that the daemon may read from offset 0 of the descriptor */
};
STIXEL_SIZE(stixel_pairs_buffer, 24);

struct stixel_pairs_pair {
	uint32_t magic, kind;
	uint64_t number; /* number that the writer chooses: 1, 2, ... */
	uint32_t left_buffer, right_buffer;
	uint64_t left_offset, right_offset; /* offset of the first pixel, bytes; even for 16-bit pixels */
	int64_t left_ns, right_ns; /* capture times, ns; both 0: unknown, the daemon takes its own clock */
};
STIXEL_AT(stixel_pairs_pair, number, 8);
STIXEL_AT(stixel_pairs_pair, left_offset, 24);
STIXEL_AT(stixel_pairs_pair, left_ns, 40);
STIXEL_SIZE(stixel_pairs_pair, 56);

#define STIXEL_PAIRS_TEXT_BYTES 400
struct stixel_pairs_answer {
	uint32_t magic, kind;
	uint64_t number;
	uint32_t fate;	     /* enum stixel_pairs_fate in STIXEL_PAIRS_RETURNED, else 0 */
	uint32_t text_bytes; /* length of the sentence after this struct in STIXEL_PAIRS_REFUSED */
};
STIXEL_AT(stixel_pairs_answer, number, 8);
STIXEL_SIZE(stixel_pairs_answer, 24);

/* ---- the writer ------------------------------------------------------------------------------------------ */

/*
 * Writer of pairs. One thread at a time uses a writer. The writer connects to the daemon automatically, and
 * again after a restart of the daemon or the instance. Until then it drops and counts pairs, and tries again
 * every quarter of a second, or every second if the daemon refused it. The library has no thread: the calls
 * of begin, commit, queue, returned and connect do the work. Functions wait only where they have a timeout; a
 * signal ends the wait with -EINTR.
 */
struct stixel_pairs;

/* Place of the next pair, in shared memory. It keeps its old content until the caller overwrites it. */
struct stixel_pairs_images {
	uint8_t *left, *right;
	uint32_t pitch;	 /* distance between two rows, bytes */
	uint32_t buffer; /* number of the buffer */
};

/*
 * Creates a writer for an instance and its buffers. The daemon need not run. bytes: sizeof(*format). The
 * buffers are sealed memory files; the right image lies behind the left one, at the next multiple of 4096.
 * -EINVAL: a bad name, size, pitch or number of buffers, or unknown pixels; the daemon checks the camera.
 * -ENAMETOOLONG: a path too long for a socket. -ENOMEM, -EMFILE, ...: errors of the system.
 */
STIXEL_API int stixel_pairs_create(struct stixel_pairs **writer, const char *instance,
				   const struct stixel_pairs_format *format, size_t bytes);
/* The same with the path of a pairs.sock. */
STIXEL_API int stixel_pairs_create_path(struct stixel_pairs **writer, const char *path,
					const struct stixel_pairs_format *format, size_t bytes);
/*
 * Waits until a daemon has accepted the writer. Returns 1, or 0 after timeout_ms (-1: no limit, 0: returns at
 * once). -EACCES: you may not write to pairs.sock: join group stixel-feed. -ECONNREFUSED: the daemon has
 * refused the writer. stixel_pairs_why() has a sentence. -EINVAL: the writer has no buffers yet. The caller
 * need not call this function, but the pairs before the daemon's answer are dropped.
 */
STIXEL_API int stixel_pairs_connect(struct stixel_pairs *writer, int timeout_ms);
/*
 * Waits for a buffer that the daemon does not use, and sets *to to this buffer. The caller may call it again
 * without a commit. Returns 1, or 0 after timeout_ms (-1: no limit). -EINVAL: the caller owns the buffers.
 */
STIXEL_API int stixel_pairs_begin(struct stixel_pairs *writer, struct stixel_pairs_images *to,
				  int timeout_ms);
/*
 * Gives the pair to the daemon. left_ns, right_ns: capture times; both 0: unknown, now. The buffer belongs to
 * the daemon until stixel_pairs_begin() returns it again. 0; -ENOTCONN: no daemon takes the pair, and it is
 * dropped, see stixel_pairs_why(); -EAGAIN: the daemon does not read its socket, and the pair is dropped;
 * -EINVAL: the caller has not called begin.
 */
STIXEL_API int stixel_pairs_commit(struct stixel_pairs *writer, const struct stixel_pairs_images *images,
				   int64_t left_ns, int64_t right_ns);

/*
 * The following three functions are for buffers of the caller (STIXEL_PAIRS_OWN_BUFFERS): memory of a
 * camera's driver or of a GPU, exported as dma-buf, or a sealed memory file.
 *
 * Adds a buffer before the first connect or queue. The library duplicates fd. bytes: size, 0: as lseek() says.
 * Returns the number of the buffer, from 0 on. -EINVAL: after the first connect or queue,
 * without the flag, or a size of 0. -ENOSPC: the writer has STIXEL_PAIRS_BUFFERS_MAX buffers.
 */
STIXEL_API int stixel_pairs_add_buffer(struct stixel_pairs *writer, int fd, uint64_t bytes);
/*
 * Gives a pair in the caller's buffers to the daemon. Sets pair->magic, kind and number; the caller sets the
 * rest. The images must not change until stixel_pairs_returned() has named the pair's number. Errors as
 * stixel_pairs_commit(); then the images are not in use. -EINVAL: an image outside of its buffer. -EAGAIN: also
 * if 256 pairs are not back, or are back and not taken.
 */
STIXEL_API int stixel_pairs_queue(struct stixel_pairs *writer, struct stixel_pairs_pair *pair, size_t bytes);
/*
 * Takes the next pair that came back. After a connection has ended, all its pairs come back as
 * STIXEL_PAIR_LOST. Returns 1 and sets *number and *fate (may be NULL), or 0 after timeout_ms; 0 at once if no
 * pair is away. -EINVAL: the library owns the buffers.
 */
STIXEL_API int stixel_pairs_returned(struct stixel_pairs *writer, uint64_t *number, uint32_t *fate,
				     int timeout_ms);

/*
 * Returns a descriptor for poll(): readable (POLLIN) when a buffer may have come back; the next begin or
 * returned reads it. -ENOTCONN: there is no connection. It changes with each connection.
 */
STIXEL_API int stixel_pairs_fd(const struct stixel_pairs *writer);

struct stixel_pairs_counters {
	uint64_t queued;      /* pairs given to a daemon */
	uint64_t returned[3]; /* pairs that the daemon gave back, by enum stixel_pairs_fate */
	uint64_t lost;	      /* pairs that a daemon had when its connection ended */
	uint64_t dropped;     /* pairs that commit or queue did not give to a daemon */
	uint64_t connections; /* number of daemons that accepted the writer */
};
/* Copies the counters. bytes: sizeof(*counters). 0; -EINVAL. */
STIXEL_API int stixel_pairs_counters(const struct stixel_pairs *writer,
				     struct stixel_pairs_counters *counters, size_t bytes);
/*
 * Returns why no daemon takes pairs: one sentence, valid until the next call. Empty while a daemon takes them.
 * Never NULL.
 */
STIXEL_API const char *stixel_pairs_why(const struct stixel_pairs *writer);
/* Ends the connection and unmaps and closes the buffers. Accepts NULL. */
STIXEL_API void stixel_pairs_close(struct stixel_pairs *writer);

#undef STIXEL_AT
#undef STIXEL_SIZE
#ifdef __cplusplus
}
#endif
#endif
