/*
 * Scores the values that stixels give each pixel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/quality/painted.h"

#include <stdbool.h>

uint8_t class_kind(int label)
{
	return label < 2 || label == 9 ? STIXEL_GROUND : label == 10 ? STIXEL_SKY : STIXEL_OBJECT;
}

/* Returns the stixel's disparity in image row y, px. Below 0 if the stixel has none. */
static double disparity_at(const struct stixel *s, int y)
{
	double d = s->disparity_q7 / 128.0;

	if (s->kind == STIXEL_UNKNOWN)
		return -1;
	if (s->kind == STIXEL_SKY)
		return 0;
	if (s->kind == STIXEL_GROUND)
		d += s->slope_q14 / 16384.0 * (s->row_bottom - y);
	return d < 0 ? 0 : d;
}

static bool is_wrong(double got, double want)
{
	double error = got < want ? want - got : got - want;

	return got < 0 || (error > 3 && error > 0.05 * want);
}

void score_painted(struct painted_score *s, const struct sx_scene_truth *t, int width, int first, int last,
		   const struct stixel_list *got)
{
	for (int u = first; u <= last; u++)
		for (int y = 0; y < t->height; y++) {
			const struct stixel *st = stixel_at(got, u, y);
			double d;

			if (!st)
				continue;
			d = disparity_at(st, y);
			for (int x = u * width; x < (u + 1) * width; x++) {
				size_t at = (size_t)y * (size_t)t->width + (size_t)x;
				uint8_t kind = t->kind[at];

				s->truth[kind]++;
				s->wrong[kind] += is_wrong(d, (double)t->disparity[at]);
				if (st->kind < QUALITY_KINDS)
					s->called[kind][st->kind]++;
			}
		}
}

static void count(struct class_score *s, int truth, int said)
{
	s->truth[truth]++;
	if (said >= QUALITY_CLASSES)
		return;
	s->said[said]++;
	s->both[said] += said == truth;
}

static void count_label(struct label_score *s, int truth, int said)
{
	count(&s->classes, truth, said);
	count(&s->kinds, class_kind(truth), said < QUALITY_CLASSES ? class_kind(said) : STIXEL_LABEL_NONE);
}

/* Returns the most probable class, the first one if several are equal. */
static int most_probable(const struct sx_scores *s, int x, int y)
{
	const uint8_t *p = s->data + (size_t)y * s->pitch + (size_t)x;
	int best = 0;

	for (int k = 1; k < s->classes; k++)
		if (p[(size_t)k * s->plane_bytes] > p[(size_t)best * s->plane_bytes])
			best = k;
	return best;
}

void score_labels(struct label_score *stixels, struct label_score *input, const struct sx_scene_truth *t,
		  int width, int first, int last, const struct stixel_list *got,
		  const struct sx_scores *scores)
{
	for (int u = first; u <= last; u++)
		for (int y = 0; y < t->height; y++) {
			const struct stixel *st = stixel_at(got, u, y);

			for (int x = u * width; st && x < (u + 1) * width; x++) {
				int truth = t->label[(size_t)y * (size_t)t->width + (size_t)x];

				count_label(stixels, truth, st->label);
				count_label(input, truth,
					    most_probable(scores, x / scores->scale, y / scores->scale));
			}
		}
}

double class_score_iou(const struct class_score *s)
{
	double sum = 0;
	int n = 0;

	for (int k = 0; k < QUALITY_CLASSES; k++)
		if (s->truth[k]) {
			sum += (double)s->both[k] / (double)(s->truth[k] + s->said[k] - s->both[k]);
			n++;
		}
	return n ? sum / n : 0;
}
