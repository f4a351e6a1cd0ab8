/*
 * Groups the obstacles of a frame into boxes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "include/stixel_convert.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

#define BOXES_GAP_M 0.3f
#define BOXES_COLUMNS 2u

/*
 * Most comparisons of two obstacles for one frame. Frames of cameras need a thousandth of them. Without this
 * limit, a forged frame with all its stixels in one column would block its reader for hours.
 */
#define BOXES_COMPARISONS ((uint64_t)1 << 26)

/* An obstacle: a stixel, with its foot and top in vehicle coordinates. */
struct piece {
	const struct stixel *stixel;
	const struct stixel_point *foot, *top;
	uint32_t parent; /* index of an earlier piece of the same box; its own index: the box's first piece */
};

struct boxes {
	const struct stixel_frame *frame;
	struct stixel_boxes_options o;
	struct stixel_point *points;
	struct piece *pieces;
	uint32_t count;
};

/* Returns the first piece of the box of piece i, and shortens the chain of parents that leads to it. */
static uint32_t boxes_first(struct piece *pieces, uint32_t i)
{
	while (pieces[i].parent != i) {
		pieces[i].parent = pieces[pieces[i].parent].parent;
		i = pieces[i].parent;
	}
	return i;
}

/* Returns whether two pieces in the same column or in neighbouring ones belong together. */
static bool boxes_touch(const struct boxes *b, const struct piece *one, const struct piece *other)
{
	const struct stixel_frame_header *h = b->frame->header;
	const double x = (double)one->foot->x, other_x = (double)other->foot->x;
	const double far = x > other_x ? x : other_x;
	const double step = x > other_x ? x - other_x : other_x - x;
	/* difference of distances for one pixel of disparity at the farther piece, m */
	const double pixel = far * far / (h->fx * h->baseline_m);

	return step <= (double)b->o.gap + pixel;
}

/* Joins the pieces that belong together. Returns 0, or -E2BIG after BOXES_COMPARISONS. */
static int boxes_join(struct boxes *b)
{
	uint64_t left = BOXES_COMPARISONS;
	uint32_t from = 0; /* first piece that is at most one column before */

	for (uint32_t i = 0; i < b->count; i++) {
		while (b->pieces[from].stixel->column + 1u < b->pieces[i].stixel->column)
			from++;
		if (left < i - from)
			return -E2BIG;
		left -= i - from;
		for (uint32_t k = from; k < i; k++) {
			uint32_t a, c;

			if (!boxes_touch(b, &b->pieces[k], &b->pieces[i]))
				continue;
			a = boxes_first(b->pieces, k);
			c = boxes_first(b->pieces, i);
			/* the earlier piece becomes the first piece of the joined box */
			b->pieces[a < c ? c : a].parent = a < c ? a : c;
		}
	}
	return 0;
}

/* Takes the obstacles that reach between both heights. */
static void boxes_take(struct boxes *b, int64_t points)
{
	for (int64_t i = 0; i + 1 < points; i++) {
		const struct stixel_point *foot = &b->points[i], *top = foot + 1;

		if (foot->part != STIXEL_PART_FOOT || top->part != STIXEL_PART_TOP || foot->id != top->id)
			continue;
		if (!(top->z > b->o.height_min && foot->z < b->o.height_max) || !(foot->x > 0.0f))
			continue;
		sx_must_or(return, b->count, <, b->frame->header->stixel_count);
		b->pieces[b->count] = (struct piece){&b->frame->stixels[foot->id], foot, top, b->count};
		b->count++;
	}
}

static void boxes_widen(float *low, float *high, float value)
{
	if (value < *low)
		*low = value;
	if (value > *high)
		*high = value;
}

/* Extends a box by a piece. */
static void boxes_add(const struct boxes *b, struct stixel_box *box, const struct piece *p)
{
	const struct stixel_frame_header *h = b->frame->header;
	/* half of the column's width at this distance */
	const float half = (float)(0.5 * h->column_width * stixel_depth_m(h, p->stixel) / h->fx);

	boxes_widen(&box->x_min, &box->x_max, p->foot->x);
	boxes_widen(&box->y_min, &box->y_max, p->foot->y - half);
	boxes_widen(&box->y_min, &box->y_max, p->foot->y + half);
	boxes_widen(&box->z_min, &box->z_max, p->foot->z);
	boxes_widen(&box->z_min, &box->z_max, p->top->z);
	if (p->stixel->column > box->column_last)
		box->column_last = p->stixel->column;
	if (p->stixel->row_top < box->row_top)
		box->row_top = p->stixel->row_top;
	if (p->stixel->row_bottom > box->row_bottom)
		box->row_bottom = p->stixel->row_bottom;
	box->stixels++;
}

