/*
 * Tests class scores between two processes: what a writer publishes, and which scores a feed finds for an
 * image.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "ipc/ring.h"
#include "tests/emulated.h"
#include "tests/ipc/help.h"
#include "tests/ipc/scores_case.h"

#ifndef KILL_CONTROL
/* ---- the writer's side ---- */

static void numbers_out_of_range_are_refused(void **state)
{
	struct stixel_scores *w = NULL;
	const struct stixel_scores_format good = format();
	struct stixel_scores_format f;

#define BAD(field, value)                                                                \
	do {                                                                             \
		f = good;                                                                \
		f.field = (value);                                                       \
		assert_int_equal(stixel_scores_create(&w, "a", &f, sizeof(f)), -EINVAL); \
	} while (0)
	BAD(classes, 0);
	BAD(classes, 33);
	BAD(image_width, 0);
	BAD(image_height, 16385);
	BAD(scale, 0);
	BAD(scale, 33);
	BAD(slots, 1);
	BAD(slots, 3);
	BAD(slots, 128);
	f = good;
	f.classes = 32;
	f.image_width = f.image_height = 4096;
	f.scale = 1; /* 512 MB */
	assert_int_equal(stixel_scores_create(&w, "a", &f, sizeof(f)), -EINVAL);
	assert_int_equal(stixel_scores_create(&w, "../a", &good, sizeof(good)), -EINVAL);
	assert_int_equal(stixel_scores_create(NULL, "a", &good, sizeof(good)), -EINVAL);
	assert_int_equal(stixel_scores_create(&w, "a", NULL, sizeof(good)), -EINVAL);
	assert_null(w);
	assert_int_equal(help_dir_count(scores_dir), 0);
	assert_int_equal(stixel_scores_commit(NULL, 1, 0, 0), -EINVAL);
	stixel_scores_close(NULL);
}

