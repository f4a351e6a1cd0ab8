/*
 * Writes an MCAP file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/ctl/export/mcap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef SX_HAVE_ZSTD
#include <zstd.h>
#endif

/* Chunks of this size, uncompressed: what a reader has in memory at a time, and the grain of seeking. */
#define CHUNK_BYTES ((size_t)4 << 20)
enum { LEVEL = 1 };

enum opcode {
	HEADER = 1,
	FOOTER = 2,
	SCHEMA = 3,
	CHANNEL = 4,
	MESSAGE = 5,
	CHUNK = 6,
	MESSAGE_INDEX = 7,
	CHUNK_INDEX = 8,
	STATISTICS = 11,
	SUMMARY_OFFSET = 14,
	DATA_END = 15
};

static const uint8_t magic[8] = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

/* Bytes that grow; error sticks. */
struct bytes {
	uint8_t *at;
	size_t count, room;
	bool failed;
};

struct schema {
	const char *name, *encoding;
	const void *data;
	size_t bytes;
};

struct channel {
	int schema;
	const char *topic, *encoding;
	uint64_t messages;
	uint32_t sequence;
	struct bytes index; /* of the chunk being filled: time, offset */
};

struct sx_mcap {
	FILE *f;
	bool compress;
	uint64_t offset;
	uint32_t crc; /* of the section being written */
	struct schema schema[SX_MCAP_CHANNELS];
	struct channel channel[SX_MCAP_CHANNELS];
	int schemas, channels;
	struct bytes chunk, packed;
	uint64_t chunk_start_ns, chunk_end_ns, start_ns, end_ns, messages;
	struct bytes chunk_indexes; /* records of the summary, one for each chunk */
	uint32_t chunks;
	int error;
#ifdef SX_HAVE_ZSTD
	ZSTD_CCtx *zstd;
#endif
};

/* ---- bytes ---- */

static void *grow(struct bytes *b, size_t more)
{
	size_t room = b->room ? b->room : 4096;
	uint8_t *p;

	while (room < b->count + more)
		room *= 2;
	if (room != b->room) {
		p = b->failed ? NULL : realloc(b->at, room);
		if (!p) {
			b->failed = true;
			return NULL;
		}
		b->at = p;
		b->room = room;
	}
	b->count += more;
	return b->at + b->count - more;
}

static void mcap_add(struct bytes *b, const void *data, size_t bytes)
{
	void *to = grow(b, bytes);

	if (to && bytes)
		memcpy(to, data, bytes);
}

/* Little endian, whatever the machine is. */
static void add_number(struct bytes *b, uint64_t n, int bytes)
{
	uint8_t *to = grow(b, (size_t)bytes);

	for (int i = 0; to && i < bytes; i++)
		to[i] = (uint8_t)(n >> 8 * i);
}

static void add_text(struct bytes *b, const char *text)
{
	add_number(b, strlen(text), 4);
	mcap_add(b, text, strlen(text));
}

/* A record begins: where its length will stand. */
static size_t begin(struct bytes *b, enum opcode op)
{
	add_number(b, op, 1);
	add_number(b, 0, 8);
	return b->count;
}

static void end(struct bytes *b, size_t began)
{
	uint64_t n = b->count - began;

	for (int i = 0; !b->failed && i < 8; i++)
		b->at[began - 8 + (size_t)i] = (uint8_t)(n >> 8 * i);
}

/* ---- the file ---- */

static void mcap_put(struct sx_mcap *m, const void *data, size_t bytes)
{
	if (m->error || !bytes)
		return;
	if (fwrite(data, 1, bytes, m->f) != bytes) {
		m->error = errno ? -errno : -EIO;
		return;
	}
	m->offset += bytes;
	m->crc = (uint32_t)crc32_z(m->crc, data, bytes);
}

static void put_bytes(struct sx_mcap *m, struct bytes *b)
{
	if (b->failed)
		m->error = m->error ? m->error : -ENOMEM;
	else
		mcap_put(m, b->at, b->count);
	b->count = 0;
}

static void add_schema(struct bytes *b, const struct schema *s, int id)
{
	size_t began = begin(b, SCHEMA);

	add_number(b, (uint64_t)id, 2);
	add_text(b, s->name);
	add_text(b, s->encoding);
	add_number(b, s->bytes, 4);
	mcap_add(b, s->data, s->bytes);
	end(b, began);
}

static void add_channel(struct bytes *b, const struct channel *c, int id)
{
	size_t began = begin(b, CHANNEL);

	add_number(b, (uint64_t)id, 2);
	add_number(b, (uint64_t)c->schema, 2);
	add_text(b, c->topic);
	add_text(b, c->encoding);
	add_number(b, 0, 4); /* no metadata */
	end(b, began);
}

