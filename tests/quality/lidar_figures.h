/*
 * The figures that tests/lab/accuracy/lidar.py gives of real roads, against the truth of a drawn one: of pixels
 * that both cameras see, up to 60 m. Ground: of that kind, within 0.15 m of the road's plane (kerbs and
 * pavements, not banks). Obstacle: object, 0.4 to 3 m above it. What is seen between a fence's bars counts
 * nowhere.
 *   false   ground in object stixels
 *   missed  obstacle in ground, sky or unknown
 *   low     likewise, of objects 0.15 to 0.4 m above the road
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

/* Pixels, or columns, of all pairs. */
struct lidar_figures {
	uint64_t bad[FIGURES], all[FIGURES];
};

/* left: the picture. Columns first..last, each width px; those of the edge beside. */
void score_figures(struct lidar_figures *s, const struct sx_scene_truth *t, const struct sx_image *left,
		   int width, int first, int last, const struct stixel_list *got);
void print_figures(const struct lidar_figures *s);
/* False, with a line that says so, if one is more than max, percent. */
bool judge_figures(const struct lidar_figures *s, const double max[FIGURES]);

#endif
