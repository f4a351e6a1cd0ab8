/*
 * Evidence of cells besides their disparity: sky from the top down, holes filled from the left, saturated
 * cells as holes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stages/stixels/cells.h"
#include "stages/stixels/evidence.h"
#include "stages/stixels/sky.h"
#include "tests/check.h"

/* W x H px per cell; EXTRA rows above the last whole cell */
enum { W = 4, H = 3, COLUMNS = 12, ROWS = 10, EXTRA = 2 };
enum { INVALID = SX_DISPARITY_INVALID };

/*
 * Dark image in which every cell has disparity 160 and confidence 77. Holes are filled across two columns at
 * most. The road is unknown.
 */
struct rig {
	struct sx_params p;
	struct sx_road road;
	uint8_t grey[ROWS * H + EXTRA][COLUMNS * W];
	uint16_t d[COLUMNS][ROWS], cells[COLUMNS][ROWS];
	uint8_t c[COLUMNS][ROWS], cells_c[COLUMNS][ROWS];
};

static struct rig rig_of(void)
{
	struct rig g = {.p.stixels = {.method = SX_STIXEL_SLANTED, .width = W, .cell_height = H}};

	g.p.stixels.sky_grey = 200;
	g.p.stixels.saturated = 256;
	g.p.stixels.slanted.fill_px = 2 * W;
	memset(g.grey, 20, sizeof(g.grey));
	memset(g.c, 77, sizeof(g.c));
	for (int u = 0; u < COLUMNS; u++)
		for (int v = 0; v < ROWS; v++)
			g.d[u][v] = 160;
	return g;
}

static void run(struct rig *g)
{
	const struct sx_image left = {g->grey, COLUMNS * W, ROWS * H + EXTRA, COLUMNS * W, SX_PIXEL_U8};
	const struct sx_image d = {g->d, ROWS, COLUMNS, sizeof(*g->d), SX_PIXEL_U16};
	const struct sx_image c = {g->c, ROWS, COLUMNS, sizeof(*g->c), SX_PIXEL_U8};
	struct sx_image cells = {g->cells, ROWS, COLUMNS, sizeof(*g->cells), SX_PIXEL_U16};
	struct sx_image cells_c = {g->cells_c, ROWS, COLUMNS, sizeof(*g->cells_c), SX_PIXEL_U8};

	memset(g->cells, 0xaa, sizeof(g->cells));
	memset(g->cells_c, 0xaa, sizeof(g->cells_c));
	sx_evidence(&left, &d, &c, &g->p, &g->road, &cells, &cells_c);
}

static uint8_t *pixel(struct rig *g, int u, int v, int x, int y)
{
	return &g->grey[EXTRA + (ROWS - 1 - v) * H + y][u * W + x];
}

static void paint(struct rig *g, int u, int v, int grey)
{
	for (int y = 0; y < H; y++)
		memset(pixel(g, u, v, 0, y), grey, W);
}

/* Returns the rows of column u that are sky, as bits. Checks that all other cells are unchanged. */
static unsigned sky_of(struct rig *g, int u)
{
	unsigned sky = 0;

	run(g);
	for (int v = 0; v < ROWS; v++) {
		if (g->cells[u][v] == 0 && g->cells_c[u][v] == SX_SKY_CONFIDENCE) {
			sky |= 1u << v;
			continue;
		}
		assert_int_equal(g->cells[u][v], g->d[u][v]);
		assert_int_equal(g->cells_c[u][v], g->c[u][v]);
	}
	return sky;
}

static void check_filled(const struct rig *g, int u, int v, int d)
{
	assert_int_equal(g->cells[u][v], d);
	assert_int_equal(g->cells_c[u][v], d == INVALID ? 77 : SX_FILL_CONFIDENCE);
}

static void nothing_is_said_of_what_was_measured(void **state)
{
	struct rig g = rig_of();

	for (int u = 0; u < COLUMNS; u++)
		assert_int_equal(sky_of(&g, u), 0);
}

static void sky_reaches_the_upper_edge(void **state)
{
	struct rig g = rig_of();

	for (int v = 0; v < 7; v++) /* a bright wall */
		paint(&g, 3, v, 230);
	assert_int_equal(sky_of(&g, 3), 0);
	for (int v = 6; v < ROWS; v++)
		paint(&g, 5, v, 230);
	assert_int_equal(sky_of(&g, 5), 0x3c0);
	for (int v = 0; v < ROWS; v++)
		paint(&g, 7, v, 230);
	assert_int_equal(sky_of(&g, 7), 0x3ff);
	assert_int_equal(sky_of(&g, 6), 0);
}

