/*
 * Writes an MCAP file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/mcap_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "recording/codec.h"
#include "recording/mcap.h"

/* Bytes of a message that are copied and then summed at a time. */
#define SUM_BYTES ((size_t)64 << 10)

/* If messages of a chunk have this size on average, most of their bytes are images. */
#define IMAGE_BYTES ((size_t)64 << 10)

struct channel {
	uint64_t messages;
	struct sx_bytes index; /* index of the chunk being filled: time, offset */
};

struct sx_mcap {
	sx_mcap_sink_fn *sink;
	void *user;
	size_t chunk_bytes;
	struct sx_codec *codec; /* NULL: uncompressed */
	uint64_t offset;
	uint32_t crc; /* checksum of the section being written */
	struct channel channel[SX_MCAP_CHANNELS];
	int schemas, channels;
	/* schema and channel records, as they are in the file */
	struct sx_bytes schema_records, channel_records;
	size_t schema_bytes; /* number of bytes of schema_records that have been added to a chunk */
	struct sx_bytes chunk;
	size_t chunk_summed; /* bytes of the chunk that are in its checksum */
	uint32_t chunk_crc;
	uint64_t chunk_start_ns, chunk_end_ns, chunk_messages;
	uint64_t start_ns, end_ns, messages;
	struct sx_bytes chunk_indexes, metadata_indexes; /* records of the summary */
	uint32_t chunks, metadata;
	int error;
};

/* ---- records ---- */

/* Begins a record. Returns the offset of its content; its length is set later. */
static size_t begin_record(struct sx_bytes *b, enum sx_mcap_op op)
{
	sx_bytes_number(b, op, 1);
	sx_bytes_number(b, 0, 8);
	return b->count;
}

static inline void store(uint8_t *to, uint64_t n, int bytes)
{
	sx_must_index(bytes - 1, 8);
	for (int i = 0; i < bytes; i++)
		to[i] = (uint8_t)(n >> 8 * i);
}

static void set_number(struct sx_bytes *b, size_t at, uint64_t n, int bytes)
{
	sx_must_be(b->failed || at + (size_t)bytes <= b->count);
	if (!b->failed)
		store(b->at + at, n, bytes);
}

static void end_record(struct sx_bytes *b, size_t began)
{
	sx_must(began, <=, b->count);
	set_number(b, began - 8, b->count - began, 8);
}

static void add_pairs(struct sx_bytes *b, const struct sx_mcap_pair *pairs)
{
	size_t began;

	sx_bytes_number(b, 0, 4);
	began = b->count;
	for (; pairs && pairs->key; pairs++) {
		sx_bytes_text(b, pairs->key);
		sx_bytes_text(b, pairs->value);
	}
	set_number(b, began - 4, b->count - began, 4);
}

/* ---- the file ---- */

static int fail(struct sx_mcap *m, int error)
{
	m->error = m->error ? m->error : error;
	return m->error;
}

/* Writes bytes with the checksum crc. */
static void put_summed(struct sx_mcap *m, const void *data, size_t bytes, uint32_t crc)
{
	if (m->error || !bytes)
		return;
	m->error = m->sink(m->user, data, bytes);
	m->offset += bytes;
	m->crc = sx_mcap_crc_joined(m->crc, crc, bytes);
}

static void put(struct sx_mcap *m, const void *data, size_t bytes)
{
	put_summed(m, data, bytes, sx_mcap_crc(0, data, bytes));
}

static void put_bytes(struct sx_mcap *m, struct sx_bytes *b)
{
	if (b->failed)
		fail(m, -ENOMEM);
	else
		put(m, b->at, b->count);
	b->count = 0;
}

