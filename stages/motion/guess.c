/*
 * Guess, see guess.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/guess.h"

#include "stages/motion/corners.h"
#include "stages/motion/step.h"

#define TURN_PX 6.0   /* between two turns of the fan */
#define LIMIT 4096.0  /* px: a displacement is at most this long */
#define NEIGHBOUR 4.0 /* px: the pixels that show how the surroundings change */
#define BLOCK 4	      /* cells: width and height of the block that has one judge */

static const double ways[SX_MOTION_FAN_WAYS] = {0.0, 0.5, -0.5, 1.0, 1.5,  2.0,	 -1.0, 3.0,
						4.0, 5.0, 6.0,	8.0, 10.0, 13.0, 16.0};

struct sx_motion_step sx_motion_fan_step(const struct sx_camera *camera, int i)
{
	const int turn = i / SX_MOTION_FAN_WAYS, beside = (turn + 1) / 2;
	const double way[3] = {0.0, 0.0, ways[i % SX_MOTION_FAN_WAYS]};
	const double rad[3] = {0.0, (turn % 2 ? 1.0 : -1.0) * (double)beside * (TURN_PX / camera->fx), 0.0};
	struct sx_motion_step s = sx_motion_no_step();

	sx_motion_change(&s, rad, way);
	return s;
}

static int32_t limited(double v, double least, double most)
{
	return (int32_t)rint(v > most ? most : v < least ? least : v);
}

/* Computes the place of a pixel in the frame before, as sx_motion_expect() does. False: it has none. */
static bool place(const struct sx_camera *camera, const struct sx_motion_rotation *m, const double t[3],
		  const double shift[3], double x, double y, double d, struct sx_motion_picture *ret)
{
	struct sx_motion_point p;

	if (!(d > 0.0))
		return false;
	p = sx_motion_point_of(camera, x, y, d);
	p.x -= shift[0];
	p.y -= shift[1];
	p.z -= shift[2];
	return sx_motion_picture_of(camera, sx_motion_moved(m, t, p), ret);
}

struct sx_motion_guess sx_motion_expect(const struct sx_camera *camera, const struct sx_motion_step *step,
					const struct sx_motion_feature *feature, double offset,
					const double shift[3])
{
	const struct sx_motion_rotation m = sx_motion_rotation_of(step);
	const double x = (double)feature->x, y = (double)feature->y;
	const double d = (double)feature->disparity_q8 / 256.0 + offset;
	const double slope = (double)feature->slope_q14 / 16384.0;
	struct sx_motion_guess guess = {0, 0, 1024, 0, 1024};
	struct sx_motion_picture at, beside, below;

	if (!place(camera, &m, step->t, shift, x, y, d, &at) ||
	    !place(camera, &m, step->t, shift, x + NEIGHBOUR, y, d, &beside) ||
	    !place(camera, &m, step->t, shift, x, y + NEIGHBOUR, d + NEIGHBOUR * slope, &below))
		return guess;
	guess.dx = limited(at.u - x, -LIMIT, LIMIT);
	guess.dy = limited(at.v - y, -LIMIT, LIMIT);
	guess.across =
		limited((beside.u - at.u) * (1024.0 / NEIGHBOUR), SX_MOTION_WARP_LEAST, SX_MOTION_WARP_MOST);
	guess.shear = limited((below.u - at.u) * (1024.0 / NEIGHBOUR), -1024.0, 1024.0);
	guess.down =
		limited((below.v - at.v) * (1024.0 / NEIGHBOUR), SX_MOTION_WARP_LEAST, SX_MOTION_WARP_MOST);
	return guess;
}

int sx_motion_judges(const struct sx_motion_view *now, const struct sx_motion_feature *features,
		     const struct sx_motion_feature *judges[SX_MOTION_JUDGES_MAX])
{
	const struct sx_motion_cells c = sx_motion_cells(now->grey.width, now->grey.height);
	int count = 0;

	for (int top = 0; top < c.rows; top += BLOCK)
		for (int left = 0; left < c.columns; left += BLOCK) {
			const struct sx_motion_feature *best = NULL;

			for (int i = 0; i < BLOCK * BLOCK; i++) {
				const int row = top + i / BLOCK, column = left + i % BLOCK;
				const struct sx_motion_feature *f;

				if (row >= c.rows || column >= c.columns)
					continue;
				f = &features[row * c.columns + column];
				if (f->score && (!best || f->score > best->score))
					best = f;
			}
			if (best && count < SX_MOTION_JUDGES_MAX)
				judges[count++] = best;
		}
	return count;
}

static uint32_t vote(const struct sx_motion_view *now, const struct sx_motion_view *before,
		     const struct sx_motion_feature *f, struct sx_motion_guess guess)
{
	const int x = f->x >> 1, y = f->y >> 1;
	const struct sx_motion_place place =
		sx_motion_find(&now->half_census, &before->half_census, x, y, x + ((guess.dx + 1) >> 1),
			       y + ((guess.dy + 1) >> 1), (struct sx_motion_reach){3, 2}, &guess);

	return place.cost < SX_MOTION_VOTE_MOST ? place.cost : SX_MOTION_VOTE_MOST;
}

bool sx_motion_begin(const struct sx_motion_view *now, const struct sx_motion_view *before,
		     const struct sx_camera *camera, const struct sx_motion_feature *features, double offset,
		     const struct sx_motion_step *expected, struct sx_motion_step *ret)
{
	static const double stands[3] = {0.0, 0.0, 0.0};
	const struct sx_motion_feature *judges[SX_MOTION_JUDGES_MAX];
	const int count = sx_motion_judges(now, features, judges);
	uint32_t least = UINT32_MAX;

	if (!count)
		return false;
	for (int i = expected ? -1 : 0; i < SX_MOTION_FAN; i++) {
		const struct sx_motion_step s = i < 0 ? *expected : sx_motion_fan_step(camera, i);
		uint32_t sum = 0;

		for (int k = 0; k < count; k++)
			sum += vote(now, before, judges[k],
				    sx_motion_expect(camera, &s, judges[k], offset, stands));
		if (sum < least) {
			least = sum;
			*ret = s;
		}
	}
	return true;
}
