/*
 * Compression of a recording's chunks by zstd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/contract.h"
#include "recording/codec.h"

#include <errno.h>
#include <stdlib.h>

#ifdef SX_HAVE_ZSTD
#include <zstd.h>

/* Largest factor of expansion: a compressed block has at least 4 bytes, and decodes to at most 128 KiB. */
#define EXPANDS 32768u

/*
 * Level 1 is at the knee of the curve of size against time, as measured. Level 3 takes longer without a gain.
 */
enum { LEVEL = 1 };

struct sx_codec {
	ZSTD_CCtx *compress;
	ZSTD_DCtx *decompress;
	void *memory;
	size_t room;
};

bool sx_codec_built(void)
{
	return true;
}

int sx_codec_create(struct sx_codec **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void sx_codec_destroy(struct sx_codec *c)
{
	if (!c)
		return;
	ZSTD_freeCCtx(c->compress);
	ZSTD_freeDCtx(c->decompress);
	free(c->memory);
	free(c);
}

static int reserve(struct sx_codec *c, size_t bytes)
{
	void *p;

	if (bytes <= c->room)
		return 0;
	p = realloc(c->memory, bytes);
	if (!p)
		return -ENOMEM;
	c->memory = p;
	c->room = bytes;
	return 0;
}

bool sx_codec_may_expand(size_t bytes, size_t plain_bytes)
{
	return plain_bytes / EXPANDS <= bytes;
}

int sx_codec_decode(struct sx_codec *c, const void **content, size_t bytes, size_t plain_bytes)
{
	const unsigned long long says = ZSTD_getFrameContentSize(*content, bytes);
	size_t n;

	/*
	 * Checked before allocating memory. zstd's header lacks the size if the writer wrote front to back,
	 * and that of the first of several frames is not the whole size.
	 */
	if (!sx_codec_may_expand(bytes, plain_bytes))
		return -EBADMSG;
	if (says != plain_bytes && says != ZSTD_CONTENTSIZE_UNKNOWN &&
	    ZSTD_findFrameCompressedSize(*content, bytes) == bytes)
		return -EBADMSG;
	if (!c->decompress)
		c->decompress = ZSTD_createDCtx();
	if (!c->decompress || reserve(c, plain_bytes) < 0)
		return -ENOMEM;
	n = ZSTD_decompressDCtx(c->decompress, c->memory, c->room, *content, bytes);
	if (ZSTD_isError(n) || n != plain_bytes)
		return -EBADMSG;
	*content = c->memory;
	return 0;
}

/*
 * Images contain few repetitions. A hash table that fits the first-level cache finds them, with shorter
 * matches.
 */
static void set_parameters(ZSTD_CCtx *c, bool images)
{
	ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(c, ZSTD_c_hashLog, images ? 11 : 0); /* 0: the default of the level */
	ZSTD_CCtx_setParameter(c, ZSTD_c_minMatch, images ? 6 : 0);
}

int64_t sx_codec_encode(struct sx_codec *c, const void **content, size_t bytes, bool images)
{
	size_t n;

	sx_must(bytes, >, 0);
	if (!c->compress)
		c->compress = ZSTD_createCCtx();
	if (!c->compress || reserve(c, ZSTD_compressBound(bytes)) < 0)
		return -ENOMEM;
	set_parameters(c->compress, images);
	n = ZSTD_compress2(c->compress, c->memory, c->room, *content, bytes);
	if (ZSTD_isError(n) || n >= bytes)
		return 0;
	*content = c->memory;
	return (int64_t)n;
}
#else
struct sx_codec {
	int unused;
};

bool sx_codec_built(void)
{
	return false;
}

int sx_codec_create(struct sx_codec **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void sx_codec_destroy(struct sx_codec *c)
{
	free(c);
}

bool sx_codec_may_expand(size_t bytes, size_t plain_bytes)
{
	return false;
}

int sx_codec_decode(struct sx_codec *c, const void **content, size_t bytes, size_t plain_bytes)
{
	return -ENOTSUP;
}

int64_t sx_codec_encode(struct sx_codec *c, const void **content, size_t bytes, bool images)
{
	return 0;
}
#endif
