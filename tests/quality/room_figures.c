/*
 * Scores free space and floors in drawn rooms.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/quality/room_figures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture/scene/scene_world.h"

#define SEEN_TO 5.0 /* largest distance that is scored, m */
#define STEP_TO 2.0 /* largest distance at which kerbs and steps down are scored, m */
#define LOW_TO 0.08 /* height of a thing below which it is low, m */
#define OFF 0.3	    /* largest error of a found distance, as a share of it */
#define LEVEL 0.03  /* points deeper than this below the floor are behind a step down, m */
#define GAP_ROWS 40

static const char *const names[ROOM_FIGURES] = {"near", "sure", "paper",  "plain",  "floor", "lost", "dark",
						"ramp", "kerb", "missed", "beyond", "down",  "gap"};
static const char *const firsts[FIRSTS] = {"nothing",	"plain wall",	"wall", "door, window",
					   "thing",	"low",		"kerb", "kerb from 2 m",
					   "step down", "step from 2 m"};

/* Input of the comparison: the truth, and the engine's result. */
struct pair {
	const struct sx_scene *scene;
	const struct sx_scene_truth *t;
	const struct room_result *r;
	struct published published; /* the frame that a reader would get */
	int width;		    /* width of a column of stixels, px */
};

/* The first obstacle of a column of pixels or stixels. */
struct first {
	enum room_first what;
	double distance; /* m; SEEN_TO: no obstacle up to this distance */
};

static void take(struct room_figures *s, int figure, bool bad)
{
	s->all[figure]++;
	s->bad[figure] += bad;
}

static size_t index_of(const struct pair *p, int x, int y)
{
	return (size_t)y * (size_t)p->t->width + (size_t)x;
}

/* Returns the facet at a pixel, which must show one. */
static const struct sx_facet *facet_at(const struct pair *p, int x, int y)
{
	return &p->scene->facets[p->scene->view[0].id[index_of(p, x, y)] - 1];
}

/* Returns true if the pixel shows an obstacle. at: its place. */
static bool is_obstacle(const struct pair *p, int x, int y, struct sx_scene_point *at)
{
	const size_t i = index_of(p, x, y);

	if (p->t->kind[i] != STIXEL_OBJECT || p->t->through[i])
		return false;
	*at = sx_scene_point(p->t, x, y);
	return at->height > p->published.vehicle.low_m && at->height < p->published.vehicle.high_m;
}

static bool is_plain(const struct sx_facet *f)
{
	return f->material == SX_MATERIAL_PAINT || f->material == SX_MATERIAL_LINO;
}

/* Returns the kind of the obstacle at (x, y). top: the height where it ends. */
static enum room_first kind_of(const struct pair *p, int x, int y, double distance, double top)
{
	const struct sx_facet *f = facet_at(p, x, y);

	switch (f->part) {
	case SX_PART_WALL:
		return is_plain(f) ? FIRST_PLAIN_WALL : FIRST_WALL;
	case SX_PART_KERB:
		return distance <= STEP_TO ? FIRST_KERB : FIRST_FAR_KERB;
	case SX_PART_THING:
		return top < LOW_TO ? FIRST_LOW : FIRST_THING;
	default:
		return FIRST_DOOR;
	}
}

/* Returns true if the floor ends above the pixel, and the surface seen behind the edge lies lower. */
static bool is_edge(const struct pair *p, int x, int y)
{
	return y > 0 && facet_at(p, x, y)->part == SX_PART_FLOOR &&
	       facet_at(p, x, y - 1)->part != SX_PART_FLOOR && sx_scene_point(p->t, x, y - 1).height < -LEVEL;
}

/* Finds the first obstacle of a column of pixels. */
static struct first first_of_pixels(const struct pair *p, int x)
{
	struct first first = {FIRST_NOTHING, SEEN_TO};
	struct sx_scene_point at;
	double top = 0;
	int row = -1;

	for (int y = 0; y < p->t->height; y++) {
		at = sx_scene_point(p->t, x, y);
		if (at.distance < first.distance && is_edge(p, x, y))
			first = (struct first){at.distance <= STEP_TO ? FIRST_DOWN : FIRST_FAR_DOWN,
					       at.distance};
		if (is_obstacle(p, x, y, &at) && at.distance < first.distance) {
			first = (struct first){FIRST_THING, at.distance};
			row = y;
		}
	}
	if (first.what != FIRST_THING)
		return first;
	for (int y = 0; y < p->t->height; y++)
		if (is_obstacle(p, x, y, &at) &&
		    p->t->object[index_of(p, x, y)] == p->t->object[index_of(p, x, row)] && at.height > top)
			top = at.height;
	first.what = kind_of(p, x, row, first.distance, top);
	return first;
}

