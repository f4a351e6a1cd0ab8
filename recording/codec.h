/*
 * Compression of a recording's chunks by zstd, if the build has zstd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_CODEC_H
#define SX_RECORDING_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A codec with memory that grows as needed. destroy accepts NULL. */
struct sx_codec;

bool sx_codec_built(void);
int sx_codec_create(struct sx_codec **ret);
void sx_codec_destroy(struct sx_codec *c);
/* Returns whether `bytes` compressed bytes can expand to plain_bytes. Call it before allocating memory. */
bool sx_codec_may_expand(size_t bytes, size_t plain_bytes);
/*
 * Both functions set *content to memory of c, valid until the next use of c. decode: the result must have
 * plain_bytes, and zstd's header must agree if it has the size. -EBADMSG: the data are inconsistent.
 * -ENOTSUP: built without zstd. -ENOMEM.
 */
int sx_codec_decode(struct sx_codec *c, const void **content, size_t bytes, size_t plain_bytes);
/*
 * Compresses content; images: most of it is images. Returns the compressed bytes, or 0 if compression would
 * not make it smaller: then write it uncompressed.
 */
int64_t sx_codec_encode(struct sx_codec *c, const void **content, size_t bytes, bool images);

#endif
