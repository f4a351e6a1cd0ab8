/*
 * The smallest frame in which every stage of the default settings has work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_GPU_HOST_SMALL_CASE_H
#define TESTS_GPU_HOST_SMALL_CASE_H

#include "stages/engine.h"
#include "tests/stixel_case.h"

enum { WIDTH = 40, HEIGHT = 36 };

static struct sx_context_config small(void)
{
	struct sx_context_config c = {
		.width = WIDTH, .height = HEIGHT, .pixel = SX_PIXEL_U8, .time_stages = true};

	c.params = stixel_case_params(HEIGHT);
	c.params.stereo.cost = SX_COST_CSCT;
	c.params.stereo.paths = 4;
	c.params.stereo.disparities = 32;
	c.params.stereo.uniqueness = 95;
	c.params.filters = (struct sx_filter_params){.median = true, .left_right = 1, .speckle_range = 1};
	c.params.filters.speckle_size = 20;
	return c;
}

#endif