/*
 * Returns the first obstacle of a column of stixels: the second nearest of the first obstacles of its columns
 * of pixels.
 */
static struct first first_of_column(const struct pair *p, int u)
{
	struct first two[2] = {{FIRST_NOTHING, SEEN_TO}, {FIRST_NOTHING, SEEN_TO}};

	for (int x = u * p->width; x < (u + 1) * p->width; x++) {
		struct first f = first_of_pixels(p, x);

		if (f.distance < two[0].distance) {
			two[1] = two[0];
			two[0] = f;
		} else if (f.distance < two[1].distance) {
			two[1] = f;
		}
	}
	return p->width > 1 ? two[1] : two[0];
}

static enum room_verdict judge_column(const struct first *first, const struct stixel_free_column *got)
{
	const double to = (double)got->to_m;

	if (first->what == FIRST_NOTHING ? false : to > (1 + OFF) * first->distance)
		return ROOM_TOO_FAR;
	if (to >= (1 - OFF) * first->distance)
		return ROOM_FOUND;
	return got->end == STIXEL_FREE_UNSEEN ? ROOM_UNSEEN : ROOM_TOO_NEAR;
}

/* Returns true if row y has a disparity in the column or in one of its neighbours. */
static bool is_measured(const struct pair *p, int u, int y)
{
	const uint16_t *map = sx_image_row(p->r->q4, y);
	const int from = u > 0 ? (u - 1) * p->width : 0, to = (u + 2) * p->width;

	for (int x = from; x < to && x < p->t->width; x++)
		if (map[x] != SX_DISPARITY_INVALID)
			return true;
	return false;
}

/* Returns true if the free space of a column passes GAP_ROWS rows without a disparity. */
static bool passes_gap(const struct pair *p, int u, const struct stixel_free_column *got)
{
	const double fb = p->published.header.fx * p->published.header.baseline_m, x = (u + 0.5) * p->width;
	int run = 0;

	for (int y = p->t->height - 1; y >= 0; y--) {
		const double d = stixel_ground_disparity(&p->published.header, x, y);

		if (d * (double)got->to_m < fb)
			return false; /* farther than the free space */
		if (!(d * (double)got->from_m <= fb))
			continue;
		run = is_measured(p, u, y) ? 0 : run + 1;
		if (run == GAP_ROWS)
			return true;
	}
	return false;
}

/* Returns true if the free space of a column ends at an object that was hardly measured. */
static bool is_filled(const struct pair *p, const struct stixel_free_column *got)
{
	return got->stixel < p->published.header.stixel_count &&
	       stixel_is_filled(&p->published.frame.stixels[got->stixel]);
}

static void score_column(struct room_figures *s, const struct pair *p, int u,
			 const struct stixel_free_column *got)
{
	const struct first first = first_of_column(p, u);
	const double fb = p->published.header.fx * p->published.header.baseline_m,
		     seen = (u + 0.5) * p->width - 4;
	/* a room with a ramp: an obstacle before a wall is most often the ramp, which has its own figure */
	const bool ramp = p->scene->room.floor == SX_ROOM_RAMP;
	enum room_verdict verdict;

	take(s, ROOM_GAP, passes_gap(p, u, got));
	if (fb > first.distance * (seen > 1 ? seen : 1))
		return; /* the obstacle is outside of the right image */
	verdict = judge_column(&first, got);
	s->columns[first.what][verdict]++;
	if (first.what == FIRST_PLAIN_WALL && !ramp && verdict != ROOM_UNSEEN)
		take(s, ROOM_NEAR, verdict == ROOM_TOO_NEAR);
	if (first.what == FIRST_PLAIN_WALL && !ramp && verdict != ROOM_UNSEEN && !is_filled(p, got))
		take(s, ROOM_SURE, verdict == ROOM_TOO_NEAR);
	if (first.what == FIRST_WALL && !ramp && verdict != ROOM_UNSEEN)
		take(s, ROOM_PAPER, verdict == ROOM_TOO_NEAR);
	if (first.what == FIRST_KERB && !p->scene->room.dark && !is_plain(&p->scene->facets[0]))
		take(s, ROOM_KERB, verdict != ROOM_FOUND);
	if (first.what == FIRST_DOWN)
		take(s, ROOM_DOWN, verdict == ROOM_TOO_FAR);
	if (first.what >= FIRST_PLAIN_WALL && first.what <= FIRST_THING)
		take(s, ROOM_BEYOND, verdict == ROOM_TOO_FAR);
}

