/*
 * Ground truth of the synthetic street, per pixel and as stixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/scene_truth.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/scene/scene_world.h"

/* Cityscapes classes that occur on a street. Furniture has none: boxes are walls here, and wood is a pole. */
enum {
	ROAD,
	SIDEWALK,
	BUILDING,
	WALL,
	POLE = 5,
	SIGN = 7,
	VEGETATION,
	TERRAIN,
	SKY,
	PERSON,
	RIDER,
	CAR,
	BICYCLE = 18
};

static uint8_t label_of(enum sx_material m)
{
	switch (m) {
	case SX_MATERIAL_ROAD:
	case SX_MATERIAL_ASPHALT:
	case SX_MATERIAL_MARKING:
		return ROAD;
	case SX_MATERIAL_PAVEMENT:
	case SX_MATERIAL_KERB:
		return SIDEWALK;
	case SX_MATERIAL_GRASS:
		return TERRAIN;
	case SX_MATERIAL_FACADE:
	case SX_MATERIAL_WALL:
	case SX_MATERIAL_WINDOW:
		return BUILDING;
	case SX_MATERIAL_CAR_BACK:
	case SX_MATERIAL_CAR_SIDE:
	case SX_MATERIAL_CAR_TOP:
	case SX_MATERIAL_GLASS:
	case SX_MATERIAL_CABIN_SIDE:
	case SX_MATERIAL_BOX:
		return CAR;
	case SX_MATERIAL_RAIL: /* Cityscapes: a void class */
	case SX_MATERIAL_POLE:
		return POLE;
	case SX_MATERIAL_SIGN:
		return SIGN;
	case SX_MATERIAL_BARK:
	case SX_MATERIAL_LEAVES:
	case SX_MATERIAL_HILLS:
		return VEGETATION;
	case SX_MATERIAL_CLOTH:
	case SX_MATERIAL_FABRIC:
		return PERSON;
	case SX_MATERIAL_PLANKS:
	case SX_MATERIAL_CARPET:
	case SX_MATERIAL_LINO:
	case SX_MATERIAL_TILES:
		return ROAD;
	case SX_MATERIAL_PAINT:
	case SX_MATERIAL_WALLPAPER:
	case SX_MATERIAL_PLASTER:
	case SX_MATERIAL_BRICK:
	case SX_MATERIAL_PICTURE:
	case SX_MATERIAL_LAMP:
		return BUILDING;
	case SX_MATERIAL_PANEL:
	case SX_MATERIAL_CARD:
		return WALL;
	case SX_MATERIAL_TIMBER:
		return POLE;
	}
	return SKY;
}

static uint8_t label_of_facet(const struct sx_scene *s, const struct sx_facet *f)
{
	if (!f->mover)
		return label_of((enum sx_material)f->material);
	switch (s->motion->episode.mover[f->mover].kind) {
	case SX_MOVER_PERSON:
		return PERSON;
	case SX_MOVER_CYCLIST:
		return f->material == SX_MATERIAL_FABRIC ? RIDER : BICYCLE;
	default: /* Cityscapes has no robots */
		return CAR;
	}
}

int sx_scene_truth_init(struct sx_scene_truth *t, const struct sx_scene *s)
{
	size_t pixels = (size_t)s->params.width * (size_t)s->params.height;

	if (s->lens[0].at) /* the views of raw cameras are not the rectified images */
		return -EINVAL;
	*t = (struct sx_scene_truth){
		.width = s->params.width,
		.height = s->params.height,
		.disparity = calloc(pixels, sizeof(*t->disparity)),
		.kind = calloc(pixels, 1),
		.visible = calloc(pixels, 1),
		.label = calloc(pixels, 1),
		.through = calloc(pixels, 1),
		.object = calloc(pixels, sizeof(*t->object)),
		.ground = calloc(pixels, sizeof(*t->ground)),
	};
	if (t->disparity && t->kind && t->visible && t->label && t->through && t->object && t->ground)
		return 0;
	sx_scene_truth_finish(t);
	return -ENOMEM;
}

void sx_scene_truth_finish(struct sx_scene_truth *t)
{
	free(t->disparity);
	free(t->kind);
	free(t->visible);
	free(t->label);
	free(t->through);
	free(t->object);
	free(t->ground);
	*t = (struct sx_scene_truth){0};
}

/* Facets that may be thinner than a pixel, and through which one sees: fences and panes of glass. */
struct thin {
	int list[SX_FACETS_MAX];
	int count;
};

