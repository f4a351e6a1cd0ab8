/*
 * Connection of the daemon to a writer of pairs: its hello, its buffers, its messages. The writer is another
 * process, perhaps with less careful code: whatever it sends costs at most its connection. The protocol is
 * defined in include/stixel_pairs.h. Thread: the one that uses the source.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SHARED_LINK_H
#define SX_CAPTURE_SHARED_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/why.h"
#include "capture/shared/format.h"
#include "capture/source.h"

/*
 * A buffer, mapped. Memory files cannot shrink (sealed), and dma-bufs have no way to: so an access never
 * faults. dmabuf_fd: descriptor for cache maintenance; -1: a memory file.
 */
struct sx_shared_buffer {
	struct sx_block block;
	size_t bytes; /* size that the writer declared, bytes; block has whole pages */
	int dmabuf_fd;
};

struct sx_shared_link {
	int fd;					 /* descriptor of the connection; -1: none */
	char name[STIXEL_PAIRS_NAME_BYTES + 32]; /* name of the writer: "grab.py (process 1234)" */
	struct sx_shared_format format;
	/* reason why the daemon takes no more messages, although some may still come; empty: it takes them */
	char end[128 + STIXEL_PAIRS_NAME_BYTES];
	int count;
	struct sx_shared_buffer buffers[STIXEL_PAIRS_BUFFERS_MAX];
};

/*
 * Accepts a writer that waits at the listening socket, and maps its buffers. Waits up to half a second for
 * its messages. Returns 0: the link is filled and the writer waits for its welcome; with a sentence: -ENOENT: no
 * writer waits; -ENODEV: the writer was refused and has the sentence, too.
 */
int sx_shared_accept(struct sx_shared_link *l, const struct sx_pairs_socket *socket, struct sx_why *why);
/* Sends the welcome. keeps: most pairs that the daemon uses at once. Returns 0, or -ENODEV with a sentence. */
int sx_shared_welcome(struct sx_shared_link *l, int keeps, struct sx_why *why);
/* Sends a sentence to the writer and ends the connection; sx_shared_close() has to follow. */
void sx_shared_refuse(struct sx_shared_link *l, const char *sentence);
/* Refuses all writers that wait at the listening socket while this link has the instance. Never waits. */
void sx_shared_refuse_others(const struct sx_shared_link *l, const struct sx_pairs_socket *socket);
/*
 * Takes the next pair that the writer has sent. Never waits. Returns 1: *pair is filled, and its places are
 * not checked yet; 0: none; -ENODEV with a sentence: the writer has ended or broken the protocol.
 */
int sx_shared_take(struct sx_shared_link *l, struct stixel_pairs_pair *pair, struct sx_why *why);
/* Gives the images of a pair back to the writer. A writer that reads no answers loses its connection. */
void sx_shared_return(struct sx_shared_link *l, uint64_t number, enum stixel_pairs_fate fate);
/*
 * Checks that both images of a pair lie in the buffers. Returns 0 and sets left and right; -EBADMSG with a
 * sentence.
 */
int sx_shared_images(const struct sx_shared_link *l, const struct stixel_pairs_pair *pair,
		     const uint8_t **left, const uint8_t **right, struct sx_why *why);
/* Call it with begin true before the processor reads a buffer, and with begin false after that. */
void sx_shared_sync(const struct sx_shared_link *l, uint32_t buffer, bool begin);
/* Unmaps the buffers and ends the connection. Accepts a link that was never accepted, with fd -1. */
void sx_shared_close(struct sx_shared_link *l);

#endif
