/*
 * Computes the figures of lidar.py against the truth of a drawn scene.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/quality/lidar_figures.h"

#include <stdio.h>

#define SEEN_TO 60.0 /* m */
#define GROUND_HIGH 0.15
#define OBSTACLE_FROM 0.4
#define OBSTACLE_TO 3.0
#define WHITE 255
#define EDGE 8	 /* px, width of the border at the left edge */
#define ENOUGH 3 /* least px of an obstacle in a column */

static const char *const names[FIGURES] = {"false", "missed", "low", "dist", "near", "far", "white", "edge"};

enum what { NOTHING, GROUND, LOW, OBSTACLE };

/* A pixel of a column: its truth, and the value of the stixel over it. */
struct pixel {
	enum what what;
	double distance; /* m */
	double said;	 /* disparity of the object stixel, px; below 0: no object */
};

static bool take(struct lidar_figures *s, int figure, bool bad)
{
	s->all[figure]++;
	s->bad[figure] += bad;
	return bad;
}

static enum what what_at(const struct sx_scene_truth *t, int x, int y, double *distance)
{
	size_t at = (size_t)y * (size_t)t->width + (size_t)x;
	struct sx_scene_point p = sx_scene_point(t, x, y);

	*distance = p.distance;
	if (t->kind[at] == STIXEL_SKY || p.distance > SEEN_TO || t->through[at])
		return NOTHING;
	if (t->kind[at] == STIXEL_GROUND)
		return p.height > -GROUND_HIGH && p.height < GROUND_HIGH + 1e-3 ? GROUND : NOTHING;
	if (p.height < GROUND_HIGH || p.height > OBSTACLE_TO)
		return NOTHING;
	return p.height < OBSTACLE_FROM ? LOW : OBSTACLE;
}

static double said_at(const struct stixel_list *got, int u, int y)
{
	const struct stixel *s = stixel_at(got, u, y);

	return s && s->kind == STIXEL_OBJECT ? s->disparity_q7 / 128.0 : -1;
}

static void score_pixel(struct lidar_figures *s, const struct pixel *p, double want)
{
	double off = p->said < want ? want - p->said : p->said - want;

	if (p->what == GROUND)
		take(s, FIGURE_FALSE, p->said >= 0);
	if (p->what == LOW)
		take(s, FIGURE_LOW, p->said < 0);
	if (p->what == OBSTACLE && !take(s, FIGURE_MISSED, p->said < 0))
		take(s, FIGURE_DIST, off > 3 && off > 0.05 * want);
}

/* Returns the distance of the ENOUGH-th nearest obstacle pixel, m. 0: there are fewer. */
static double first_obstacle(const struct pixel *p, int n)
{
	double nearest[ENOUGH];
	int found = 0;

	for (int i = 0; i < n; i++) {
		double z = p[i].distance;
		int k;

		if (p[i].what != OBSTACLE || (found == ENOUGH && z >= nearest[ENOUGH - 1]))
			continue;
		for (k = found < ENOUGH ? found++ : ENOUGH - 1; k > 0 && nearest[k - 1] > z; k--)
			nearest[k] = nearest[k - 1];
		nearest[k] = z;
	}
	return found == ENOUGH ? nearest[ENOUGH - 1] : 0;
}

/* Scores the first obstacle of a stixel column. p: the pixels of the column's middle, from the top down. */
static void score_first(struct lidar_figures *s, const struct sx_scene_truth *t, const struct pixel *p, int n)
{
	double first = first_obstacle(p, n), fb = t->camera.fx * t->camera.baseline_m, most = 0;
	int nearer = 0, on_ground = 0;

	if (first <= 0)
		return;
	for (int i = 0; i < n; i++) {
		if (i > 0.3 * n && p[i].said > most)
			most = p[i].said;
		if (p[i].said * 0.7 * first > fb) {
			nearer++;
			on_ground += p[i].what == GROUND;
		}
	}
	take(s, FIGURE_NEAR, nearer >= ENOUGH && 2 * on_ground > nearer);
	take(s, FIGURE_FAR, most <= 0.5 || fb / most > 1.43 * first);
}

static void score_column(struct lidar_figures *s, const struct sx_scene_truth *t, int width, int u,
			 const struct stixel_list *got)
{
	struct pixel middle[2160] = {0};

	for (int y = 0; y < t->height; y++) {
		double said = said_at(got, u, y);

		for (int x = u * width; x < (u + 1) * width; x++) {
			size_t at = (size_t)y * (size_t)t->width + (size_t)x;
			struct pixel p = {.said = said};

			p.what = what_at(t, x, y, &p.distance);
			if (!t->visible[at])
				p.what = NOTHING;
			score_pixel(s, &p, (double)t->disparity[at]);
			if (x == u * width + width / 2)
				middle[y] = p;
		}
	}
	score_first(s, t, middle, t->height);
}

void score_figures(struct lidar_figures *s, const struct sx_scene_truth *t, const struct sx_image *left,
		   int width, int first, int last, const struct stixel_list *got)
{
	double distance;

	for (int u = first; u <= last; u++)
		score_column(s, t, width, u, got);
	for (int y = 0; y < t->height; y++) {
		const uint8_t *grey = sx_image_row(left, y);

		for (int x = 0; x < EDGE; x++)
			if (what_at(t, x, y, &distance) == GROUND)
				take(s, FIGURE_EDGE, said_at(got, x / width, y) >= 0);
		for (int x = first * width; x < (last + 1) * width; x++)
			if (t->kind[(size_t)y * (size_t)t->width + (size_t)x] == STIXEL_SKY &&
			    grey[x] >= WHITE)
				take(s, FIGURE_WHITE, said_at(got, x / width, y) >= 0);
	}
}

void print_figures(const struct lidar_figures *s)
{
	printf("as on lidar, %%:");
	for (int i = 0; i < FIGURES; i++)
		if (s->all[i])
			printf(" %s %.2f", names[i], percent(s->bad[i], s->all[i]));
	printf("\n");
}

bool judge_figures(const struct lidar_figures *s, const double max[FIGURES])
{
	bool good = true;

	for (int i = 0; i < FIGURES; i++)
		if (percent(s->bad[i], s->all[i]) > max[i]) {
			fprintf(stderr, "NOT GOOD ENOUGH: asked for %s <= %g %%\n", names[i], max[i]);
			good = false;
		}
	return good;
}