int sx_mcap_create(struct sx_mcap **ret, sx_mcap_sink_fn *sink, void *user, size_t chunk_bytes, bool compress)
{
	struct sx_mcap *m = calloc(1, sizeof(*m));
	struct sx_bytes b = {0};
	size_t began;
	int r = 0;

	if (!m)
		return -ENOMEM;
	sx_must(chunk_bytes, >, 0);
	m->sink = sink;
	m->user = user;
	m->chunk_bytes = chunk_bytes;
	if (compress)
		r = sx_codec_built() ? sx_codec_create(&m->codec) : -ENOTSUP;
	if (r < 0) {
		sx_mcap_destroy(m);
		return r;
	}
	sx_bytes_add(&b, SX_MCAP_MAGIC, SX_MCAP_MAGIC_BYTES);
	began = begin_record(&b, SX_MCAP_HEADER);
	sx_bytes_text(&b, ""); /* profile */
	sx_bytes_text(&b, "stixelctl " SX_VERSION);
	end_record(&b, began);
	put_bytes(m, &b);
	sx_bytes_free(&b);
	*ret = m;
	return 0;
}

int sx_mcap_schema(struct sx_mcap *m, const char *name, const char *encoding, const void *data, size_t bytes)
{
	struct sx_bytes *b = &m->schema_records;
	size_t began;

	if (m->schemas == SX_MCAP_CHANNELS)
		return -ENOBUFS;
	began = begin_record(b, SX_MCAP_SCHEMA);
	sx_bytes_number(b, (uint64_t)++m->schemas, 2);
	sx_bytes_text(b, name);
	sx_bytes_text(b, encoding);
	sx_bytes_number(b, bytes, 4);
	sx_bytes_add(b, data, bytes);
	end_record(b, began);
	return b->failed ? fail(m, -ENOMEM) : m->schemas;
}

int sx_mcap_channel(struct sx_mcap *m, int schema, const char *topic, const char *encoding,
		    const struct sx_mcap_pair *pairs)
{
	struct sx_bytes *b = &m->channel_records;
	size_t at = b->count, began;

	if (m->channels == SX_MCAP_CHANNELS)
		return -ENOBUFS;
	sx_must_index(schema, m->schemas + 1);
	began = begin_record(b, SX_MCAP_CHANNEL);
	sx_bytes_number(b, (uint64_t)++m->channels, 2);
	sx_bytes_number(b, (uint64_t)schema, 2);
	sx_bytes_text(b, topic);
	sx_bytes_text(b, encoding);
	add_pairs(b, pairs);
	end_record(b, began);
	/* otherwise it is added with the next chunk */
	if (m->chunk.count && !b->failed && !m->schema_records.failed) {
		sx_bytes_add(&m->chunk, m->schema_records.at + m->schema_bytes,
			     m->schema_records.count - m->schema_bytes);
		m->schema_bytes = m->schema_records.count;
		sx_bytes_add(&m->chunk, b->at + at, b->count - at);
	}
	return b->failed ? fail(m, -ENOMEM) : m->channels;
}

int sx_mcap_metadata(struct sx_mcap *m, const char *name, const struct sx_mcap_pair *pairs)
{
	struct sx_bytes b = {0}, *index = &m->metadata_indexes;
	uint64_t at = m->offset;
	size_t began = begin_record(&b, SX_MCAP_METADATA);

	sx_bytes_text(&b, name);
	add_pairs(&b, pairs);
	end_record(&b, began);
	put_bytes(m, &b);
	sx_bytes_free(&b);
	m->metadata++;
	began = begin_record(index, SX_MCAP_METADATA_INDEX);
	sx_bytes_number(index, at, 8);
	sx_bytes_number(index, m->offset - at, 8);
	sx_bytes_text(index, name);
	end_record(index, began);
	return index->failed ? fail(m, -ENOMEM) : m->error;
}

/* ---- chunks ---- */

/*
 * Writes the message indexes behind their chunk. Sets their offsets for the chunk's index. Returns the number
 * of indexes.
 */
