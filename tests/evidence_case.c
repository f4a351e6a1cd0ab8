/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/evidence_case.h"

#include <stdio.h>
#include <stdlib.h>

#include "stages/road/road_ground.h"
#include "stages/stixels/cells.h"
#include "stages/stixels/evidence.h"

static void case_image(struct sx_image *img, enum sx_pixel pixel, int width, int height)
{
	if (sx_image_init(img, pixel, width, height) < 0)
		abort();
}

/*
 * Fills cells with one grey level each. One cell in `uneven` also has a pixel that differs by about the
 * allowed limit. A higher `uneven` makes more cells even.
 */
static void fill_left(const struct evidence_case *t, int uneven, struct check_rng *r)
{
	const int w = t->p.stixels.width, h = sx_cell_height(&t->p.stixels), rows = t->columns.width;

	check_fill(&t->left, CHECK_NOISE, r);
	for (int u = 0; u < t->columns.height; u++) {
		const int bright = check_below(r, 4) ? 230 : 200 + check_below(r, 50);

		for (int v = 0; v < rows; v++) {
			const int y0 = t->left.height - (v + 1) * h, at = check_below(r, w * h);

			if (check_below(r, rows + 1) > v + rows / 4)
				continue;
			for (int y = y0; y < y0 + h; y++)
				for (int x = 0; x < w; x++)
					((uint8_t *)sx_image_row(&t->left, y))[u * w + x] = (uint8_t)bright;
			if (check_below(r, uneven) == 0)
				((uint8_t *)sx_image_row(&t->left, y0 + at / w))[u * w + at % w] =
					(uint8_t)(bright + check_below(r, 23) - 11);
		}
	}
}

/*
 * Draws a road whose horizon lies anywhere in the image or near it. One case in eight has no camera, one in
 * eight no road.
 */
static void road_of(struct evidence_case *t, int i, struct check_rng *r)
{
	if (i % 8 == 6)
		return;
	t->road.slope = 0.001 * (1 + check_below(r, 600));
	t->road.offset = -t->road.slope * check_below(r, t->left.height + 20);
	t->road.cross = 0.0005 * (check_below(r, 101) - 50);
	t->road.axis = 0.5 * t->left.width;
	if (i % 8 == 5)
		t->road.bend = 0.0005 * check_below(r, 100),
		t->road.bend_row = check_below(r, t->left.height);
	if (i % 8 != 7)
		t->p.camera = (struct sx_camera){
			.fx = 700, .fy = 690, .baseline_m = 0.1 + 0.05 * check_below(r, 20)};
}

/* Gives one cell in four a disparity near the road's, some of them a little more than the reach accepts. */
static void fill_road(struct evidence_case *t, struct check_rng *r)
{
	const int rows = sx_cell_height(&t->p.stixels);

	for (int u = 0; u < t->columns.height; u++) {
		const int32_t shift = sx_road_shift_q4(t->road.cross, t->road.axis, u, t->p.stixels.width);
		uint16_t *d = sx_image_row(&t->columns, u);

		for (int v = 0; v < t->columns.width; v++) {
			const int y = t->left.height - 1 - (v * rows + rows / 2);
			const int32_t q4 =
				sx_road_row_ground_q4(&t->road, y) + shift + check_below(r, 81) - 40;

			if (check_below(r, 4) == 0 && q4 >= 0 && q4 < 2048)
				d[v] = (uint16_t)q4;
		}
	}
}

/* Image of columns x rows cells, each cell w x h px. */
struct shape {
	int w, h, columns, rows;
};

static struct shape shape_of(int i, struct check_rng *r)
{
	/* twice as many bits as a block of a GPU has in shared memory by default */
	struct shape s = {1, 1, 4096, 48};

	if (i == EVIDENCE_CASES - 1)
		return s;
	s.w = i < 64 ? 1 + i % 32 : 1 + check_below(r, 9);
	s.h = i < 64 ? 1 + (i * 13 + i / 32) % 32 : 1 + check_below(r, 9);
	s.columns = 1 + check_below(r, i % 3 ? 20 : 90);
	s.rows = 1 + check_below(r, i % 4 ? 12 : 140);
	if (i % 20 == 19)
		s.rows = 2160 / s.h;
	if (i % 40 == 33)
		s.columns = 4096 / s.w, s.rows = 60 + check_below(r, 60);
	return s;
}

void evidence_case_init(struct evidence_case *t, int i, struct check_rng *r)
{
	static const int reaches[] = {0, 1, 7, 40, 128, 512};
	const struct shape s = shape_of(i, r);
	const int w = s.w, h = s.h, columns = s.columns, rows = s.rows;

	*t = (struct evidence_case){
		.p.stixels = {.method = h == 1 && i % 2 ? SX_STIXEL_DP : SX_STIXEL_SLANTED,
			      .width = w,
			      .cell_height = h}};
	t->p.stixels.sky_grey = i % 5 == 4 ? check_below(r, 257) : 215;
	t->p.stixels.saturated = i % 3 == 2 ? check_below(r, 257) : 212;
	t->p.stixels.slanted.fill_px = reaches[check_below(r, 6)];
	t->p.stixels.slanted.confidence = (enum sx_confidence_weight)(i % 7 % 3);
	case_image(&t->left, SX_PIXEL_U8, columns * w + check_below(r, w), rows * h + check_below(r, h));
	case_image(&t->columns, SX_PIXEL_U16, rows, columns);
	case_image(&t->confidence, SX_PIXEL_U8, rows, columns);
	case_image(&t->want, SX_PIXEL_U16, rows, columns);
	case_image(&t->want_c, SX_PIXEL_U8, rows, columns);
	fill_left(t, i % 4 == 1 ? 300 : 6, r);
	check_fill_disparity(&t->columns, 128, i % 4 == 3 ? 97 : check_below(r, 60), r);
	check_fill(&t->confidence, CHECK_NOISE, r);
	road_of(t, i, r);
	fill_road(t, r);
	sx_evidence(&t->left, &t->columns, &t->confidence, &t->p, &t->road, &t->want, &t->want_c);
	snprintf(t->what, sizeof(t->what), "case %d, %d columns of %d cells of %dx%d, filled up to %d px", i,
		 columns, rows, w, h, t->p.stixels.slanted.fill_px);
}

void evidence_case_finish(struct evidence_case *t)
{
	sx_image_finish(&t->left);
	sx_image_finish(&t->columns);
	sx_image_finish(&t->confidence);
	sx_image_finish(&t->want);
	sx_image_finish(&t->want_c);
}