/*
 * A wire across the sky, also at the upper edge, does not end the sky. Two cells of it end the sky, and no
 * sky begins again below.
 */
static void one_cell_does_not_end_sky(void **state)
{
	struct rig g = rig_of();

	for (int v = 2; v < ROWS; v++)
		paint(&g, 0, v, 230);
	paint(&g, 0, 9, 100);
	paint(&g, 0, 7, 100);
	paint(&g, 0, 5, 100);
	assert_int_equal(sky_of(&g, 0), 0x15c);
	paint(&g, 0, 6, 100);
	assert_int_equal(sky_of(&g, 0), 0x100);
	paint(&g, 0, 8, 100);
	assert_int_equal(sky_of(&g, 0), 0);
}

/*
 * Picture from the top, where . is a blank cell: a wire that is two cells thick and hangs to the right, with
 * a pole under its left half. The area under the wire is sky if it is joined to the sky to the right or left
 * of a wire's end.
 */
static void sky_goes_on_behind_wires(void **state)
{
	static const char *const image[ROWS] = {
		"............", /* 9 */
		"######......", /* 8 */
		"########....", /* 7 */
		"..#...##....", /* 6 */
		"..#.........", /* 5 */
		"..#.........", /* 4 */
		"..##########", /* 3 */
		"..##########", /* 2 */
		"..#.........", /* 1 */
		"############", /* 0 */
	};
	struct rig g = rig_of();

	for (int u = 0; u < COLUMNS; u++)
		for (int v = 0; v < ROWS; v++)
			if (image[ROWS - 1 - v][u] == '.')
				paint(&g, u, v, 230);
	for (int u = 0; u < COLUMNS; u++)
		assert_int_equal(sky_of(&g, u), u < 3 ? 0x200 : u < 6 ? 0x230 : u < 8 ? 0x330 : 0x3f0);
	/* a second round goes past the end of the pole */
	paint(&g, 2, 4, 230);
	for (int u = 0; u < 3; u++)
		assert_int_equal(sky_of(&g, u), u < 2 ? 0x21e : 0x210);
	/* sky that begins left of a wire */
	paint(&g, 2, 4, 20);
	paint(&g, 0, 8, 230);
	for (int u = 0; u < 3; u++)
		assert_int_equal(sky_of(&g, u), u == 0 ? 0x37e : u == 1 ? 0x37e & ~0x100 & ~0x80 : 0x200);
}

/* Rooms on top of each other, with doors at alternate ends. */
static void sky_turns_twice(void **state)
{
	struct rig g = rig_of();

	for (int u = 0; u < COLUMNS; u++)
		for (int v = 0; v < ROWS; v += 3)
			paint(&g, u, v, 230);
	for (int v = 1; v < ROWS; v += 3) {
		const int door = v % 6 == 1 ? 0 : COLUMNS - 1;

		paint(&g, door, v, 230), paint(&g, door, v + 1, 230);
	}
	/*
	 * sky goes down to the second room, along it and down, along the third and down, but not along the
	 * fourth
	 */
	for (int u = 0; u < COLUMNS; u++)
		assert_int_equal(sky_of(&g, u), u == 0 ? 0x3cf : u == COLUMNS - 1 ? 0x278 : 0x248);
}

/*
 * The camera stands 2 m above the road. In row v the road has a disparity of -12 v / 16 px. A match at
 * disparity d is 2 m (1 + 12 v / (16 d)) above the road: at least 4 m, as sky must be, if d <= 12 v / 16 px.
 */
