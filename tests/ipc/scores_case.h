/*
 * What the tests of class scores share: a writer whose scores prove themselves, and a
 * feed that is asked for them.
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
#define WIDTH 101 /* / 4: 26, pitch 32 */
#define HEIGHT 67
#define SCALE 4
#define COPY_BYTES (CLASSES * 32 * 17)
#define MS INT64_C(1000000)

/* A folder of its own, and the path of the ring in it. */
extern char scores_dir[64], scores_path[128];
int scores_setup(void **state);
int scores_teardown(void **state);

/* Capture times: ms after a moment some seconds ago. */
int64_t at(int ms);

/* Four slots, and the sizes above. */
struct stixel_scores_format format(void);
struct stixel_scores *writer_of(struct stixel_scores_format f);
struct stixel_scores *writer(void);
/*
 * Every byte that belongs to a score follows from the capture time; what is between them is left as it was.
 */
uint8_t score(int64_t captured_ns, uint32_t c, uint32_t y, uint32_t x);
void put(const struct stixel_scores_planes *p, int64_t captured_ns);
void give(struct stixel_scores *w, int64_t captured_ns);

/* Tolerance 20 ms, no older ones. */
struct sx_feed_params params(void);
struct sx_feed *feed_of(struct sx_feed_params p);
struct sx_feed *feed(void);
struct sx_feed_counters counters(const struct sx_feed *f);
/* A look that is later than any pause between attempts: what is there is found. */
void look(struct sx_feed *f);
/*
 * Looks, takes the scores for a picture and checks every byte. Which they are, in ms as at() has it; -1 none.
 */
int64_t take_with(struct sx_feed *f, int64_t captured_ns, bool older, enum sx_feed_match want);
int64_t take(struct sx_feed *f, int64_t captured_ns);
void none(struct sx_feed *f, int64_t captured_ns);

#endif
