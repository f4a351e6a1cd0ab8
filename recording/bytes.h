/*
 * A growing byte buffer, and a cursor that reads bytes with bounds checks. Numbers are little endian on every
 * machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_BYTES_H
#define SX_RECORDING_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A growing buffer. Setting count to 0 keeps the memory. `failed` stays set after an allocation failed. Zero
 * it to initialize it.
 */
struct sx_bytes {
	uint8_t *at;
	size_t count, room;
	bool failed;
};

/* Appends space for `more` bytes, which the caller fills. NULL: failed. */
uint8_t *sx_bytes_grow(struct sx_bytes *b, size_t more);
void sx_bytes_add(struct sx_bytes *b, const void *data, size_t bytes);
/* Appends the lowest `bytes` bytes of n, 1 to 8. */
void sx_bytes_number(struct sx_bytes *b, uint64_t n, int bytes);
/* Appends the length of a text in four bytes, then the text. */
void sx_bytes_text(struct sx_bytes *b, const char *text);
void sx_bytes_free(struct sx_bytes *b);

/* Borrowed bytes, without a terminating zero. */
struct sx_span {
	const uint8_t *at;
	size_t bytes;
};

bool sx_span_is(struct sx_span s, const char *text);
/*
 * Copies the text, and cuts it if it does not fit. Replaces all but printable ASCII by '?', since it may be
 * shown on a terminal.
 */
void sx_span_copy(struct sx_span s, char *to, size_t bytes);

/*
 * The bytes that were not read yet. A read beyond the end returns 0 or nothing, and sets `failed` for all
 * later reads.
 */
struct sx_cursor {
	const uint8_t *at;
	size_t left;
	bool failed;
};

uint64_t sx_cursor_number(struct sx_cursor *c, int bytes);
struct sx_span sx_cursor_take(struct sx_cursor *c, uint64_t bytes);
/* Reads a length in four bytes, and returns that number of bytes. */
struct sx_span sx_cursor_text(struct sx_cursor *c);

#endif
