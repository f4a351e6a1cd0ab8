/*
 * A file that is written behind the caller's back: a disk that stops for a second does not stop him.
 *
 * Bytes wait in bounded memory, and a thread of its own writes them in order. When the memory
 * is full the caller waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_FILE_QUEUE_H
#define SX_RECORDING_FILE_QUEUE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sx_file_queue;

/*
 * fd stays the caller's. room: bytes that may wait. stop: once it is set, a file that takes nothing for five
 * seconds is given up (-ETIMEDOUT); may be NULL. -ENOMEM, -EAGAIN no thread.
 */
int sx_file_queue_create(struct sx_file_queue **ret, int fd, size_t room, const volatile sig_atomic_t *stop);
/*
 * Before the first put: fd is a regular file, empty, that this queue alone may write. From then
 * on nothing is written to a file that has no name any more (-ENOENT), or another size than what was written
 * (-ESTALE: another process truncated it or wrote to it). Writes of others that leave the size are only
 * suspected: sx_file_queue_touched().
 */
void sx_file_queue_guard(struct sx_file_queue *q);
/* Another process may have written to a guarded file: its time of modification is not this queue's. */
bool sx_file_queue_touched(struct sx_file_queue *q);
/* 0, or the negative errno of the write that failed: from then on nothing is taken. */
int sx_file_queue_put(struct sx_file_queue *q, const void *data, size_t bytes);
/* Waits until all is written, and looks at a guarded file once more; the error of it all. */
int sx_file_queue_flush(struct sx_file_queue *q);
/* Bytes that reached the file. */
uint64_t sx_file_queue_written(struct sx_file_queue *q);
/* Writes what waits, if it can be written, and frees. Accepts NULL. */
void sx_file_queue_destroy(struct sx_file_queue *q);

#endif