int sx_mcap_create(struct sx_mcap **ret, FILE *f, bool compress)
{
	struct sx_mcap *m = calloc(1, sizeof(*m));
	struct bytes b = {0};
	size_t began;

	if (!m)
		return -ENOMEM;
	m->f = f;
#ifdef SX_HAVE_ZSTD
	m->compress = compress;
	m->zstd = compress ? ZSTD_createCCtx() : NULL;
	if (compress && !m->zstd) {
		free(m);
		return -ENOMEM;
	}
#endif
	mcap_put(m, magic, sizeof(magic));
	began = begin(&b, HEADER);
	add_text(&b, ""); /* profile */
	add_text(&b, "stixelctl " SX_VERSION);
	end(&b, began);
	put_bytes(m, &b);
	free(b.at);
	*ret = m;
	return 0;
}

int sx_mcap_schema(struct sx_mcap *m, const char *name, const char *encoding, const void *data, size_t bytes)
{
	struct bytes b = {0};

	if (m->schemas == SX_MCAP_CHANNELS)
		return -ENOBUFS;
	m->schema[m->schemas++] = (struct schema){name, encoding, data, bytes};
	add_schema(&b, &m->schema[m->schemas - 1], m->schemas);
	put_bytes(m, &b);
	free(b.at);
	return m->schemas;
}

int sx_mcap_channel(struct sx_mcap *m, int schema, const char *topic, const char *encoding)
{
	struct bytes b = {0};

	if (m->channels == SX_MCAP_CHANNELS)
		return -ENOBUFS;
	m->channel[m->channels++] = (struct channel){.schema = schema, .topic = topic, .encoding = encoding};
	add_channel(&b, &m->channel[m->channels - 1], m->channels);
	put_bytes(m, &b);
	free(b.at);
	return m->channels;
}

/* ---- chunks ---- */

/* The content as it is to lie in the file. */
static const struct bytes *pack(struct sx_mcap *m)
{
#ifdef SX_HAVE_ZSTD
	size_t bound, n;

	if (m->compress) {
		bound = ZSTD_compressBound(m->chunk.count);
		m->packed.count = 0;
		if (!grow(&m->packed, bound))
			return NULL;
		n = ZSTD_compressCCtx(m->zstd, m->packed.at, bound, m->chunk.at, m->chunk.count, LEVEL);
		if (ZSTD_isError(n))
			return NULL;
		m->packed.count = n;
		return &m->packed;
	}
#endif
	return m->chunk.failed ? NULL : &m->chunk;
}

static const char *compression(const struct sx_mcap *m)
{
	return m->compress ? "zstd" : "";
}

/*
 * Message indexes follow their chunk; where each lies goes into the chunk's index.
 * Returns how many there are.
 */
static int put_message_indexes(struct sx_mcap *m, uint64_t at[SX_MCAP_CHANNELS])
{
	struct bytes b = {0};
	int n = 0;

	for (int i = 0; i < m->channels; i++) {
		struct bytes *index = &m->channel[i].index;
		size_t began;

		at[i] = 0;
		if (!index->count)
			continue;
		at[i] = m->offset;
		n++;
		began = begin(&b, MESSAGE_INDEX);
		add_number(&b, (uint64_t)i + 1, 2);
		add_number(&b, index->count, 4);
		mcap_add(&b, index->at, index->count);
		end(&b, began);
		b.failed |= index->failed;
		put_bytes(m, &b);
		index->count = 0;
	}
	free(b.at);
	return n;
}

static void put_chunk(struct sx_mcap *m)
{
	uint64_t chunk_at = m->offset, chunk_bytes, at[SX_MCAP_CHANNELS];
	const struct bytes *content = pack(m);
	struct bytes b = {0}, *index = &m->chunk_indexes;
	size_t began;
	int n;

	if (!content) {
		m->error = m->error ? m->error : -ENOMEM;
		return;
	}
	began = begin(&b, CHUNK);
	add_number(&b, m->chunk_start_ns, 8);
	add_number(&b, m->chunk_end_ns, 8);
	add_number(&b, m->chunk.count, 8);
	add_number(&b, crc32_z(0, m->chunk.at, m->chunk.count), 4);
	add_text(&b, compression(m));
	add_number(&b, content->count, 8);
	mcap_add(&b, content->at, content->count);
	end(&b, began);
	put_bytes(m, &b);
	free(b.at);
	chunk_bytes = m->offset - chunk_at;

	n = put_message_indexes(m, at);
	began = begin(index, CHUNK_INDEX);
	add_number(index, m->chunk_start_ns, 8);
	add_number(index, m->chunk_end_ns, 8);
	add_number(index, chunk_at, 8);
	add_number(index, chunk_bytes, 8);
	add_number(index, (uint64_t)n * 10, 4);
	for (int i = 0; i < m->channels; i++)
		if (at[i]) {
			add_number(index, (uint64_t)i + 1, 2);
			add_number(index, at[i], 8);
		}
	add_number(index, m->offset - chunk_at - chunk_bytes, 8);
	add_text(index, compression(m));
	add_number(index, content->count, 8);
	add_number(index, m->chunk.count, 8);
	end(index, began);
	m->chunks++;
	m->chunk.count = 0;
}

