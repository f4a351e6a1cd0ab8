/*
 * Group, see group.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/group_rounds.h"

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
	return sx_motion_farthest_of(c, seconds);
}

int sx_motion_group_members(const struct sx_motion_cells *cells, const struct sx_motion_feature *features,
			    const struct sx_motion_flow *flows, const struct stixel *s, int width,
			    int32_t members[SX_MOTION_GROUP_MOST])
{
	const struct sx_motion_group_place p = sx_motion_group_place_of(cells, s, width);
	int count = 0;

	for (int row = p.top_cell; row <= p.bottom_cell; row++)
		for (int column = p.left_cell; column <= p.right_cell; column++) {
			const int i = row * cells->columns + column;

			if (count < SX_MOTION_GROUP_MOST && sx_motion_group_has(&p, &features[i], &flows[i]))
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

static void measure(const struct group *g, const struct stixel *s, int width, double seconds,
		    const struct sx_motion_ego *ego, struct sx_motion_velocity *v)
{
	struct sx_motion_group_at moves, stands = {{0}};
	struct sx_motion_group_sums m, n;

	v->features = (uint32_t)g->count;
	if (g->count < SX_MOTION_GROUP_LEAST || !g->by->begin(g->by->arg, &moves) ||
	    !settle(g, false, SX_MOTION_GROUP_ROUNDS, &moves, &m) ||
	    !settle(g, true, SX_MOTION_STANDING_ROUNDS, &stands, &n))
		return;
	sx_motion_group_conclude(g->camera, s, width, seconds, ego, g->range, &moves, &m, &n, v);
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
		     k < count && stixels[k].column <= stixels[i].column + SX_MOTION_APART_COLUMNS &&
		     velocities[i].state == SX_MOTION_STATE_MOVES;
		     k++)
			if (velocities[k].state == SX_MOTION_STATE_MOVES &&
			    sx_motion_is_alike(&stixels[i], &stixels[k], &velocities[i], &velocities[k])) {
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

		velocities[i] = sx_motion_no_velocity();
		if (ego->verdict != SX_MOTION_STEP_FOUND || !sx_motion_group_asks(s, ego, least))
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
