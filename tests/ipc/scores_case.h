/*
 * Shared by the tests of class scores: a writer whose scores can be verified, and a feed that takes them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_IPC_SCORES_CASE_H
#define SX_TESTS_IPC_SCORES_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "include/stixel.h"
#include "ipc/feed/feed.h"

#define CLASSES 3
#define WIDTH 101 /* px; divided by SCALE: 26 cells, pitch 32 bytes */
#define HEIGHT 67
#define SCALE 4
#define COPY_BYTES (CLASSES * 32 * 17)
#define MS INT64_C(1000000)

/* Temporary folder of the test, and the path of the ring in it. */
extern char scores_dir[64], scores_path[128];
int scores_setup(void **state);
int scores_teardown(void **state);

/* Returns a capture time in ns: `ms` after a base time some seconds ago. */
int64_t at(int ms);

/* Returns the default format: four slots, and the sizes above. */
struct stixel_scores_format format(void);
struct stixel_scores *writer_of(struct stixel_scores_format f);
struct stixel_scores *writer(void);
/*
 * The capture time determines every score byte. put() leaves the padding between rows and planes as it was.
 */
uint8_t score(int64_t captured_ns, uint32_t c, uint32_t y, uint32_t x);
void put(const struct stixel_scores_planes *p, int64_t captured_ns);
void give(struct stixel_scores *w, int64_t captured_ns);

/* Returns the default parameters: tolerance 20 ms, no older scores. */
struct sx_feed_params params(void);
struct sx_feed *feed_of(struct sx_feed_params p);
struct sx_feed *feed(void);
struct sx_feed_counters counters(const struct sx_feed *f);
/* Lets the feed look later than any pause between attempts, so that it finds a ring that is present. */
void look(struct sx_feed *f);
/*
 * Looks, takes the scores for an image and checks every byte. Returns their capture time in ms as in at(), or
 * -1 if there are none.
 */
int64_t take_with(struct sx_feed *f, int64_t captured_ns, bool older, enum sx_feed_match want);
int64_t take(struct sx_feed *f, int64_t captured_ns);
void none(struct sx_feed *f, int64_t captured_ns);

#endif
