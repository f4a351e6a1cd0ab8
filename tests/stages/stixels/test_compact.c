/*
 * Compaction: rows from the top, support and confidence, lists that must be cut short.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <stixel.h>
#include <cmocka.h>

#include "stages/stixels/compact.h"
#include "tests/stixel_case.h"

enum { H = 40, COLUMNS = 6 };

struct rig {
	struct sx_segments segments;
	struct sx_image columns, confidence;
	struct sx_road road;
	uint32_t offsets[COLUMNS + 1];
	struct stixel stixels[COLUMNS * H];
};

/* Fills columns of random segments over random cells. */
static void rig_init(struct rig *g, struct check_rng *r)
{
	memset(g, 0, sizeof(*g));
	g->road = stixel_case_road(H, 25, 30);
	assert_int_equal(sx_segments_init(&g->segments, COLUMNS, H), 0);
	assert_int_equal(sx_image_init(&g->columns, SX_PIXEL_U16, H, COLUMNS), 0);
	assert_int_equal(sx_image_init(&g->confidence, SX_PIXEL_U8, H, COLUMNS), 0);
	stixel_case_columns(CASE_NOISE, &g->road, 64, &g->columns, r);
	check_fill(&g->confidence, CHECK_NOISE, r);
	for (int u = 0; u < COLUMNS; u++)
		for (int v = 0; v < H;) {
			const int rows = 1 + check_below(r, 1 + u * 2);
			const int top = v + rows - 1 < H - 1 ? v + rows - 1 : H - 1;

			sx_segments_column(&g->segments, u)[g->segments.count[u]++] = (struct sx_segment){
				.v_bottom = (uint16_t)v,
				.v_top = (uint16_t)top,
				.disparity_q7 = (uint16_t)check_random(r),
				.slope_q14 = (int16_t)check_random(r),
				.kind = (uint8_t)check_below(r, 4),
			};
			v = top + 1;
		}
}

static void rig_finish(struct rig *g)
{
	sx_segments_finish(&g->segments);
	sx_image_finish(&g->columns);
	sx_image_finish(&g->confidence);
}

static void check_stixel(const struct rig *g, const struct stixel *s, const struct sx_segment *want, bool cut)
{
	const uint16_t *d = sx_image_row(&g->columns, s->column);
	const uint8_t *c = sx_image_row(&g->confidence, s->column);
	int n = 0, sum = 0;

	for (int y = s->row_top; y <= s->row_bottom; y++)
		if (d[H - 1 - y] != SX_DISPARITY_INVALID) {
			n++;
			sum += c[H - 1 - y];
		}
	assert_int_equal(s->row_bottom, H - 1 - want->v_bottom);
	assert_int_equal(s->row_top, cut ? 0 : H - 1 - want->v_top);
	assert_int_equal(s->support, n);
	assert_int_equal(s->confidence, n ? (int)((double)sum / n + 0.5) : 0);
	assert_int_equal(s->kind, want->kind);
	assert_int_equal(s->disparity_q7, want->disparity_q7);
	assert_int_equal(s->slope_q14, want->slope_q14);
	assert_int_equal(s->label, STIXEL_LABEL_NONE);
	assert_int_equal(s->flags & STIXEL_FLAG_CUT, cut ? STIXEL_FLAG_CUT : 0);
	assert_int_equal(stixel_is_filled(s),
			 want->kind <= STIXEL_OBJECT && n < 0.4 * (s->row_bottom - s->row_top + 1));
}

static void test_every_limit(void **state)
{
	struct check_rng r = check_rng_seed(21);
	struct sx_params p = stixel_case_params(H);
	struct rig g;
	int cuts = 0, whole = 0;

	rig_init(&g, &r);
	for (int limit = 1; limit <= H + 1; limit++) {
		uint32_t n;

		p.stixels.max_per_column = limit;
		memset(g.stixels, 0xaa, sizeof(g.stixels));
		n = sx_compact(&g.segments, &g.columns, &g.confidence, &g.road, &p, g.offsets, g.stixels);
		assert_int_equal(g.offsets[0], 0);
		assert_int_equal(g.offsets[COLUMNS], n);
		assert_true(n <= sx_compact_capacity(COLUMNS, H, limit));
		assert_int_equal(g.stixels[n < COLUMNS * H ? n : 0].label == 0xaa, n < COLUMNS * H);
		for (int u = 0; u < COLUMNS; u++) {
			const int all = g.segments.count[u], kept = all < limit ? all : limit;

			assert_int_equal(g.offsets[u + 1] - g.offsets[u], kept);
			for (int i = 0; i < kept; i++) {
				const bool cut = i == kept - 1 && kept < all;

				assert_int_equal(g.stixels[g.offsets[u] + (uint32_t)i].column, u);
				check_stixel(&g, &g.stixels[g.offsets[u] + (uint32_t)i],
					     sx_segments_column(&g.segments, u) + i, cut);
				cuts += cut;
				whole += !cut;
			}
			assert_int_equal(g.stixels[g.offsets[u + 1] - 1].row_top, 0);
		}
	}
	assert_true(cuts > 50 && whole > 1000);
	rig_finish(&g);
}

