/*
 * Writes an MCAP file, front to back: chunks, indexes, statistics, metadata and every checksum that the
 * format has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_MCAP_WRITE_H
#define SX_RECORDING_MCAP_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SX_MCAP_CHANNELS 16 /* and as many schemas */

struct sx_mcap;

/* Takes the next bytes of the file. 0, or negative errno: then nothing more is given. */
typedef int sx_mcap_sink_fn(void *user, const void *data, size_t bytes);

/* A piece of a message. */
struct sx_mcap_part {
	const void *data;
	size_t bytes;
};
struct sx_mcap_pair {
	const char *key, *value;
};

/*
 * Chunks of chunk_bytes, uncompressed: what a reader has in memory at a time, and the grain of seeking.
 * compress: by zstd; -ENOTSUP when built without. -ENOMEM.
 */
int sx_mcap_create(struct sx_mcap **ret, sx_mcap_sink_fn *sink, void *user, size_t chunk_bytes,
		   bool compress);
/* The id, from 1; -ENOBUFS, -ENOMEM. It is copied, into the chunk that is being filled or the next one. */
int sx_mcap_schema(struct sx_mcap *m, const char *name, const char *encoding, const void *data, size_t bytes);
/* schema: 0 none. pairs end with a key that is NULL; may be NULL. */
int sx_mcap_channel(struct sx_mcap *m, int schema, const char *topic, const char *encoding,
		    const struct sx_mcap_pair *pairs);
/* A record of its own between chunks: before the messages of the chunk that is being filled. */
int sx_mcap_metadata(struct sx_mcap *m, const char *name, const struct sx_mcap_pair *pairs);
/* So many more bytes, or about that, fit into the chunk that is being filled, or it is empty. */
bool sx_mcap_fits(const struct sx_mcap *m, size_t bytes);
/*
 * These and the functions below: 0, -ENOMEM, or the error of the sink; after an error nothing is written. Log
 * and publish time are the same.
 */
int sx_mcap_message(struct sx_mcap *m, int channel, uint64_t time_ns, const struct sx_mcap_part *parts,
		    int count);
/* The chunk is written, full or not. */
int sx_mcap_flush(struct sx_mcap *m);
/* Summary and end. */
int sx_mcap_finish(struct sx_mcap *m);
/* Accepts NULL. Without finish before, what was written is an MCAP file without its end. */
void sx_mcap_destroy(struct sx_mcap *m);

#endif
