/*
 * Group, see group.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/group.h"

#include <stdlib.h>

#include "stages/motion/group_terms.h"
#include "stixel.h"

#define FARTHEST_M_S 1.65 /* bias of a velocity at the farthest distance */
/* Errors of a step that its covariance does not show: features of all distances share them */
#define TURN_SIGMA_RAD 0.0002
#define WAY_SIGMA_BASELINES 0.011
#define APART_COLUMNS 3
#define APART_ROWS 6
#define APART_SQUARE 9.0

struct group {
	const struct sx_camera *camera;
	struct sx_motion_round round; /* the step, and the offset of disparities */
	double range;		      /* sx_motion_group_range() */
	const struct sx_motion_group_by *by;
	int count;
	int32_t members[SX_MOTION_GROUP_MOST]; /* slots of its features */
};

/* Features and flows of all slots, and the group whose sums are computed. */
struct plain {
	const struct sx_camera *camera;
	const struct sx_motion_round *round;
	const struct sx_motion_feature *features;
	const struct sx_motion_flow *flows;
	const int32_t *members;
	int count;
};

double sx_motion_farthest(const struct sx_camera *c, double seconds)
{
	return sqrt(FARTHEST_M_S * seconds * (c->fx * c->baseline_m) / SX_MOTION_BIAS_PX);
}

static int clamp(int v, int least, int most)
{
	return v < least ? least : v > most ? most : v;
}

int sx_motion_group_members(const struct sx_motion_cells *cells, const struct sx_motion_feature *features,
			    const struct sx_motion_flow *flows, const struct stixel *s, int width,
			    int32_t members[SX_MOTION_GROUP_MOST])
{
	const int x = s->column * width + width / 2, top = s->row_top - SX_MOTION_ABOVE;
	const int bottom = s->row_bottom + SX_MOTION_ABOVE, d = 2 * s->disparity_q7, most = 256 + d / 50;
	const int left_cell = clamp((x - SX_MOTION_BESIDE) / cells->size, 0, cells->columns - 1);
	const int right_cell = clamp((x + SX_MOTION_BESIDE) / cells->size, 0, cells->columns - 1);
	const int top_cell = clamp(top / cells->size, 0, cells->rows - 1);
	const int bottom_cell = clamp(bottom / cells->size, 0, cells->rows - 1);
	int count = 0;

	for (int row = top_cell; row <= bottom_cell; row++)
		for (int column = left_cell; column <= right_cell; column++) {
			const int i = row * cells->columns + column;
			const struct sx_motion_feature *f = &features[i];

			if (!f->score || flows[i].search != SX_MOTION_FOUND ||
			    !(f->kind & SX_MOTION_OBJECT) || abs(f->x - x) > SX_MOTION_BESIDE || f->y < top ||
			    f->y > bottom || abs(f->disparity_q8 - d) > most || count == SX_MOTION_GROUP_MOST)
				continue;
			members[count++] = i;
		}
	return count;
}

static void gather(struct group *g, const struct sx_motion_cells *cells,
		   const struct sx_motion_feature *features, const struct sx_motion_flow *flows,
		   const struct stixel *s, int width)
{
	g->range = sx_motion_group_range((double)s->disparity_q7 / 128.0);
	g->count = sx_motion_group_members(cells, features, flows, s, width, g->members);
	g->by->take(g->by->arg, g->members, g->count);
}

static void take_plain(void *arg, const int32_t *members, int count)
{
	struct plain *p = arg;

	p->members = members;
	p->count = count;
}

static void add_plain(void *arg, const struct sx_motion_round *moving, const struct sx_motion_group_at *at,
		      bool standing, struct sx_motion_group_sums *s)
{
	const struct plain *p = arg;

	*s = (struct sx_motion_group_sums){.features = 0};
	for (int i = 0; i < p->count; i++)
		sx_motion_group_add(p->camera, moving, at, standing, &p->features[p->members[i]],
				    &p->flows[p->members[i]], s);
}

