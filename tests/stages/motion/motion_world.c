/*
 * A small street, see motion_world.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/stages/motion/motion_world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WALL_X 9.0
#define END_Z 70.0

static uint32_t hash(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t h = a * 0x9e3779b1u ^ (b + 0x7f4a7c15u) * 0x85ebca6bu ^ (c + 0x165667b1u) * 0xc2b2ae35u;

	h ^= h >> 15;
	h *= 0x2c1b3c6du;
	h ^= h >> 12;
	h *= 0x297a2d39u;
	return h ^ h >> 15;
}

static double lattice(double u, double v, uint32_t seed)
{
	const double fu = floor(u), fv = floor(v);
	const int32_t i = (int32_t)fu, j = (int32_t)fv;
	const double a = u - fu, b = v - fv;
	double n[4];

	for (int k = 0; k < 4; k++)
		n[k] = (double)(hash((uint32_t)(i + k % 2), (uint32_t)(j + k / 2), seed) & 255) / 255.0 - 0.5;
	return (n[0] * (1 - a) + n[1] * a) * (1 - b) + (n[2] * (1 - a) + n[3] * a) * b;
}

/* Grey level of a surface at (u, v), m. footprint: of a pixel, m. Octaves too fine for it fade. */
static double texture(double u, double v, double footprint, uint32_t seed)
{
	double sum = 0.0;

	for (int k = 0; k < 8; k++) {
		const double period = 0.06 * (double)(1 << k), part = period / (4.0 * footprint);

		sum += lattice(u / period, v / period, seed + (uint32_t)k) * (part < 1.0 ? part * part : 1.0);
	}
	return 128.0 + 90.0 * sum;
}

/* A surface that a ray hits: distance along z of the camera's ray, and grey level. */
struct hit {
	double s; /* ray length, in units of the ray */
	double u, v;
	uint32_t surface;
	int box; /* -1: none */
};

static void take(struct hit *best, double s, double u, double v, uint32_t surface, int box)
{
	if (s > 0.1 && s < best->s)
		*best = (struct hit){s, u, v, surface, box};
}

static void hit_box(const struct mw_box *b, double t, double height, const double o[2], const double ray[3],
		    int n, struct hit *best)
{
	const double x = b->x + b->vx * t, z = b->z + b->vz * t;
	const double low[2] = {x - b->width / 2, z}, high[2] = {x + b->width / 2, z + b->length};
	const double d[2] = {ray[0], ray[2]};

	for (int axis = 0; axis < 2; axis++)
		for (int side = 0; side < 2; side++) {
			const double s = ((side ? high : low)[axis] - o[axis]) / d[axis];
			const double across = o[!axis] + s * d[!axis], y = s * ray[1];

			if (fabs(d[axis]) > 1e-9 && s > 0 && across >= low[!axis] && across <= high[!axis] &&
			    y <= height && y >= height - b->height)
				take(best, s, across - low[!axis], y,
				     100u + 8u * (uint32_t)n + 2u * (uint32_t)axis, n);
		}
}

struct mw_world mw_street(uint32_t seed)
{
	return (struct mw_world){
		.camera = {.fx = 420,
			   .fy = 420,
			   .cx = (MW_WIDTH - 1) / 2.0,
			   .cy = 100,
			   .baseline_m = 0.5,
			   .height_m = 1.6},
		.boxes = {{-4.5, 12, 1.8, 4, 1.5, 0, 0}, {5, 20, 1.8, 4, 1.5, 0, 0}},
		.box_count = 2,
		.noise = 2,
		.seed = seed,
	};
}

static struct hit look(const struct mw_world *w, const struct mw_pose *pose, int x, int y)
{
	const struct sx_camera *c = &w->camera;
	const double u = (x - c->cx) / c->fx, co = cos(pose->yaw), si = sin(pose->yaw);
	const double sign = w->mirrored ? -1.0 : 1.0;
	const double ray[3] = {sign * (co * u + si), (y - c->cy) / c->fy, co - si * u};
	const double o[2] = {sign * pose->x, pose->z};
	struct hit best = {1e9, 0, 0, 0, -1};

	if (ray[1] > 0) {
		const double s = c->height_m / ray[1];

		take(&best, s, o[0] + s * ray[0], o[1] + s * ray[2], 1, -1);
	}
	for (int side = -1; side <= 1; side += 2) {
		const double s = (side * WALL_X - o[0]) / ray[0];

		if (fabs(ray[0]) > 1e-9)
			take(&best, s, o[1] + s * ray[2], s * ray[1], 12u + (uint32_t)side, -1);
	}
	take(&best, (END_Z - o[1]) / ray[2], o[0] + (END_Z - o[1]) / ray[2] * ray[0],
	     (END_Z - o[1]) / ray[2] * ray[1], 30, -1);
	for (int i = 0; i < w->box_count; i++)
		hit_box(&w->boxes[i], pose->t, c->height_m, o, ray, i, &best);
	return best;
}

