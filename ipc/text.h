/*
 * Bounded writer for status documents: writes plain text and JSON into a caller's buffer.
 *
 * It allocates nothing. Once the buffer is full, the writer sets cut and discards the rest, so that the
 * caller sends an error instead of half a document. Thread: the owner of the buffer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_TEXT_H
#define SX_IPC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* data[used] is always 0. bytes >= 1 includes this terminator. */
struct sx_text {
	char *data;
	size_t bytes, used;
	bool cut;
};

void sx_text_init(struct sx_text *t, char *data, size_t bytes);
void sx_text_add(struct sx_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Write JSON values. key is NULL inside an array and for the outermost value. The writer adds the commas. An
 * unknown value (NULL text, a real that is not finite, a negative count) becomes null, never 0.
 */
void sx_json_open(struct sx_text *t, const char *key, char bracket);
void sx_json_close(struct sx_text *t, char bracket);
void sx_json_text(struct sx_text *t, const char *key, const char *value);
void sx_json_count(struct sx_text *t, const char *key, int64_t value);
void sx_json_whole(struct sx_text *t, const char *key, uint64_t value);
void sx_json_real(struct sx_text *t, const char *key, double value);
void sx_json_bool(struct sx_text *t, const char *key, bool value);
/* Writes nanoseconds as microseconds, exactly: 1234567 becomes 1234.567. */
void sx_json_us(struct sx_text *t, const char *key, int64_t ns);

#endif
