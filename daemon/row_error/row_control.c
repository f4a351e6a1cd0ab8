/*
 * Control of the row correction from the measured row errors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/row_error/row_control.h"

#include <math.h>
#include <stdio.h>

#include "base/contract.h"
#include "base/statistics/quantile.h"

#define DEGREES (180 / M_PI)

/*
 * Returns the median of a third over the samples that know it; *known gets their number. Of an even number
 * returns the mean of the two middle values.
 */
static double median_of(const struct sx_row_control *c, int third, unsigned *known)
{
	double value[SX_ROW_CONTROL_WINDOW], lower, upper;
	unsigned n = 0;

	for (unsigned i = 0; i < SX_ROW_CONTROL_WINDOW && i < c->taken; i++)
		if (!isnan(c->sample[i][third]))
			value[n++] = (double)c->sample[i][third];
	*known = n;
	if (n == 0)
		return (double)NAN;
	lower = sx_quantile(value, n, 0.5);
	upper = value[n / 2];
	for (unsigned i = n / 2 + 1; i < n && n % 2 == 0; i++)
		upper = fmin(upper, value[i]);
	return (lower + upper) / 2;
}

static void take_sample(struct sx_row_control *c, const struct sx_image_stats *p)
{
	float *sample = c->sample[c->taken % SX_ROW_CONTROL_WINDOW];

	sx_must(c->taken, <, 2 * SX_ROW_CONTROL_WINDOW);
	for (int i = 0; i < 3; i++)
		sample[i] = p->row_spread[i] <= SX_ROW_CONTROL_SPREAD ? (float)p->row_error[i] : NAN;
	/* Only both outer thirds together give a rotation. */
	if (isnan(sample[SX_ROW_ERROR_LEFT]) || isnan(sample[SX_ROW_ERROR_RIGHT]))
		sample[SX_ROW_ERROR_LEFT] = sample[SX_ROW_ERROR_MIDDLE] = sample[SX_ROW_ERROR_RIGHT] = NAN;
	c->taken++;
	/* the samples wrap around, and the count stays bounded */
	if (c->taken == 2 * SX_ROW_CONTROL_WINDOW)
		c->taken = SX_ROW_CONTROL_WINDOW;
}

static double within(double value, double limit)
{
	return fmin(fmax(value, -limit), limit);
}

/*
 * Returns the rows by which a rotation moves the middle of the right third. The distance from there to the
 * middle of the image is a third of the width.
 */
static double end_of(double rotation_deg, int width)
{
	sx_must(width, >, 0);
	return tan(rotation_deg / DEGREES) * width / 3;
}

/* Sets wanted, within the limits. At a limit, a change of less than a step is not wanted. */
static void want(struct sx_row_control *c, double shift, double end, int width)
{
	const double applied = end_of(c->applied.rotation_deg, width);
	const struct sx_row_correction whole = {c->applied.shift_px + shift,
						atan(3 * (applied + end) / width) * DEGREES};
	double beyond;

	c->wanted.shift_px = within(whole.shift_px, SX_ROW_CONTROL_SHIFT);
	c->wanted.rotation_deg = within(whole.rotation_deg, SX_ROW_CONTROL_ROTATION);
	c->wants = fabs(c->wanted.shift_px - c->applied.shift_px) +
			   fabs(end_of(c->wanted.rotation_deg, width) - applied) >
		   SX_ROW_CONTROL_STEP;
	beyond = fabs(whole.shift_px - c->wanted.shift_px) +
		 fabs(end_of(whole.rotation_deg, width) - end_of(c->wanted.rotation_deg, width));
	c->beyond = beyond > (c->beyond ? SX_ROW_CONTROL_BEYOND_NO_MORE : SX_ROW_CONTROL_BEYOND);
	if (!c->beyond)
		return;
	snprintf(c->why, sizeof(c->why),
		 "images are further out of line than camera.row_correction may correct (%+.2f px, %+.2f "
		 "degrees; limits %g and %g): calibrate again",
		 whole.shift_px, whole.rotation_deg, SX_ROW_CONTROL_SHIFT, SX_ROW_CONTROL_ROTATION);
}

static void decide(struct sx_row_control *c, int width)
{
	unsigned known, known_middle;
	const double left = median_of(c, SX_ROW_ERROR_LEFT, &known),
		     right = median_of(c, SX_ROW_ERROR_RIGHT, &known);
	const double middle = median_of(c, SX_ROW_ERROR_MIDDLE, &known_middle);
	const double end = (right - left) / 2;
	const double shift = known_middle > known / 2 ? (left + middle + right) / 3 : (left + right) / 2;
	const double size = fabs(shift) + fabs(end);

	c->wants = false;
	if (known < (size > SX_ROW_CONTROL_FAR ? SX_ROW_CONTROL_ENOUGH_FAR : SX_ROW_CONTROL_ENOUGH))
		return;
	sx_must(known, <=, SX_ROW_CONTROL_WINDOW);
	c->why[0] = 0;
	c->left = left;
	c->right = right;
	if (size > SX_ROW_CONTROL_STEP)
		want(c, shift, end, width);
	else
		c->beyond = false;
}

void sx_row_control_see(struct sx_row_control *c, const struct sx_image_stats *newest, int width)
{
	if (newest->frame == c->last || newest->frame < c->first)
		return;
	sx_must_be(newest->frame > c->last || c->last == 0);
	c->last = newest->frame;
	take_sample(c, newest);
	decide(c, width);
}

void sx_row_control_apply(struct sx_row_control *c, const struct sx_row_correction *applied, uint64_t frame)
{
	if (sx_row_correction_equal(applied, &c->applied))
		return;
	sx_must_be(fabs(applied->shift_px) <= SX_ROW_CONTROL_SHIFT &&
		   fabs(applied->rotation_deg) <= SX_ROW_CONTROL_ROTATION);
	c->applied = *applied;
	c->first = frame;
	sx_row_control_refused(c);
}

void sx_row_control_refused(struct sx_row_control *c)
{
	c->taken = 0;
	c->wants = false;
}