/* Makes a stixel of each run of a box's pixels in the middle of a stixel's columns. */
static void make_stixels(const struct mw_world *w, const int8_t *of, struct mw_frame *f)
{
	f->count = 0;
	for (int column = 0; column < MW_WIDTH / MW_STIXEL; column++)
		for (int y = 0; y < MW_HEIGHT; y++) {
			const int x = column * MW_STIXEL + MW_STIXEL / 2, box = of[y * MW_WIDTH + x];
			int end = y;

			if (box < 0 || box >= w->box_count)
				continue;
			while (end + 1 < MW_HEIGHT && of[(end + 1) * MW_WIDTH + x] == box)
				end++;
			f->owner_box[f->count] = box;
			f->stixels[f->count++] = (struct stixel){
				.column = (uint16_t)column,
				.row_top = (uint16_t)y,
				.row_bottom = (uint16_t)end,
				.kind = STIXEL_OBJECT,
				.disparity_q7 =
					(uint16_t)(8 * ((const uint16_t *)sx_image_row(&f->view.disparity,
										       (y + end) / 2))[x]),
			};
			y = end;
		}
}

void mw_draw(const struct mw_world *w, const struct mw_pose *pose, uint32_t number, struct mw_frame *frame)
{
	const struct sx_camera *c = &w->camera;
	int8_t *of = malloc((size_t)MW_WIDTH * MW_HEIGHT);
	struct sx_image grey, disparity;

	if (!of || sx_image_init(&grey, SX_PIXEL_U8, MW_WIDTH, MW_HEIGHT) ||
	    sx_image_init(&disparity, SX_PIXEL_U16, MW_WIDTH, MW_HEIGHT))
		abort();
	for (int y = 0; y < MW_HEIGHT; y++) {
		uint8_t *row = sx_image_row(&grey, y);
		uint16_t *d = sx_image_row(&disparity, y);

		for (int x = 0; x < MW_WIDTH; x++) {
			const int at = w->mirrored ? MW_WIDTH - 1 - x : x;
			const struct hit h = look(w, pose, x, y);
			const double px = c->fx * c->baseline_m / h.s - w->offset_px;
			const double level =
				w->plain_road && h.surface == 1
					? 90
					: texture(h.u, h.v, h.s / c->fx, w->seed + h.surface * 64);
			const int noise = (int)(hash((uint32_t)at, (uint32_t)y, number * 977u + 5u) %
						(uint32_t)(2 * w->noise + 1)) -
					  w->noise;
			const double grey_level = level + noise;

			row[x] = (uint8_t)(grey_level < 0 ? 0 : grey_level > 255 ? 255 : grey_level);
			d[x] = px < 1.0 ? SX_DISPARITY_INVALID : (uint16_t)lrint(16.0 * px);
			of[y * MW_WIDTH + x] = (int8_t)h.box;
		}
	}
	if (sx_motion_view_init(&frame->view, &grey, &disparity))
		abort();
	make_stixels(w, of, frame);
	sx_road_calibrated(c, &frame->road);
	frame->road.offset -= w->offset_px; /* the plane that the map shows */
	free(of);
	sx_image_finish(&grey);
	sx_image_finish(&disparity);
}

void mw_truth(const struct mw_pose *now, const struct mw_pose *before, double way[3], double *turn)
{
	const double dx = now->x - before->x, dz = now->z - before->z;

	/* yaw to the right: the camera looks along (sin, cos) */
	way[0] = cos(before->yaw) * dx - sin(before->yaw) * dz;
	way[1] = 0.0;
	way[2] = sin(before->yaw) * dx + cos(before->yaw) * dz;
	*turn = now->yaw - before->yaw;
}

void mw_run(const struct mw_world *w, const struct mw_frame *now, const struct mw_frame *before,
	    struct sx_motion_pair *m)
{
	const struct sx_motion_frame frame = {.view = &now->view,
					      .stixels = now->stixels,
					      .stixel_count = now->count,
					      .stixel_width = MW_STIXEL,
					      .seconds = 0.1,
					      .road = &now->road};
	const struct sx_motion_range prior = SX_MOTION_RANGE_FIRST;

	if (sx_motion_pair_init(m, &w->camera, MW_WIDTH, MW_HEIGHT, MW_STIXELS_MAX))
		abort();
	sx_motion_pair(m, &frame, before ? &before->view : NULL, NULL, &prior);
}

void mw_drive(const struct mw_world *w, const struct mw_pose *now, const struct mw_pose *before,
	      struct sx_motion_pair *m)
{
	static struct mw_frame a, b;

	mw_draw(w, now, 2, &a);
	mw_draw(w, before, 1, &b);
	mw_run(w, &a, &b, m);
	sx_motion_view_finish(&a.view);
	sx_motion_view_finish(&b.view);
}

double mw_turn(const struct sx_motion_step *s)
{
	return 2.0 * atan2(s->q[2], s->q[0]);
}
