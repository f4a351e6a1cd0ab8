/*
 * Semi-global matching. Two sweeps over the image: one in reading order for the paths whose previous pixel is
 * left or above, one backwards for the opposite paths. So a path needs two rows of L instead of a volume.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/sgm.h"

#include <stdbool.h>
#include <string.h>

#define PATHS_OF_SWEEP 4
/*
 * L beyond either end of the disparities: larger than any candidate, and small enough that adding P1 fits 16
 * bits.
 */
#define ABSENT 16384
#define COST_ABSENT 255 /* cost of a cell that is not searched; no cost is above 253 (sx_params_check) */

/*
 * Steps of the forward sweep. The backward sweep uses their negatives. 2, 4 and 8 paths use the first 1, 2
 * and 4 entries.
 */
static const struct {
	int dx, dy;
} steps[PATHS_OF_SWEEP] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}};

/* L of one path in two image rows; each pixel has disparities + 2 values, the first and last are ABSENT. */
struct path {
	int16_t *row, *previous_row;
};

struct sweep {
	struct path paths[PATHS_OF_SWEEP];
	uint8_t *cost; /* costs of the current image row */
	int width, height, count, sign;
	size_t stride; /* entries per pixel in a row of a path */
	const struct sx_cost_input *in;
	const struct sx_stereo_params *p;
	const struct sx_image *tiles; /* NULL: all cells are searched */
};

static size_t path_row_bytes(int width, const struct sx_stereo_params *p)
{
	return (size_t)width * ((size_t)p->disparities + 2) * sizeof(int16_t);
}

size_t sx_sgm_scratch_bytes(int width, const struct sx_stereo_params *p)
{
	return 2 * PATHS_OF_SWEEP * path_row_bytes(width, p) + (size_t)width * (size_t)p->disparities;
}

static inline int16_t smaller(int16_t a, int16_t b)
{
	return a < b ? a : b;
}

/*
 * Computes L(p, .) from L(q, .). Uses 16-bit numbers throughout, so that the compiler can process eight
 * disparities at once.
 */
static void sgm_step(const uint8_t *cost, const int16_t *before, int16_t *here, int disparities, int16_t p1,
		     int16_t p2)
{
	int16_t m = ABSENT;

	for (int d = 0; d < disparities; d++)
		m = smaller(m, before[d]);
	for (int d = 0; d < disparities; d++) {
		int16_t beside = (int16_t)(smaller(before[d - 1], before[d + 1]) + p1);
		int16_t best = smaller(smaller(before[d], beside), (int16_t)(m + p2));

		here[d] = cost[d] == COST_ABSENT ? ABSENT : (int16_t)(cost[d] + best - m);
	}
}

static void sgm_start(const uint8_t *cost, int16_t *here, int disparities)
{
	for (int d = 0; d < disparities; d++)
		here[d] = cost[d] == COST_ABSENT ? ABSENT : (int16_t)cost[d];
}

static void sgm_add(uint16_t *sum, const int16_t *here, int disparities, bool first)
{
	for (int d = 0; d < disparities; d++)
		sum[d] = here[d] == ABSENT ? SX_SUM_ABSENT : (uint16_t)(here[d] + (first ? 0 : sum[d]));
}

struct sx_penalties sx_sgm_penalties(const struct sx_stereo_params *p, bool horizontal)
{
	struct sx_penalties along = {p->p1, p->p2}, across = {p->p1_vertical, p->p2_vertical};

	return horizontal ? along : across;
}

int sx_sgm_p2(const struct sx_stereo_params *p, bool horizontal, int edge)
{
	struct sx_penalties of = sx_sgm_penalties(p, horizontal);
	int share, p2;

	if (p->p2_edge == 0)
		return of.p2;
	share = (512 * p->p2_edge + p->p2_edge + edge) / (2 * (p->p2_edge + edge));
	p2 = of.p2 * share >> 8;
	if (p2 <= of.p1)
		p2 = of.p1 + 1;
	return p2 < of.p2 ? p2 : of.p2;
}

int sx_sgm_largest(const struct sx_stereo_params *p)
{
	return p->paths * sx_cost_max(p->cost) + 2 * p->p2 + (p->paths - 2) * p->p2_vertical;
}

