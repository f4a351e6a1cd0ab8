/*
 * Scores the values that stixels give each pixel against the truth of a synthetic scene: disparity, kind,
 * class.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_QUALITY_PAINTED_H
#define SX_TESTS_QUALITY_PAINTED_H

#include <stdint.h>

#include "base/scores.h"
#include "tests/quality/metrics.h"
#include "tests/scene_truth.h"

#define QUALITY_CLASSES 19 /* classes of Cityscapes */
#define QUALITY_KINDS 3	   /* ground, object, sky */

/*
 * Counts by true kind, in rows that stixels cover; the rows that remain at the top belong to no cell. wrong:
 * no disparity, or off by > 3 px and > 5 % of the true one (sky: 0 px). called: by the stixel's kind; unknown
 * counts in no column.
 */
struct painted_score {
	uint64_t truth[QUALITY_KINDS], wrong[QUALITY_KINDS];
	uint64_t called[QUALITY_KINDS][QUALITY_KINDS];
};

/* Counts of pixels by class (or kind): true ones, estimated ones, and pixels that are both. */
struct class_score {
	uint64_t truth[QUALITY_CLASSES], said[QUALITY_CLASSES], both[QUALITY_CLASSES];
};

struct label_score {
	struct class_score classes, kinds;
};

/*
 * Scores a pair. Ground is a line, the other kinds are upright. columns: first..last are scored, each width
 * px.
 */
void score_painted(struct painted_score *s, const struct sx_scene_truth *t, int width, int first, int last,
		   const struct stixel_list *got);

/*
 * Scores the labels of stixels, and the most probable class of each pixel of the scores, in the same pixels.
 * The class determines the kind, so a pixel's true kind follows from its true class.
 */
void score_labels(struct label_score *stixels, struct label_score *input, const struct sx_scene_truth *t,
		  int width, int first, int last, const struct stixel_list *got,
		  const struct sx_scores *scores);

/* Returns the mean intersection over union of the classes that occur, 0..1. */
double class_score_iou(const struct class_score *s);

/* Returns the enum stixel_kind of a class. */
uint8_t class_kind(int label);

/*
 * Class scores with the faults of a network. There is one score per pixel. Borders are off by some pixels.
 *
 * QUALITY_PATCHES: small patches have a random class, and the certainty varies from block to block. The other
 * classes share the rest of 255 equally. The errors of neighbouring patches are independent.
 * QUALITY_AREAS: as bad as a real network. It is wrong about whole areas: a part of them has another class of
 * the same kind (sidewalk for road), a smaller part one of another kind (wall for sidewalk), and there it is
 * hardly less certain. The true class then has a third of the rest.
 */
enum quality_scores { QUALITY_NO_SCORES, QUALITY_PATCHES, QUALITY_AREAS };

struct noisy_scores {
	struct sx_scores scores;
	uint8_t *data, *label;
};

int noisy_scores_init(struct noisy_scores *n, int width, int height); /* returns 0 or -ENOMEM */
void noisy_scores_finish(struct noisy_scores *n);
void noisy_scores_make(struct noisy_scores *n, enum quality_scores faults, const struct sx_scene_truth *t,
		       uint64_t seed);

#endif
