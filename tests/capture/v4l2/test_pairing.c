/*
 * Tests which images become pairs: readable cases, a plain model on random images, and streams of cameras.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/v4l2/pairing.h"
#include "tests/check.h"

/*
 * Adds images such as "L10 R12" (side and time, numbered from 0), then takes the results. `want` lists them
 * in order: "0+1" a pair, "u2" unpaired, "o3" overload.
 */
static void check_case(struct sx_pairing *p, int *number, const char *images, const char *want)
{
	struct sx_pairing_result r;
	char got[256] = "";
	size_t n = 0;
	int used = 0;
	char side;
	long ns;

	for (; sscanf(images, " %c%ld%n", &side, &ns, &used) == 2; images += used)
		assert_true(sx_pairing_add(p, side == 'R', (*number)++, ns));
	sx_pairing_take(p, &r);
	if (r.found)
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%d+%d ", r.pair[0].index, r.pair[1].index);
	for (int i = 0; i < r.dropped_count; i++)
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%c%d ",
				      r.dropped[i].fate == SX_PAIRING_OVERLOAD ? 'o' : 'u',
				      r.dropped[i].index);
	if (n > 0)
		got[n - 1] = 0;
	assert_string_equal(got, want);
}

static void check_alone(const char *images, const char *want)
{
	struct sx_pairing p = {.tolerance_ns = 5};
	int number = 0;

	check_case(&p, &number, images, want);
}

static void test_cases(void **state)
{
	check_alone("", "");
	check_alone("L10", "");
	check_alone("L10 R10", "0+1");
	check_alone("R15 L10", "1+0");
	check_alone("L10 R16", "u0"); /* the next right image will be even later */
	check_alone("L16 R10", "u1");
	check_alone("L10 R12 L13", "2+1 u0"); /* the nearer image wins, although the other one came first */
	check_alone("L10 L14 R12", "0+2");    /* equally near: the older image */
	check_alone("L12 R10 R14", "0+1");
	check_alone("L10 R10 L43 R43 L76 R76", "4+5 o0 o2 o1 o3");
	check_alone("L10 L43 R43 L76", "1+2 u0");
	check_alone("R76 L43 R43 L10", "1+2 u3"); /* images may come in any order */
	check_alone("L10 L10 R10 R10", "0+2");	  /* two images with the same time */
	check_alone("L10 L20 L30", "");		  /* three images may wait */
	check_alone("L10 L20 L30 L40", "u0");
	check_alone("L0 R0 L-20 R-20", "0+1 o2 o3"); /* times before the epoch */
}

/* Images wait. A waiting image is neither lost nor returned twice. */
static void test_waiting(void **state)
{
	struct sx_pairing p = {.tolerance_ns = 5};
	int number = 0;

	check_case(&p, &number, "L10", "");
	check_case(&p, &number, "", "");
	check_case(&p, &number, "L43", "");
	check_case(&p, &number, "R11", "0+2");
	check_case(&p, &number, "R44", "1+3");
	check_case(&p, &number, "R77 R110 R143", "");
	check_case(&p, &number, "R176", "u4");
	check_case(&p, &number, "L145", "8+6 u5");
	check_case(&p, &number, "L176", "9+7");
	assert_int_equal(p.side[0].count + p.side[1].count, 0);
}

/* One timestamp far ahead costs its own pair. Without this rule it would cost all pairs until that time. */
static void test_jump_ahead(void **state)
{
	struct sx_pairing p = {.tolerance_ns = 5};
	int number = 0;

	check_case(&p, &number, "L10 R10", "0+1");
	check_case(&p, &number, "L9043 R43", "u3");
	/* the left partner is still to come, but the newest image is ahead */
	check_case(&p, &number, "R77", "u4");
	check_case(&p, &number, "L76", "");
	check_case(&p, &number, "R109 L110", "7+6 u5");
	check_case(&p, &number, "R143", "");
	check_case(&p, &number, "L143", "9+8 u2");
	check_case(&p, &number, "L176 R176", "10+11");
	assert_int_equal(p.side[0].count + p.side[1].count, 0);
}

/* An image that its camera has taken back is in no result. */
static void test_forget(void **state)
{
	struct sx_pairing p = {.tolerance_ns = 5};
	int number = 0;

	check_case(&p, &number, "L10 L43 L76", "");
	assert_true(sx_pairing_forget(&p, 0, 1));
	assert_false(sx_pairing_forget(&p, 0, 1));
	assert_false(sx_pairing_forget(&p, 1, 0));
	assert_false(sx_pairing_forget(&p, 0, 99));
	check_case(&p, &number, "R43", "u0 u3"); /* its partner is gone */
	assert_true(sx_pairing_forget(&p, 0, 2));
	check_case(&p, &number, "L100 R100", "4+5");
}

