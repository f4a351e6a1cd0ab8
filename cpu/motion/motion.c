/*
 * Motion in the cpu engine, see motion.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/motion/motion.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "cpu/kernel_sets.h"
#include "cpu/motion/motion_terms.h"
#include "cpu/pool.h"
#include "stages/motion/guess.h"
#include "stages/motion/refine.h"
#include "stages/motion/step.h"
#include "stages/motion/view.h"
#include "stages/pyramid/pyramid.h"

#define BAND 32	    /* rows of a task; even */
#define STIXELS 32  /* stixels of a task */
#define TOGETHER 32 /* features whose places are computed together */

/* A frame that is computed: the arguments of the functions, and what its tasks share. */
struct frame {
	const struct sx_image *grey, *disparity;
	struct sx_motion_view *view;
	struct sx_motion_pair *pair;
	const struct sx_motion_frame *now;
	const struct sx_motion_view *before;
	const struct sx_motion_step *expected;
	const struct sx_motion_range *prior;
	struct sx_motion_cells cells;
	/* the pass of the search, see pair.c */
	struct sx_motion_step at, last;
	double offset, last_offset;
	bool again;
	/* groups: the flows that they read, and their results */
	const struct sx_motion_flow *flows;
	struct sx_motion_velocity *velocities;
	/* votes about steps */
	const struct sx_motion_feature *judges[SX_MOTION_JUDGES_MAX];
	int judge_count;
	_Atomic uint64_t least; /* votes << 32 | step of the fan + 1; 0: the expected step */
	/* a round of ego-motion */
	const struct sx_motion_round *round;
	struct sx_motion_sums sums[SX_MOTION_FEATURES_MAX / SX_MOTION_PIECE];
};

struct sx_cpu_motion {
	const struct sx_motion_kernels *kernels;
	struct sx_pool *pool;
	struct frame frame;
	struct single {
		int32_t shift[2];
		bool says;
	} singles[SX_MOTION_FEATURES_MAX];
	struct sx_motion_columns *columns; /* columns of ego-motion; then of the group of each worker */
};

int sx_cpu_motion_create(struct sx_cpu_motion **ret, const struct sx_kernels *kernels, struct sx_pool *pool)
{
	struct sx_cpu_motion *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->kernels = kernels->motion;
	m->pool = pool;
	m->columns = calloc((size_t)sx_pool_threads(pool), sizeof(*m->columns));
	if (!m->columns) {
		sx_cpu_motion_destroy(m);
		return -ENOMEM;
	}
	*ret = m;
	return 0;
}

void sx_cpu_motion_destroy(struct sx_cpu_motion *m)
{
	if (!m)
		return;
	free(m->columns);
	free(m);
}

size_t sx_cpu_motion_bytes(const struct sx_cpu_motion *m)
{
	return sizeof(*m) + (size_t)sx_pool_threads(m->pool) * sizeof(*m->columns);
}

static int bands_of(const struct sx_image *image)
{
	return (image->height + BAND - 1) / BAND;
}

/* Returns the view of the rows [y0, y1) of an image; rows below its end are left out. */
static struct sx_image rows_of(const struct sx_image *image, int y0, int y1)
{
	struct sx_image rows = *image;

	y1 = y1 < image->height ? y1 : image->height;
	rows.data = sx_image_row(image, y0);
	rows.height = y1 - y0;
	return rows;
}

/* Copies a band of the images, halves it, and makes its descriptors. */
static void view_task(void *arg, int i, int worker)
{
	const struct sx_cpu_motion *m = arg;
	const struct frame *f = &m->frame;
	const struct sx_motion_view *v = f->view;
	const int y0 = i * BAND, y1 = y0 + BAND;
	const struct sx_image grey = rows_of(f->grey, y0, y1), disparity = rows_of(f->disparity, y0, y1);
	const struct sx_image grey_copy = rows_of(&v->grey, y0, y1);
	const struct sx_image disparity_copy = rows_of(&v->disparity, y0, y1);
	const struct sx_image half = rows_of(&v->half, y0 / 2, y1 / 2);

	(void)worker;
	sx_image_copy(&grey_copy, &grey);
	sx_image_copy(&disparity_copy, &disparity);
	sx_pyramid_halve(&grey_copy, &half);
	m->kernels->census_rows(f->grey, &v->census, y0, y0 + grey.height);
}

