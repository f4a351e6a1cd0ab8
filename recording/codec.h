/*
 * Compression of a recording's chunks: zstd, where this was built with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_CODEC_H
#define SX_RECORDING_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Its memory grows as it must. destroy accepts NULL. */
struct sx_codec;

bool sx_codec_built(void);
int sx_codec_create(struct sx_codec **ret);
void sx_codec_destroy(struct sx_codec *c);
/* Whether so many bytes can ever be so many: asked before there is memory for them. */
bool sx_codec_may_expand(size_t bytes, size_t plain_bytes);
/*
 * Both set *content to memory of c, valid until its next use. decode: plain_bytes must come out, and be what
 * zstd's own header says, if it does. -EBADMSG: not what it says it is; -ENOTSUP: built without; -ENOMEM.
 */
int sx_codec_decode(struct sx_codec *c, const void **content, size_t bytes, size_t plain_bytes);
/* images: most of it is. The bytes, or 0 when it would not become smaller: then write it plain. */
int64_t sx_codec_encode(struct sx_codec *c, const void **content, size_t bytes, bool images);

#endif