static void test_room(void **state)
{
	struct sx_pairing p = {.tolerance_ns = 5};
	struct sx_pairing_result r;

	for (int i = 0; i < SX_PAIRING_ROOM; i++)
		for (int side = 0; side < 2; side++)
			assert_true(sx_pairing_add(&p, side, i, 100 * i));
	assert_false(sx_pairing_add(&p, 0, 99, 0));
	assert_false(sx_pairing_add(&p, 1, 99, 0));
	sx_pairing_take(&p, &r);
	assert_true(r.found);
	assert_int_equal(r.pair[0].index, SX_PAIRING_ROOM - 1);
	assert_int_equal(r.dropped_count, 2 * (SX_PAIRING_ROOM - 1));
}

/* --- the model --- */

#define IMAGES 64

struct model_image {
	int side;
	int64_t ns;
	enum { ABSENT, WAITS, PAIRED, UNPAIRED, OVERLOAD } fate;
};

struct model {
	struct model_image images[IMAGES]; /* by index, in order of arrival */
	int count;
	int64_t tolerance;
};

static int64_t distance(const struct model *m, int a, int b)
{
	return llabs(m->images[a].ns - m->images[b].ns);
}

/* Returns true if a is older than b: by time, then by arrival. */
static bool older(const struct model *m, int a, int b)
{
	return m->images[a].ns != m->images[b].ns ? m->images[a].ns < m->images[b].ns : a < b;
}

static bool waits(const struct model *m, int i, int side)
{
	return m->images[i].fate == WAITS && m->images[i].side == side;
}

/*
 * Returns the image of the other side that is nearest to a. Of two equally near images, it is the older one.
 */
static int model_nearest(const struct model *m, int a)
{
	int best = -1;

	for (int b = 0; b < m->count; b++) {
		if (!waits(m, b, 1 - m->images[a].side))
			continue;
		if (best < 0 || distance(m, a, b) < distance(m, a, best) ||
		    (distance(m, a, b) == distance(m, a, best) && older(m, b, best)))
			best = b;
	}
	return best;
}

static bool are_pair(const struct model *m, int a, int b)
{
	return b >= 0 && distance(m, a, b) <= m->tolerance && model_nearest(m, a) == b &&
	       model_nearest(m, b) == a;
}

/* Returns how many images of this side wait from image a on, including a. */
static int waiting_from(const struct model *m, int a)
{
	int n = 0;

	for (int b = 0; b < m->count; b++)
		n += waits(m, b, m->images[a].side) && !older(m, b, a);
	return n;
}

/*
 * Drops images that are ahead: at least SX_PAIRING_WAIT images of their side came later and have earlier
 * times.
 */
static void model_drop_ahead(struct model *m)
{
	for (int a = 0; a < m->count; a++) {
		int later = 0;

		for (int b = a + 1; b < m->count; b++)
			later += m->images[b].side == m->images[a].side && m->images[b].ns < m->images[a].ns;
		if (m->images[a].fate == WAITS && later >= SX_PAIRING_WAIT)
			m->images[a].fate = UNPAIRED;
	}
}

/*
 * Drops images of a side that are too old for all images of the other side, and images of a queue that is too
 * long.
 */
static void model_give_up(struct model *m, int side)
{
	const struct model before = *m;
	int newest = -1, last = -1;

	for (int b = 0; b < m->count; b++) {
		if (waits(m, b, 1 - side) && (newest < 0 || older(m, newest, b)))
			newest = b;
		if (m->images[b].side != side)
			last = b;
	}
	/* if the newest waiting image is ahead of the last arrival, the last arrival counts instead */
	if (newest >= 0 && m->images[last].ns < m->images[newest].ns)
		newest = last;
	for (int a = 0; a < m->count; a++) {
		bool late = newest >= 0 && m->images[newest].ns > m->images[a].ns + m->tolerance;

		if (waits(m, a, side) && (late || waiting_from(&before, a) > SX_PAIRING_WAIT))
			m->images[a].fate = UNPAIRED;
	}
}

/*
 * Computes the expected result of take: new fates of all images. Returns the left image of the pair, -1:
 * none.
 */
static int model_take(const struct model *now, struct model *then)
{
	int left = -1, right;

	*then = *now;
	for (int a = 0; a < now->count; a++)
		if (waits(now, a, 0) && are_pair(now, a, model_nearest(now, a)) &&
		    (left < 0 || older(now, left, a)))
			left = a;
	right = left < 0 ? -1 : model_nearest(now, left);
	for (int a = 0; left >= 0 && a < now->count; a++) {
		int of_side = now->images[a].side ? right : left;

		if (now->images[a].fate != WAITS)
			continue;
		if (a == of_side)
			then->images[a].fate = PAIRED;
		else if (older(now, a, of_side))
			then->images[a].fate = are_pair(now, a, model_nearest(now, a)) ? OVERLOAD : UNPAIRED;
	}
	model_drop_ahead(then);
	model_give_up(then, 0); /* the left side is first */
	model_give_up(then, 1);
	return left;
}

