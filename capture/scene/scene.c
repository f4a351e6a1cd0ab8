/*
 * The synthetic scenes: scene object, camera, images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "capture/scene/scene_light.h"
#include "capture/scene/scene_moving.h"
#include "capture/scene/scene_world.h"
#include "stages/rectify/rig.h"

static const struct {
	const char *name;
	enum sx_relief relief;
	bool open, verge, cargo, room;
	enum sx_light_kind light;
	enum sx_episode_kind motion;
} names[] = {
	{.name = "street"},
	{.name = "open", .open = true},
	{.name = "climb", .relief = SX_RELIEF_CLIMB},
	{.name = "fall", .relief = SX_RELIEF_FALL},
	{.name = "ramp", .relief = SX_RELIEF_RAMP},
	{.name = "verge", .verge = true},
	{.name = "cargo", .open = true, .cargo = true},
	{.name = "room", .room = true},
	{.name = "traffic", .motion = SX_EPISODE_TRAFFIC},
	{.name = "crossing", .motion = SX_EPISODE_CROSSING},
	{.name = "bend", .motion = SX_EPISODE_BEND},
	{.name = "yard", .motion = SX_EPISODE_YARD},
	{.name = "night", .verge = true, .light = SX_LIGHT_NIGHT},
	{.name = "rain", .verge = true, .light = SX_LIGHT_RAIN},
	{.name = "glass", .verge = true, .light = SX_LIGHT_GLASS},
};

static int find_name(const char *name)
{
	if (!name || !*name)
		return 0;
	for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); i++)
		if (!strcmp(name, names[i].name))
			return i;
	return -1;
}

void sx_scene_usual_size(const char *name, int *width, int *height)
{
	const int i = find_name(name);
	const bool room = i >= 0 && (names[i].room || names[i].motion == SX_EPISODE_YARD);

	*width = room ? SX_ROOM_WIDTH : SX_SCENE_WIDTH;
	*height = room ? SX_ROOM_HEIGHT : SX_SCENE_HEIGHT;
}

/* Returns KITTI's camera at 1242x375 (the defaults of the configuration), scaled to the size. */
static struct sx_camera street_camera(int width, int height)
{
	return (struct sx_camera){
		.fx = 721.5 / SX_SCENE_WIDTH * width,
		.fy = 721.5 / SX_SCENE_WIDTH * width,
		.cx = (609.5 + 0.5) / SX_SCENE_WIDTH * width - 0.5,
		.cy = (172.9 + 0.5) / SX_SCENE_HEIGHT * height - 0.5,
		.baseline_m = 0.54,
		.height_m = 1.65,
		.pitch_deg = 0,
	};
}

void sx_scene_camera(const struct sx_scene_params *p, struct sx_camera *ret)
{
	const int i = find_name(p->name);

	if (i >= 0 && names[i].motion == SX_EPISODE_YARD)
		*ret = sx_yard_camera(p);
	else
		*ret = i >= 0 && names[i].room ? sx_room_camera(p) : street_camera(p->width, p->height);
}

static void init_street(struct sx_scene *s, int name)
{
	sx_must_index(name, sizeof(names) / sizeof(names[0]));
	sx_street_init(s, s->params.seed, names[name].open);
	s->street.relief = names[name].relief;
	s->street.cargo = names[name].cargo;
	if (names[name].verge)
		sx_verge_init(s);
	sx_light_init(s, names[name].light);
}

static int init_view(struct sx_view *v, int width, int height)
{
	size_t pixels = (size_t)width * (size_t)height;

	sx_must_be(!v->depth);
	v->width = width;
	v->height = height;
	v->depth = calloc(pixels, sizeof(*v->depth));
	v->id = calloc(pixels, sizeof(*v->id));
	v->projection = calloc(SX_FACETS_MAX, sizeof(*v->projection));
	return v->depth && v->id && v->projection ? 0 : -ENOMEM;
}

/* Allocates the additional buffers for a white sky and a wet road. */
static int init_light(struct sx_scene *s, int side)
{
	struct sx_view *v = &s->view[side];

	sx_must_index(side, 2);
	v->white = calloc((size_t)(v->width + 1) * (size_t)(v->height + 1), sizeof(*v->white));
	if (s->weather.streaks) {
		v->streaks = calloc((size_t)v->width * (size_t)v->height, sizeof(*v->streaks));
		if (!v->streaks)
			return -ENOMEM;
	}
	return v->white ? init_view(&s->mirrored[side], v->width, v->height) : -ENOMEM;
}

/*
 * Allocates both views. Views of raw cameras have a margin, so all coordinates from their corner are shifted.
 */