int32_t sx_motion_select(int32_t *v, int n, int k)
{
	for (int low = 0, high = n - 1; low < high;) {
		const int32_t pivot = v[(low + high) / 2];
		int i = low, j = high;

		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j) {
				const int32_t t = v[i];

				v[i++] = v[j];
				v[j--] = t;
			}
		}
		if (k <= j)
			high = j;
		else if (k >= i)
			low = i;
		else
			break;
	}
	return v[k];
}

int32_t sx_motion_median(int32_t *v, int n)
{
	return sx_motion_select(v, n, (n - 1) / 2);
}

/* Lower median of what single features say. False: none says anything. */
static bool begin_plain(void *arg, struct sx_motion_group_at *at)
{
	const struct plain *p = arg;
	int32_t x[SX_MOTION_GROUP_MOST], z[SX_MOTION_GROUP_MOST], one[2];
	int n = 0;

	for (int i = 0; i < p->count; i++) {
		const int slot = p->members[i];

		if (!sx_motion_single(p->camera, p->round, &p->features[slot], &p->flows[slot], one))
			continue;
		x[n] = one[0];
		z[n++] = one[1];
	}
	if (!n)
		return false;
	*at = (struct sx_motion_group_at){{(double)sx_motion_median(x, n) / 1024.0,
					   (double)sx_motion_median(z, n) / 1024.0, 0.0, 0.0, 0.0}};
	return true;
}

static void add_all(const struct group *g, const struct sx_motion_group_at *at, bool standing,
		    struct sx_motion_group_sums *s)
{
	const struct sx_motion_round moving = sx_motion_moving(&g->round, at->x[0], at->x[1]);

	g->by->add(g->by->arg, &moving, at, standing, s);
}

/* Improves a hypothesis. *s: sums at the result. */
static bool settle(const struct group *g, bool standing, int rounds, struct sx_motion_group_at *at,
		   struct sx_motion_group_sums *s)
{
	for (int round = 0; round < rounds; round++) {
		add_all(g, at, standing, s);
		if (!sx_motion_group_improve(s, g->range, at))
			return false;
	}
	add_all(g, at, standing, s);
	return true;
}

/*
 * Adds to the covariance what the step's errors and the common bias do. Shifts are in baselines here. x, z: place
 * of the stixel, baselines.
 */
static void add_common(const struct sx_camera *c, const struct sx_motion_ego *ego, double x, double z,
		       double covariance[3])
{
	const double b = c->baseline_m * c->baseline_m;
	const double turn = ego->covariance[7] + TURN_SIGMA_RAD * TURN_SIGMA_RAD;
	const double way = WAY_SIGMA_BASELINES * WAY_SIGMA_BASELINES;
	const double bias = SX_MOTION_BIAS_PX * z / c->fx, along = bias * z, ray = x / z;

	covariance[0] +=
		(ego->covariance[21] / b + way) + turn * z * z + (ray * ray * along * along + bias * bias);
	covariance[1] += ray * along * along;
	covariance[2] += (ego->covariance[35] / b + way) + turn * x * x + (along * along + bias * bias);
}

/* Decides about a stixel alone. */
static uint32_t decide(const struct sx_motion_velocity *v)
{
	const double det = v->sxx * v->szz - v->sxz * v->sxz, speed = v->vx * v->vx + v->vz * v->vz;
	const double square =
		((v->szz * v->vx * v->vx - 2.0 * v->sxz * v->vx * v->vz) + v->sxx * v->vz * v->vz) / det;
	const double half = 0.5 * (v->sxx + v->szz), part = 0.5 * (v->sxx - v->szz);
	const double worst = half + sqrt(part * part + v->sxz * v->sxz);

	if (square > SX_MOTION_MOVING_SIGMAS * SX_MOTION_MOVING_SIGMAS &&
	    speed > SX_MOTION_MOVING_M_S * SX_MOTION_MOVING_M_S)
		return SX_MOTION_STATE_MOVES;
	return worst < SX_MOTION_STANDING_M_S * SX_MOTION_STANDING_M_S ? SX_MOTION_STATE_STANDS
								       : SX_MOTION_STATE_UNKNOWN;
}