static void check_against_model(struct model *m, const struct sx_pairing_result *r, uint64_t seed)
{
	struct model want, got = *m;
	int left = model_take(m, &want);

	assert_int_equal(r->found, left >= 0);
	for (int side = 0; r->found && side < 2; side++) {
		assert_int_equal(got.images[r->pair[side].index].side, side);
		assert_int_equal(got.images[r->pair[side].index].fate, WAITS);
		assert_int_equal(got.images[r->pair[side].index].ns, r->pair[side].ns);
		got.images[r->pair[side].index].fate = PAIRED;
	}
	for (int i = 0; i < r->dropped_count; i++) {
		struct model_image *image = &got.images[r->dropped[i].index];

		assert_int_equal(image->fate, WAITS); /* each image is in only one result */
		assert_int_equal(image->side, r->dropped[i].side);
		image->fate = r->dropped[i].fate == SX_PAIRING_OVERLOAD ? OVERLOAD : UNPAIRED;
	}
	for (int i = 0; i < m->count; i++)
		if (got.images[i].fate != want.images[i].fate)
			fail_msg("seed %d: image %d, side %d at %d: fate %d, the model says %d", (int)seed, i,
				 m->images[i].side, (int)m->images[i].ns, got.images[i].fate,
				 want.images[i].fate);
	*m = got;
}

static void test_random(void **state)
{
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct check_rng rng = check_rng_seed(seed);
		struct model m = {.tolerance = check_below(&rng, 12)};
		struct sx_pairing p = {.tolerance_ns = m.tolerance};
		const int at_once = 1 + check_below(&rng, 6), step = 1 + check_below(&rng, 20);
		int64_t now = -50;

		while (m.count < IMAGES) {
			struct sx_pairing_result r;

			for (int n = check_below(&rng, at_once + 1); n > 0 && m.count < IMAGES; n--) {
				struct model_image image = {check_below(&rng, 2), 0, WAITS};

				now += check_below(&rng, step);
				/* sometimes late, sometimes at the same time as another image */
				image.ns = now - (check_below(&rng, 4) ? 0 : check_below(&rng, 3 * step));
				if (sx_pairing_add(&p, image.side, m.count, image.ns))
					m.images[m.count++] = image;
			}
			sx_pairing_take(&p, &r);
			check_against_model(&m, &r, seed);
		}
	}
}

/* --- cameras --- */

/*
 * Two cameras have a jitter of up to a quarter of the period in total. They lose images, and one camera
 * delivers later. All images that both took at the same time become pairs, and no other images do.
 */
static void test_cameras(void **state)
{
	enum { PERIOD = 1000, FRAMES = 400 };

	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct check_rng rng = check_rng_seed(seed);
		struct sx_pairing p = {.tolerance_ns = PERIOD / 2};
		const int offset = check_below(&rng, PERIOD / 4), behind = check_below(&rng, 3);
		bool has[2][FRAMES], given[FRAMES] = {false};
		struct sx_pairing_result r;
		int last = -1;

		for (int k = 0; k < FRAMES; k++)
			for (int side = 0; side < 2; side++)
				has[side][k] = check_below(&rng, 10) > 0;
		for (int k = 0; k < FRAMES + behind; k++) {
			for (int side = 0; side < 2; side++) {
				int frame = side ? k - behind : k;
				int64_t ns = (int64_t)PERIOD * frame + check_below(&rng, PERIOD / 4) +
					     side * offset;

				if (frame < 0 || frame >= FRAMES || !has[side][frame])
					continue;
				assert_true(sx_pairing_add(&p, side, frame, ns));
				sx_pairing_take(&p, &r);
				for (int i = 0; i < r.dropped_count; i++) {
					assert_int_equal(r.dropped[i].fate, SX_PAIRING_UNPAIRED);
					assert_false(has[1 - r.dropped[i].side][r.dropped[i].index]);
				}
				if (!r.found)
					continue;
				assert_int_equal(r.pair[0].index, r.pair[1].index);
				assert_true(r.pair[0].index > last);
				last = r.pair[0].index;
				given[last] = true;
			}
		}
		for (int k = 0; k < FRAMES; k++)
			assert_int_equal(given[k], has[0][k] && has[1][k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),	cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_room),	cmocka_unit_test(test_jump_ahead),
		cmocka_unit_test(test_forget),	cmocka_unit_test(test_random),
		cmocka_unit_test(test_cameras),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