static int put_message_indexes(struct sx_mcap *m, uint64_t at[SX_MCAP_CHANNELS])
{
	struct sx_bytes b = {0};
	int n = 0;

	for (int i = 0; i < m->channels; i++) {
		struct sx_bytes *index = &m->channel[i].index;
		size_t began;

		at[i] = 0;
		if (!index->count)
			continue;
		sx_must(index->count % 16, ==, 0);
		at[i] = m->offset + b.count;
		n++;
		began = begin_record(&b, SX_MCAP_MESSAGE_INDEX);
		sx_bytes_number(&b, (uint64_t)i + 1, 2);
		sx_bytes_number(&b, index->count, 4);
		sx_bytes_add(&b, index->at, index->count);
		end_record(&b, began);
		b.failed |= index->failed;
		index->count = 0;
	}
	put_bytes(m, &b);
	sx_bytes_free(&b);
	return n;
}

static void add_chunk_index(struct sx_mcap *m, uint64_t chunk_at, uint64_t chunk_bytes,
			    const char *compression, uint64_t packed_bytes)
{
	struct sx_bytes *index = &m->chunk_indexes;
	uint64_t at[SX_MCAP_CHANNELS];
	int n = put_message_indexes(m, at);
	size_t began = begin_record(index, SX_MCAP_CHUNK_INDEX);

	sx_must(chunk_at + chunk_bytes, <=, m->offset);
	sx_bytes_number(index, m->chunk_start_ns, 8);
	sx_bytes_number(index, m->chunk_end_ns, 8);
	sx_bytes_number(index, chunk_at, 8);
	sx_bytes_number(index, chunk_bytes, 8);
	sx_bytes_number(index, (uint64_t)n * 10, 4);
	for (int i = 0; i < m->channels; i++)
		if (at[i]) {
			sx_bytes_number(index, (uint64_t)i + 1, 2);
			sx_bytes_number(index, at[i], 8);
		}
	sx_bytes_number(index, m->offset - chunk_at - chunk_bytes, 8);
	sx_bytes_text(index, compression);
	sx_bytes_number(index, packed_bytes, 8);
	sx_bytes_number(index, m->chunk.count, 8);
	end_record(index, began);
}

/* Adds to the chunk's checksum the bytes appended since the last call. */
static void sum_chunk(struct sx_mcap *m)
{
	struct sx_bytes *b = &m->chunk;

	sx_must(m->chunk_summed, <=, b->count);
	if (b->count > m->chunk_summed)
		m->chunk_crc = sx_mcap_crc(m->chunk_crc, b->at + m->chunk_summed, b->count - m->chunk_summed);
	m->chunk_summed = b->count;
}

/* Appends to the chunk in pieces, which are summed while they are in the processor's cache. */
static void add_to_chunk(struct sx_mcap *m, const uint8_t *data, size_t bytes)
{
	while (bytes && !m->chunk.failed) {
		const size_t n = bytes < SUM_BYTES ? bytes : SUM_BYTES;

		sx_bytes_add(&m->chunk, data, n);
		sum_chunk(m);
		data += n;
		bytes -= n;
	}
}

