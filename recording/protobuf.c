/*
 * The part of protobuf that a recording needs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/protobuf.h"

#include <string.h>

#include "base/contract.h"

enum wire { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 };

static void varint(struct sx_bytes *b, uint64_t n)
{
	for (; n > 127; n >>= 7)
		sx_bytes_number(b, (n & 127) | 128, 1);
	sx_bytes_number(b, n, 1);
}

static void tag(struct sx_bytes *b, unsigned field, enum wire wire)
{
	sx_must(field, >, 0);
	varint(b, field << 3 | (unsigned)wire);
}

void sx_pb_varint(struct sx_bytes *b, unsigned field, uint64_t n)
{
	tag(b, field, VARINT);
	varint(b, n);
}

void sx_pb_fixed32(struct sx_bytes *b, unsigned field, uint32_t n)
{
	tag(b, field, FIXED32);
	sx_bytes_number(b, n, 4);
}

void sx_pb_fixed64(struct sx_bytes *b, unsigned field, uint64_t n)
{
	tag(b, field, FIXED64);
	sx_bytes_number(b, n, 8);
}

void sx_pb_bytes_head(struct sx_bytes *b, unsigned field, size_t bytes)
{
	tag(b, field, LENGTH);
	varint(b, bytes);
}

static void add_bytes(struct sx_bytes *b, unsigned field, const void *data, size_t bytes)
{
	sx_pb_bytes_head(b, field, bytes);
	sx_bytes_add(b, data, bytes);
}

void sx_pb_text(struct sx_bytes *b, unsigned field, const char *text)
{
	add_bytes(b, field, text, strlen(text));
}

void sx_pb_doubles(struct sx_bytes *b, unsigned field, const double *v, size_t count)
{
	sx_must(count, >, 0);
	sx_pb_bytes_head(b, field, 8 * count);
	for (size_t i = 0; i < count; i++) {
		uint64_t bits;

		memcpy(&bits, &v[i], 8);
		sx_bytes_number(b, bits, 8);
	}
}

static uint64_t take_varint(struct sx_cursor *in)
{
	uint64_t n = 0, byte = 128;

	for (int shift = 0; byte & 128; shift += 7) {
		if (shift > 63)
			in->failed = true;
		byte = in->failed ? 0 : sx_cursor_number(in, 1);
		n |= shift > 63 ? 0 : (byte & 127) << shift;
	}
	return n;
}

bool sx_pb_next(struct sx_cursor *in, struct sx_pb_field *f)
{
	uint64_t key;

	if (!in->left || in->failed)
		return false;
	key = take_varint(in);
	*f = (struct sx_pb_field){.number = (unsigned)(key >> 3)};
	switch (key & 7) {
	case VARINT:
		f->value = take_varint(in);
		break;
	case FIXED64:
		f->value = sx_cursor_number(in, 8);
		break;
	case FIXED32:
		f->value = sx_cursor_number(in, 4);
		break;
	case LENGTH:
		f->bytes = sx_cursor_take(in, take_varint(in));
		break;
	default:
		in->failed = true;
	}
	return !in->failed;
}

/* ---- descriptions: field numbers of descriptor.proto ---- */

static void describe_field(struct sx_bytes *to, const struct sx_pb_row *row)
{
	struct sx_bytes b = {0};

	sx_must(row->number, >, 0);
	sx_pb_text(&b, 1, row->name);
	sx_pb_varint(&b, 3, row->number);
	sx_pb_varint(&b, 4, row->repeated ? 3 : 1);
	sx_pb_varint(&b, 5, row->type);
	if (row->type == SX_PB_MESSAGE)
		sx_pb_text(&b, 6, ".google.protobuf.Timestamp");
	add_bytes(to, 2, b.at, b.count);
	to->failed |= b.failed;
	sx_bytes_free(&b);
}

static void describe_file(struct sx_bytes *to, const char *file, const char *package, const char *import,
			  const char *name, const struct sx_pb_row *rows, size_t count)
{
	struct sx_bytes b = {0}, message = {0};

	sx_must(count, >, 0);
	sx_pb_text(&message, 1, name);
	for (size_t i = 0; i < count; i++)
		describe_field(&message, &rows[i]);
	sx_pb_text(&b, 1, file);
	sx_pb_text(&b, 2, package);
	if (import)
		sx_pb_text(&b, 3, import);
	add_bytes(&b, 4, message.at, message.count);
	sx_pb_text(&b, 12, "proto3");
	add_bytes(to, 1, b.at, b.count);
	to->failed |= b.failed || message.failed;
	sx_bytes_free(&b);
	sx_bytes_free(&message);
}

void sx_pb_describe(struct sx_bytes *to, const char *package, const char *name, const struct sx_pb_row *rows,
		    size_t count)
{
	static const struct sx_pb_row timestamp[] = {{"seconds", 1, SX_PB_INT64, false},
						     {"nanos", 2, SX_PB_INT32, false}};
	static const char timestamp_file[] = "google/protobuf/timestamp.proto";
	struct sx_bytes file = {0};

	sx_bytes_add(&file, package, strlen(package));
	sx_bytes_add(&file, "/", 1);
	sx_bytes_add(&file, name, strlen(name));
	sx_bytes_add(&file, ".proto", sizeof(".proto")); /* includes the terminating zero */
	describe_file(to, timestamp_file, "google.protobuf", NULL, "Timestamp", timestamp, 2);
	if (!file.failed)
		describe_file(to, (const char *)file.at, package, timestamp_file, name, rows, count);
	to->failed |= file.failed;
	sx_bytes_free(&file);
}