static void measure(const struct group *g, const struct stixel *s, int width, double seconds,
		    const struct sx_motion_ego *ego, struct sx_motion_velocity *v)
{
	const struct sx_camera *c = g->camera;
	const double d = (double)s->disparity_q7 / 128.0 + g->round.offset, z = c->fx / d;
	const double x = ((double)(s->column * width) + 0.5 * (double)(width - 1) - c->cx) / c->fx * z;
	const double unit = c->baseline_m / seconds;
	struct sx_motion_group_at moves, stands = {{0}};
	struct sx_motion_group_sums m, n;
	double a[SX_MOTION_GROUP_PAIRS], column[2][SX_MOTION_GROUP_UNKNOWNS] = {{1.0}, {0.0, 1.0}};
	double chi, covariance[3];

	v->features = (uint32_t)g->count;
	if (g->count < SX_MOTION_GROUP_LEAST || !g->by->begin(g->by->arg, &moves) ||
	    !settle(g, false, SX_MOTION_GROUP_ROUNDS, &moves, &m) ||
	    !settle(g, true, SX_MOTION_STANDING_ROUNDS, &stands, &n) ||
	    !sx_motion_group_factor(&m, g->range, a))
		return;
	v->agree = (uint32_t)m.agree;
	if (m.agree < SX_MOTION_GROUP_LEAST || 2 * m.agree < m.features)
		return;
	chi = (double)m.weighted / SX_MOTION_FIXED;
	chi /= 2.0 * (double)m.weights / SX_MOTION_FIXED - 2.0 > 1.0
		       ? 2.0 * (double)m.weights / SX_MOTION_FIXED - 2.0
		       : 1.0;
	chi = chi > 1.0 ? chi : 1.0;
	sx_motion_solve(a, SX_MOTION_GROUP_UNKNOWNS, column[0]);
	sx_motion_solve(a, SX_MOTION_GROUP_UNKNOWNS, column[1]);
	covariance[0] = chi * column[0][0];
	covariance[1] = chi * column[0][1];
	covariance[2] = chi * column[1][1];
	add_common(c, ego, x, z, covariance);
	v->measured = 1;
	v->gain = (double)(n.squares - m.squares) / SX_MOTION_FIXED / SX_MOTION_GROUP_ALIKE / chi;
	v->raw_x = moves.x[0] * unit;
	v->raw_z = moves.x[1] * unit;
	if (v->gain >= SX_MOTION_GAIN) {
		v->vx = v->raw_x;
		v->vz = v->raw_z;
	}
	v->sxx = covariance[0] * unit * unit;
	v->sxz = covariance[1] * unit * unit;
	v->szz = covariance[2] * unit * unit;
	v->state = decide(v);
}

/* Returns whether two stixels that move are parts of one thing. */
static bool alike(const struct stixel *a, const struct stixel *b, const struct sx_motion_velocity *v,
		  const struct sx_motion_velocity *w)
{
	const int top = a->row_top > b->row_top ? a->row_top : b->row_top;
	const int bottom = a->row_bottom < b->row_bottom ? a->row_bottom : b->row_bottom;
	const int nearer = a->disparity_q7 > b->disparity_q7 ? a->disparity_q7 : b->disparity_q7;
	const double x = v->vx - w->vx, z = v->vz - w->vz;
	/* half a (m/s)^2: parts of a thing that turns or bends differ */
	const double sxx = v->sxx + w->sxx + 0.5, sxz = v->sxz + w->sxz, szz = v->szz + w->szz + 0.5;

	return abs(a->column - b->column) <= APART_COLUMNS && top - bottom <= APART_ROWS &&
	       abs(a->disparity_q7 - b->disparity_q7) <= 128 + nearer * 3 / 100 &&
	       (szz * x * x - 2.0 * sxz * x * z) + sxx * z * z < APART_SQUARE * (sxx * szz - sxz * sxz);
}

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

