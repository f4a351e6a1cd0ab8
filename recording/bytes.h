/*
 * Bytes that grow, and bytes that are read with care: numbers are little endian, whatever the machine is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_BYTES_H
#define SX_RECORDING_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory is kept when count is set back to 0. failed stays: there was no memory. A zeroed one is ready. */
struct sx_bytes {
	uint8_t *at;
	size_t count, room;
	bool failed;
};

/* Appends bytes that the caller fills. NULL: failed. */
uint8_t *sx_bytes_grow(struct sx_bytes *b, size_t more);
void sx_bytes_add(struct sx_bytes *b, const void *data, size_t bytes);
/* The lowest so many bytes of n, 1 to 8. */
void sx_bytes_number(struct sx_bytes *b, uint64_t n, int bytes);
/* Its length in four bytes, and the text. */
void sx_bytes_text(struct sx_bytes *b, const char *text);
void sx_bytes_free(struct sx_bytes *b);

/* Bytes of somebody else, not ended by a zero. */
struct sx_span {
	const uint8_t *at;
	size_t bytes;
};

bool sx_span_is(struct sx_span s, const char *text);
/* The text, cut where it does not fit; ? for what is not printable ASCII: it may come to a terminal. */
void sx_span_copy(struct sx_span s, char *to, size_t bytes);

/* What was not read yet. What reaches beyond the end gives 0 or nothing, and failed from then on. */
struct sx_cursor {
	const uint8_t *at;
	size_t left;
	bool failed;
};

uint64_t sx_cursor_number(struct sx_cursor *c, int bytes);
struct sx_span sx_cursor_take(struct sx_cursor *c, uint64_t bytes);
/* A length in four bytes, and so many of them. */
struct sx_span sx_cursor_text(struct sx_cursor *c);

#endif
