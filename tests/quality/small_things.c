/*
 * Scores small things by size and distance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/quality/small_things.h"

#include <stdio.h>

#include "capture/scene/scene_world.h"

#define NEAR_TO 20.0 /* m; up to here a thing is near */
#define OFF 0.10

static bool is_covered(const struct stixel_list *got, int u, int y, double want)
{
	const struct stixel *s = stixel_at(got, u, y);
	const double d = s ? s->disparity_q7 / 128.0 : 0;

	return s && s->kind == STIXEL_OBJECT && d * (1 + OFF) > want && d * (1 - OFF) < want;
}

static bool is_matched(const struct sx_scene_truth *t, size_t at, uint16_t q4)
{
	double d = q4 / 16.0, want = (double)t->disparity[at];

	return q4 != SX_DISPARITY_INVALID && 2 * d > want + (double)t->ground[at] && d * (1 - OFF) < want;
}

static void score_thing(struct small_things *s, const struct sx_cargo *thing, const struct sx_scene_truth *t,
			int width, const struct stixel_list *got, const struct sx_image *q4)
{
	int pixels = 0, covered = 0, matched = 0, columns = t->width / width;

	for (int y = 0; y < t->height; y++) {
		const uint16_t *map = sx_image_row(q4, y);

		for (int x = 0; x < columns * width; x++) {
			size_t at = (size_t)y * (size_t)t->width + (size_t)x;

			if (t->object[at] != thing->object)
				continue;
			pixels++;
			covered += is_covered(got, x / width, y, (double)t->disparity[at]);
			matched += is_matched(t, at, map[x]);
		}
	}
	s->asked[thing->size][thing->distance]++;
	s->detected[thing->size][thing->distance] += 2 * covered > pixels;
	s->touched[thing->size][thing->distance] += covered > 0;
	s->matched[thing->size][thing->distance] += 2 * matched > pixels;
}

void score_small(struct small_things *s, const struct sx_scene *scene, const struct sx_scene_truth *t,
		 int width, const struct stixel_list *got, const struct sx_image *q4)
{
	for (int i = 0; i < scene->cargo_count; i++)
		score_thing(s, &scene->cargo[i], t, width, got, q4);
}

/* Computes the percentage over all sizes, for things up to NEAR_TO and farther. */
static void detected_of_all(const struct small_things *s, double ret[2])
{
	uint64_t asked[2] = {0}, detected[2] = {0};

	for (int i = 0; i < SX_CARGO_SIZES; i++)
		for (int k = 0; k < SX_CARGO_DISTANCES; k++) {
			int far = sx_cargo_distances[k] > NEAR_TO;

			asked[far] += s->asked[i][k];
			detected[far] += s->detected[i][k];
		}
	for (int far = 0; far < 2; far++)
		ret[far] = percent(detected[far], asked[far]);
}

void print_small(const struct small_things *s)
{
	double shares[2];
	uint64_t all = 0;

	for (int i = 0; i < SX_CARGO_SIZES; i++)
		for (int k = 0; k < SX_CARGO_DISTANCES; k++)
			all += s->asked[i][k];
	if (!all)
		return;
	printf("%llu small things, detected (touched, matched), %%\n%-16s", (unsigned long long)all, "");
	for (int k = 0; k < SX_CARGO_DISTANCES; k++)
		printf("%9.0f m     ", sx_cargo_distances[k]);
	printf("\n");
	for (int i = 0; i < SX_CARGO_SIZES; i++) {
		printf("%-16s", sx_cargo_sizes[i].name);
		for (int k = 0; k < SX_CARGO_DISTANCES; k++)
			printf("%5.0f (%3.0f,%4.0f)", percent(s->detected[i][k], s->asked[i][k]),
			       percent(s->touched[i][k], s->asked[i][k]),
			       percent(s->matched[i][k], s->asked[i][k]));
		printf("\n");
	}
	detected_of_all(s, shares);
	printf("all sizes: detected %.1f %% up to %.0f m, %.1f %% farther\n", shares[0], NEAR_TO, shares[1]);
}

bool judge_small(const struct small_things *s, const double min[2])
{
	double shares[2];

	detected_of_all(s, shares);
	if (shares[0] >= min[0] && shares[1] >= min[1])
		return true;
	fprintf(stderr, "NOT GOOD ENOUGH: asked for small things detected >= %g, %g %%\n", min[0], min[1]);
	return false;
}
