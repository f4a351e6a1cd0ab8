/*
 * The ends of the colour scale of distances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/messages/scale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * A bin of the histogram is 1/8 px of disparity wide, which is less than the noise of a stixel. Steps are
 * numbered from 1 m (step 0); there are 8 for each power of ten. The ends are at least 3 steps apart, a
 * factor of two to three, because fewer would show noise.
 */
enum {
	BIN_Q7 = 16,
	BINS = (UINT16_MAX + 1) / BIN_Q7,
	DECADE = 8,
	STEP_MOST = 6 * DECADE,
	SPAN_LEAST = 3,
	SPARE = 1,
	UNUSED = 2,
	PER_CENT_CUT = 2
};
/*
 * Farther than this, px, half a pixel is more than an eighth of the distance, and colours would show noise.
 */
static const double least_px = 4.0;
static const double margin = 1.1; /* factor by which a scene may leave the scale */

/* Returns the value of a step, -STEP_MOST .. STEP_MOST. */
static double step_value(int step)
{
	static const double steps[DECADE] = {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0};
	const int above = step + STEP_MOST;
	double value = steps[above % DECADE];

	for (int i = STEP_MOST / DECADE; i < above / DECADE; i++)
		value *= 10.0;
	for (int i = STEP_MOST / DECADE; i > above / DECADE; i--)
		value /= 10.0;
	return value;
}

/* Returns the last step that is not above value, or the first one that is not below it. */
static int step_below(double value)
{
	int step = STEP_MOST;

	while (step > -STEP_MOST && step_value(step) > value)
		step--;
	return step;
}

static int step_above(double value)
{
	int step = -STEP_MOST;

	while (step < STEP_MOST && step_value(step) < value)
		step++;
	return step;
}

static int step_within(int step)
{
	return step < -STEP_MOST ? -STEP_MOST : step > STEP_MOST ? STEP_MOST : step;
}

/* Converts between disparity and the unit of the ends. */
static double value_of(double focal_baseline, double disparity_px)
{
	return focal_baseline > 0.0 ? focal_baseline / disparity_px : disparity_px;
}

/* The smallest and largest value of a scene, in the unit of the ends. */
struct extent {
	double low, high;
};

/* Returns the disparity below which this part of the area lies, px. */
static double quantile(const uint64_t *bins, uint64_t area)
{
	uint64_t sum = 0;
	int i = 0;

	while (i < BINS - 1 && (sum += bins[i]) <= area)
		i++;
	return (i + 0.5) * BIN_Q7 / 128.0;
}

/* Finds the extent of the objects. False: there are none. */
static bool look(struct extent *e, const struct stixel *stixels, uint32_t count, double focal_baseline)
{
	uint64_t bins[BINS] = {0}, area = 0;
	double a, b;

	for (uint32_t i = 0; i < count; i++) {
		const struct stixel *s = &stixels[i];

		if (s->kind != STIXEL_OBJECT || s->disparity_q7 == STIXEL_DISPARITY_UNKNOWN ||
		    s->row_bottom < s->row_top)
			continue;
		bins[s->disparity_q7 / BIN_Q7] += (uint64_t)(s->row_bottom - s->row_top) + 1;
		area += (uint64_t)(s->row_bottom - s->row_top) + 1;
	}
	if (area == 0)
		return false;
	a = value_of(focal_baseline, fmax(least_px, quantile(bins, area * PER_CENT_CUT / 100)));
	b = value_of(focal_baseline, fmax(least_px, quantile(bins, area * (100 - PER_CENT_CUT) / 100)));
	*e = a < b ? (struct extent){a, b} : (struct extent){b, a};
	return true;
}

/* Returns the extent that a rig of this search range can see well, for a scene without objects. */
static struct extent extent_of_search(int disparities, double focal_baseline)
{
	const double largest = disparities > 1 ? disparities : 128;
	const double near = value_of(focal_baseline, largest);

	return focal_baseline > 0.0 ? (struct extent){near, 20.0 * near} : (struct extent){near / 20.0, near};
}

/* Returns the number of frames in a row that left steps unused, with this frame. */
static unsigned count_unused(unsigned before, int steps)
{
	return steps >= UNUSED ? before + 1 : 0;
}

/*
 * Moves each end that the scene has left, with a step to spare, so that something that comes nearer does not
 * move it at each step; or that the scene has long left unused.
 */