static void low_walls_are_no_sky(void **state)
{
	struct rig g = rig_of();

	g.p.camera = (struct sx_camera){.fx = 700, .fy = 350, .baseline_m = 0.25};
	g.road = (struct sx_road){.slope = 0.25, .offset = -0.25 * (ROWS * H + EXTRA - 1), .axis = 21.5};
	for (int v = 0; v < ROWS; v++)
		paint(&g, 5, v, 230);
	assert_int_equal(sky_of(&g, 5), 0);
	g.d[5][9] = 12 * 9, g.d[5][8] = 12 * 8 + 1, g.d[5][7] = 12 * 7, g.d[5][0] = 0;
	assert_int_equal(sky_of(&g, 5), 0x281);
	g.road.cross = 1.0 / 16 / W; /* a sixteenth of a pixel more ground in the next column */
	paint(&g, 6, 9, 230);
	g.d[6][9] = 12 * 9;
	assert_int_equal(sky_of(&g, 5), 0x281);
	assert_int_equal(sky_of(&g, 6), 0);
	g.d[6][9] = 12 * 9 - 1;
	assert_int_equal(sky_of(&g, 6), 0x200);
	/* an unfilled hole counts as 8 px, any other hole as the cell that it was filled from */
	g.p.stixels.slanted.fill_px = 0;
	g.d[5][9] = INVALID;
	assert_int_equal(sky_of(&g, 5), 0x081);
	g.road.offset -= 20.0 / 16;
	assert_int_equal(sky_of(&g, 5), 0x381);
	g.p.stixels.slanted.fill_px = W;
	g.d[4][9] = 12 * 9 + 20, g.d[6][9] = 400;
	assert_int_equal(sky_of(&g, 5), 0x381);
	g.d[4][9] = 12 * 9 + 21, g.d[6][9] = 0;
	run(&g);
	check_filled(&g, 5, 9, 12 * 9 + 21);
	/* without camera and road, sky is decided by appearance alone */
	g.road.offset = 0;
	g.p.camera = (struct sx_camera){0};
	g.road.slope = 0, g.road.cross = 0;
	g.d[5][9] = 400;
	assert_int_equal(sky_of(&g, 5), 0x3ff);
}

static void blank_is_bright_and_even(void **state)
{
	struct rig g = rig_of();

	for (int x = 0; x < W; x++)
		for (int y = 0; y < H; y++) {
			paint(&g, 4, 9, 200);
			assert_int_equal(sky_of(&g, 4), 0x200);
			*pixel(&g, 4, 9, x, y) = 199;
			assert_int_equal(sky_of(&g, 4), 0);
			*pixel(&g, 4, 9, x, y) = 200 + SX_BLANK_RANGE;
			assert_int_equal(sky_of(&g, 4), 0x200);
			*pixel(&g, 4, 9, x, y) = 200 + SX_BLANK_RANGE + 1;
			assert_int_equal(sky_of(&g, 4), 0);
		}
	/* image rows without a cell do not count, and neighbour columns do not either */
	paint(&g, 4, 9, 255);
	assert_int_equal(sky_of(&g, 4), 0x200);
	g.p.stixels.sky_grey = 255;
	assert_int_equal(sky_of(&g, 4), 0x200);
	g.p.stixels.sky_grey = 256;
	assert_int_equal(sky_of(&g, 4), 0);
}

static void holes_take_the_left_side(void **state)
{
	struct rig g = rig_of();

	g.d[5][1] = g.d[5][2] = g.d[5][3] = INVALID;
	g.d[4][1] = 320, g.d[6][1] = 480;
	g.d[4][2] = 320, g.d[6][2] = 48;
	g.d[4][3] = 0;
	run(&g);
	check_filled(&g, 5, 1, 320);
	check_filled(&g, 5, 2, 320);
	check_filled(&g, 5, 3, 0);
	assert_int_equal(g.cells[4][1], 320);
	assert_int_equal(g.cells_c[4][1], 77);
}

/* Two columns are filled. A filled cell is not a source for further cells. */
static void holes_are_filled_from_near_by(void **state)
{
	struct rig g = rig_of();

	for (int u = 3; u < 8; u++)
		g.d[u][4] = INVALID;
	g.d[2][4] = 100, g.d[8][4] = 60;
	run(&g);
	check_filled(&g, 3, 4, 100);
	check_filled(&g, 4, 4, 100);
	check_filled(&g, 5, 4, INVALID);
	check_filled(&g, 6, 4, INVALID);
	check_filled(&g, 7, 4, INVALID);
	g.p.stixels.slanted.fill_px = 3 * W - 1; /* whole columns */
	run(&g);
	check_filled(&g, 5, 4, INVALID);
	g.p.stixels.slanted.fill_px = 3 * W;
	run(&g);
	check_filled(&g, 3, 4, 100);
	check_filled(&g, 5, 4, 100);
	check_filled(&g, 6, 4, INVALID);
	g.p.stixels.slanted.fill_px = 512; /* more columns than there are */
	run(&g);
	check_filled(&g, 3, 4, 100);
	check_filled(&g, 7, 4, 100);
}