static int16_t p2_between(const struct sweep *s, int x, int y, int qx, int qy)
{
	const struct sx_image *grey = &s->in->grey[0];
	int a, b;

	if (s->p->p2_edge == 0)
		return (int16_t)sx_sgm_p2(s->p, y == qy, 0);
	a = ((const uint8_t *)sx_image_row(grey, y))[x];
	b = ((const uint8_t *)sx_image_row(grey, qy))[qx];
	return (int16_t)sx_sgm_p2(s->p, y == qy, a < b ? b - a : a - b);
}

static void aggregate_pixel(struct sweep *s, int x, int y, uint16_t *sum)
{
	const uint8_t *cost = s->cost + (size_t)x * (size_t)s->p->disparities;

	for (int i = 0; i < s->count; i++) {
		int qx = x - s->sign * steps[i].dx, qy = y - s->sign * steps[i].dy;
		int16_t *here = s->paths[i].row + (size_t)x * s->stride + 1;

		if (qx < 0 || qx >= s->width || qy < 0 || qy >= s->height) {
			sgm_start(cost, here, s->p->disparities);
		} else {
			const int16_t *row = steps[i].dy ? s->paths[i].previous_row : s->paths[i].row;

			sgm_step(cost, row + (size_t)qx * s->stride + 1, here, s->p->disparities,
				 (int16_t)sx_sgm_penalties(s->p, y == qy).p1, p2_between(s, x, y, qx, qy));
		}
		sgm_add(sum, here, s->p->disparities, s->sign > 0 && i == 0);
	}
}

static void next_row(struct sweep *s)
{
	for (int i = 0; i < s->count; i++) {
		int16_t *row = s->paths[i].row;

		s->paths[i].row = s->paths[i].previous_row;
		s->paths[i].previous_row = row;
	}
}

/* Marks the costs of the cells of row y that are not searched. */
static void leave_out(const struct sweep *s, int y)
{
	const struct sx_search_tile *row = sx_image_row(s->tiles, y / SX_SEARCH_TILE_HEIGHT);
	uint8_t *cost = s->cost;

	for (int x = 0; x < s->width; x++, cost += s->p->disparities) {
		const struct sx_search_tile *t = &row[x / SX_SEARCH_TILE_WIDTH];

		for (int b = 0, i = 0; b < s->p->disparities / SX_SEARCH_BLOCK; b++) {
			if (i < t->count && t->block[i] == b)
				i++;
			else
				memset(cost + b * SX_SEARCH_BLOCK, COST_ABSENT, SX_SEARCH_BLOCK);
		}
	}
}

static void run_sweep(struct sweep *s, const struct sx_image *sum)
{
	for (int j = 0; j < s->height; j++) {
		int y = s->sign > 0 ? j : s->height - 1 - j;
		uint16_t *row = sx_image_row(sum, y);

		sx_cost_row(s->in, y, s->p, s->cost);
		if (s->tiles)
			leave_out(s, y);
		for (int i = 0; i < s->width; i++) {
			int x = s->sign > 0 ? i : s->width - 1 - i;

			aggregate_pixel(s, x, y, row + (size_t)x * (size_t)s->p->disparities);
		}
		next_row(s);
	}
}

static char *lay_out_path(struct path *path, char *at, struct sweep *s)
{
	size_t n = (size_t)s->width * s->stride;

	path->row = (int16_t *)(void *)at;
	path->previous_row = path->row + n;
	for (size_t k = 0; k < 2 * n; k += s->stride) {
		path->row[k] = ABSENT;
		path->row[k + s->stride - 1] = ABSENT;
	}
	return at + 2 * n * sizeof(int16_t);
}

void sx_sgm(const struct sx_cost_input *in, const struct sx_image *sum, const struct sx_stereo_params *p,
	    const struct sx_image *tiles, void *scratch)
{
	struct sweep s = {
		.width = in->descriptor[0].width,
		.height = in->descriptor[0].height,
		.count = p->paths / 2,
		.stride = (size_t)p->disparities + 2,
		.in = in,
		.p = p,
		.tiles = tiles,
	};
	char *at = scratch;

	for (int i = 0; i < PATHS_OF_SWEEP; i++)
		at = lay_out_path(&s.paths[i], at, &s);
	s.cost = (uint8_t *)at;
	for (s.sign = 1; s.sign >= -1; s.sign -= 2)
		run_sweep(&s, sum);
}
