/*
 * Stixels in space, for a 3-D viewer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/messages/scene.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "recording/messages/obstacles.h"

#define THICKNESS_M 0.05

bool sx_scene_has_camera(const struct stixel_frame_header *h)
{
	return h->fx > 0.0 && h->fy > 0.0 && h->baseline_m > 0.0;
}

static int reserve(struct sx_scene *s, size_t count)
{
	void *boxes, *quads;

	s->box_count = s->quad_count = 0;
	if (count <= s->room)
		return 0;
	boxes = realloc(s->boxes, count * sizeof(*s->boxes));
	if (boxes)
		s->boxes = boxes;
	quads = realloc(s->quads, count * sizeof(*s->quads));
	if (quads)
		s->quads = quads;
	if (!boxes || !quads)
		return -ENOMEM;
	s->room = count;
	return 0;
}

struct sx_scene_point sx_scene_place(const struct stixel_frame_header *h, double column, double row,
				     double disparity_px)
{
	double z = h->fx * h->baseline_m / disparity_px;

	return (struct sx_scene_point){(column - h->cx) * z / h->fx, (row - h->cy) * z / h->fy, z};
}

struct edges {
	double left, right, top, bottom; /* px, borders of the outermost pixels */
};

static struct edges edges_of(const struct stixel_frame_header *h, const struct stixel *s)
{
	double left = (double)s->column * h->column_width, right = left + h->column_width;

	if (right > h->image_width)
		right = h->image_width;
	return (struct edges){left - 0.5, right - 0.5, s->row_top - 0.5, s->row_bottom + 0.5};
}

static void add_box(struct sx_scene *scene, const struct stixel_frame_header *h, const struct stixel *s,
		    const struct sx_palette_range *range)
{
	double d = stixel_disparity_px(s);
	struct edges e = edges_of(h, s);
	struct sx_scene_point a = sx_scene_place(h, e.left, e.top, d),
			      b = sx_scene_place(h, e.right, e.bottom, d);

	scene->boxes[scene->box_count++] = (struct sx_scene_box){
		.centre = {(a.x + b.x) / 2.0, (a.y + b.y) / 2.0, a.z},
		.size = {b.x - a.x, b.y - a.y, THICKNESS_M},
		.colour = sx_palette_distance(range, d),
	};
}

/* Adds a piece whose disparity changes from row to row. Cuts off the part beyond SX_SCENE_FAR_M. */
static void add_quad(struct sx_scene *scene, const struct stixel_frame_header *h, const struct stixel *s)
{
	double slope = s->slope_q14 / 16384.0, d = stixel_disparity_px(s);
	double least = h->fx * h->baseline_m / SX_SCENE_FAR_M;
	struct edges e = edges_of(h, s);
	double bottom = d - 0.5 * slope, top = d + slope * (s->row_bottom - e.top);

	if (bottom <= least)
		return;
	if (top < least) {
		e.top = e.bottom - (bottom - least) / -slope;
		top = least;
	}
	scene->quads[scene->quad_count++] = (struct sx_scene_quad){{
		sx_scene_place(h, e.left, e.bottom, bottom),
		sx_scene_place(h, e.right, e.bottom, bottom),
		sx_scene_place(h, e.right, e.top, top),
		sx_scene_place(h, e.left, e.top, top),
	}};
}

/* Returns the distance between points, rows. */
static int step_of(const struct stixel_frame_header *h)
{
	return 2 * (h->column_width == 0	   ? 1
		    : h->column_width > UINT16_MAX ? UINT16_MAX
						   : (int)h->column_width);
}