static void borders_of_the_image(void **state)
{
	struct rig g = rig_of();

	g.d[0][4] = g.d[1][4] = INVALID;
	g.d[COLUMNS - 1][4] = g.d[COLUMNS - 2][4] = INVALID;
	run(&g);
	check_filled(&g, 0, 4, INVALID);
	check_filled(&g, 1, 4, INVALID);
	check_filled(&g, COLUMNS - 2, 4, 160);
	check_filled(&g, COLUMNS - 1, 4, 160);
}

/* If confidence has no effect, a guess would weigh as much as a measurement, so filling is off. */
static void filling_is_switched_off(void **state)
{
	struct rig g = rig_of();

	g.d[5][5] = INVALID;
	g.p.stixels.slanted.confidence = SX_WEIGHT_LINEAR;
	run(&g);
	check_filled(&g, 5, 5, 160);
	g.p.stixels.slanted.confidence = SX_WEIGHT_EQUAL;
	run(&g);
	check_filled(&g, 5, 5, INVALID);
	g.p.stixels.slanted.confidence = SX_WEIGHT_SQUARED;
	g.p.stixels.slanted.fill_px = W - 1;
	run(&g);
	check_filled(&g, 5, 5, INVALID);
	g.p.stixels.slanted.fill_px = 2 * W;
	for (int method = 0; method < 2; method++) { /* methods that have no confidence */
		g.p.stixels.method = method ? SX_STIXEL_RDP : SX_STIXEL_DP;
		run(&g);
		check_filled(&g, 5, 5, INVALID);
	}
}

/* Holes in the sky become sky. Sky is no source for filling, but a match in the sky is. */
static void sky_before_filling(void **state)
{
	struct rig g = rig_of();

	paint(&g, 5, 9, 230);
	g.d[5][9] = INVALID;
	assert_int_equal(sky_of(&g, 5), 0x200);
	g.d[5][9] = 90;
	g.d[6][9] = INVALID;
	run(&g);
	check_filled(&g, 6, 9, 90);
	assert_int_equal(g.cells[5][9], 0);
}

/* Saturated cells: a white road, also an unmatched one; a white van; white sky. */
static void saturated_cells_are_holes(void **state)
{
	struct rig g = rig_of();

	g.p.stixels.saturated = 250;
	paint(&g, 3, 2, 250);
	paint(&g, 4, 4, 255);
	paint(&g, 5, 5, 255); /* only the upper half */
	paint(&g, 6, 3, 255);
	*pixel(&g, 6, 3, W - 1, H - 1) = 249;
	g.d[4][2] = g.d[2][4] = g.d[6][2] = INVALID;
	g.d[3][2] = 90, g.d[1][4] = 95;
	run(&g);
	assert_int_equal(g.cells[3][2], INVALID);
	assert_int_equal(g.cells_c[3][2], 0);
	assert_int_equal(g.cells[4][4], INVALID);
	assert_int_equal(g.cells_c[4][4], 0);
	assert_int_equal(g.cells[5][5], 160);
	assert_int_equal(g.cells[6][3], 160);
	assert_int_equal(g.cells_c[6][3], 77);
	check_filled(&g, 4, 2, 90); /* filled from measured cells */
	check_filled(&g, 2, 4, 95);
	g.d[3][2] = INVALID; /* a column without holes to fill */
	run(&g);
	assert_int_equal(g.cells[3][2], INVALID);
	for (int v = 0; v < ROWS; v++)
		paint(&g, 3, v, 255);
	run(&g);
	for (int v = 0; v < ROWS; v++)
		assert_int_equal(g.cells[3][v], 0);
	g.p.stixels.saturated = 256;
	paint(&g, 3, 9, 20), paint(&g, 3, 8, 20);
	g.d[3][2] = 90;
	run(&g);
	assert_int_equal(g.cells[3][2], 90);
	assert_int_equal(g.cells[3][0], 160);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_said_of_what_was_measured),
		cmocka_unit_test(sky_reaches_the_upper_edge),
		cmocka_unit_test(one_cell_does_not_end_sky),
		cmocka_unit_test(sky_goes_on_behind_wires),
		cmocka_unit_test(sky_turns_twice),
		cmocka_unit_test(low_walls_are_no_sky),
		cmocka_unit_test(blank_is_bright_and_even),
		cmocka_unit_test(holes_take_the_left_side),
		cmocka_unit_test(holes_are_filled_from_near_by),
		cmocka_unit_test(borders_of_the_image),
		cmocka_unit_test(filling_is_switched_off),
		cmocka_unit_test(sky_before_filling),
		cmocka_unit_test(saturated_cells_are_holes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
