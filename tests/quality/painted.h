/*
 * What stixels say of each pixel, against the truth of a synthetic scene: disparity, kind, class.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_QUALITY_PAINTED_H
#define SX_TESTS_QUALITY_PAINTED_H

#include <stdint.h>

#include "base/scores.h"
#include "tests/quality/metrics.h"
#include "tests/scene_truth.h"

#define QUALITY_CLASSES 19 /* Cityscapes' */
#define QUALITY_KINDS 3	   /* ground, object, sky */

/*
 * By true kind, in rows that stixels cover: what remains at the top belongs to no cell. wrong: no
 * disparity, or off by > 3 px and > 5 % of the true one (sky: 0 px). called: by the kind that the
 * stixel has, unknown in none.
 */
struct painted_score {
	uint64_t truth[QUALITY_KINDS], wrong[QUALITY_KINDS];
	uint64_t called[QUALITY_KINDS][QUALITY_KINDS];
};

/* Pixels of each class (or kind): true ones, those said to be, and those that are both. */
struct class_score {
	uint64_t truth[QUALITY_CLASSES], said[QUALITY_CLASSES], both[QUALITY_CLASSES];
};

struct label_score {
	struct class_score classes, kinds;
};

/* Ground is a line, all else upright. columns: first..last are looked at, each width px. */
void score_painted(struct painted_score *s, const struct sx_scene_truth *t, int width, int first, int last,
		   const struct stixel_list *got);

/*
 * Labels of stixels, and the most probable class of each pixel of the scores, in the same pixels. Kinds are
 * kinds of classes: a pixel's true kind is its class's too.
 */
void score_labels(struct label_score *stixels, struct label_score *input, const struct sx_scene_truth *t,
		  int width, int first, int last, const struct stixel_list *got,
		  const struct sx_scores *scores);

/* Mean over what there is of intersection over union, 0..1. */
double class_score_iou(const struct class_score *s);

/* enum stixel_kind of a class. */
uint8_t class_kind(int label);

/*
 * Class scores as a network might give them: borders are off by some pixels, patches have any other
 * class, and how sure it is varies from block to block; what is left of 255 goes to the other classes
 * alike. One score a pixel.
 */
struct noisy_scores {
	struct sx_scores scores;
	uint8_t *data, *label;
};

int noisy_scores_init(struct noisy_scores *n, int width, int height); /* -ENOMEM */
void noisy_scores_finish(struct noisy_scores *n);
void noisy_scores_make(struct noisy_scores *n, const struct sx_scene_truth *t, uint64_t seed);

#endif