static int boxes_order(const void *one, const void *other)
{
	const struct stixel_box *a = one, *b = other;

	if (a->x_min != b->x_min)
		return a->x_min < b->x_min ? -1 : 1;
	return a->column_first < b->column_first ? -1 : a->column_first > b->column_first;
}

/* Makes the boxes, the nearest first. Returns their number or -ENOMEM. */
static int64_t boxes_make(struct boxes *b, struct stixel_box *to, uint64_t room)
{
	struct stixel_box *all = calloc(b->count + (size_t)1, sizeof(*all));
	uint64_t kept = 0;

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct piece *p = &b->pieces[i];
		const uint32_t first = boxes_first(b->pieces, i);

		if (first == i)
			all[i] = (struct stixel_box){p->foot->x,
						     p->foot->x,
						     p->foot->y,
						     p->foot->y,
						     p->foot->z,
						     p->top->z,
						     p->stixel->column,
						     p->stixel->column,
						     p->stixel->row_top,
						     p->stixel->row_bottom,
						     0,
						     0};
		boxes_add(b, &all[first], p);
	}
	for (uint32_t i = 0; i < b->count; i++)
		if (all[i].stixels && all[i].column_last - all[i].column_first + 1 >= b->o.columns)
			all[kept++] = all[i];
	qsort(all, kept, sizeof(*all), boxes_order);
	memcpy(to, all, (kept < room ? kept : room) * sizeof(*all));
	free(all);
	return (int64_t)kept;
}

int stixel_boxes_defaults(const struct stixel_frame *frame, struct stixel_boxes_options *options,
			  size_t bytes)
{
	struct stixel_boxes_options o = {.gap = BOXES_GAP_M, .columns = BOXES_COLUMNS};
	struct stixel_free_options vehicle;

	if (!frame || !options || stixel_free_defaults(frame, &vehicle, sizeof(vehicle)) < 0)
		return -EINVAL;
	o.height_min = vehicle.height_min;
	o.height_max = vehicle.height_max;
	memset(options, 0, bytes);
	memcpy(options, &o, bytes < sizeof(o) ? bytes : sizeof(o));
	return 0;
}

int64_t stixel_boxes(const struct stixel_frame *frame, const struct stixel_boxes_options *options,
		     size_t bytes, struct stixel_box *boxes, uint64_t room)
{
	const struct stixel_points_options vehicle = {.of = STIXEL_POINTS_OF_OBSTACLES,
						      .coordinates = STIXEL_COORDINATES_VEHICLE};
	struct boxes b = {.frame = frame};
	struct stixel_box none[1];
	int64_t n;

	if (!frame || (room > 0 && !boxes) || stixel_boxes_defaults(frame, &b.o, sizeof(b.o)) < 0)
		return -EINVAL;
	if (options)
		memcpy(&b.o, options, bytes < sizeof(b.o) ? bytes : sizeof(b.o));
	if (!(b.o.gap >= 0.0f) || !(b.o.height_max >= b.o.height_min))
		return -EINVAL;
	b.points = malloc((2 * (size_t)frame->header->stixel_count + 1) * sizeof(*b.points));
	b.pieces = malloc((frame->header->stixel_count + (size_t)1) * sizeof(*b.pieces));
	n = b.points && b.pieces ? stixel_points(frame, &vehicle, sizeof(vehicle), b.points,
						 2 * (uint64_t)frame->header->stixel_count)
				 : -ENOMEM;
	if (n > 2 * (int64_t)frame->header->stixel_count)
		n = 2 * (int64_t)frame->header->stixel_count;
	if (n >= 0) {
		boxes_take(&b, n);
		n = boxes_join(&b);
		if (n == 0)
			n = boxes_make(&b, boxes ? boxes : none, room);
	}
	free(b.points);
	free(b.pieces);
	return n;
}
