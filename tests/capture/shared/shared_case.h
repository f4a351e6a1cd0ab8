/*
 * A writer of pairs (source.kind = shared) without the library, which the test controls, and the source that
 * reads from it. Each step fails the test if it does not succeed. After a test the process has as many
 * descriptors and mapped buffers as before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_CAPTURE_SHARED_CASE_H
#define TESTS_CAPTURE_SHARED_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "capture/source.h"
#include "stixel_pairs.h"

#define W 66
#define H 34
#define PITCH 192 /* pitch of one-byte pixels, bytes; other pixels have a multiple of it */
#define RIGHT 8192
#define BYTES 16384
#define BUFFERS 4
#define SLOTS 3
#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

struct answer {
	struct stixel_pairs_answer is;
	char text[STIXEL_PAIRS_TEXT_BYTES + 1];
};

extern struct sx_pairs_socket listener;
extern struct sx_why why; /* what the source said last */

/* Creates a memory file with these seals; flags: more flags of memfd_create(). Returns its descriptor. */
int memory_of(size_t bytes, unsigned seals, unsigned flags);
/* Connects to the listening socket. Returns the descriptor of the connection. */
int connect_writer(void);
/* Sends a message with `count` copies of a descriptor. */
void give_message(int fd, const void *message, size_t bytes, int descriptor, int count);
/* Return messages of a writer that is right. */
struct stixel_pairs_hello good_hello(void);
struct stixel_pairs_buffer good_buffer(uint32_t index, uint64_t bytes);
struct stixel_pairs_pair good_pair(uint64_t number);
void give_buffer(int fd, const struct stixel_pairs_buffer *b, int memory);
void give_pair(int fd, uint64_t number);
/* Sends hello and buffers. Buffer i has bytes of `memory`, or its own memory if that is -1. */
void introduce(int fd, const struct stixel_pairs_hello *hello, int memory, uint64_t bytes);
/* Takes the next answer. Returns false at the end of the connection. Fails if there is none. */
bool take_answer(int fd, struct answer *a);
void expect_answer(int fd, uint32_t kind, uint64_t number, uint32_t fate);
void expect_no_answer(int fd);
/* Expects the sentence that the source has given, after other answers, and then the end of the connection. */
void expect_refused(int fd);
/* Returns parameters of a source that accepts the writer. */
struct sx_source_params shared_params(void);
/* Expects that the source does not open: -ENODEV: it refuses the writer; -ENOENT: no writer; and says this sentence. */
void expect_not_open(int error, const char *sentence);
/* Opens a source with these parameters. */
struct sx_source *open_with(const struct sx_source_params *p);
/* Connects a writer with this hello and opens the source. */
struct sx_source *open_good(const struct stixel_pairs_hello *hello, int *fd, int memory, uint64_t bytes);
/* Does the same with good_hello() and memory of the writer. */
struct sx_source *open_usual(int *fd);
/* Takes a pair of the source, which must have one. */
struct sx_pair take_pair(struct sx_source *s);
/* Expects that the source has lost its writer and says this sentence. */
void expect_end(struct sx_source *s, const char *sentence);
/* Closes the source and, unless fd is -1, the connection. No buffer may stay mapped. */
void finish_source(struct sx_source *s, int fd);
/* Create and remove the folder with the listening socket. No descriptor may stay open. */
int shared_setup(void **state);
int shared_teardown(void **state);

#define SHARED_TEST(name) cmocka_unit_test_setup_teardown(name, shared_setup, shared_teardown)

#endif
