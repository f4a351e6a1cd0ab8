/*
 * MCAP: the common part of reader and writer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/mcap.h"

#include <zlib.h>

#include "base/contract.h"
#ifdef SX_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

struct sx_mcap_record sx_mcap_head(const uint8_t *at)
{
	struct sx_cursor c = {at + 1, 8, false};

	return (struct sx_mcap_record){at[0], sx_cursor_number(&c, 8)};
}

bool sx_mcap_parse_chunk(struct sx_mcap_chunk *c, const uint8_t *at, size_t bytes)
{
	struct sx_cursor in = {at, bytes, false};

	sx_cursor_take(&in, 16); /* times of the first and the last message */
	c->plain_bytes = sx_cursor_number(&in, 8);
	c->crc = (uint32_t)sx_cursor_number(&in, 4);
	c->compression = sx_cursor_text(&in);
	c->records = sx_cursor_take(&in, sx_cursor_number(&in, 8));
	return !in.failed;
}

bool sx_mcap_resembles_chunk(const uint8_t *at)
{
	const struct sx_mcap_record r = sx_mcap_head(at);
	struct sx_cursor in = {at + SX_MCAP_HEAD_BYTES, SX_MCAP_CHUNK_BYTES + 8, false};
	uint64_t name;

	if (r.op != SX_MCAP_CHUNK || r.bytes < SX_MCAP_CHUNK_BYTES)
		return false;
	sx_cursor_take(&in, 28);
	name = sx_cursor_number(&in, 4);
	sx_cursor_take(&in, name);
	return name <= 8 && sx_cursor_number(&in, 8) == r.bytes - SX_MCAP_CHUNK_BYTES - name && !in.failed;
}

bool sx_mcap_parse_channel(struct sx_mcap_channel *c, struct sx_span content)
{
	struct sx_cursor in = {content.at, content.bytes, false};
	struct sx_span pairs;

	c->id = (uint16_t)sx_cursor_number(&in, 2);
	sx_cursor_number(&in, 2);
	c->topic = sx_cursor_text(&in);
	c->encoding = sx_cursor_text(&in);
	pairs = sx_cursor_text(&in);
	c->metadata = (struct sx_cursor){pairs.at, pairs.bytes, false};
	return !in.failed;
}

struct sx_span sx_mcap_value(struct sx_cursor metadata, const char *key)
{
	struct sx_span found = {metadata.at, 0};

	while (metadata.left && !metadata.failed) {
		struct sx_span name = sx_cursor_text(&metadata), value = sx_cursor_text(&metadata);

		if (!metadata.failed && sx_span_is(name, key))
			found = value;
	}
	return found;
}

uint32_t sx_mcap_crc(uint32_t crc, const void *data, size_t bytes)
{
#ifdef SX_HAVE_LIBDEFLATE
	/* libdeflate uses the processor's instructions; zlib uses a table and takes many times as long. */
	return libdeflate_crc32(crc, data, bytes);
#else
	return (uint32_t)crc32_z(crc, data, bytes);
#endif
}

uint32_t sx_mcap_crc_joined(uint32_t a, uint32_t b, uint64_t b_bytes)
{
	sx_must(sizeof(z_off_t), ==, 8);
	return (uint32_t)crc32_combine(a, b, (z_off_t)b_bytes);
}