static void a_writer_leaves_nothing(void **state)
{
	int fds = help_fd_count();
	struct stixel_scores *w = writer();
	struct stixel_scores_planes p;
	struct stat st;

	assert_int_equal(stixel_scores_commit(w, 1, 0, 0), -EINVAL); /* no scores were begun */
	assert_int_equal(stixel_scores_begin(w, &p), 0);
	assert_int_equal(p.classes, CLASSES);
	assert_int_equal(p.width, 26);
	assert_int_equal(p.height, 17);
	assert_int_equal(p.pitch, 32);
	assert_int_equal(p.plane_bytes, 32 * 17);
	assert_int_equal(stat(scores_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	stixel_scores_close(w);
	assert_int_equal(help_dir_count(scores_dir), 0);
	assert_int_equal(help_fd_count(), fds);
}

static void the_second_writer_wins(void **state)
{
	struct stixel_scores *first = writer(), *second;
	struct stixel_scores_planes p;
	struct sx_feed *f = feed();

	give(first, at(0));
	assert_int_equal(take(f, at(0)), 0);
	second = writer();
	assert_int_equal(stixel_scores_begin(first, &p), -ESTALE);
	give(second, at(100));
	look(f); /* leaves the first ring */
	assert_int_equal(take(f, at(100)), 100);
	none(f, at(0));
	assert_int_equal(counters(f).restarts, 1);
	stixel_scores_close(first); /* removes nothing of the second writer */
	give(second, at(200));
	assert_int_equal(take(f, at(200)), 200);
	stixel_scores_close(second);
	sx_feed_destroy(f);
	assert_int_equal(help_dir_count(scores_dir), 0);
}

/* ---- which scores belong to an image ---- */

static void exact_and_near(void **state)
{
	struct stixel_scores *w = writer();
	struct sx_feed *f = feed();

	give(w, at(0));
	give(w, at(30));
	assert_int_equal(take(f, at(0)), 0);
	assert_int_equal(take(f, at(0)), 0);   /* the scores stay: two pairs may be of one image */
	assert_int_equal(take(f, at(14)), 0);  /* both are within the tolerance: the nearer one counts */
	assert_int_equal(take(f, at(16)), 30); /* the nearer one again */
	assert_int_equal(take(f, at(15)), 30); /* equally near: the newer one counts */
	assert_int_equal(take(f, at(-20)), 0);
	none(f, at(-21));
	assert_int_equal(take(f, at(50)), 30);
	none(f, at(51));
	stixel_scores_close(w);
	sx_feed_destroy(f);
}

static void duplicates_and_disorder(void **state)
{
	struct stixel_scores_format twice = format();
	struct stixel_scores_planes p;
	struct stixel_scores *w;
	struct sx_feed *f = feed();
	struct sx_scores s;
	uint8_t to[COPY_BYTES];

	twice.slots = 8;
	w = writer_of(twice);
	give(w, at(300));
	give(w, at(100));
	give(w, at(200));
	assert_int_equal(take(f, at(100)), 100);
	assert_int_equal(take(f, at(300)), 300);
	assert_int_equal(take(f, at(200)), 200);
	/* the later of two score sets for an image counts, because the writer has corrected itself */
	assert_int_equal(stixel_scores_begin(w, &p), 0);
	memset(p.data, 1, CLASSES * p.plane_bytes);
	assert_int_equal(stixel_scores_commit(w, at(200), 0, 0), 0);
	look(f);
	assert_int_equal(sx_feed_take(f, at(200), false, to, &s), SX_FEED_SAME);
	assert_int_equal(to[0] + to[sizeof(to) - 1], 2);
	assert_int_equal(counters(f).received, 4);
	stixel_scores_close(w);
	sx_feed_destroy(f);
}

static void exact_time_without_a_tolerance(void **state)
{
	struct sx_feed_params p = params();
	struct stixel_scores *w = writer();
	struct sx_feed *f;

	p.tolerance_ns = 0;
	f = feed_of(p);
	give(w, at(0));
	assert_int_equal(take(f, at(0)), 0);
	none(f, at(0) + 1);
	none(f, at(0) - 1);
	stixel_scores_close(w);
	sx_feed_destroy(f);
}

static void older_ones_stand_in(void **state)
{
	struct sx_feed_params p = params();
	struct stixel_scores *w = writer();
	struct sx_feed *f;

	p.max_age_ns = 150 * MS;
	f = feed_of(p);
	give(w, at(0));
	give(w, at(100));
	give(w, at(400));
	assert_int_equal(take_with(f, at(50), true, SX_FEED_OLDER), 0);
	assert_int_equal(take_with(f, at(150), true, SX_FEED_OLDER), 100); /* the newest of the older ones */
	assert_int_equal(take_with(f, at(250), true, SX_FEED_OLDER), 100);
	none(f, at(251));
	/* scores from the future do not count */
	none(f, at(-30));
	/* scores of the image itself come first */
	assert_int_equal(take_with(f, at(390), true, SX_FEED_SAME), 400);
	take_with(f, at(50), false, SX_FEED_NONE); /* older scores only if allowed */
	stixel_scores_close(w);
	sx_feed_destroy(f);
}

static void late_and_lost_are_counted(void **state)
{
	struct stixel_scores *w = writer();
	struct sx_feed *f = feed();

	give(w, at(0));
	assert_int_equal(take(f, at(0)), 0);
	none(f, at(100));
	sx_feed_missed(f, at(100));
	none(f, at(200));
	sx_feed_missed(f, at(200));
	give(w, at(210));
	give(w, at(100));
	give(w, at(100)); /* counted as late once, because its frame is done */
	look(f);
	assert_int_equal(counters(f).late, 2);
	assert_int_equal(counters(f).received, 4);
	assert_int_equal(counters(f).lost, 0);
	for (int i = 0; i < 10; i++)
		give(w, at(300 + 100 * i));
	look(f); /* three of ten are left, because the writer may be writing the next slot */
	assert_int_equal(counters(f).lost, 7);
	assert_int_equal(counters(f).received, 7);
	assert_int_equal(take(f, at(1000)), 1000);
	none(f, at(900));
	stixel_scores_close(w);
	sx_feed_destroy(f);
}

static void begun_is_not_given(void **state)
{
	struct stixel_scores *w = writer();
	struct stixel_scores_planes p;
	struct sx_feed *f = feed();

	for (int i = 0; i < 4; i++)
		give(w, at(100 * i));
	assert_int_equal(take(f, at(100)), 100);
	none(f, at(0)); /* these scores were in the slot that the writer uses next */
	give(w, at(400));
	look(f);
	assert_int_equal(stixel_scores_begin(w, &p), 0);
	put(&p, at(500));
	none(f, at(500));
	assert_int_equal(take(f, at(200)), 200);
	assert_int_equal(stixel_scores_commit(w, at(500), 0, 0), 0);
	assert_int_equal(take(f, at(500)), 500);
	/* found at the last look and overwritten since: the feed notices it after copying */
	assert_int_equal(stixel_scores_begin(w, &p), 0);
	assert_int_equal(stixel_scores_commit(w, at(600), 0, 0), 0);
	assert_int_equal(stixel_scores_begin(w, &p), 0);
	{
		uint8_t to[COPY_BYTES];
		struct sx_scores s;
		uint64_t lost = counters(f).lost;

		assert_int_equal(sx_feed_take(f, at(300), false, to, &s), SX_FEED_NONE);
		assert_int_equal(counters(f).lost, lost + 1);
	}
	stixel_scores_close(w);
	sx_feed_destroy(f);
}

static void who_is_waited_for(void **state)
{
	struct sx_feed *f = feed();
	int64_t now = sx_now_ns();
	struct stixel_scores *w;

	sx_feed_look(f, now);
	assert_false(sx_feed_expects(f, at(0), now)); /* there is no writer */
	w = writer();
	look(f);
	now = sx_now_ns();
	assert_true(sx_feed_expects(f, at(0), now)); /* the writer has just begun */
	assert_int_equal(sx_feed_state(f, now), SX_FEED_SILENT);
	assert_false(sx_feed_expects(f, at(0), now + SX_NS_PER_S)); /* the writer never published scores */
	give(w, at(0));
	now = sx_now_ns();
	sx_feed_look(f, now);
	assert_true(sx_feed_expects(f, at(100), now));
	assert_true(sx_feed_expects(f, at(-20), now));
	/* the writer has gone on to a later image */
	assert_false(sx_feed_expects(f, at(-21), now));
	assert_false(sx_feed_expects(f, at(100), now + SX_NS_PER_S)); /* the writer is silent */
	assert_int_equal(sx_feed_state(f, now), SX_FEED_READING);
	assert_int_equal(sx_feed_state(f, now + SX_NS_PER_S), SX_FEED_SILENT);
	stixel_scores_close(w);
	sx_feed_destroy(f);
}

/* If a writer's scores had exactly the capture times of their images, the feed waits for the exact ones. */
static void a_neighbour_is_no_substitute_yet(void **state)
{
	struct stixel_scores *w = writer();
	struct sx_feed *f = feed();

	give(w, at(0));
	look(f);
	assert_false(sx_feed_awaits_same(f, at(10))); /* the feed knows nothing about the writer yet */
	assert_int_equal(take(f, at(0)), 0);
	assert_true(sx_feed_awaits_same(f, at(10)));
	assert_true(sx_feed_expects(f, at(10), sx_now_ns()));
	give(w, at(10));
	look(f);
	assert_false(sx_feed_awaits_same(f, at(10)));
	assert_int_equal(take(f, at(10)), 10);
	/* after one wait in vain, the writer's times count as approximate, and the feed no longer waits */
	assert_true(sx_feed_awaits_same(f, at(25)));
	assert_int_equal(take(f, at(25)), 10);
	assert_false(sx_feed_awaits_same(f, at(29)));
	stixel_scores_close(w);
	/* nor does the feed know anything about the next writer */
	w = writer();
	give(w, at(100));
	look(f);
	assert_int_equal(take(f, at(100)), 100);
	assert_true(sx_feed_awaits_same(f, at(110)));
	stixel_scores_close(w);
	w = writer();
	look(f);
	assert_false(sx_feed_awaits_same(f, at(110)));
	stixel_scores_close(w);
	sx_feed_destroy(f);
}

/* With two seconds between images, scores of the previous image do not mean that the writer is silent. */
static void who_is_slow_is_not_silent(void **state)
{
	struct stixel_scores *w = writer();
	struct sx_feed_params p = params();
	struct sx_feed *f;
	int64_t now;

	p.period_ns = 2 * SX_NS_PER_S;
	f = feed_of(p);
	give(w, at(0));
	now = sx_now_ns();
	sx_feed_look(f, now);
	assert_true(sx_feed_expects(f, at(2000), now + 2 * SX_NS_PER_S));
	assert_int_equal(sx_feed_state(f, now + 5 * SX_NS_PER_S), SX_FEED_READING);
	assert_false(sx_feed_expects(f, at(6000), now + 6 * SX_NS_PER_S));
	assert_int_equal(sx_feed_state(f, now + 6 * SX_NS_PER_S), SX_FEED_SILENT);
	stixel_scores_close(w);
	sx_feed_destroy(f);
}

/* ---- lives and deaths ---- */

static void any_order_of_starts_and_ends(void **state)
{
	struct sx_feed *f = feed();
	struct stixel_scores *w;

	for (int i = 0; i < 5; i++) {
		none(f, at(1000 * i));
		w = writer();
		none(f, at(1000 * i));
		give(w, at(1000 * i));
		assert_int_equal(take(f, at(1000 * i)), 1000 * i);
		if (i % 2) { /* the reader ends first */
			sx_feed_destroy(f);
			f = feed();
			assert_int_equal(take(f, at(1000 * i)), 1000 * i);
		}
		stixel_scores_close(w);
		look(f);
		assert_int_equal(sx_feed_state(f, sx_now_ns()), SX_FEED_ABSENT);
	}
	sx_feed_destroy(f);
}
#endif

/* Scores that were taken, and how many of them differ from what the writer wrote. */
struct tally {
	uint64_t taken, damaged;
};

static void take_all(struct sx_feed *f, struct tally *t)
{
	uint8_t to[COPY_BYTES];
	struct sx_scores s;

	look(f);
	for (int i = 0; i < 40; i++) {
		bool whole = true;

		if (sx_feed_take(f, at(100 * i), false, to, &s) != SX_FEED_SAME)
			continue;
		for (uint32_t c = 0; c < CLASSES; c++)
			for (uint32_t y = 0; y < 17; y++)
				for (uint32_t x = 0; x < 26; x++)
					whole = whole &&
						to[c * 544 + y * 32 + x] == score(at(100 * i), c, y, x);
		t->taken++;
		t->damaged += !whole;
	}
}

/* Kills writers at random moments, again and again, while a feed takes what it finds. */
static struct tally kill_writers(struct sx_feed *f)
{
	struct tally t = {0};
	unsigned seed = 1;
	pid_t pid;

	for (int life = 0; life < 60; life++) {
		int64_t until = sx_now_ns() + (3 + rand_r(&seed) % 12) * MS;

		CHILD(pid, {
			prctl(PR_SET_PDEATHSIG,
			      SIGKILL); /* if the test fails, the child must not write for ever */
			struct stixel_scores *w = writer();

			for (int i = 0;; i = (i + 1) % 40)
				give(w, at(100 * i));
		});
		while (sx_now_ns() < until)
			take_all(f, &t);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	print_message("# %llu taken, %llu of them damaged, %llu lost, %llu writers noticed\n",
		      (unsigned long long)t.taken, (unsigned long long)t.damaged,
		      (unsigned long long)counters(f).lost, (unsigned long long)counters(f).restarts + 1);
	return t;
}

#ifdef KILL_CONTROL
/*
 * Runs this program with a feed that does not check a slot again. It must see damage, otherwise
 * killed_writers could not have seen any either.
 */
static void without_the_second_look(void **state)
{
	struct sx_feed *f = feed();
	unsigned long long damaged = 0;

	if (EMULATED("too slow to be overtaken while it copies")) {
		sx_feed_destroy(f);
		return;
	}
	/* on a busy machine few writers are killed while they write */
	for (int i = 0; i < 8 && !damaged; i++)
		damaged = (unsigned long long)kill_writers(f).damaged;
	sx_feed_destroy(f);
	assert_true(damaged > 0);
}
#else
static void killed_writers(void **state)
{
	struct sx_feed *f = feed();
	struct tally t = kill_writers(f);

	assert_int_equal(t.damaged, 0);
	assert_true(t.taken > 100 && counters(f).restarts > 20);
	assert_int_equal(counters(f).refused, 0);
	sx_feed_destroy(f);
	stixel_scores_close(writer()); /* a new writer sweeps what the killed ones left */
	assert_int_equal(help_dir_count(scores_dir), 0);
}
#endif

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scores_setup, scores_teardown)
	const struct CMUnitTest tests[] = {
#ifdef KILL_CONTROL
		TEST(without_the_second_look),
#else
		TEST(numbers_out_of_range_are_refused),
		TEST(a_writer_leaves_nothing),
		TEST(the_second_writer_wins),
		TEST(exact_and_near),
		TEST(duplicates_and_disorder),
		TEST(exact_time_without_a_tolerance),
		TEST(older_ones_stand_in),
		TEST(late_and_lost_are_counted),
		TEST(begun_is_not_given),
		TEST(who_is_waited_for),
		TEST(a_neighbour_is_no_substitute_yet),
		TEST(who_is_slow_is_not_silent),
		TEST(any_order_of_starts_and_ends),
		TEST(killed_writers),
#endif
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
