/*
 * The part of protobuf that a recording needs: writes and reads fields, and describes messages for schemas.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_PROTOBUF_H
#define SX_RECORDING_PROTOBUF_H

#include "recording/bytes.h"

/* Appends a field to b. Fields that are 0 or empty may be left out, since readers assume these values. */
void sx_pb_varint(struct sx_bytes *b, unsigned field, uint64_t n);
void sx_pb_fixed32(struct sx_bytes *b, unsigned field, uint32_t n);
void sx_pb_fixed64(struct sx_bytes *b, unsigned field, uint64_t n);
void sx_pb_text(struct sx_bytes *b, unsigned field, const char *text);
void sx_pb_doubles(struct sx_bytes *b, unsigned field, const double *v, size_t count);
/* Appends the head of a message or of bytes. The caller appends the content. */
void sx_pb_bytes_head(struct sx_bytes *b, unsigned field, size_t bytes);

struct sx_pb_field {
	unsigned number;
	uint64_t value;	      /* value of a number */
	struct sx_span bytes; /* value of a text, of bytes or of a message */
};

/* Reads the next field. False: the end, or the input is inconsistent (in->failed). */
bool sx_pb_next(struct sx_cursor *in, struct sx_pb_field *f);

/* Types of fields, with the numbers of descriptor.proto. */
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

/* Appends a FileDescriptorSet of this message and of Timestamp. */
void sx_pb_describe(struct sx_bytes *to, const char *package, const char *name, const struct sx_pb_row *rows,
		    size_t count);

#endif
