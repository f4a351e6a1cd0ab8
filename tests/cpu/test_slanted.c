/*
 * Slanted stixels of the cpu engine against the reference, column by column and byte for byte, on every
 * kernel that this machine has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/kernel_sets.h"
#include "cpu/segment.h"
#include "stages/stixels/slanted.h"
#include "tests/emulated.h"
#include "tests/stixel_case.h"

static const char *const simds[] = {"plain", "sse4", "avx2", "avx512"};

/* Returns NULL if this machine does not support the kernels. */
static const struct sx_segment_kernels *kernels_of(const char *simd)
{
	const struct sx_kernels *k = sx_kernels_choose(simd);

	return k ? k->segment : NULL;
}

struct rig {
	struct sx_slanted_tables *tables;
	struct sx_slanted *slanted;
	struct sx_image columns, confidence, scores;
	struct sx_segments want, got;
};

static void rig_init(struct rig *g, const struct sx_params *p, int columns, int height, int range)
{
	memset(g, 0, sizeof(*g));
	assert_int_equal(sx_slanted_tables_create(&g->tables, p, height, range), 0);
	assert_int_equal(sx_slanted_create(&g->slanted, g->tables), 0);
	height = g->tables->rows;
	assert_int_equal(sx_segments_init(&g->want, columns, height), 0);
	assert_int_equal(sx_segments_init(&g->got, columns, height), 0);
	assert_int_equal(sx_image_init(&g->columns, SX_PIXEL_U16, height, columns), 0);
	assert_int_equal(sx_image_init(&g->confidence, SX_PIXEL_U8, height, columns), 0);
	assert_int_equal(sx_image_init(&g->scores, SX_PIXEL_U8, height * (p->semantics.classes + 1), columns),
			 0);
}

static void rig_finish(struct rig *g)
{
	sx_slanted_destroy(g->slanted);
	sx_slanted_tables_destroy(g->tables);
	sx_segments_finish(&g->want);
	sx_segments_finish(&g->got);
	sx_image_finish(&g->columns);
	sx_image_finish(&g->confidence);
	sx_image_finish(&g->scores);
}

static void compare(const struct rig *g, const char *what)
{
	for (int u = 0; u < g->columns.height; u++) {
		const struct sx_segment *want = sx_segments_column(&g->want, u);
		const struct sx_segment *got = sx_segments_column(&g->got, u);

		for (int i = 0; i < g->want.count[u]; i++)
			if (i >= g->got.count[u] || memcmp(&want[i], &got[i], sizeof(*want)) != 0)
				fail_msg("%s, %d rows, column %d: segment %d of %d and %d: rows %d..%d kind "
					 "%d disparity %d slope %d label %d, want %d..%d %d %d %d %d",
					 what, g->columns.width, u, i, g->got.count[u], g->want.count[u],
					 got[i].v_bottom, got[i].v_top, got[i].kind, got[i].disparity_q7,
					 got[i].slope_q14, got[i].label, want[i].v_bottom, want[i].v_top,
					 want[i].kind, want[i].disparity_q7, want[i].slope_q14,
					 want[i].label);
		assert_int_equal(g->want.count[u], g->got.count[u]);
		if (g->want.total[u] != g->got.total[u])
			fail_msg("%s, %d rows, column %d: total %d, want %d", what, g->columns.width, u,
				 g->got.total[u], g->want.total[u]);
	}
}

/* Two workers take turns, so that a difference shows if scratch memory keeps data of a column. */
static void check_kernels(struct rig *g, const struct sx_params *p, int height, int range,
			  const struct sx_road *road, bool confident, bool scored, const char *what)
{
	const struct sx_image *c = confident ? &g->confidence : NULL, *scores = scored ? &g->scores : NULL;
	const int n = g->columns.height;

	sx_slanted_run(g->slanted, road, &g->columns, c, scores, &g->want);
	for (size_t i = 0; i < sizeof(simds) / sizeof(*simds); i++) {
		const struct sx_segment_kernels *k = kernels_of(simds[i]);
		struct sx_segmenter *s;

		if (!k)
			continue;
		memset(g->got.count, 0xaa, (size_t)n * sizeof(*g->got.count));
		assert_int_equal(sx_segmenter_create(&s, p, height, range, 2, k), 0);
		assert_true(sx_segmenter_bytes(s) > sizeof(*g->tables));
		for (int round = 0; round < 2; round++) {
			sx_segmenter_begin(s, road, c, scores);
			for (int u = n - 1; u >= 0; u--)
				sx_segmenter_columns(s, &g->columns, u, u + 1, (u + round) % 2, &g->got);
		}
		compare(g, what);
		sx_segmenter_destroy(s);
	}
}