static void find_thin(const struct sx_scene *s, struct thin *ret)
{
	ret->count = 0;
	for (int i = 0; i < s->count; i++)
		if (s->facets[i].shape == SX_SHAPE_BARS || s->facets[i].shape == SX_SHAPE_PANE)
			ret->list[ret->count++] = i;
}

/* Returns true if the right camera sees the point at left (x, y) with disparity d. */
static bool is_visible(const struct sx_scene *s, const struct thin *thin, int x, int y, double d)
{
	const struct sx_view *v = &s->view[1];
	double at = x - d;
	int i;

	if (at < 0)
		return false;
	i = (int)at;
	for (int k = i; k <= i + 1 && k < v->width; k++) {
		uint16_t id = v->id[(size_t)y * (size_t)v->width + (size_t)k];

		/* disparities of the same surface differ only by rounding */
		if (id && sx_view_probe(v, s, id - 1, at, y) > d * (1 + 1e-6) + 1e-3)
			return false;
	}
	for (int k = 0; k < thin->count; k++)
		if (s->facets[thin->list[k]].shape == SX_SHAPE_BARS &&
		    sx_view_probe(v, s, thin->list[k], at, y) > d * (1 + 1e-6) + 1e-3)
			return false;
	return true;
}

/* Returns true if a fence or a pane of glass is nearer to the camera than (x, y), whose disparity is d. */
static bool is_through(const struct sx_scene *s, const struct thin *thin, int x, int y, double d)
{
	for (int i = 0; i < thin->count; i++)
		if (sx_view_is_before(&s->view[0], s, thin->list[i], x, y, d))
			return true;
	return false;
}

/* Sets the line of the road, whose plane rolls with the camera in scenes with motion. */
static void set_road(const struct sx_scene *s, struct sx_scene_truth *t)
{
	const struct sx_camera *c = &s->camera;
	const struct sx_pose *p = &s->pose;
	double scale;

	t->camera = *c;
	t->camera.pitch_deg = p->pitch_deg;
	if (s->motion) {
		t->camera.height_m += p->heave;
		scale = c->baseline_m / t->camera.height_m;
		t->road_cross = scale * p->cos_pitch * p->sin_roll;
		t->road_slope = scale * p->cos_pitch * p->cos_roll * (c->fx / c->fy);
		t->road_offset = scale * c->fx * p->sin_pitch - c->cx * t->road_cross - c->cy * t->road_slope;
		return;
	}
	t->road_cross = c->baseline_m / c->height_m * s->street.verge.cross;
	t->road_slope = c->baseline_m / c->height_m * p->cos_pitch * (c->fx / c->fy);
	t->road_offset = c->baseline_m / c->height_m *
			 (c->fx * p->sin_pitch - c->cy * p->cos_pitch - c->cx * s->street.verge.cross);
}

void sx_scene_truth(struct sx_scene *s, uint32_t frame, struct sx_scene_truth *t)
{
	const struct sx_view *left = &s->view[0];
	struct thin thin;

	sx_scene_build(s, frame);
	sx_view_draw_ground(&s->view[0], s, 0);
	for (int y = 0; y < t->height; y++)
		for (int x = 0; x < t->width; x++) {
			size_t at = (size_t)y * (size_t)t->width + (size_t)x;
			uint16_t id = left->id[at];

			t->ground[at] = id ? (float)sx_affine(left->projection[id - 1].d, x, y) : 0;
		}
	sx_view_draw(&s->view[0], s, 0);
	sx_view_draw(&s->view[1], s, 1);
	find_thin(s, &thin);
	set_road(s, t);
	for (int y = 0; y < t->height; y++)
		for (int x = 0; x < t->width; x++) {
			size_t at = (size_t)y * (size_t)t->width + (size_t)x;
			const struct sx_facet *f = left->id[at] ? &s->facets[left->id[at] - 1] : NULL;
			double d = f ? sx_affine(left->projection[left->id[at] - 1].d, x, y) : 0;

			t->disparity[at] = (float)d;
			t->kind[at] = f ? f->kind : STIXEL_SKY;
			t->label[at] = f ? label_of_facet(s, f) : SKY;
			t->object[at] = f ? f->object : 0;
			t->visible[at] = is_visible(s, &thin, x, y, d);
			t->through[at] = is_through(s, &thin, x, y, d);
		}
}

