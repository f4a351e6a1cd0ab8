/*
 * Match, see match.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/match.h"

#include <stdlib.h>

#include "base/contract.h"
#include "stages/motion/view.h"

#define SIDE (2 * SX_MOTION_REACH_MAX + 1)
#define APART 2 /* px: nearer places are no rivals */

/* Samples of a block: their places in both images, beside its middle, and how far they reach. */
struct block {
	struct {
		int x, y, wx, wy;
	} sample[SX_MOTION_SAMPLES];
	int rx, ry;
};

static int far(int a, int b)
{
	return abs(a) > b ? abs(a) : b;
}

static void place_samples(struct block *b, const struct sx_motion_guess *warp)
{
	int n = 0;

	b->rx = b->ry = 0;
	for (int j = -SX_MOTION_STRIDE; j <= SX_MOTION_STRIDE; j += SX_MOTION_STRIDE)
		for (int i = -SX_MOTION_STRIDE; i <= SX_MOTION_STRIDE; i += SX_MOTION_STRIDE, n++) {
			b->sample[n].x = i;
			b->sample[n].y = j;
			b->sample[n].wx = (warp->across * i + warp->shear * j + 512) >> 10;
			b->sample[n].wy = (warp->down * j + 512) >> 10;
			b->rx = far(b->sample[n].wx, b->rx);
			b->ry = far(b->sample[n].wy, b->ry);
		}
}

static uint32_t cost_of(const struct sx_image *from, const struct sx_image *to, const struct block *b, int x,
			int y, int px, int py)
{
	uint32_t cost = 0;

	for (int n = 0; n < SX_MOTION_SAMPLES; n++) {
		const uint32_t *row = sx_image_row(from, y + b->sample[n].y);
		const uint32_t *other = sx_image_row(to, py + b->sample[n].wy);

		cost += (uint32_t)__builtin_popcount(row[x + b->sample[n].x] ^ other[px + b->sample[n].wx]);
	}
	return cost;
}

static bool is_inside(const struct sx_image *image, int x, int y, int rx, int ry)
{
	return x >= rx + SX_MOTION_CENSUS_RADIUS && y >= ry + SX_MOTION_CENSUS_RADIUS &&
	       x < image->width - rx - SX_MOTION_CENSUS_RADIUS &&
	       y < image->height - ry - SX_MOTION_CENSUS_RADIUS;
}

struct sx_motion_place sx_motion_find(const struct sx_image *from, const struct sx_image *to, int x, int y,
				      int gx, int gy, struct sx_motion_reach reach,
				      const struct sx_motion_guess *warp)
{
	struct block block;
	struct sx_motion_place best = {gx, gy, SX_MOTION_COST_NONE, SX_MOTION_COST_NONE};
	uint16_t costs[SIDE][SIDE];

	sx_must(reach.x, <=, SX_MOTION_REACH_MAX);
	sx_must(reach.y, <=, SX_MOTION_REACH_MAX);
	place_samples(&block, warp);
	if (!is_inside(from, x, y, SX_MOTION_STRIDE, SX_MOTION_STRIDE))
		return best;
	for (int j = -reach.y; j <= reach.y; j++)
		for (int i = -reach.x; i <= reach.x; i++) {
			uint32_t cost = SX_MOTION_COST_NONE;

			if (is_inside(to, gx + i, gy + j, block.rx, block.ry))
				cost = cost_of(from, to, &block, x, y, gx + i, gy + j);
			costs[j + reach.y][i + reach.x] = (uint16_t)cost;
			if (cost < best.cost)
				best = (struct sx_motion_place){gx + i, gy + j, cost, SX_MOTION_COST_NONE};
		}
	for (int j = -reach.y; j <= reach.y; j++)
		for (int i = -reach.x; i <= reach.x; i++) {
			const uint32_t cost = costs[j + reach.y][i + reach.x];

			if ((abs(gx + i - best.x) > APART || abs(gy + j - best.y) > APART) &&
			    cost < best.second)
				best.second = cost;
		}
	return best;
}

void sx_motion_match_by(const struct sx_motion_searches *by, const struct sx_motion_view *now,
			const struct sx_motion_view *before, const struct sx_motion_feature *feature,
			const struct sx_motion_guess *guesses, int count, struct sx_motion_flow *flow)
{
	const int x = feature->x, y = feature->y, hx = x >> 1, hy = y >> 1;
	struct sx_motion_place coarse = {0, 0, SX_MOTION_COST_NONE, SX_MOTION_COST_NONE}, fine;
	uint32_t first_cost = 0;
	int taken = 0;

	*flow = (struct sx_motion_flow){.search = SX_MOTION_UNKNOWN};
	for (int i = 0; i < count && (i == 0 || first_cost > SX_MOTION_FAIR); i++) {
		const struct sx_motion_place p = by->coarse(
			&now->half_census, &before->half_census, hx, hy, hx + sx_motion_halved(guesses[i].dx),
			hy + sx_motion_halved(guesses[i].dy), &guesses[i]);

		if (i == 0)
			first_cost = p.cost;
		if (i == 0 || p.cost + SX_MOTION_BETTER < coarse.cost) {
			coarse = p;
			taken = i;
		}
	}
	if ((feature->kind & SX_MOTION_OBJECT) && coarse.cost > SX_MOTION_POOR) {
		taken = 0;
		coarse = by->wide(&now->half_census, &before->half_census, hx, hy,
				  hx + sx_motion_halved(guesses[0].dx), hy + sx_motion_halved(guesses[0].dy),
				  &guesses[0]);
	}
	if (coarse.cost == SX_MOTION_COST_NONE)
		return;
	flow->cost = (uint16_t)coarse.cost;
	flow->second = (uint16_t)coarse.second;
	fine = by->fine(&now->census, &before->census, x, y, x + 2 * (coarse.x - hx), y + 2 * (coarse.y - hy),
			&guesses[taken]);
	if (fine.cost == SX_MOTION_COST_NONE)
		return;
	flow->guess = (uint32_t)taken;
	flow->x_q6 = 64 * fine.x;
	flow->y_q6 = 64 * fine.y;
	flow->search = sx_motion_is_clear(coarse.cost, coarse.second) ? SX_MOTION_FOUND : SX_MOTION_AMBIGUOUS;
}

static struct sx_motion_place find_coarse(const struct sx_image *from, const struct sx_image *to, int x,
					  int y, int gx, int gy, const struct sx_motion_guess *warp)
{
	return sx_motion_find(from, to, x, y, gx, gy, SX_MOTION_COARSE, warp);
}

static struct sx_motion_place find_wide(const struct sx_image *from, const struct sx_image *to, int x, int y,
					int gx, int gy, const struct sx_motion_guess *warp)
{
	return sx_motion_find(from, to, x, y, gx, gy, SX_MOTION_WIDE, warp);
}

struct sx_motion_place sx_motion_find_fine(const struct sx_image *from, const struct sx_image *to, int x,
					   int y, int gx, int gy, const struct sx_motion_guess *warp)
{
	return sx_motion_find(from, to, x, y, gx, gy, SX_MOTION_FINE, warp);
}

void sx_motion_match(const struct sx_motion_view *now, const struct sx_motion_view *before,
		     const struct sx_motion_feature *feature, const struct sx_motion_guess *guesses,
		     int count, struct sx_motion_flow *flow)
{
	static const struct sx_motion_searches searches = {find_coarse, find_wide, sx_motion_find_fine};

	sx_motion_match_by(&searches, now, before, feature, guesses, count, flow);
}
