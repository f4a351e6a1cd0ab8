/*
 * Corners, see corners.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/corners.h"

#include "stages/motion/view.h"
#include "stixel.h"

#define WINDOW 2 /* px: the structure tensor sums over 5x5 */

void sx_motion_owners(const struct stixel *stixels, uint32_t count, int width, const struct sx_image *owner)
{
	for (int y = 0; y < owner->height; y++) {
		uint32_t *row = sx_image_row(owner, y);

		for (int x = 0; x < owner->width; x++)
			row[x] = SX_MOTION_NO_OWNER;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct stixel *s = &stixels[i];

		if (s->kind != STIXEL_OBJECT || s->disparity_q7 == STIXEL_DISPARITY_UNKNOWN)
			continue;
		for (int y = s->row_top; y <= s->row_bottom && y < owner->height; y++) {
			uint32_t *row = sx_image_row(owner, y);

			for (int x = s->column * width; x < (s->column + 1) * width && x < owner->width; x++)
				row[x] = i;
		}
	}
}

static uint32_t score_at(const struct sx_image *grey, int x, int y)
{
	int64_t xx = 0, yy = 0, xy = 0;

	for (int j = -WINDOW; j <= WINDOW; j++) {
		const uint8_t *above = sx_image_row(grey, y + j - 1), *row = sx_image_row(grey, y + j);
		const uint8_t *below = sx_image_row(grey, y + j + 1);

		for (int i = x - WINDOW; i <= x + WINDOW; i++) {
			const int gx = row[i + 1] - row[i - 1], gy = below[i] - above[i];

			xx += gx * gx;
			yy += gy * gy;
			xy += gx * gy;
		}
	}
	return sx_motion_score_of(xx, yy, xy);
}

static void find_best(const struct sx_motion_view *view, const struct sx_motion_cells *cells, int cell,
		      struct sx_motion_feature *best)
{
	const int left = cell % cells->columns * cells->size, top = cell / cells->columns * cells->size;

	*best = (struct sx_motion_feature){.score = 0};
	for (int y = top; y < top + cells->size; y++)
		for (int x = left; x < left + cells->size; x++) {
			uint32_t score;
			int32_t d;

			if (x < SX_MOTION_MARGIN || y < SX_MOTION_MARGIN ||
			    x >= view->grey.width - SX_MOTION_MARGIN ||
			    y >= view->grey.height - SX_MOTION_MARGIN)
				continue;
			d = sx_motion_disparity_q8(&view->disparity, x, y);
			if (d < SX_MOTION_LEAST_Q8)
				continue;
			score = score_at(&view->grey, x, y);
			if (score >= SX_MOTION_SCORE_LEAST && score > best->score)
				*best = (struct sx_motion_feature){
					.x = x, .y = y, .disparity_q8 = d, .score = score};
		}
}

void sx_motion_corners(const struct sx_motion_view *view, const struct sx_image *owner,
		       const struct sx_road *road, const struct sx_camera *camera,
		       struct sx_motion_feature *features)
{
	const struct sx_motion_cells cells = sx_motion_cells(view->grey.width, view->grey.height);

	for (int i = 0; i < cells.columns * cells.rows; i++)
		find_best(view, &cells, i, &features[i]);
	sx_motion_kinds(owner, road, camera, features, cells.columns * cells.rows);
}

void sx_motion_kinds(const struct sx_image *owner, const struct sx_road *road, const struct sx_camera *camera,
		     struct sx_motion_feature *features, int count)
{
	const int32_t near_q4 = sx_motion_road_near_q4(road, camera);

	for (int i = 0; i < count; i++) {
		struct sx_motion_feature *f = &features[i];

		if (f->score)
			sx_motion_set_kind(((const uint32_t *)sx_image_row(owner, f->y))[f->x], road, near_q4,
					   f);
	}
}