static void test_flags(void **state)
{
	struct check_rng r = check_rng_seed(22);
	struct sx_params p = stixel_case_params(H);
	struct rig g;

	rig_init(&g, &r);
	sx_compact(&g.segments, &g.columns, NULL, &g.road, &p, g.offsets, g.stixels);
	assert_int_equal(g.stixels[0].flags, 0);
	assert_int_equal(g.stixels[0].confidence, 0);
	g.road.origin = SX_ROAD_PREVIOUS;
	assert_int_equal(sx_compact_flags(&g.road, &p), STIXEL_FLAG_ROAD_FALLBACK);
	g.road.origin = SX_ROAD_FROM_CALIBRATION;
	assert_int_equal(sx_compact_flags(&g.road, &p), STIXEL_FLAG_ROAD_FALLBACK);
	p.road.mode = SX_ROAD_CALIBRATED;
	p.stixels.method = SX_STIXEL_RDP;
	assert_int_equal(sx_compact_flags(&g.road, &p), STIXEL_FLAG_RDP);
	p.stixels.method = SX_STIXEL_SLANTED;
	assert_int_equal(sx_compact_flags(&g.road, &p), STIXEL_FLAG_SLANTED);
	rig_finish(&g);
}

/* Two measured cells of five are enough; one of four is not. Sky and unknown claim no surface. */
static void test_filled(void **state)
{
	static const struct {
		int rows, measured;
		bool filled;
	} cases[] = {{5, 2, false}, {5, 1, true}, {4, 1, true}, {1, 1, false}, {1, 0, true}, {10, 4, false}};
	struct check_rng r = check_rng_seed(24);
	struct sx_params p = stixel_case_params(H);
	struct rig g;

	rig_init(&g, &r);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (uint8_t kind = 0; kind <= STIXEL_UNKNOWN; kind++) {
			uint16_t *d = sx_image_row(&g.columns, 0);

			g.segments.count[0] = 1;
			g.segments.list[0] =
				(struct sx_segment){.v_top = (uint16_t)(cases[i].rows - 1), .kind = kind};
			for (int v = 0; v < cases[i].rows; v++)
				d[v] = v < cases[i].measured ? 160 : SX_DISPARITY_INVALID;
			sx_compact(&g.segments, &g.columns, NULL, &g.road, &p, g.offsets, g.stixels);
			assert_int_equal(g.stixels[0].support, cases[i].measured);
			assert_int_equal(stixel_is_filled(&g.stixels[0]),
					 cases[i].filled && kind <= STIXEL_OBJECT);
		}
	rig_finish(&g);
}

/*
 * Rows of cells become image rows. Image rows without a cell are at the top. Only the slanted methods set
 * labels.
 */
static void test_cells(void **state)
{
	struct check_rng r = check_rng_seed(23);
	struct sx_params p = stixel_case_params(H);
	struct rig g;

	rig_init(&g, &r);
	g.segments.list[0].label = 7;
	sx_compact(&g.segments, &g.columns, NULL, &g.road, &p, g.offsets, g.stixels);
	assert_int_equal(g.stixels[0].label, STIXEL_LABEL_NONE);
	g.segments.cell_height = 9;
	g.segments.image_height = 9 * H + 5;
	for (int exact = 0; exact < 2; exact++) {
		uint32_t n;

		p.stixels.method = exact ? SX_STIXEL_SLANTED_EXACT : SX_STIXEL_SLANTED;
		assert_true(sx_compact_flags(&g.road, &p) & STIXEL_FLAG_SLANTED);
		n = sx_compact(&g.segments, &g.columns, NULL, &g.road, &p, g.offsets, g.stixels);
		assert_int_equal(g.stixels[0].label, 7);
		for (uint32_t i = 0; i < n; i++) {
			const struct stixel *s = &g.stixels[i];
			const struct sx_segment *want =
				sx_segments_column(&g.segments, s->column) + (i - g.offsets[s->column]);

			assert_int_equal(s->row_bottom, 9 * H + 4 - 9 * want->v_bottom);
			assert_int_equal(s->row_top, 9 * H + 4 - 9 * want->v_top - 8);
		}
		assert_int_equal(g.stixels[n - 1].row_top, 5);
	}
	rig_finish(&g);
}

static void test_segment_lists(void **state)
{
	struct sx_segments s = {0};

	assert_int_equal(sx_segments_init(&s, 0, 5), -EINVAL);
	assert_int_equal(sx_segments_init(&s, 5, 70000), -EINVAL);
	assert_null(s.list);
	sx_segments_finish(&s);
	sx_segments_finish(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_limit),   cmocka_unit_test(test_flags),
		cmocka_unit_test(test_filled),	      cmocka_unit_test(test_cells),
		cmocka_unit_test(test_segment_lists),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
