/*
 * A queue that writes a file in a thread, so that a disk that stops for a second does not stop the caller.
 *
 * Bytes wait in bounded memory, and the queue's thread writes them in order. When the memory is full, the
 * caller waits.
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
 * Creates a queue. The caller keeps ownership of fd. room: capacity for waiting bytes. stop: once it is set,
 * the queue gives up a file that takes no bytes for five seconds (-ETIMEDOUT); may be NULL. -ENOMEM. -EAGAIN:
 * no thread.
 */
int sx_file_queue_create(struct sx_file_queue **ret, int fd, size_t room, const volatile sig_atomic_t *stop);
/*
 * Guards the file. Call it before the first put. fd must be an empty regular file that only this queue
 * writes. From then on the queue does not write to a file that has no name any more (-ENOENT), or whose size
 * differs from the bytes written (-ESTALE: another process truncated it or wrote to it). It can only suspect
 * writes of other processes that keep the size: sx_file_queue_touched().
 */
void sx_file_queue_guard(struct sx_file_queue *q);
/*
 * Returns whether another process may have written to a guarded file: its modification time is not that of
 * the queue's last write.
 */
bool sx_file_queue_touched(struct sx_file_queue *q);
/* Queues bytes. Returns 0, or the negative errno of a failed write; after that the queue takes nothing. */
int sx_file_queue_put(struct sx_file_queue *q, const void *data, size_t bytes);
/* Waits until all bytes are written, and checks a guarded file once more. Returns the queue's error. */
int sx_file_queue_flush(struct sx_file_queue *q);
/* Returns the number of bytes that reached the file. */
uint64_t sx_file_queue_written(struct sx_file_queue *q);
/* Writes the waiting bytes, if they can be written, and frees the queue. Accepts NULL. */
void sx_file_queue_destroy(struct sx_file_queue *q);

#endif
