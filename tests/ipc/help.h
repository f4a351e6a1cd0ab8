/*
 * Frames that a test can verify: all of their content follows from epoch and number.
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

/* Sizes of a test's frames. A frame has 1 to `columns` columns and 0 to 7 stixels per column. */
struct help_shape {
	uint32_t columns;
	uint32_t plane_width, plane_height; /* size of the disparity image, px; 0: no image */
	bool left;			    /* true: with a left image of the same bytes, too */
};

size_t help_frame_bytes(const struct help_shape *shape);
/* Packs frame `number` of `epoch` into a buffer of help_frame_bytes(). Returns the bytes used. */
size_t help_frame(void *out, const struct help_shape *shape, uint64_t epoch, uint64_t number);
/* Converts a packed frame to version 1.2, whose header ends before road_cross. Returns its bytes. */
size_t help_frame_of_1_2(void *frame);
/* True if every byte is what help_frame() wrote, including the planes if the frame has any. */
bool help_frame_good(const struct stixel_frame *frame, const struct help_shape *shape);

/* Creates a temporary folder below /dev/shm. help_dir_remove() removes it with all files. */
void help_dir_make(char *dir, size_t bytes);
void help_dir_remove(const char *dir);
/* Returns the number of entries in dir, without "." and "..". */
int help_dir_count(const char *dir);
/* Returns the number of open descriptors of this process. */
int help_fd_count(void);

struct sx_ring_params help_params(const char *dir, uint64_t epoch);
struct sx_ring *help_ring(const char *dir, const char *instance, const struct help_shape *shape, int slots,
			  uint64_t epoch);
void help_publish(struct sx_ring *ring, const struct help_shape *shape, uint64_t epoch, uint64_t number);

/* help_stream() opens a frame socket at path. On failure it returns NULL and writes the reason to stderr. */
struct sx_stream_params help_stream_params(const char *path, const struct help_shape *shape, uint64_t epoch);
struct sx_stream *help_stream(const char *path, const struct help_shape *shape, uint64_t epoch);
/* Serves the clients until no work is left. */
void help_pump(struct sx_stream *s);
void help_stream_publish(struct sx_stream *s, const struct help_shape *shape, uint64_t epoch,
			 uint64_t number);

/* Runs the given code in a child process. The child dies with its parent and exits with the code's result. */
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
