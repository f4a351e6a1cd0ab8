/*
 * Parameters: values for settings that are left open, and derived numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/params/params.h"

int sx_cost_max(enum sx_cost cost)
{
	switch (cost) {
	case SX_COST_CSCT:
		return 31;
	case SX_COST_CENSUS48:
		return 48;
	case SX_COST_ZNCC:
		return 42;
	default:
		return 62;
	}
}

int sx_disparity_range(const struct sx_stereo_params *p)
{
	return p->disparities + (p->min_disparity > 0 ? p->min_disparity : 0);
}

/*
 * Best values for settings that are left open (0, fastdt: auto), as measured in tests/lab/lab-accuracy.md.
 * Only this table has these values: help and man page print what sx_stereo_resolve() makes of a row of the
 * option table.
 *
 * A larger p1 removes noise but turns slanted roads into steps, which become false obstacles. Vertical and
 * diagonal paths cross these steps. They need a smaller p1, and a still smaller one if there are more of
 * these paths.
 */
static const struct best {
	int p1, p2, p1_vertical, p2_vertical;
} best_penalties[][3] = {
	/* 2, 4, 8 paths */
	[SX_COST_CSCT] = {{8, 60, 8, 60}, {12, 60, 8, 86}, {12, 60, 6, 86}},
	[SX_COST_CENSUS] = {{20, 100, 20, 100}, {24, 100, 14, 140}, {24, 100, 9, 140}},
	[SX_COST_CENSUS48] = {{20, 100, 20, 100}, {24, 100, 14, 140}, {24, 100, 7, 110}},
	[SX_COST_CENSUS63] = {{20, 100, 20, 100}, {24, 100, 14, 140}, {24, 100, 9, 140}},
	[SX_COST_ZNCC] = {{16, 84, 16, 84}, {20, 100, 12, 140}, {20, 100, 8, 120}},
};
#define BEST_FASTDT SX_FASTDT_INT16
#define BEST_SIGMA_SPACE_PX 5
#define BEST_SIGMA_RANGE 52

void sx_stereo_resolve(struct sx_stereo_params *p)
{
	const struct best *best = &best_penalties[p->cost][p->paths == 8 ? 2 : p->paths == 4];

	if (p->p1_vertical == 0)
		p->p1_vertical = p->p1 ? p->p1 : best->p1_vertical;
	if (p->p2_vertical == 0)
		p->p2_vertical = p->p2 ? p->p2 : best->p2_vertical;
	if (p->p1 == 0)
		p->p1 = best->p1;
	if (p->p2 == 0)
		p->p2 = best->p2;
	if (p->search == SX_SEARCH_AUTO)
		p->search = sx_is_pyramid(p) ? SX_SEARCH_PYRAMID : SX_SEARCH_FULL;
	if (p->fastdt == SX_FASTDT_AUTO)
		p->fastdt = BEST_FASTDT;
	if (p->fastdt_sigma_space == 0)
		p->fastdt_sigma_space = BEST_SIGMA_SPACE_PX;
	if (p->fastdt_sigma_range == 0)
		p->fastdt_sigma_range = BEST_SIGMA_RANGE;
}