static int init_views(struct sx_scene *s)
{
	bool raw = !sx_rig_is_rectified(&s->rig);
	int aside = raw ? sx_lens_margin(s->params.width) : 0,
	    above = raw ? sx_lens_margin(s->params.height) : 0;

	s->camera.cx += aside;
	s->camera.cy += above;
	for (int i = 0; i < s->weather.drops; i++) {
		s->weather.drop[i].x += (float)aside;
		s->weather.drop[i].y += (float)above;
	}
	for (int side = 0; side < 2; side++) {
		for (int i = 0; i < SX_FLARE_SPOTS; i++) {
			s->street.verge.flare[i].x[side] += (float)aside;
			s->street.verge.flare[i].y[side] += (float)above;
		}
		if (init_view(&s->view[side], s->params.width + 2 * aside, s->params.height + 2 * above) <
			    0 ||
		    (s->street.verge.on && init_light(s, side) < 0))
			return -ENOMEM;
	}
	return raw ? sx_lens_init(s) : 0;
}

static void finish_view(struct sx_view *v)
{
	free(v->depth);
	free(v->id);
	free(v->projection);
	free(v->white);
	free(v->streaks);
}

/* Checks an image size. False, with a message: out of range. */
static bool is_size(int width, int height, const char *what, struct sx_why *why)
{
	if (width >= 32 && width <= 4096 && height >= 32 && height <= 2160)
		return true;
	sx_why_set(why, "%s size %dx%d is outside 32x32 to 4096x2160", what, width, height);
	return false;
}

int sx_scene_create(struct sx_scene **ret, const struct sx_scene_params *p, struct sx_why *why)
{
	int name = find_name(p->name);
	struct sx_rig rig;
	struct sx_scene *s;

	if (name < 0)
		return sx_why_fail(
			-EINVAL, why,
			"unknown scene '%s', allowed street, open, climb, fall, ramp, verge, cargo, room, "
			"traffic, crossing, bend, yard, night, rain, glass",
			p->name);
	if (!is_size(p->width, p->height, "scene", why) ||
	    ((p->raw_width || p->raw_height) && !is_size(p->raw_width, p->raw_height, "raw image", why)))
		return -EINVAL;
	if (sx_scene_rig(p, &rig, why) < 0)
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		goto fail;
	s->params = *p;
	s->params.name = names[name].name;
	s->rig = rig;
	sx_scene_misplace(&p->right, &s->rig);
	sx_scene_camera(p, &s->camera);
	if (names[name].motion) {
		if (sx_moving_init(s, names[name].motion) < 0)
			goto fail;
	} else if (names[name].room) {
		sx_room_init(s);
	} else {
		init_street(s, name);
	}
	s->facets = calloc(SX_FACETS_MAX, sizeof(*s->facets));
	if (!s->facets || sx_texture_init(&s->texture, s->exposure.seed) < 0 || init_views(s) < 0)
		goto fail;
	*ret = s;
	return 0;
fail:
	sx_why_set(why, "no memory for a scene of %dx%d", p->width, p->height);
	sx_scene_destroy(s);
	return -ENOMEM;
}

void sx_scene_destroy(struct sx_scene *s)
{
	if (!s)
		return;
	for (int side = 0; side < 2; side++) {
		finish_view(&s->view[side]);
		finish_view(&s->mirrored[side]);
		sx_lens_finish(&s->lens[side]);
	}
	sx_texture_finish(&s->texture);
	free(s->motion);
	free(s->facets);
	free(s);
}

const char *sx_scene_name(const struct sx_scene *s)
{
	return s->params.name;
}

void sx_scene_build(struct sx_scene *s, uint32_t frame)
{
	s->count = 0;
	s->shadow_count = 0;
	s->next_object = 1;
	if (s->motion)
		sx_moving_build(s, frame);
	else if (s->room.on)
		sx_room_build(s, frame);
	else
		sx_street_build(s, frame);
	sx_must(s->count, <=, SX_FACETS_MAX);
}

void sx_scene_render(struct sx_scene *s, uint32_t frame, struct sx_image *left, struct sx_image *right)
{
	sx_must(left->pixel, ==, SX_PIXEL_U8);
	sx_scene_build(s, frame);
	for (int side = 0; side < 2; side++) {
		struct sx_image *out = side ? right : left;

		sx_view_draw(&s->view[side], s, side);
		if (s->street.verge.on) {
			sx_view_draw_mirrored(&s->mirrored[side], s, side);
			sx_light_prepare(&s->view[side], s, side, frame);
		}
		if (s->lens[side].at)
			sx_view_shade_raw(&s->view[side], s, side, frame, out);
		else
			sx_view_shade(&s->view[side], s, side, frame, out);
	}
}