static void note_time(uint64_t *start_ns, uint64_t *end_ns, bool first, uint64_t ns)
{
	if (first || ns < *start_ns)
		*start_ns = ns;
	if (first || ns > *end_ns)
		*end_ns = ns;
}

int sx_mcap_message(struct sx_mcap *m, int channel, uint64_t log_ns, uint64_t publish_ns, const void *data,
		    size_t bytes)
{
	struct channel *c = &m->channel[channel - 1];
	size_t began, at;

	if (m->chunk.count && m->chunk.count + bytes > CHUNK_BYTES)
		put_chunk(m);
	note_time(&m->chunk_start_ns, &m->chunk_end_ns, m->chunk.count == 0, log_ns);
	note_time(&m->start_ns, &m->end_ns, m->messages == 0, log_ns);
	at = m->chunk.count;
	began = begin(&m->chunk, MESSAGE);
	add_number(&m->chunk, (uint64_t)channel, 2);
	add_number(&m->chunk, c->sequence++, 4);
	add_number(&m->chunk, log_ns, 8);
	add_number(&m->chunk, publish_ns, 8);
	mcap_add(&m->chunk, data, bytes);
	end(&m->chunk, began);
	add_number(&c->index, log_ns, 8);
	add_number(&c->index, at, 8);
	c->messages++;
	m->messages++;
	if (m->chunk.failed || c->index.failed)
		m->error = m->error ? m->error : -ENOMEM;
	return m->error;
}

/* ---- the end ---- */

static void add_statistics(struct bytes *b, const struct sx_mcap *m)
{
	size_t began = begin(b, STATISTICS);

	add_number(b, m->messages, 8);
	add_number(b, (uint64_t)m->schemas, 2);
	add_number(b, (uint64_t)m->channels, 4);
	add_number(b, 0, 4); /* attachments */
	add_number(b, 0, 4); /* metadata */
	add_number(b, m->chunks, 4);
	add_number(b, m->start_ns, 8);
	add_number(b, m->end_ns, 8);
	add_number(b, (uint64_t)m->channels * 10, 4);
	for (int i = 0; i < m->channels; i++) {
		add_number(b, (uint64_t)i + 1, 2);
		add_number(b, m->channel[i].messages, 8);
	}
	end(b, began);
}

/* Writes a group of the summary, and notes where it lies. */
static void put_group(struct sx_mcap *m, struct bytes *group, enum opcode op, struct bytes *offsets)
{
	uint64_t at = m->offset;
	size_t began, bytes = group->count;

	put_bytes(m, group);
	if (!bytes)
		return;
	began = begin(offsets, SUMMARY_OFFSET);
	add_number(offsets, op, 1);
	add_number(offsets, at, 8);
	add_number(offsets, bytes, 8);
	end(offsets, began);
}

static void put_summary(struct sx_mcap *m)
{
	uint64_t summary_at = m->offset, offsets_at;
	struct bytes b = {0}, offsets = {0};

	m->crc = 0;
	for (int i = 0; i < m->schemas; i++)
		add_schema(&b, &m->schema[i], i + 1);
	put_group(m, &b, SCHEMA, &offsets);
	for (int i = 0; i < m->channels; i++)
		add_channel(&b, &m->channel[i], i + 1);
	put_group(m, &b, CHANNEL, &offsets);
	add_statistics(&b, m);
	put_group(m, &b, STATISTICS, &offsets);
	put_group(m, &m->chunk_indexes, CHUNK_INDEX, &offsets);
	offsets_at = m->offset;
	put_bytes(m, &offsets);

	/* The checksum covers the footer up to itself. */
	add_number(&b, FOOTER, 1);
	add_number(&b, 20, 8);
	add_number(&b, summary_at, 8);
	add_number(&b, offsets_at, 8);
	put_bytes(m, &b);
	add_number(&b, m->crc, 4);
	put_bytes(m, &b);
	free(b.at);
	free(offsets.at);
}

int sx_mcap_finish(struct sx_mcap *m)
{
	struct bytes b = {0};
	size_t began;

	if (m->chunk.count)
		put_chunk(m);
	began = begin(&b, DATA_END);
	add_number(&b, m->crc, 4);
	end(&b, began);
	put_bytes(m, &b);
	free(b.at);
	put_summary(m);
	mcap_put(m, magic, sizeof(magic));
	return m->error;
}

void sx_mcap_destroy(struct sx_mcap *m)
{
	if (!m)
		return;
#ifdef SX_HAVE_ZSTD
	ZSTD_freeCCtx(m->zstd);
#endif
	for (int i = 0; i < m->channels; i++)
		free(m->channel[i].index.at);
	free(m->chunk.at);
	free(m->packed.at);
	free(m->chunk_indexes.at);
	free(m);
}
