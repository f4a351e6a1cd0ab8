/*
 * Cases of engines whose pairs bring an external disparity map.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/engine_case.h"

/* Returns a disparity, 1/256 px: at a rounding limit, at an end of the range, or random. */
static int value_of(const struct sx_stereo_params *p, struct check_rng *r)
{
	const int last = 256 * (p->min_disparity + p->disparities - 1), first = 256 * p->min_disparity;
	const int near[] = {0, 1, 7, 8, 9, 0xffff, first - 9, first - 8, last + 7, last + 8};
	const int kind = check_below(r, 20);
	const int v = kind < 10 ? near[kind] : first + check_below(r, 256 * p->disparities);

	return v < 0 ? 0 : v > 0xffff ? 0xffff : v;
}

void engine_frame_external(struct engine_frame *f, const struct engine_case *t, struct check_rng *r)
{
	const struct sx_stereo_params *p = &t->params.stereo;

	check_image_init(&f->map, SX_PIXEL_U16, t->width, t->height, 2 * t->padding);
	check_image_init(&f->map_confidence, SX_PIXEL_U8, t->width, t->height, t->padding);
	check_fill_disparity(&f->map.image, p->disparities, 20, r);
	check_fill(&f->map_confidence.image, t->fill, r);
	for (int y = 0; y < t->height; y++) {
		uint16_t *row = sx_image_row(&f->map.image, y);

		for (int x = 0; x < t->width; x++) {
			const int v = 16 * (row[x] + 16 * p->min_disparity) + check_below(r, 16);

			if (row[x] == SX_DISPARITY_INVALID || v < 0)
				row[x] = 0;
			else if (check_below(r, 9) == 0)
				row[x] = (uint16_t)value_of(p, r);
			else
				row[x] = (uint16_t)v;
		}
	}
	f->disparity = (struct sx_disparity){
		.data = f->map.image.data,
		.confidence = t->external == ENGINE_MAP_WEIGHED ? f->map_confidence.image.data : NULL,
		.pitch = f->map.image.pitch,
		.confidence_pitch = f->map_confidence.image.pitch,
		.width = t->width,
		.height = t->height,
	};
	f->pair.disparity = t->external == ENGINE_MAP_MISSING ? NULL : &f->disparity;
}

static struct engine_case external_case(uint64_t seed, enum engine_map map)
{
	struct engine_case t = engine_case_small(seed);

	t.external = map;
	t.params.stereo.matcher = SX_MATCH_EXTERNAL;
	t.params.filters.speckle_size = 40;
	t.params.stixels.method = SX_STIXEL_SLANTED;
	t.params.stixels.width = 4;
	return t;
}

/* Runs a part of the raw-pair cases with an external map of the rectified size. */
static engine_case_fn *check_raw;

static void check_some_raw(const struct engine_case *raw)
{
	struct engine_case t = *raw;

	if (t.seed % 4)
		return;
	t.external = ENGINE_MAP_WEIGHED;
	t.params.stereo.matcher = SX_MATCH_EXTERNAL;
	check_raw(&t);
}

void engine_cases_external(engine_case_fn *check)
{
	static const int min[] = {0, 0, 20, -40, 128, -128};
	static const enum sx_pixel formats[] = {SX_PIXEL_U8, SX_PIXEL_YUYV, SX_PIXEL_Y16, SX_PIXEL_RGB24};

	for (int i = 0; i < 24; i++) {
		struct engine_case t = external_case(1400 + (uint64_t)i, (enum engine_map)(1 + i % 3));
		struct sx_filter_params *f = &t.params.filters;

		t.width = i == 5 ? 32 : i == 11 ? 300 : 61 + 7 * (i % 7);
		t.height = i == 5 ? 32 : i == 11 ? 201 : 33 + 5 * (i % 6);
		t.pixel = formats[i / 3 % 4];
		t.fill = i % 2 ? CHECK_NOISE : CHECK_STEPS;
		t.params.stereo.min_disparity = min[i / 2 % 6];
		t.params.stereo.disparities = i % 5 == 0 ? 256 : i % 5 == 1 ? 32 : 128;
		/* no effect on an external map */
		t.params.stereo.cost = i % 4 == 3 ? SX_COST_ZNCC : SX_COST_CSCT;
		t.params.stereo.aggregation = i % 8 == 5 ? SX_AGGREGATION_FASTDT : SX_AGGREGATION_SGM;
		t.params.stereo.fastdt = SX_FASTDT_INT16;
		f->left_right = i % 2 ? 1 : -1; /* no effect on an external map */
		f->median = i % 3 != 1;
		f->median_border = i & 4 ? SX_MEDIAN_BORDER_ZERO : SX_MEDIAN_BORDER_COPY;
		f->smooth = i % 4 != 1;
		f->speckle_size = i % 4 == 2 ? 0 : 40;
		if (i % 6 == 3)
			t.params.stixels.method = SX_STIXEL_DP;
		check(&t);
	}
	check_raw = check;
	engine_cases_rectify(check_some_raw);
}