/* Adds points along the middle of a stixel, spaced by two column widths; on the ground, by four. */
static void add_dots(struct sx_scene *scene, const struct stixel_frame_header *h, const struct stixel *s,
		     const struct sx_palette_range *range)
{
	double d = stixel_disparity_px(s), slope = s->slope_q14 / 16384.0;
	int step = step_of(h) * (s->kind == STIXEL_GROUND ? 2 : 1);
	struct edges e = edges_of(h, s);

	for (int row = s->row_bottom; row >= s->row_top; row -= step) {
		double here = d + slope * (s->row_bottom - row);
		struct sx_rgb c = s->kind == STIXEL_GROUND ? sx_palette_class(STIXEL_GROUND)
							   : sx_palette_distance(range, here);
		struct sx_scene_point p;

		if (here * SX_SCENE_FAR_M < h->fx * h->baseline_m)
			return;
		p = sx_scene_place(h, (e.left + e.right) / 2.0, row, here);
		scene->dots[scene->dot_count++] =
			(struct sx_scene_dot){(float)p.x, (float)p.y, (float)p.z, c.r, c.g, c.b, 255};
	}
}

/* Reserves memory for every point of every stixel. Stixels do not overlap, but a frame may be wrong. */
static int reserve_dots(struct sx_scene *scene, const struct stixel_frame *frame)
{
	size_t step = (size_t)step_of(frame->header), count = 0;
	void *dots;

	scene->dot_count = 0;
	for (uint32_t i = 0; i < frame->header->stixel_count; i++)
		count += (size_t)(frame->stixels[i].row_bottom - frame->stixels[i].row_top) / step + 1;
	if (count <= scene->dot_room)
		return 0;
	dots = realloc(scene->dots, count * sizeof(*scene->dots));
	if (!dots)
		return -ENOMEM;
	scene->dots = dots;
	scene->dot_room = count;
	return 0;
}

/* Returns whether the stixel is drawn: an obstacle, or visible ground. */
static bool has_place(const struct stixel_frame_header *h, const struct stixel *s, bool stands)
{
	if (stixel_disparity_px(s) <= 0.0 || stixel_depth_m(h, s) > SX_SCENE_FAR_M)
		return false;
	return s->kind == STIXEL_OBJECT ? stands
					: s->kind == STIXEL_GROUND && !(h->flags & STIXEL_FRAME_BLIND);
}

int sx_scene_fill(struct sx_scene *scene, const struct stixel_frame *frame,
		  const struct sx_palette_range *range)
{
	const struct stixel_frame_header *h = frame->header;
	int r = reserve(scene, h->stixel_count);
	uint8_t *stands;

	if (r == 0)
		r = reserve_dots(scene, frame);
	stands = r == 0 ? sx_obstacles(frame) : NULL;
	if (!stands)
		return -ENOMEM;
	for (uint32_t i = 0; i < h->stixel_count; i++) {
		const struct stixel *s = &frame->stixels[i];

		if (!has_place(h, s, stands[i]))
			continue;
		add_dots(scene, h, s, range);
		if (s->kind == STIXEL_OBJECT && s->slope_q14 == 0)
			add_box(scene, h, s, range);
		else
			add_quad(scene, h, s);
	}
	free(stands);
	return 0;
}

void sx_scene_finish(struct sx_scene *s)
{
	free(s->boxes);
	free(s->quads);
	free(s->dots);
	*s = (struct sx_scene){0};
}

void sx_scene_camera_pose(const struct stixel_frame_header *h, double *height_m, double q[4])
{
	bool road = h->road_origin != STIXEL_ROAD_NONE;
	double roll = road ? stixel_ground_of(h).roll_rad : 0.0;
	/* pitch of the optical axis after the roll is removed */
	double pitch = road ? atan(tan(h->pitch_rad) * cos(roll)) : 0.0;
	double s = 0.5 * sin(pitch / 2.0), c = 0.5 * cos(pitch / 2.0);
	double roll_s = sin(roll / 2.0), roll_c = cos(roll / 2.0);
	double x = -c - s, y = c + s, z = -c + s, w = c - s;

	*height_m = road ? h->height_m : 0.0;
	/*
	 * Quaternions x, y, z, w: first the roll about the optical axis, then the turn of the axes (-1/2,
	 * 1/2, -1/2, 1/2), then the pitch about y (0, 2s, 0, 2c).
	 */
	q[0] = x * roll_c + y * roll_s;
	q[1] = y * roll_c - x * roll_s;
	q[2] = z * roll_c + w * roll_s;
	q[3] = w * roll_c - z * roll_s;
}
