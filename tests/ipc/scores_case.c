/*
 * Shared by the tests of class scores.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/ipc/scores_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "ipc/feed/scores.h"
#include "tests/ipc/help.h"

char scores_dir[64], scores_path[128];
static int64_t t0; /* base of the tests' capture times, ns: some seconds ago */

int64_t at(int ms)
{
	return t0 + ms * MS;
}

int scores_setup(void **state)
{
	help_dir_make(scores_dir, sizeof(scores_dir));
	snprintf(scores_path, sizeof(scores_path), "%s/" SX_SCORES_PREFIX "a", scores_dir);
	t0 = sx_now_ns() - 5000 * MS;
	return 0;
}

int scores_teardown(void **state)
{
	help_dir_remove(scores_dir);
	return 0;
}

struct stixel_scores_format format(void)
{
	return (struct stixel_scores_format){.classes = CLASSES,
					     .image_width = WIDTH,
					     .image_height = HEIGHT,
					     .scale = SCALE,
					     .slots = 4,
					     .folder = scores_dir};
}

struct stixel_scores *writer_of(struct stixel_scores_format f)
{
	struct stixel_scores *w = NULL;

	assert_int_equal(stixel_scores_create(&w, "a", &f, sizeof(f)), 0);
	return w;
}

struct stixel_scores *writer(void)
{
	return writer_of(format());
}

uint8_t score(int64_t captured_ns, uint32_t c, uint32_t y, uint32_t x)
{
	return (uint8_t)(captured_ns / MS + 50 * c + 7 * y + x);
}

void put(const struct stixel_scores_planes *p, int64_t captured_ns)
{
	for (uint32_t c = 0; c < p->classes; c++)
		for (uint32_t y = 0; y < p->height; y++)
			for (uint32_t x = 0; x < p->width; x++)
				p->data[c * p->plane_bytes + y * p->pitch + x] = score(captured_ns, c, y, x);
}

void give(struct stixel_scores *w, int64_t captured_ns)
{
	struct stixel_scores_planes p;

	assert_int_equal(stixel_scores_begin(w, &p), 0);
	put(&p, captured_ns);
	assert_int_equal(stixel_scores_commit(w, captured_ns, 7, 8), 0);
}

struct sx_feed_params params(void)
{
	return (struct sx_feed_params){.name = "a",
				       .shm_dir = scores_dir,
				       .classes = CLASSES,
				       .image_width = WIDTH,
				       .image_height = HEIGHT,
				       .scale = SCALE,
				       .tolerance_ns = 20 * MS};
}

struct sx_feed *feed_of(struct sx_feed_params p)
{
	struct sx_feed *f = NULL;

	assert_int_equal(sx_feed_create(&f, &p), 0);
	return f;
}

struct sx_feed *feed(void)
{
	return feed_of(params());
}

struct sx_feed_counters counters(const struct sx_feed *f)
{
	struct sx_feed_counters c;

	sx_feed_counters(f, &c);
	return c;
}

void look(struct sx_feed *f)
{
	static int64_t later;

	later += SX_NS_PER_S / 2;
	sx_feed_look(f, sx_now_ns() + later);
}

int64_t take_with(struct sx_feed *f, int64_t captured_ns, bool older, enum sx_feed_match want)
{
	struct sx_feed_params p = params();
	size_t room;
	struct sx_scores s;
	uint8_t *to;
	enum sx_feed_match match;

	p.scale = 1;
	room = sx_feed_bytes(&p);
	to = malloc(room);
	assert_non_null(to);
	look(f);
	match = sx_feed_take(f, captured_ns, older, to, &s);
	assert_int_equal(match, want);
	for (int c = 0; match != SX_FEED_NONE && c < s.classes; c++)
		for (int y = 0; y < s.height; y++)
			for (int x = 0; x < s.width; x++)
				assert_int_equal(
					s.data[(size_t)c * s.plane_bytes + (size_t)y * s.pitch + (size_t)x],
					score(s.captured_ns, (uint32_t)c, (uint32_t)y, (uint32_t)x));
	free(to);
	return match == SX_FEED_NONE ? -1 : (s.captured_ns - t0) / MS;
}

int64_t take(struct sx_feed *f, int64_t captured_ns)
{
	return take_with(f, captured_ns, false, SX_FEED_SAME);
}

void none(struct sx_feed *f, int64_t captured_ns)
{
	take_with(f, captured_ns, true, SX_FEED_NONE);
}
