/*
 * Writes an MCAP file from front to back: chunks, indexes, statistics, metadata and every checksum of the
 * format.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_MCAP_WRITE_H
#define SX_RECORDING_MCAP_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SX_MCAP_CHANNELS 16 /* most channels, and most schemas */

struct sx_mcap;

/* Takes the next bytes of the file. Returns 0 or a negative errno; after an error it gets no more bytes. */
typedef int sx_mcap_sink_fn(void *user, const void *data, size_t bytes);

/* A part of a message. */
struct sx_mcap_part {
	const void *data;
	size_t bytes;
};
struct sx_mcap_pair {
	const char *key, *value;
};

/*
 * Creates a writer with chunks of chunk_bytes, uncompressed. A reader keeps one chunk in memory, and can seek
 * to chunks. compress: by zstd; -ENOTSUP if built without zstd. -ENOMEM.
 */
int sx_mcap_create(struct sx_mcap **ret, sx_mcap_sink_fn *sink, void *user, size_t chunk_bytes,
		   bool compress);
/*
 * Adds a schema. Returns its id, from 1; -ENOBUFS, -ENOMEM. Copies it into the chunk that is being filled, or
 * into the next one.
 */
int sx_mcap_schema(struct sx_mcap *m, const char *name, const char *encoding, const void *data, size_t bytes);
/* Adds a channel. schema: 0 for none. pairs end with a NULL key; may be NULL. */
int sx_mcap_channel(struct sx_mcap *m, int schema, const char *topic, const char *encoding,
		    const struct sx_mcap_pair *pairs);
/* Writes a separate record between chunks, before the messages of the chunk that is being filled. */
int sx_mcap_metadata(struct sx_mcap *m, const char *name, const struct sx_mcap_pair *pairs);
/* Returns whether about `bytes` more fit into the chunk that is being filled, or the chunk is empty. */
bool sx_mcap_fits(const struct sx_mcap *m, size_t bytes);
/*
 * Adds a message. Its log and publish times are the same. This and the following functions return 0, -ENOMEM,
 * or the error of the sink. After an error nothing is written.
 */
int sx_mcap_message(struct sx_mcap *m, int channel, uint64_t time_ns, const struct sx_mcap_part *parts,
		    int count);
/* Writes the chunk, even if it is not full. */
int sx_mcap_flush(struct sx_mcap *m);
/* Writes the summary and the end. */
int sx_mcap_finish(struct sx_mcap *m);
/*
 * Frees the writer; accepts NULL. Without sx_mcap_finish() before, the output is an MCAP file without its
 * end.
 */
void sx_mcap_destroy(struct sx_mcap *m);

#endif
