/*
 * Computes the figures of tests/lab/accuracy/lidar.py, which measures real roads, against the truth of a
 * drawn road.
 *
 * Scores pixels that both cameras see, up to 60 m. Ground: of that kind, within 0.15 m of the road's plane
 * (kerbs and pavements, not banks). Obstacle: object, 0.4 to 3 m above the plane. Pixels between a fence's
 * bars are not scored.
 *
 *   false   ground in object stixels
 *   missed  obstacle in ground, sky or unknown (lidar.py counts unknown separately)
 *   low     objects 0.15 to 0.4 m above the road in ground, sky or unknown
 *   dist    obstacle in objects whose disparity is off by more than 3 px and 5 %
 *   near    columns whose first obstacle is nearer than 0.7 times the true one, where ground is true
 *   far     columns whose first obstacle is farther than 1.43 times the true one
 *   white   saturated (255) sky in object stixels
 *   edge    ground in object stixels, in columns 0 to 7: nothing can be matched there
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_QUALITY_LIDAR_FIGURES_H
#define SX_TESTS_QUALITY_LIDAR_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/quality/metrics.h"

enum {
	FIGURE_FALSE,
	FIGURE_MISSED,
	FIGURE_LOW,
	FIGURE_DIST,
	FIGURE_NEAR,
	FIGURE_FAR,
	FIGURE_WHITE,
	FIGURE_EDGE,
	FIGURES
};

/* Counts of pixels, or columns, over all pairs. */
struct lidar_figures {
	uint64_t bad[FIGURES], all[FIGURES];
};

/*
 * Scores a pair. left: the left image. Columns first..last, each width px. Columns of the edge are scored in
 * addition.
 */
void score_figures(struct lidar_figures *s, const struct sx_scene_truth *t, const struct sx_image *left,
		   int width, int first, int last, const struct stixel_list *got);
void print_figures(const struct lidar_figures *s);
/* Returns false and prints a line if a figure is larger than its max, percent. */
bool judge_figures(const struct lidar_figures *s, const double max[FIGURES]);

#endif
