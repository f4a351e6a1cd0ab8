/*
 * A growing byte buffer, and a cursor with bounds checks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

uint8_t *sx_bytes_grow(struct sx_bytes *b, size_t more)
{
	size_t room = b->room ? b->room : 256;
	uint8_t *p;

	sx_must(b->count, <=, b->room);
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

void sx_bytes_add(struct sx_bytes *b, const void *data, size_t bytes)
{
	uint8_t *to = sx_bytes_grow(b, bytes);

	if (to && bytes)
		memcpy(to, data, bytes);
}

void sx_bytes_number(struct sx_bytes *b, uint64_t n, int bytes)
{
	uint8_t *to = sx_bytes_grow(b, (size_t)bytes);

	sx_must_index(bytes - 1, 8);
	for (int i = 0; to && i < bytes; i++)
		to[i] = (uint8_t)(n >> 8 * i);
}

void sx_bytes_text(struct sx_bytes *b, const char *text)
{
	sx_bytes_number(b, strlen(text), 4);
	sx_bytes_add(b, text, strlen(text));
}

void sx_bytes_free(struct sx_bytes *b)
{
	free(b->at);
	*b = (struct sx_bytes){0};
}

bool sx_span_is(struct sx_span s, const char *text)
{
	return s.bytes == strlen(text) && memcmp(s.at, text, s.bytes) == 0;
}

void sx_span_copy(struct sx_span s, char *to, size_t bytes)
{
	size_t n = s.bytes < bytes ? s.bytes : bytes - 1;

	sx_must(bytes, >, 0);
	for (size_t i = 0; i < n; i++)
		to[i] = s.at[i] >= 0x20 && s.at[i] <= 0x7e ? (char)s.at[i] : '?';
	to[n] = 0;
}

struct sx_span sx_cursor_take(struct sx_cursor *c, uint64_t bytes)
{
	struct sx_span s = {c->at, (size_t)bytes};

	if (c->failed || bytes > c->left) {
		c->failed = true;
		return (struct sx_span){c->at, 0};
	}
	c->at += bytes;
	c->left -= bytes;
	return s;
}

uint64_t sx_cursor_number(struct sx_cursor *c, int bytes)
{
	struct sx_span s = sx_cursor_take(c, (uint64_t)bytes);
	uint64_t n = 0;

	sx_must_index(bytes - 1, 8);
	for (size_t i = s.bytes; i-- > 0;)
		n = n << 8 | s.at[i];
	return n;
}

struct sx_span sx_cursor_text(struct sx_cursor *c)
{
	return sx_cursor_take(c, sx_cursor_number(c, 4));
}