int sx_mcap_flush(struct sx_mcap *m)
{
	uint64_t chunk_at = m->offset;
	const void *content = m->chunk.at;
	const char *compression = "";
	struct sx_bytes head = {0};
	uint32_t packed_crc;
	size_t bytes = m->chunk.count, began;
	int64_t n = 0;

	if (!bytes || m->error || m->chunk.failed)
		return m->chunk.failed ? fail(m, -ENOMEM) : m->error;
	sx_must(m->chunk_messages, >, 0);
	sum_chunk(m);
	packed_crc = m->chunk_crc;
	if (m->codec)
		n = sx_codec_encode(m->codec, &content, bytes, bytes >= IMAGE_BYTES * m->chunk_messages);
	if (n < 0)
		return fail(m, (int)n);
	if (n > 0) {
		compression = "zstd";
		bytes = (size_t)n;
		packed_crc = sx_mcap_crc(0, content, bytes);
	}
	began = begin_record(&head, SX_MCAP_CHUNK);
	sx_bytes_number(&head, m->chunk_start_ns, 8);
	sx_bytes_number(&head, m->chunk_end_ns, 8);
	sx_bytes_number(&head, m->chunk.count, 8);
	sx_bytes_number(&head, m->chunk_crc, 4);
	sx_bytes_text(&head, compression);
	sx_bytes_number(&head, bytes, 8);
	set_number(&head, began - 8, head.count - began + bytes, 8);
	put_bytes(m, &head);
	sx_bytes_free(&head);
	put_summed(m, content, bytes, packed_crc);
	add_chunk_index(m, chunk_at, m->offset - chunk_at, compression, bytes);
	m->chunks++;
	m->chunk.count = m->chunk_summed = 0;
	m->chunk_crc = 0;
	m->chunk_messages = 0;
	return m->error;
}

bool sx_mcap_fits(const struct sx_mcap *m, size_t bytes)
{
	return !m->chunk.count || m->chunk.count + bytes <= m->chunk_bytes;
}

/*
 * Begins a chunk with all channels, so that it can be read when the chunks before it cannot. Schemas are
 * longer and not needed to find frames, so they are only in the first chunk.
 */
static void begin_chunk(struct sx_mcap *m)
{
	sx_must(m->chunk.count, ==, 0);
	sx_must_be(!m->schema_records.failed && !m->channel_records.failed);
	sx_bytes_add(&m->chunk, m->schema_records.at + m->schema_bytes,
		     m->schema_records.count - m->schema_bytes);
	m->schema_bytes = m->schema_records.count;
	sx_bytes_add(&m->chunk, m->channel_records.at, m->channel_records.count);
}

static void note_time(uint64_t *start_ns, uint64_t *end_ns, bool first, uint64_t ns)
{
	sx_must_be(first || *start_ns <= *end_ns);
	if (first || ns < *start_ns)
		*start_ns = ns;
	if (first || ns > *end_ns)
		*end_ns = ns;
}

int sx_mcap_message(struct sx_mcap *m, int channel, uint64_t time_ns, const struct sx_mcap_part *parts,
		    int count)
{
	struct channel *c = &m->channel[channel - 1];
	uint8_t head[SX_MCAP_HEAD_BYTES + SX_MCAP_MESSAGE_BYTES] = {SX_MCAP_MESSAGE}, place[16];
	uint64_t bytes = SX_MCAP_MESSAGE_BYTES;

	sx_must_index(channel - 1, m->channels);
	if (m->error)
		return m->error;
	sx_must(count, >, 0);
	if (!m->chunk.count)
		begin_chunk(m);
	note_time(&m->chunk_start_ns, &m->chunk_end_ns, m->chunk_messages++ == 0, time_ns);
	note_time(&m->start_ns, &m->end_ns, m->messages++ == 0, time_ns);
	for (int i = 0; i < count; i++)
		bytes += parts[i].bytes;
	store(place, time_ns, 8);
	store(place + 8, m->chunk.count, 8);
	sx_bytes_add(&c->index, place, sizeof(place));
	store(head + 1, bytes, 8);
	store(head + 9, (uint64_t)channel, 2);
	store(head + 11, c->messages++, 4);
	store(head + 15, time_ns, 8);
	store(head + 23, time_ns, 8);
	sx_bytes_add(&m->chunk, head, sizeof(head));
	for (int i = 0; i < count; i++)
		add_to_chunk(m, parts[i].data, parts[i].bytes);
	return m->chunk.failed || c->index.failed ? fail(m, -ENOMEM) : 0;
}

/* ---- the end ---- */

