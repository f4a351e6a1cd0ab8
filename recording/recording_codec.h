/*
 * Compression of a recording's records: zstd, where this was built with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_RECORDING_CODEC_H
#define SX_RECORDING_RECORDING_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Its memory grows as it must. destroy accepts NULL. */
struct sx_record_codec;

bool sx_record_codec_built(void);
int sx_record_codec_create(struct sx_record_codec **ret);
void sx_record_codec_destroy(struct sx_record_codec *c);
/*
 * Both set *content to memory of c, valid until its next use. decode: plain_bytes must come out. -EBADMSG:
 * not what it says it is; -ENOTSUP: built without; -ENOMEM.
 */
int sx_record_decode(struct sx_record_codec *c, unsigned encoding, const void **content, size_t bytes,
		     size_t plain_bytes);
/* The bytes, or 0 when it would not become smaller: then write it plain. */
int64_t sx_record_encode(struct sx_record_codec *c, const void **content, size_t bytes);

#endif