static void fill(struct rig *g, enum stixel_case how, const struct sx_road *road, int range,
		 struct check_rng *r)
{
	stixel_case_columns(how, road, range, &g->columns, r);
	check_fill(&g->confidence, check_below(r, 3) ? CHECK_NOISE : CHECK_NEAR_0, r);
	check_fill(&g->scores,
		   check_below(r, 3)   ? CHECK_NOISE
		   : check_below(r, 2) ? CHECK_NEAR_0
				       : CHECK_FLAT,
		   r);
}

static struct sx_params random_params(int height, int i, struct check_rng *r)
{
	struct sx_params p = stixel_case_params(height);
	struct sx_slanted_params *s = &p.stixels.slanted;

	p.stixels.method = i % 4 == 3 ? SX_STIXEL_SLANTED_EXACT : SX_STIXEL_SLANTED;
	p.stixels.cell_height = 1;
	p.semantics.classes = i % 3 ? check_below(r, SX_CLASSES_MAX + 1) : 0;
	for (int k = 0; k < p.semantics.classes; k++)
		p.semantics.kind[k] = (uint8_t)check_below(r, i % 5 ? 3 : 2);
	s->confidence = (enum sx_confidence_weight)(i / 2 % 3);
	s->above = check_below(r, 101);
	/* the first of three or more columns is partly out of view, or all are seen */
	p.stixels.width = i % 7 == 6 ? STIXEL_CASE_WIDTH : i % 7 < 3 ? 1000 : 8 + check_below(r, 200);
	if (i % 2) {
		s->sigma_ground_px = 0.3 + check_below(r, 30) / 10.0;
		s->sigma_object_px = 0.1 + check_below(r, 30) / 10.0;
		s->sigma_sky_px = 0.1 + check_below(r, 30) / 10.0;
		s->offset_px = 0.3 + check_below(r, 40) / 10.0;
		s->slope_px = 0.02 + check_below(r, 40) / 10.0;
		s->cut = check_below(r, 20) / 2.0;
		s->gravity = check_below(r, 5);
		s->order = check_below(r, 5) / 2.0;
		s->gap = check_below(r, 5);
		s->hole = check_below(r, 20) / 10.0;
		s->semantic = check_below(r, 30) / 10.0;
		s->confidence_full = 0.1 + check_below(r, 10) / 10.0;
		s->roughness = check_below(r, 4) ? check_below(r, 100) / 1000.0 : check_below(r, 2);
		s->below = check_below(r, 21) / 20.0;
		s->sky_outlier = check_below(r, 4) ? check_below(r, 100) / 5.0 : 1000;
	}
	return p;
}

static void test_heights_and_horizons(void **state)
{
	static const int heights[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 65, 101, 130};
	struct check_rng r = check_rng_seed(51);

	for (size_t i = 0; i < 10 * sizeof(heights) / sizeof(*heights); i++) {
		const int h = heights[i / 10], vhor = i % 10 == 0   ? 0
						      : i % 10 == 1 ? h
								    : check_below(&r, h + 1);
		const struct sx_params p = random_params(h, (int)i, &r);
		struct sx_road road = stixel_case_road(h, vhor, 5 + check_below(&r, 100)), seen;
		struct rig g;

		stixel_case_roll(&road, 3, check_below(&r, 81) - 40);
		if (i % 3)
			stixel_case_bend(&road, h, &r);
		seen = stixel_case_road_of_width(&road, p.stixels.width);
		seen.origin = i % 4 == 2 ? SX_ROAD_FROM_CALIBRATION : SX_ROAD_MEASURED;
		rig_init(&g, &p, 3, h, 128);
		for (int how = 0; how < CASE_COUNT; how++) {
			if (IS_SLOW && how % 3 != (int)i % 3)
				continue;
			fill(&g, (enum stixel_case)how, &road, 128, &r);
			check_kernels(&g, &p, h, 128, &seen, how % 3 != 1, how % 4 != 1,
				      stixel_case_name((enum stixel_case)how));
		}
		rig_finish(&g);
	}
}

/*
 * Scores that allow one kind only, over columns that fit it badly, with expensive cuts: long stixels whose
 * energies are so large that the last bit of each shows in the total.
 */
