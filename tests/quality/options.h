/*
 * Options of stixel-quality.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_QUALITY_OPTIONS_H
#define SX_TESTS_QUALITY_OPTIONS_H

#include <stdbool.h>

#include "tests/quality/lidar_figures.h"
#include "tests/quality/metrics.h"
#include "tests/quality/painted.h"
#include "tests/quality/room_figures.h"

#define OVERRIDES_MAX 64

struct options {
	const char *engine, *scene, *lenses;
	int width, height, raw_width, raw_height, seeds;
	unsigned first;
	bool verbose;
	enum quality_scores semantics;
	const char *overrides[OVERRIDES_MAX];
	int override_count;
	/* percent; max_false: of pairs with a false positive */
	double min_detection, max_d1, max_bad, max_false[SPACES];
	double max_each[SPACES];	      /* false positives per pair */
	double max_painted[2], min_called[2]; /* percent, for ground and objects */
	double max_figures[FIGURES];	      /* lidar_figures.h, percent */
	/* least detected share of small things (small_things.h), percent: up to 20 m, farther */
	double min_small[2];
	double min_iou
		[2]; /* least intersection over union of classes and of kinds, with class scores, percent */
	double max_road_end[2];	       /* road_end.h, percent: too far at other ground, too near elsewhere */
	double min_persons;	       /* least detected share of persons 25 to 35 m away, percent */
	double max_room[ROOM_FIGURES]; /* room_figures.h, percent */
};

/* Parses the options. On an error prints the usage on standard error and returns -EINVAL. */
int parse_options(struct options *o, int argc, char **argv);

#endif