static void half_task(void *arg, int i, int worker)
{
	const struct sx_cpu_motion *m = arg;
	const struct sx_motion_view *v = m->frame.view;
	const int y1 = (i + 1) * BAND;

	(void)worker;
	m->kernels->census_rows(&v->half, &v->half_census, i * BAND,
				y1 < v->half.height ? y1 : v->half.height);
}

static void fill_view(void *arg, struct sx_motion_view *view, const struct sx_image *grey,
		      const struct sx_image *disparity)
{
	struct sx_cpu_motion *m = arg;

	m->frame.view = view;
	m->frame.grey = grey;
	m->frame.disparity = disparity;
	sx_pool_for(m->pool, bands_of(&view->grey), view_task, m);
	sx_pool_for(m->pool, bands_of(&view->half), half_task, m);
}

/* Task 0 finds the owners, the others a row of cells each. */
static void corner_task(void *arg, int i, int worker)
{
	const struct sx_cpu_motion *m = arg;
	const struct frame *f = &m->frame;

	(void)worker;
	if (i == 0)
		sx_motion_owners(f->now->stixels, f->now->stixel_count, f->now->stixel_width,
				 &f->pair->owner);
	else
		m->kernels->corner_row(f->now->view, &f->cells, i - 1,
				       &f->pair->features[(i - 1) * f->cells.columns]);
}

/* Returns the votes about a step; beyond `most` no more of them are counted. */
static uint32_t sum_votes(const struct sx_cpu_motion *m, const struct sx_motion_step *step, uint32_t most)
{
	const struct frame *f = &m->frame;
	struct sx_motion_guess guesses[TOGETHER];
	uint32_t sum = 0;

	for (int k = 0; k < f->judge_count && sum <= most; k += TOGETHER) {
		const int count = f->judge_count - k < TOGETHER ? f->judge_count - k : TOGETHER;

		m->kernels->expect(&f->pair->camera, step, f->offset, &f->judges[k], count, guesses);
		for (int i = 0; i < count; i++)
			sum += m->kernels->vote(f->now->view, f->before, f->judges[k + i], &guesses[i]);
	}
	return sum;
}

/*
 * Votes about step i of the fan. The least pair of sum and index wins, in whatever order the steps are tried. A sum
 * that is larger than the least so far cannot win, whatever the other judges say.
 */
static void vote_task(void *arg, int i, int worker)
{
	struct sx_cpu_motion *m = arg;
	struct frame *f = &m->frame;
	const struct sx_motion_step step = sx_motion_fan_step(&f->pair->camera, i);
	uint64_t least = atomic_load(&f->least);
	const uint64_t mine =
		(uint64_t)sum_votes(m, &step, (uint32_t)(least >> 32)) << 32 | (uint32_t)(i + 1);

	(void)worker;
	while (mine < least && !atomic_compare_exchange_weak(&f->least, &least, mine))
		;
}

/* Begins as sx_motion_begin() does. */
static bool begin(struct sx_cpu_motion *m)
{
	struct frame *f = &m->frame;
	uint32_t index;

	f->judge_count = sx_motion_judges(f->now->view, f->pair->features, f->judges);
	if (!f->judge_count)
		return false;
	atomic_store(&f->least, UINT64_MAX);
	if (f->expected) {
		f->at = *f->expected;
		/* index 0 of the expected step wins ties */
		atomic_store(&f->least, (uint64_t)sum_votes(m, f->expected, UINT32_MAX) << 32);
	}
	sx_pool_for(m->pool, SX_MOTION_FAN, vote_task, m);
	index = (uint32_t)atomic_load(&f->least);
	if (index)
		f->at = sx_motion_fan_step(&f->pair->camera, (int)index - 1);
	return true;
}

/* Searches some features around their places, as search() of pair.c. */
static void search(const struct sx_cpu_motion *m, const struct sx_motion_feature *const *features, int count)
{
	const struct frame *f = &m->frame;
	const struct sx_motion_pair *pair = f->pair;
	struct sx_motion_guess guesses[TOGETHER], last[TOGETHER];

	m->kernels->expect(&pair->camera, &f->at, f->offset, features, count, guesses);
	if (f->again)
		m->kernels->expect(&pair->camera, &f->last, f->last_offset, features, count, last);
	for (int i = 0; i < count; i++) {
		struct sx_motion_flow *flow = &pair->flows[features[i] - pair->features];

		if (f->again && !sx_motion_is_elsewhere(guesses[i], last[i]))
			continue;
		m->kernels->find.match(f->now->view, f->before, features[i], &guesses[i], 1, flow);
		m->kernels->find.refine(f->now->view, f->before, features[i], &guesses[i], flow);
	}
}

