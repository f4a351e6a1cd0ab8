/*
 * Scores which persons of a street are found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/quality/persons.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PERSON 11 /* Cityscapes */
#define OBJECTS 65536
#define OFF 0.10

static const double distances[PERSON_DISTANCES] = {15, 25, 35, 50}; /* m */

/* Pixels of an object. */
struct seen {
	uint32_t pixels, covered, named;
	double disparity; /* sum, px */
};

static bool is_covered(const struct stixel *s, double want)
{
	const double d = s && s->disparity_q7 != STIXEL_DISPARITY_UNKNOWN ? s->disparity_q7 / 128.0 : 0;

	return s && s->kind == STIXEL_OBJECT && d * (1 + OFF) > want && d * (1 - OFF) < want;
}

static void count_person(struct person_score *s, const struct seen *one, double focal_baseline)
{
	const double m = focal_baseline * one->pixels / one->disparity;

	for (int i = 0; i < PERSON_DISTANCES; i++) {
		if (m > distances[i])
			continue;
		s->asked[i]++;
		s->detected[i] += 2 * one->covered > one->pixels;
		s->touched[i] += one->covered > 0;
		s->named[i] += 2 * one->named > one->pixels;
		return;
	}
}

int score_persons(struct person_score *s, const struct sx_scene_truth *t, int width, int first, int last,
		  const struct stixel_list *got)
{
	struct seen *seen = calloc(OBJECTS, sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	for (int y = 0; y < t->height; y++)
		for (int x = first * width; x < (last + 1) * width; x++) {
			const size_t at = (size_t)y * (size_t)t->width + (size_t)x;
			const struct stixel *stixel;
			struct seen *one = &seen[t->object[at]];

			if (t->label[at] != PERSON)
				continue;
			stixel = stixel_at(got, x / width, y);
			one->pixels++;
			one->disparity += (double)t->disparity[at];
			one->covered += is_covered(stixel, (double)t->disparity[at]);
			one->named += stixel && stixel->label == PERSON;
		}
	for (int i = 0; i < OBJECTS; i++)
		if (seen[i].pixels >= PERSON_PIXELS && seen[i].disparity > 0)
			count_person(s, &seen[i], t->camera.fx * t->camera.baseline_m);
	free(seen);
	return 0;
}

void print_persons(const struct person_score *s, bool labels)
{
	for (int i = 0; i < PERSON_DISTANCES; i++) {
		if (s->asked[i] == 0)
			continue;
		printf("persons up to %.0f m: %llu, detected %.1f %%, touched %.1f %%", distances[i],
		       (unsigned long long)s->asked[i], percent(s->detected[i], s->asked[i]),
		       percent(s->touched[i], s->asked[i]));
		if (labels)
			printf(", with the label %.1f %%", percent(s->named[i], s->asked[i]));
		printf("\n");
	}
}

bool judge_persons(const struct person_score *s, double min)
{
	if (percent(s->detected[2], s->asked[2]) >= min || s->asked[2] == 0)
		return true;
	fprintf(stderr, "NOT GOOD ENOUGH: asked for persons 25 to 35 m away detected >= %g %%\n", min);
	return false;
}