static void move_ends(struct sx_scale *s, const struct extent *e)
{
	const int low = step_below(e->low), high = step_above(e->high);

	s->unused_low = count_unused(s->unused_low, low - s->low);
	s->unused_high = count_unused(s->unused_high, s->high - high);
	if (e->low * margin < step_value(s->low) || s->unused_low >= SX_SCALE_PATIENCE) {
		s->low = low < s->low ? step_within(low - SPARE) : low;
		s->unused_low = 0;
	}
	if (e->high > step_value(s->high) * margin || s->unused_high >= SX_SCALE_PATIENCE) {
		s->high = high > s->high ? step_within(high + SPARE) : high;
		s->unused_high = 0;
	}
}

/* Moves the ends apart, the high one first, until they have the least distance. */
static void spread(int *low, int *high)
{
	for (bool up = true; *high - *low < SPAN_LEAST; up = !up) {
		if (up && *high < STEP_MOST)
			++*high;
		else if (*low > -STEP_MOST)
			--*low;
	}
}

/* Sets the disparities of the ends from the scene's ends and the given ones. */
static void set_range(struct sx_scale *s)
{
	int low = s->low, high = s->high;
	double near, far;

	spread(&low, &high);
	if (!(s->focal_baseline > 0.0)) {
		s->range = (struct sx_palette_range){step_value(high), step_value(low)};
		return;
	}
	near = s->given_near_m > 0.0 ? s->given_near_m : step_value(low);
	far = s->given_far_m > 0.0 ? s->given_far_m : step_value(high);
	if (s->given_near_m > 0.0 && far < 2.0 * near && !(s->given_far_m > 0.0))
		far = 2.0 * near;
	if (s->given_far_m > 0.0 && far < 2.0 * near && !(s->given_near_m > 0.0))
		near = far / 2.0;
	s->range = (struct sx_palette_range){s->focal_baseline / near, s->focal_baseline / far};
}

void sx_scale_follow(struct sx_scale *s, const struct stixel *stixels, uint32_t count, int disparities,
		     double focal_baseline)
{
	const double fb = focal_baseline > 0.0 && focal_baseline < 1e6 ? focal_baseline : 0.0;
	const bool fresh = !(s->range.far_px > 0.0) || s->focal_baseline != fb;
	struct extent e;
	bool seen = look(&e, stixels, count, fb);

	s->focal_baseline = fb;
	if (fresh && !seen)
		e = extent_of_search(disparities, fb);
	if (fresh) {
		s->low = step_below(e.low);
		s->high = step_above(e.high);
		s->unused_low = s->unused_high = 0;
	} else if (seen) {
		move_ends(s, &e);
	}
	set_range(s);
}

void sx_scale_give(struct sx_scale *s, double near_m, double far_m)
{
	s->given_near_m = near_m;
	s->given_far_m = far_m;
	if (s->range.far_px > 0.0)
		set_range(s);
}

void sx_scale_frame(struct sx_scale *s, const struct stixel_frame_header *h, const struct stixel *stixels)
{
	const bool blind = h->flags & STIXEL_FRAME_BLIND;

	sx_scale_follow(s, stixels, blind ? 0 : h->stixel_count, (int)h->disparities, h->fx * h->baseline_m);
}

double sx_scale_near(const struct sx_scale *s)
{
	return value_of(s->focal_baseline, s->range.near_px);
}

double sx_scale_far(const struct sx_scale *s)
{
	return value_of(s->focal_baseline, s->range.far_px);
}

const char *sx_scale_unit(const struct sx_scale *s)
{
	return s->focal_baseline > 0.0 ? "m" : "px";
}

static void add_tick(struct sx_scale_tick *t, const struct sx_scale *s, double value)
{
	t->place = sx_palette_place(&s->range, value_of(s->focal_baseline, value));
	snprintf(t->text, sizeof(t->text), "%.3g", value);
}

int sx_scale_ticks(const struct sx_scale *s, struct sx_scale_tick ticks[SX_SCALE_TICKS])
{
	const double near = sx_scale_near(s), far = sx_scale_far(s);
	const bool up = near < far;
	const int begin = up ? step_above(near * 1.001) : step_below(near / 1.001), by = up ? 1 : -1;
	int count = 0;

	add_tick(&ticks[count++], s, near);
	for (int i = begin; count < SX_SCALE_TICKS - 1; i += by) {
		if (i <= -STEP_MOST || i >= STEP_MOST ||
		    (up ? step_value(i) > far / 1.001 : step_value(i) < far * 1.001))
			break;
		add_tick(&ticks[count++], s, step_value(i));
	}
	add_tick(&ticks[count++], s, far);
	ticks[0].place = 1.0;
	ticks[count - 1].place = 0.0;
	return count;
}

const char *sx_scale_wrong(double near_m, double far_m)
{
	if (near_m > 0.0 && far_m > 0.0 && far_m < 1.01 * near_m)
		return "--far must be at least 1 % farther than --near";
	return NULL;
}