/* Searches the features of a row of cells. */
static void search_task(void *arg, int row, int worker)
{
	const struct sx_cpu_motion *m = arg;
	const struct frame *f = &m->frame;
	const struct sx_motion_feature *features[TOGETHER] = {NULL};
	int count = 0;

	(void)worker;
	for (int i = row * f->cells.columns; i < (row + 1) * f->cells.columns; i++) {
		if (f->pair->features[i].score)
			features[count++] = &f->pair->features[i];
		if (count == TOGETHER) {
			search(m, features, count);
			count = 0;
		}
	}
	search(m, features, count);
}

/* Searches the features of things that move in a row of cells, as search_movers() of pair.c. */
static void mover_task(void *arg, int row, int worker)
{
	const struct sx_cpu_motion *m = arg;
	const struct frame *f = &m->frame;
	struct sx_motion_guess guesses[SX_MOTION_PAIR_GUESSES];

	(void)worker;
	for (int i = row * f->cells.columns; i < (row + 1) * f->cells.columns; i++) {
		const struct sx_motion_feature *feature = &f->pair->features[i];
		struct sx_motion_flow *flow = &f->pair->flows[i];
		int count;

		if (!sx_motion_may_move(feature, flow))
			continue;
		count = sx_motion_guess_movers(f->pair, feature, f->now->seconds, guesses);
		m->kernels->find.match(f->now->view, f->before, feature, guesses, count, flow);
		m->kernels->find.refine(f->now->view, f->before, feature, &guesses[flow->guess], flow);
	}
}

void sx_motion_columns_put(struct sx_motion_columns *c, const struct sx_camera *camera, int n,
			   const struct sx_motion_feature *feature, const struct sx_motion_flow *flow)
{
	const double d = (double)feature->disparity_q8 / 256.0, share = SX_MOTION_SHARE_D * d;

	c->ray_x[n] = ((double)feature->x - camera->cx) / camera->fx;
	c->ray_y[n] = ((double)feature->y - camera->cy) / camera->fy;
	c->d[n] = d;
	c->u[n] = (double)flow->x_q6 / 64.0;
	c->v[n] = (double)flow->y_q6 / 64.0;
	c->before[n] = (double)flow->disparity_q8 / 256.0;
	c->dd[n] = 1.0 / (SX_MOTION_SIGMA_D * SX_MOTION_SIGMA_D + share * share);
	c->counts[n] = -1;
	c->road[n] = feature->kind & SX_MOTION_ROAD ? -1 : 0;
}

int sx_motion_columns_whole(const struct sx_motion_columns *c)
{
	return (c->count + SX_MOTION_TOGETHER - 1) / SX_MOTION_TOGETHER * SX_MOTION_TOGETHER;
}

void sx_motion_columns_fill(struct sx_motion_columns *c)
{
	for (int n = c->count; n < sx_motion_columns_whole(c); n++) {
		c->ray_x[n] = c->ray_y[n] = c->u[n] = c->v[n] = 0.0;
		c->d[n] = c->before[n] = c->dd[n] = 1.0;
		c->counts[n] = c->road[n] = 0;
	}
}

static void fill_columns(struct sx_cpu_motion *m)
{
	const struct sx_motion_pair *pair = m->frame.pair;
	struct sx_motion_columns *c = m->columns;
	int n = 0;

	for (int i = 0; i < pair->cells; i++)
		if (pair->features[i].score && pair->flows[i].search == SX_MOTION_FOUND)
			sx_motion_columns_put(c, &pair->camera, n++, &pair->features[i], &pair->flows[i]);
	c->count = n;
	sx_motion_columns_fill(c);
}

static void ego_task(void *arg, int i, int worker)
{
	struct sx_cpu_motion *m = arg;
	struct frame *f = &m->frame;
	const int whole = sx_motion_columns_whole(m->columns);
	const int end = (i + 1) * SX_MOTION_PIECE < whole ? (i + 1) * SX_MOTION_PIECE : whole;

	(void)worker;
	m->kernels->ego_sums(&f->pair->camera, f->round, m->columns, i * SX_MOTION_PIECE, end, &f->sums[i]);
}

