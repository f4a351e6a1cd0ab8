/*
 * Cases of pyramid search: drawn settings and sizes, and every number of disparities.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/sgm.h"
#include "tests/engine_case.h"

#define DRAWN 40

/* Draws penalties that the cost leaves room for: Cmax + P1 + P2 <= 255. */
static void draw_penalties(struct sx_stereo_params *p, struct check_rng *r)
{
	const int room = 255 - sx_cost_max(p->cost);

	p->p1 = 1 + check_below(r, room / 2);
	p->p2 = p->p1 + check_below(r, room - 2 * p->p1 + 1);
	p->p1_vertical = 1 + check_below(r, room / 2);
	p->p2_vertical = p->p1_vertical + check_below(r, room - 2 * p->p1_vertical + 1);
	if (check_below(r, 2)) { /* sums that fit bytes */
		p->p1 = 12;
		p->p2 = 60;
		p->p1_vertical = 8;
		p->p2_vertical = 86;
	}
	p->p2_edge = check_below(r, 3) ? 0 : 1 + check_below(r, 255);
}

static void draw_case(struct engine_case *t, struct check_rng *r, bool zncc)
{
	static const int disparities[] = {32, 64, 96, 128, 160, 192, 224, 256};
	static const enum sx_cost costs[] = {SX_COST_CSCT,     SX_COST_CSCT,	 SX_COST_CENSUS,
					     SX_COST_CENSUS48, SX_COST_CENSUS63, SX_COST_ZNCC};
	struct sx_stereo_params *p = &t->params.stereo;

	p->cost = costs[check_below(r, zncc ? 6 : 5)];
	p->paths = 2 << check_below(r, 3);
	p->disparities = check_below(r, 3) ? disparities[check_below(r, 8)]
					   : 32 * (1 + check_below(r, SX_PYRAMID_DISPARITIES_MAX / 32));
	p->min_disparity = check_below(r, 2) ? check_below(r, 257) - 128 : 0;
	if (p->disparities + p->min_disparity > SX_RANGE_MAX)
		p->min_disparity = -p->min_disparity;
	p->out_of_view = check_below(r, 2) ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
	p->subpixel = (enum sx_subpixel)check_below(r, 3);
	p->uniqueness = 1 + check_below(r, 100);
	p->zncc_window = 3 + 2 * check_below(r, 3);
	draw_penalties(p, r);
	t->width = 32 + check_below(r, check_below(r, 2) ? 40 : 200);
	t->height = 32 + check_below(r, check_below(r, 2) ? 20 : 60);
	t->fill = (enum check_fill)check_below(r, CHECK_FILL_COUNT);
	t->shift = p->min_disparity + check_below(r, p->disparities / 2);
	t->padding = check_below(r, 20);
}

struct engine_case engine_case_pyramid(uint64_t seed, bool zncc)
{
	struct engine_case t = engine_case_small(seed);
	struct check_rng r = check_rng_seed(seed);

	t.params.stereo.search = SX_SEARCH_PYRAMID;
	draw_case(&t, &r, zncc);
	return t;
}

/*
 * Every number of blocks that a tile or the coarsest scale can have, and sizes that scales halve to one
 * pixel.
 */
static void check_disparities(engine_case_fn *check)
{
	for (int d = 32; d <= SX_PYRAMID_DISPARITIES_MAX; d += 32) {
		struct engine_case t = engine_case_small(6000 + (uint64_t)d);

		t.params.stereo.search = SX_SEARCH_PYRAMID;
		t.params.stereo.disparities = d;
		t.width = 32 + d % 50;
		t.height = 32 + d / 32;
		t.fill = d / 32 % 2 ? CHECK_NOISE : CHECK_STEPS;
		check(&t);
	}
}

void engine_cases_pyramid(engine_case_fn *check)
{
	check_disparities(check);
	for (int i = 0; i < DRAWN; i++) {
		const struct engine_case t = engine_case_pyramid(6600 + (uint64_t)i, false);

		check(&t);
	}
}