struct sx_scene_point sx_scene_point(const struct sx_scene_truth *t, int x, int y)
{
	const struct sx_camera *c = &t->camera;
	double d = (double)t->disparity[(size_t)y * (size_t)t->width + (size_t)x], z;

	if (d <= 0)
		return (struct sx_scene_point){0};
	z = c->fx * c->baseline_m / d;
	/*
	 * height above the road as a share of the camera height: 1 - disparity of the road / disparity of the
	 * point
	 */
	return (struct sx_scene_point){
		.height = c->height_m * (1 - (t->road_slope * y + t->road_cross * x + t->road_offset) / d),
		.distance = z,
	};
}

/* One row of a stixel column: kind, object and disparity of most of its pixels. */
struct row {
	uint8_t kind;
	uint16_t object;
	double disparity; /* mean over the pixels of that kind and object */
};

static uint8_t kind_at(const struct sx_scene_truth *t, size_t at)
{
	return t->kind[at] == STIXEL_OBJECT && t->disparity[at] < 1 ? STIXEL_SKY : t->kind[at];
}

static uint16_t object_at(const struct sx_scene_truth *t, size_t at)
{
	return kind_at(t, at) == STIXEL_OBJECT ? t->object[at] : 0;
}

/*
 * Returns the most frequent kind and object of a row. If two are equally frequent, takes the first from the
 * left.
 */
static struct row majority(const struct sx_scene_truth *t, size_t first, int width)
{
	int votes[3] = {0}, most = 0;
	struct row r = {0};
	double sum = 0;

	for (int i = 0; i < width; i++)
		votes[kind_at(t, first + (size_t)i)]++;
	for (int i = width - 1; i >= 0; i--)
		if (votes[kind_at(t, first + (size_t)i)] >= votes[r.kind] || i == width - 1)
			r.kind = kind_at(t, first + (size_t)i);
	for (int i = 0; i < width; i++) {
		size_t at = first + (size_t)i;
		double part = 0;
		int n = 0;

		if (kind_at(t, at) != r.kind)
			continue;
		for (int j = i; j < width; j++) {
			size_t other = first + (size_t)j;

			if (kind_at(t, other) != r.kind || object_at(t, other) != object_at(t, at))
				continue;
			n++;
			part += (double)t->disparity[other];
		}
		if (n > most) {
			most = n;
			r.object = object_at(t, at);
			sum = part;
		}
	}
	r.disparity = r.kind == STIXEL_SKY ? 0 : sum / most;
	return r;
}

static void finish_stixel(struct stixel *s, int top, double disparity)
{
	double q7 = disparity * 128 + 0.5;

	s->row_top = (uint16_t)top;
	s->support = (uint16_t)(s->row_bottom - top + 1);
	s->disparity_q7 = q7 > 65534 ? 65534 : (uint16_t)q7;
}

static uint32_t stixels_of_column(const struct sx_scene_truth *t, int u, int width, struct stixel *ret)
{
	struct row before = {0};
	double sum = 0;
	uint32_t n = 0;

	for (int y = t->height - 1; y >= 0; y--) {
		struct row r = majority(t, (size_t)y * (size_t)t->width + (size_t)(u * width), width);

		if (n && r.kind == before.kind && r.object == before.object) {
			sum += r.disparity;
		} else {
			sum = r.disparity;
			ret[n++] = (struct stixel){
				.column = (uint16_t)u,
				.row_bottom = (uint16_t)y,
				.kind = r.kind,
				.label = STIXEL_LABEL_NONE,
				.confidence = 255,
				.slope_q14 = r.kind == STIXEL_GROUND ? (int16_t)(-t->road_slope * 16384) : 0,
			};
			if (r.kind == STIXEL_GROUND)
				ret[n - 1].disparity_q7 = (uint16_t)(r.disparity * 128 + 0.5);
		}
		before = r;
		finish_stixel(&ret[n - 1], y,
			      r.kind == STIXEL_OBJECT ? sum / (ret[n - 1].row_bottom - y + 1)
						      : (double)ret[n - 1].disparity_q7 / 128);
	}
	return n;
}

int sx_scene_stixels(const struct sx_scene_truth *t, int width, struct stixel *ret, uint32_t *offsets)
{
	int columns = t->width / width;

	offsets[0] = 0;
	for (int u = 0; u < columns; u++)
		offsets[u + 1] = offsets[u] + stixels_of_column(t, u, width, ret + offsets[u]);
	return columns;
}