static void add_sums(struct sx_motion_sums *s, const struct sx_motion_sums *more)
{
	for (int i = 0; i < SX_MOTION_PAIRS; i++)
		s->a[i] += more->a[i];
	for (int i = 0; i < SX_MOTION_UNKNOWNS; i++)
		s->b[i] += more->b[i];
	s->squares += more->squares;
	s->found += more->found;
	s->inliers += more->inliers;
	s->road_found += more->road_found;
	s->road_inliers += more->road_inliers;
}

/* See sx_motion_add_fn. */
static void add_all(void *arg, const struct sx_motion_round *r, struct sx_motion_sums *s)
{
	struct sx_cpu_motion *m = arg;
	const int pieces = (m->columns->count + SX_MOTION_PIECE - 1) / SX_MOTION_PIECE;

	m->frame.round = r;
	sx_pool_for(m->pool, pieces, ego_task, m);
	*s = (struct sx_motion_sums){.found = 0};
	for (int i = 0; i < pieces; i++)
		add_sums(s, &m->frame.sums[i]);
}

/* Computes what the feature of a slot says alone, see sx_motion_single(). */
static void single_task(void *arg, int row, int worker)
{
	struct sx_cpu_motion *m = arg;
	const struct sx_motion_pair *pair = m->frame.pair;
	const struct sx_motion_round round = sx_motion_group_round(&pair->ego);

	(void)worker;
	for (int i = row * m->frame.cells.columns; i < (row + 1) * m->frame.cells.columns; i++)
		m->singles[i].says = pair->features[i].score && (pair->features[i].kind & SX_MOTION_OBJECT) &&
				     m->frame.flows[i].search == SX_MOTION_FOUND &&
				     sx_motion_single(&pair->camera, &round, &pair->features[i],
						      &m->frame.flows[i], m->singles[i].shift);
}

/* The group of a stixel: its features, as columns of the worker. */
struct group {
	const struct sx_cpu_motion *m;
	struct sx_motion_columns *columns;
	const int32_t *members;
};

static void take_group(void *arg, const int32_t *members, int count)
{
	struct group *g = arg;
	const struct sx_motion_pair *pair = g->m->frame.pair;

	g->members = members;
	g->columns->count = count;
	for (int i = 0; i < count; i++)
		sx_motion_columns_put(g->columns, &pair->camera, i, &pair->features[members[i]],
				      &g->m->frame.flows[members[i]]);
	sx_motion_columns_fill(g->columns);
}

static bool begin_group(void *arg, struct sx_motion_group_at *at)
{
	const struct group *g = arg;
	int32_t x[SX_MOTION_GROUP_MOST], z[SX_MOTION_GROUP_MOST];
	int n = 0;

	for (int i = 0; i < g->columns->count; i++) {
		const struct single *s = &g->m->singles[g->members[i]];

		x[n] = s->shift[0];
		z[n] = s->shift[1];
		n += s->says;
	}
	if (!n)
		return false;
	*at = (struct sx_motion_group_at){{(double)sx_motion_median(x, n) / 1024.0,
					   (double)sx_motion_median(z, n) / 1024.0, 0.0, 0.0, 0.0}};
	return true;
}

static void add_group(void *arg, const struct sx_motion_round *moving, const struct sx_motion_group_at *at,
		      bool standing, struct sx_motion_group_sums *s)
{
	const struct group *g = arg;

	g->m->kernels->group_sums(&g->m->frame.pair->camera, moving, at, standing, g->columns, s);
}

static void group_task(void *arg, int i, int worker)
{
	struct sx_cpu_motion *m = arg;
	const struct frame *f = &m->frame;
	const uint32_t first = (uint32_t)i * STIXELS, left = f->now->stixel_count - first;
	struct group group = {m, &m->columns[worker], NULL};
	const struct sx_motion_group_by by = {&group, take_group, begin_group, add_group};

	sx_motion_group_measure(&f->pair->camera, &f->cells, f->pair->features, f->flows,
				f->now->stixels + first, left < STIXELS ? left : STIXELS,
				f->now->stixel_width, f->now->seconds, &f->pair->ego, &by,
				f->velocities + first);
}