static void test_every_bit(void **state)
{
	struct check_rng r = check_rng_seed(55);

	for (int i = 0; i < ENOUGH_OF(60); i++) {
		const int h = 40 + check_below(&r, 100);
		struct sx_road road = stixel_case_road(h, h / 2 + check_below(&r, h / 2), 60);
		struct sx_params p = random_params(h, 1 + i % 4, &r);
		struct sx_road seen;
		struct rig g;

		p.semantics.classes = 2;
		p.semantics.kind[0] = (uint8_t)(i % 3 == 2 ? 2 : i % 3);
		p.semantics.kind[1] = (uint8_t)(i % 3 == 1 ? 0 : 1);
		p.stixels.slanted.semantic = 1000;
		p.stixels.slanted.cut = 1000;
		p.stixels.slanted.above = 100;
		stixel_case_roll(&road, 16, check_below(&r, 31) - 15);
		seen = stixel_case_road_of_width(&road, p.stixels.width);
		rig_init(&g, &p, 16, h, 128);
		fill(&g, i % 2 ? CASE_NOISE : CASE_SCENE, &road, 128, &r);
		for (int u = 0; u < 16; u++)
			for (int v = 0; v < h; v++) {
				uint8_t *cell = (uint8_t *)sx_image_row(&g.scores, u) + 2 * v;

				cell[0] = i % 3 < 2 || v > h / 2 ? 255 : 0;
				cell[1] = (uint8_t)(255 - cell[0]);
			}
		check_kernels(&g, &p, h, 128, &seen, i % 5 != 4, true, "one kind");
		rig_finish(&g);
	}
}

/*
 * Sky may stand on ground with a disparity of up to 1 px. In this test the ground has about that disparity
 * where sky begins. There are few rows of sky, so that it ends in the same vector of rows.
 */
static void test_sky_on_ground(void **state)
{
	struct check_rng r = check_rng_seed(56);

	for (int i = 0; i < ENOUGH_OF(40); i++) {
		const int vhor = 20 + check_below(&r, 60), h = vhor + 2 + check_below(&r, 12);
		const struct sx_road road = stixel_case_road(h, vhor, 3 + check_below(&r, 6));
		const struct sx_road seen = stixel_case_road_of_width(&road, 1000);
		struct sx_params p = stixel_case_params(h);
		struct rig g;

		p.stixels.method = SX_STIXEL_SLANTED;
		p.stixels.cell_height = 1;
		p.stixels.width = 1000;
		p.stixels.slanted.above = 0;
		p.stixels.slanted.cut = 1 + check_below(&r, 40) / 4.0;
		rig_init(&g, &p, 32, h, 128);
		for (int u = 0; u < 32; u++) {
			uint16_t *d = sx_image_row(&g.columns, u);
			const int more = 14 + check_below(&r, 8);

			for (int v = 0; v < h; v++) {
				const double ground = road.slope * (h - 1 - v) + road.offset;

				d[v] = v < vhor ? (uint16_t)(16 * ground + more + check_below(&r, 2)) : 0;
			}
		}
		check_kernels(&g, &p, h, 128, &seen, false, false, "ground of 1 px below sky");
		rig_finish(&g);
	}
}

static void check_large(int height, int cell, int range, enum stixel_case how, struct check_rng *r)
{
	struct sx_params p = random_params(height, 0, r);
	struct sx_road road = stixel_case_road(height, height / 2, range);
	struct rig g;

	p.stixels.cell_height = cell;
	if (how == CASE_NOISE)
		p.stixels.slanted.roughness = 0; /* the largest weights */
	p.semantics.classes = 19;
	stixel_case_roll(&road, 2, how == CASE_NOISE ? 0 : 20);
	road = stixel_case_road_of_width(&road, p.stixels.width);
	p.stixels.slanted.below = how == CASE_NOISE ? 1 : 0.15;
	rig_init(&g, &p, 2, height, range);
	fill(&g, how, &(struct sx_road){0}, range, r);
	check_kernels(&g, &p, height, range, &road, how != CASE_NOISE, true, stixel_case_name(how));
	rig_finish(&g);
}

/* SX_RANGE_MAX and 2160 rows: the largest sums, and disparities beyond the range. */
static void test_large_sizes(void **state)
{
	struct check_rng r = check_rng_seed(52);
	struct sx_params p = random_params(300, 0, &r);
	const struct sx_road road = stixel_case_road(300, 150, 40);
	struct rig g;

	check_large(2160, 1, SX_RANGE_MAX, CASE_NOISE, &r);
	if (!IS_EMULATED)
		check_large(2160, 1, SX_RANGE_MAX, CASE_SCENE, &r);
	check_large(1024, 4, 128, CASE_SCENE, &r);
	check_large(1024, 8, 128, CASE_SCENE, &r);
	check_large(375, 32, 128, CASE_SCENE, &r);
	rig_init(&g, &p, 3, 300, 128);
	fill(&g, CASE_NOISE, &road, 4095, &r);
	check_kernels(&g, &p, 300, 128, &road, true, false, "beyond the range");
	rig_finish(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heights_and_horizons),
		cmocka_unit_test(test_every_bit),
		cmocka_unit_test(test_sky_on_ground),
		cmocka_unit_test(test_large_sizes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
