/*
 * MCAP, version 0 (mcap.dev/spec): what reader and writer share.
 *
 * A file is the magic, records, and the magic again. A record is a byte that says what it is, eight bytes of
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
	SX_MCAP_STATISTICS = 11,
	SX_MCAP_METADATA = 12,
	SX_MCAP_METADATA_INDEX = 13,
	SX_MCAP_SUMMARY_OFFSET = 14,
	SX_MCAP_DATA_END = 15
};

#define SX_MCAP_MAGIC "\x89MCAP0\r\n" /* without the zero at its end */
#define SX_MCAP_MAGIC_BYTES 8u
#define SX_MCAP_HEAD_BYTES 9u	/* of a record, before its content */
#define SX_MCAP_CHUNK_BYTES 40u /* of a chunk's content, before its records, with no name of a compression */
#define SX_MCAP_FOOTER_BYTES 20u
#define SX_MCAP_MESSAGE_BYTES 22u /* of a message's content, before its data */

struct sx_mcap_record {
	unsigned op;
	uint64_t bytes; /* of its content */
};

/* The head at at, of SX_MCAP_HEAD_BYTES. */
struct sx_mcap_record sx_mcap_head(const uint8_t *at);

struct sx_mcap_chunk {
	uint64_t plain_bytes;
	uint32_t crc; /* of the plain records; 0: nobody knows */
	struct sx_span compression, records;
};

/* False: it contradicts itself. at has all of the content. */
bool sx_mcap_parse_chunk(struct sx_mcap_chunk *c, const uint8_t *at, size_t bytes);
/*
 * From a head and SX_MCAP_CHUNK_BYTES + 8 of content: these bytes may well be the beginning of a chunk. For
 * those who look for one among others.
 */
bool sx_mcap_resembles_chunk(const uint8_t *at);

struct sx_mcap_channel {
	uint16_t id;
	struct sx_span topic, encoding;
	struct sx_cursor metadata; /* key and value by turns, sx_cursor_text() each */
};

bool sx_mcap_parse_channel(struct sx_mcap_channel *c, struct sx_span content);
/* The value of the last key of this name, empty without one. */
struct sx_span sx_mcap_value(struct sx_cursor metadata, const char *key);

/* CRC-32 of the format (as zlib's): goes on from crc, 0 to begin. */
uint32_t sx_mcap_crc(uint32_t crc, const void *data, size_t bytes);
/* That of a followed by b, from those of both and the bytes of b. */
uint32_t sx_mcap_crc_joined(uint32_t a, uint32_t b, uint64_t b_bytes);

#endif
