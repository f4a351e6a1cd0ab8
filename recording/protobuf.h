/*
 * As much of protobuf as a recording needs: fields in and out, and descriptions of messages for schemas.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_PROTOBUF_H
#define SX_RECORDING_PROTOBUF_H

#include "recording/bytes.h"

/* Values that are 0 or empty may be left out: readers take them for that. Fields go behind what b has. */
void sx_pb_varint(struct sx_bytes *b, unsigned field, uint64_t n);
void sx_pb_fixed32(struct sx_bytes *b, unsigned field, uint32_t n);
void sx_pb_fixed64(struct sx_bytes *b, unsigned field, uint64_t n);
void sx_pb_text(struct sx_bytes *b, unsigned field, const char *text);
void sx_pb_doubles(struct sx_bytes *b, unsigned field, const double *v, size_t count);
/* What stands before a message, or bytes: these are put behind it. */
void sx_pb_bytes_head(struct sx_bytes *b, unsigned field, size_t bytes);

struct sx_pb_field {
	unsigned number;
	uint64_t value;	      /* of numbers */
	struct sx_span bytes; /* of text, bytes, messages */
};

/* The next field; false at the end, and where in->failed: it contradicts itself. */
bool sx_pb_next(struct sx_cursor *in, struct sx_pb_field *f);

/* Numbers are those of descriptor.proto. */
enum sx_pb_type {
	SX_PB_DOUBLE = 1,
	SX_PB_INT64 = 3,
	SX_PB_UINT64 = 4,
	SX_PB_INT32 = 5,
	SX_PB_FIXED64 = 6,
	SX_PB_FIXED32 = 7,
	SX_PB_STRING = 9,
	SX_PB_MESSAGE = 11, /* google.protobuf.Timestamp */
	SX_PB_BYTES = 12
};

struct sx_pb_row {
	const char *name;
	unsigned number;
	enum sx_pb_type type;
	bool repeated;
};

/* A FileDescriptorSet of this message and of Timestamp. */
void sx_pb_describe(struct sx_bytes *to, const char *package, const char *name, const struct sx_pb_row *rows,
		    size_t count);

#endif