static void measure_groups(struct sx_cpu_motion *m, const struct sx_motion_flow *flows, uint32_t *work,
			   struct sx_motion_velocity *velocities)
{
	const uint32_t stixels = m->frame.now->stixel_count;

	m->frame.flows = flows;
	m->frame.velocities = velocities;
	sx_pool_for(m->pool, m->frame.cells.rows, single_task, m);
	sx_pool_for(m->pool, (int)((stixels + STIXELS - 1) / STIXELS), group_task, m);
	sx_motion_group_drop(m->frame.now->stixels, stixels, work, velocities);
}

static void make_pass(struct sx_cpu_motion *m)
{
	struct frame *f = &m->frame;

	sx_pool_for(m->pool, f->cells.rows, search_task, m);
	fill_columns(m);
	sx_motion_ego_by(&f->pair->camera, add_all, m, &f->at, f->prior, &f->pair->ego);
}

/* Makes the first pass as first_pass() of pair.c does. */
static bool first_pass(struct sx_cpu_motion *m)
{
	struct frame *f = &m->frame;

	f->again = false;
	if (f->expected) {
		f->at = *f->expected;
		make_pass(m);
		if (sx_motion_is_good(&f->pair->ego))
			return true;
	}
	if (!begin(m))
		return false;
	make_pass(m);
	return f->pair->ego.verdict == SX_MOTION_STEP_FOUND;
}

static void measure_pair(struct sx_cpu_motion *m)
{
	struct frame *f = &m->frame;
	struct sx_motion_pair *pair = f->pair;

	sx_pool_for(m->pool, 1 + f->cells.rows, corner_task, m);
	sx_motion_kinds(&pair->owner, f->now->road, &pair->camera, pair->features, pair->cells);
	if (!f->before)
		return;
	pair->ego.verdict = SX_MOTION_STEP_REPEATS;
	if (sx_motion_view_repeats(f->now->view, f->before))
		return;
	pair->ego.verdict = SX_MOTION_STEP_FEW;
	if (!first_pass(m))
		return;
	f->again = true;
	for (int pass = 1; pass < SX_MOTION_PAIR_PASSES; pass++) {
		f->last = f->at;
		f->last_offset = f->offset;
		f->at = pair->ego.step;
		f->offset = pair->ego.used.px;
		make_pass(m);
		if (pair->ego.verdict != SX_MOTION_STEP_FOUND)
			return;
	}
	sx_pool_for(m->pool, f->cells.rows, mover_task, m);
	measure_groups(m, pair->flows, pair->work, pair->velocities);
}

static void run_pair(void *arg, struct sx_motion_pair *pair, const struct sx_motion_frame *now,
		     const struct sx_motion_view *before, const struct sx_motion_step *expected,
		     const struct sx_motion_range *prior)
{
	struct sx_cpu_motion *m = arg;
	struct frame *f = &m->frame;

	f->pair = pair;
	f->now = now;
	f->before = before;
	f->expected = expected;
	f->prior = prior;
	f->cells = sx_motion_cells(pair->width, pair->height);
	f->offset = f->last_offset = prior->px;
	sx_motion_pair_clear(pair, now, prior);
	measure_pair(m);
}

static void run_groups(void *arg, const struct sx_motion_pair *pair, const struct sx_motion_frame *now,
		       const struct sx_motion_flow *flows, uint32_t *work,
		       struct sx_motion_velocity *velocities)
{
	struct sx_cpu_motion *m = arg;

	sx_must(m->frame.pair == pair && m->frame.now == now, ==, true);
	measure_groups(m, flows, work, velocities);
}

struct each {
	sx_motion_task *task;
	void *context;
};

static void each_task(void *arg, int i, int worker)
{
	const struct each *e = arg;

	(void)worker;
	e->task(e->context, i);
}

static void run_each(void *arg, int count, sx_motion_task *task, void *context)
{
	const struct sx_cpu_motion *m = arg;
	struct each e = {task, context};

	sx_pool_for(m->pool, count, each_task, &e);
}

struct sx_motion_by sx_cpu_motion_by(struct sx_cpu_motion *m)
{
	return (struct sx_motion_by){m, fill_view, run_pair, &m->kernels->find, run_groups, run_each};
}