static void score_floor(struct room_figures *s, const struct pair *p, const struct sx_facet *f, int kind)
{
	if (f->part == SX_PART_RAMP)
		take(s, ROOM_RAMP, kind == STIXEL_OBJECT);
	if (f->part != SX_PART_FLOOR)
		return;
	if (p->scene->room.dark) {
		take(s, ROOM_DARK, kind == STIXEL_OBJECT);
		return;
	}
	take(s, is_plain(f) ? ROOM_PLAIN : ROOM_FLOOR, kind == STIXEL_OBJECT);
	if (!is_plain(f))
		take(s, ROOM_LOST, kind != STIXEL_OBJECT && kind != STIXEL_GROUND);
}

/* Scores a pixel that both cameras see. */
static void score_pixel(struct room_figures *s, const struct pair *p, int x, int y)
{
	const struct stixel_list list = {p->r->result->stixels, p->r->result->offsets};
	const struct stixel *got = stixel_at(&list, x / p->width, y);
	const int kind = got ? got->kind : STIXEL_UNKNOWN;
	const size_t i = index_of(p, x, y);
	const struct sx_facet *f = facet_at(p, x, y);
	struct sx_scene_point at;

	if (!p->t->visible[i] || p->t->through[i] ||
	    (double)p->t->disparity[i] > p->r->params->stereo.disparities ||
	    sx_scene_point(p->t, x, y).distance > SEEN_TO)
		return;
	if (p->t->kind[i] == STIXEL_GROUND)
		score_floor(s, p, f, kind);
	else if (f->part == SX_PART_THING && !p->scene->room.dark && is_obstacle(p, x, y, &at))
		take(s, ROOM_MISSED, kind != STIXEL_OBJECT);
}

int score_room(struct room_figures *s, const struct sx_scene *scene, const struct sx_scene_truth *t,
	       const struct room_result *r)
{
	struct pair p = {.scene = scene, .t = t, .r = r, .width = r->params->stixels.width};
	struct stixel_free_column *got;
	const int columns = t->width / p.width;

	if (!scene->room.on)
		return 0;
	got = calloc((size_t)columns, sizeof(*got));
	if (!got)
		return -ENOMEM;
	set_published(&p.published, r->params, r->result, t->width, t->height);
	stixel_free_space(&p.published.frame, NULL, 0, got, (uint32_t)columns);
	for (int u = 0; u < columns; u++)
		score_column(s, &p, u, &got[u]);
	for (int y = 0; y < t->height; y++)
		for (int x = 0; x < columns * p.width; x++)
			if (t->kind[index_of(&p, x, y)] != STIXEL_SKY)
				score_pixel(s, &p, x, y);
	free(got);
	return 0;
}

void print_room(const struct room_figures *s)
{
	if (!s->all[ROOM_GAP])
		return;
	printf("rooms, %%:");
	for (int i = 0; i < ROOM_FIGURES; i++)
		printf(" %s %.2f", names[i], percent(s->bad[i], s->all[i]));
	printf("\n  %-15s%9s%7s%7s%7s%8s\n", "first obstacle", "columns", "found", "near", "far", "unseen");
	for (int i = 0; i < FIRSTS; i++) {
		uint64_t all = 0;

		for (int k = 0; k < ROOM_VERDICTS; k++)
			all += s->columns[i][k];
		printf("  %-15s%9llu%7.1f%7.1f%7.1f%8.1f\n", firsts[i], (unsigned long long)all,
		       percent(s->columns[i][ROOM_FOUND], all), percent(s->columns[i][ROOM_TOO_NEAR], all),
		       percent(s->columns[i][ROOM_TOO_FAR], all), percent(s->columns[i][ROOM_UNSEEN], all));
	}
}

bool judge_room(const struct room_figures *s, const double max[ROOM_FIGURES])
{
	bool good = true;

	for (int i = 0; i < ROOM_FIGURES; i++)
		if (percent(s->bad[i], s->all[i]) > max[i]) {
			fprintf(stderr, "NOT GOOD ENOUGH: asked for %s <= %g %%\n", names[i], max[i]);
			good = false;
		}
	return good;
}
