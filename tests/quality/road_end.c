/*
 * Scores where the free space of the road ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/quality/road_end.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/quality/published.h"

#define ROAD 0 /* Cityscapes */
#define OFF 1.3

/* Returns the end of the road at image column x, and its distance, m. False: the lowest pixel is no road. */
static bool true_end(const struct sx_scene_truth *t, int x, enum road_end *end, double *m)
{
	const double focal_baseline = t->camera.fx * t->camera.baseline_m;
	double d = 0;

	*end = ROAD_END_OTHER;
	for (int y = t->height - 1; y >= 0; y--) {
		const size_t at = (size_t)y * (size_t)t->width + (size_t)x;
		const bool ground = t->kind[at] == STIXEL_GROUND;

		if (!ground || t->label[at] != ROAD) {
			if (y == t->height - 1)
				return false;
			if (ground)
				*end = ROAD_END_GROUND;
			else
				d = (double)t->disparity[at];
			break;
		}
		d = (double)t->disparity[at];
	}
	*m = focal_baseline / (d > ROAD_END_LEAST_PX ? d : ROAD_END_LEAST_PX);
	if (d <= ROAD_END_LEAST_PX)
		*end = ROAD_END_OTHER;
	return true;
}

static void score_column(struct road_end_score *s, const struct sx_scene_truth *t, int x,
			 const struct stixel_free_column *all, const struct stixel_free_column *road)
{
	const struct stixel_free_column *got[2] = {all, road};
	const double most = t->camera.fx * t->camera.baseline_m / ROAD_END_LEAST_PX;
	enum road_end end;
	double m;

	if (!true_end(t, x, &end, &m))
		return;
	s->columns[end]++;
	for (int i = 0; i < 2; i++) {
		const double to = (double)got[i]->to_m;

		s->far[end][i] += m < most && to > OFF * m;
		s->near[end][i] += OFF * to < m;
	}
}

int score_road_end(struct road_end_score *s, const struct sx_scene_truth *t, const struct sx_params *params,
		   const struct sx_result *result, int first, int last)
{
	const uint32_t columns = result->columns;
	struct stixel_free_column *all = calloc(2 * (size_t)columns + 1, sizeof(*all)), *road = all + columns;
	struct stixel_free_options options;
	struct published p;

	if (!all)
		return -ENOMEM;
	set_published(&p, params, result, t->width, t->height);
	stixel_free_defaults(&p.frame, &options, sizeof(options));
	stixel_free_space(&p.frame, &options, sizeof(options), all, columns);
	options.ground_labels = 1u << ROAD;
	stixel_free_space(&p.frame, &options, sizeof(options), road, columns);
	for (int u = first; u <= last; u++)
		score_column(s, t, u * params->stixels.width + params->stixels.width / 2, &all[u], &road[u]);
	free(all);
	return 0;
}

void print_road_end(const struct road_end_score *s)
{
	static const char *const names[ROAD_ENDS] = {"other ground", "objects, or farther"};

	for (int k = 0; k < ROAD_ENDS; k++)
		printf("road ends at %s: %llu columns, free space too far %.2f %%, too near %.2f %% (without classes "
		       "%.2f, %.2f %%)\n",
		       names[k], (unsigned long long)s->columns[k], percent(s->far[k][1], s->columns[k]),
		       percent(s->near[k][1], s->columns[k]), percent(s->far[k][0], s->columns[k]),
		       percent(s->near[k][0], s->columns[k]));
}

bool judge_road_end(const struct road_end_score *s, const double max[2])
{
	if (percent(s->far[ROAD_END_GROUND][1], s->columns[ROAD_END_GROUND]) <= max[0] &&
	    percent(s->near[ROAD_END_OTHER][1], s->columns[ROAD_END_OTHER]) <= max[1])
		return true;
	fprintf(stderr,
		"NOT GOOD ENOUGH: asked for free space of the road too far <= %g %%, too near <= %g %%\n",
		max[0], max[1]);
	return false;
}