static void add_statistics(struct sx_bytes *b, const struct sx_mcap *m)
{
	size_t began = begin_record(b, SX_MCAP_STATISTICS);

	sx_bytes_number(b, m->messages, 8);
	sx_bytes_number(b, (uint64_t)m->schemas, 2);
	sx_bytes_number(b, (uint64_t)m->channels, 4);
	sx_bytes_number(b, 0, 4); /* attachments */
	sx_bytes_number(b, m->metadata, 4);
	sx_bytes_number(b, m->chunks, 4);
	sx_bytes_number(b, m->start_ns, 8);
	sx_bytes_number(b, m->end_ns, 8);
	sx_bytes_number(b, (uint64_t)m->channels * 10, 4);
	for (int i = 0; i < m->channels; i++) {
		sx_bytes_number(b, (uint64_t)i + 1, 2);
		sx_bytes_number(b, m->channel[i].messages, 8);
	}
	end_record(b, began);
}

/* Writes a group of the summary, and notes its offset. */
static void put_group(struct sx_mcap *m, struct sx_bytes *group, enum sx_mcap_op op, struct sx_bytes *offsets)
{
	uint64_t at = m->offset;
	size_t began, bytes = group->count;

	sx_must(m->chunk.count, ==, 0);
	put_bytes(m, group);
	if (!bytes)
		return;
	began = begin_record(offsets, SX_MCAP_SUMMARY_OFFSET);
	sx_bytes_number(offsets, op, 1);
	sx_bytes_number(offsets, at, 8);
	sx_bytes_number(offsets, bytes, 8);
	end_record(offsets, began);
}

static void put_summary(struct sx_mcap *m)
{
	uint64_t summary_at = m->offset, offsets_at;
	struct sx_bytes b = {0}, offsets = {0};

	sx_must(m->chunk.count, ==, 0);
	m->crc = 0;
	put_group(m, &m->schema_records, SX_MCAP_SCHEMA, &offsets);
	put_group(m, &m->channel_records, SX_MCAP_CHANNEL, &offsets);
	add_statistics(&b, m);
	put_group(m, &b, SX_MCAP_STATISTICS, &offsets);
	put_group(m, &m->chunk_indexes, SX_MCAP_CHUNK_INDEX, &offsets);
	put_group(m, &m->metadata_indexes, SX_MCAP_METADATA_INDEX, &offsets);
	offsets_at = m->offset;
	put_bytes(m, &offsets);

	/* The checksum covers the footer up to itself. */
	sx_bytes_number(&b, SX_MCAP_FOOTER, 1);
	sx_bytes_number(&b, SX_MCAP_FOOTER_BYTES, 8);
	sx_bytes_number(&b, summary_at, 8);
	sx_bytes_number(&b, offsets_at, 8);
	put_bytes(m, &b);
	sx_bytes_number(&b, m->crc, 4);
	sx_bytes_add(&b, SX_MCAP_MAGIC, SX_MCAP_MAGIC_BYTES);
	put_bytes(m, &b);
	sx_bytes_free(&b);
	sx_bytes_free(&offsets);
}

int sx_mcap_finish(struct sx_mcap *m)
{
	struct sx_bytes b = {0};
	size_t began;

	if (sx_mcap_flush(m) < 0)
		return m->error;
	began = begin_record(&b, SX_MCAP_DATA_END);
	sx_bytes_number(&b, m->crc, 4);
	end_record(&b, began);
	put_bytes(m, &b);
	sx_bytes_free(&b);
	put_summary(m);
	return m->error;
}

void sx_mcap_destroy(struct sx_mcap *m)
{
	if (!m)
		return;
	sx_codec_destroy(m->codec);
	for (int i = 0; i < SX_MCAP_CHANNELS; i++)
		sx_bytes_free(&m->channel[i].index);
	sx_bytes_free(&m->schema_records);
	sx_bytes_free(&m->channel_records);
	sx_bytes_free(&m->chunk);
	sx_bytes_free(&m->chunk_indexes);
	sx_bytes_free(&m->metadata_indexes);
	free(m);
}
