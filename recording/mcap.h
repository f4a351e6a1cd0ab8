/*
 * MCAP, version 0 (mcap.dev/spec): the common part of reader and writer.
 *
 * A file is the magic, records, and the magic again. A record is one byte for its kind, eight bytes for its
 * length, and the content.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_MCAP_H
#define SX_RECORDING_MCAP_H

#include "recording/bytes.h"

enum sx_mcap_op {
	SX_MCAP_HEADER = 1,
	SX_MCAP_FOOTER = 2,
	SX_MCAP_SCHEMA = 3,
	SX_MCAP_CHANNEL = 4,
	SX_MCAP_MESSAGE = 5,
	SX_MCAP_CHUNK = 6,
	SX_MCAP_MESSAGE_INDEX = 7,
	SX_MCAP_CHUNK_INDEX = 8,
	SX_MCAP_ATTACHMENT = 9,
	SX_MCAP_STATISTICS = 11,
	SX_MCAP_METADATA = 12,
	SX_MCAP_METADATA_INDEX = 13,
	SX_MCAP_SUMMARY_OFFSET = 14,
	SX_MCAP_DATA_END = 15
};

#define SX_MCAP_MAGIC "\x89MCAP0\r\n" /* the terminating zero is not part of it */
#define SX_MCAP_MAGIC_BYTES 8u
#define SX_MCAP_HEAD_BYTES 9u /* head of a record, before its content */
/* part of a chunk's content before its records, with an empty compression name */
#define SX_MCAP_CHUNK_BYTES 40u
#define SX_MCAP_FOOTER_BYTES 20u
#define SX_MCAP_MESSAGE_BYTES 22u /* part of a message's content before its data */

struct sx_mcap_record {
	unsigned op;
	uint64_t bytes; /* length of the content */
};

/* Parses the SX_MCAP_HEAD_BYTES of a record's head. */
struct sx_mcap_record sx_mcap_head(const uint8_t *at);

struct sx_mcap_chunk {
	uint64_t plain_bytes;
	uint32_t crc; /* checksum of the uncompressed records; 0: not known */
	struct sx_span compression, records;
};

/* Parses the whole content of a chunk. False: it is inconsistent. */
bool sx_mcap_parse_chunk(struct sx_mcap_chunk *c, const uint8_t *at, size_t bytes);
/*
 * Returns whether these bytes may be the beginning of a chunk. at: a head and SX_MCAP_CHUNK_BYTES + 8 bytes
 * of content. Used to search for chunks among other bytes.
 */
bool sx_mcap_resembles_chunk(const uint8_t *at);

struct sx_mcap_channel {
	uint16_t id;
	struct sx_span topic, encoding;
	struct sx_cursor metadata; /* key and value alternate; read each with sx_cursor_text() */
};

bool sx_mcap_parse_channel(struct sx_mcap_channel *c, struct sx_span content);
/* Returns the value of the last key of this name; empty if there is none. */
struct sx_span sx_mcap_value(struct sx_cursor metadata, const char *key);

/* Continues the CRC-32 of the format (that of zlib) from crc; begin with 0. */
uint32_t sx_mcap_crc(uint32_t crc, const void *data, size_t bytes);
/* Returns the CRC of a followed by b, from the CRCs of both and the length of b. */
uint32_t sx_mcap_crc_joined(uint32_t a, uint32_t b, uint64_t b_bytes);

#endif
