/*
 * Writes an MCAP file (mcap.dev/spec, version 0): chunks, indexes, statistics and every
 * checksum that the format has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_EXPORT_MCAP_H
#define SX_TOOLS_CTL_EXPORT_MCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SX_MCAP_CHANNELS 16 /* and as many schemas */

struct sx_mcap;

/*
 * Writes to f from its beginning, front to back; f stays the caller's. compress: chunks by zstd, where this
 * was built with it. What text and schema data point to is kept, not copied. -ENOMEM. Errors of writing are
 * told by finish, and by ferror(f).
 */
int sx_mcap_create(struct sx_mcap **ret, FILE *f, bool compress);
/* Before the first message. The id, from 1; -ENOBUFS. */
int sx_mcap_schema(struct sx_mcap *m, const char *name, const char *encoding, const void *data, size_t bytes);
int sx_mcap_channel(struct sx_mcap *m, int schema, const char *topic, const char *encoding);
/* A chunk becomes full in between. -ENOMEM, -EIO. */
int sx_mcap_message(struct sx_mcap *m, int channel, uint64_t log_ns, uint64_t publish_ns, const void *data,
		    size_t bytes);
/* Summary and end. 0, -ENOMEM, or -errno of writing. */
int sx_mcap_finish(struct sx_mcap *m);
/* Accepts NULL. Without finish before, what was written is no MCAP file. */
void sx_mcap_destroy(struct sx_mcap *m);

#endif
