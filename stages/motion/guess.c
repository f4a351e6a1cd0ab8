/*
 * Guess, see guess.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/guess.h"

#include "stages/motion/corners.h"

int sx_motion_judges(const struct sx_motion_view *now, const struct sx_motion_feature *features,
		     const struct sx_motion_feature *judges[SX_MOTION_JUDGES_MAX])
{
	const struct sx_motion_cells c = sx_motion_cells(now->grey.width, now->grey.height);
	int count = 0;

	for (int top = 0; top < c.rows; top += SX_MOTION_JUDGE_BLOCK)
		for (int left = 0; left < c.columns; left += SX_MOTION_JUDGE_BLOCK) {
			const struct sx_motion_feature *best = NULL;

			for (int i = 0; i < SX_MOTION_JUDGE_BLOCK * SX_MOTION_JUDGE_BLOCK; i++) {
				const int row = top + i / SX_MOTION_JUDGE_BLOCK,
					  column = left + i % SX_MOTION_JUDGE_BLOCK;
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