void sx_motion_group_alike(const struct stixel *stixels, uint32_t count, uint32_t *parent,
			   const struct sx_motion_velocity *velocities)
{
	for (uint32_t i = 0; i < count; i++)
		parent[i] = i;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = i + 1;
		     k < count && stixels[k].column <= stixels[i].column + APART_COLUMNS &&
		     velocities[i].state == SX_MOTION_STATE_MOVES;
		     k++)
			if (velocities[k].state == SX_MOTION_STATE_MOVES &&
			    alike(&stixels[i], &stixels[k], &velocities[i], &velocities[k])) {
				const uint32_t a = root_of(parent, i), b = root_of(parent, k);

				parent[a > b ? a : b] = a > b ? b : a;
			}
	for (uint32_t i = 0; i < count; i++)
		parent[i] = root_of(parent, i);
}

void sx_motion_group_drop(const struct stixel *stixels, uint32_t count, uint32_t *work,
			  struct sx_motion_velocity *velocities)
{
	uint32_t *root = work, *members = work + count;

	sx_motion_group_alike(stixels, count, root, velocities);
	for (uint32_t i = 0; i < count; i++)
		members[i] = 0;
	for (uint32_t i = 0; i < count; i++)
		members[root[i]] += velocities[i].state == SX_MOTION_STATE_MOVES;
	for (uint32_t i = 0; i < count; i++)
		if (velocities[i].state == SX_MOTION_STATE_MOVES && members[root[i]] < SX_MOTION_ALIKE_LEAST)
			velocities[i].state = SX_MOTION_STATE_UNKNOWN;
}

struct sx_motion_round sx_motion_group_round(const struct sx_motion_ego *ego)
{
	return (struct sx_motion_round){ego->step, sx_motion_rotation_of(&ego->step), ego->used.px, 0.0};
}

void sx_motion_group_measure(const struct sx_camera *camera, const struct sx_motion_cells *cells,
			     const struct sx_motion_feature *features, const struct sx_motion_flow *flows,
			     const struct stixel *stixels, uint32_t count, int width, double seconds,
			     const struct sx_motion_ego *ego, const struct sx_motion_group_by *by,
			     struct sx_motion_velocity *velocities)
{
	const double farthest = sx_motion_farthest(camera, seconds);
	const double least = camera->fx * camera->baseline_m / farthest;
	struct group g = {.camera = camera, .round = sx_motion_group_round(ego), .by = by};

	for (uint32_t i = 0; i < count; i++) {
		const struct stixel *s = &stixels[i];

		velocities[i] = (struct sx_motion_velocity){.state = SX_MOTION_STATE_UNKNOWN};
		if (ego->verdict != SX_MOTION_STEP_FOUND || s->kind != STIXEL_OBJECT ||
		    s->disparity_q7 == STIXEL_DISPARITY_UNKNOWN ||
		    (double)s->disparity_q7 / 128.0 + g.round.offset < least)
			continue;
		gather(&g, cells, features, flows, s, width);
		measure(&g, s, width, seconds, ego, &velocities[i]);
	}
}

void sx_motion_group(const struct sx_camera *camera, const struct sx_motion_cells *cells,
		     const struct sx_motion_feature *features, const struct sx_motion_flow *flows,
		     const struct stixel *stixels, uint32_t count, int width, double seconds,
		     const struct sx_motion_ego *ego, uint32_t *work, struct sx_motion_velocity *velocities)
{
	const struct sx_motion_round round = sx_motion_group_round(ego);
	struct plain plain = {camera, &round, features, flows, NULL, 0};
	const struct sx_motion_group_by by = {&plain, take_plain, begin_plain, add_plain};

	sx_motion_group_measure(camera, cells, features, flows, stixels, count, width, seconds, ego, &by,
				velocities);
	sx_motion_group_drop(stixels, count, work, velocities);
}
