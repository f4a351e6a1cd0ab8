/*
 * Frames that prove themselves: all of their content follows from epoch and number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_IPC_HELP_H
#define SX_TESTS_IPC_HELP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "include/stixel.h"
#include "ipc/ring.h"
#include "ipc/stream.h"

/* Sizes of a test's frames. Columns of a frame vary from 1 to columns, stixels per column from 0 to 7. */
struct help_shape {
	uint32_t columns;
	uint32_t plane_width, plane_height; /* of a disparity image; 0: none */
	bool left;			    /* a left image of that size, too */
};

size_t help_frame_bytes(const struct help_shape *shape);
/* Packs frame number of epoch into a buffer of help_frame_bytes(); returns its bytes. */
size_t help_frame(void *out, const struct help_shape *shape, uint64_t epoch, uint64_t number);
/* Makes of a packed frame one of 1.2, whose header ends before road_cross; returns its bytes. */
size_t help_frame_of_1_2(void *frame);
/* True when every byte is what help_frame() wrote (planes too, when the frame has one). */
bool help_frame_good(const struct stixel_frame *frame, const struct help_shape *shape);

/* A folder of its own below $TMPDIR or /dev/shm; removed with all files by help_dir_remove(). */
void help_dir_make(char *dir, size_t bytes);
void help_dir_remove(const char *dir);
/* Entries in dir besides "." and "..". */
int help_dir_count(const char *dir);
/* Open descriptors of this process. */
int help_fd_count(void);

struct sx_ring_params help_params(const char *dir, uint64_t epoch);
struct sx_ring *help_ring(const char *dir, const char *instance, const struct help_shape *shape, int slots,
			  uint64_t epoch);
void help_publish(struct sx_ring *ring, const struct help_shape *shape, uint64_t epoch, uint64_t number);

/* A frame socket of its own at path; NULL, and a sentence on stderr. */
struct sx_stream_params help_stream_params(const char *path, const struct help_shape *shape, uint64_t epoch);
struct sx_stream *help_stream(const char *path, const struct help_shape *shape, uint64_t epoch);
/* Serves the clients until nothing is left to do. */
void help_pump(struct sx_stream *s);
void help_stream_publish(struct sx_stream *s, const struct help_shape *shape, uint64_t epoch,
			 uint64_t number);

/* Runs body in a child, which ends with its parent; the child's exit status is its result. */
#define CHILD(pid, ...)                                   \
	do {                                              \
		(pid) = fork();                           \
		assert_true((pid) >= 0);                  \
		if ((pid) == 0) {                         \
			prctl(PR_SET_PDEATHSIG, SIGKILL); \
			__VA_ARGS__;                      \
			_exit(0);                         \
		}                                         \
	} while (0)

#endif
