/*
 * Draws raw pictures of a street and rectifies them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/quality/raw_street.h"

#include <errno.h>
#include <stdio.h>

int raw_street_init(struct raw_street *r, const struct sx_scene_params *p, struct sx_why *why)
{
	static const int radius[2] = {0, 0};
	struct sx_rig rig;
	int e = sx_scene_rig(p, &rig, why);

	*r = (struct raw_street){.params = *p};
	if (e < 0)
		return e;
	for (int side = 0; side < 2; side++)
		if (sx_rectify_map_init(&r->map[side], &rig, side, radius) < 0 ||
		    sx_image_init(&r->raw[side], SX_PIXEL_U8, rig.raw_width, rig.raw_height) < 0)
			return sx_why_fail(-ENOMEM, why, "no memory");
	return 0;
}

void raw_street_finish(struct raw_street *r)
{
	for (int side = 0; side < 2; side++) {
		sx_rectify_map_finish(&r->map[side]);
		sx_image_finish(&r->raw[side]);
	}
}

int raw_street_draw(struct raw_street *r, const struct sx_scene_params *p, uint32_t frame,
		    const struct sx_image *left, const struct sx_image *right, struct sx_why *why)
{
	struct sx_scene_params raw = r->params;
	struct sx_scene *scene;
	int e;

	raw.name = p->name;
	raw.seed = p->seed;
	e = sx_scene_create(&scene, &raw, why);
	if (e < 0)
		return e;
	sx_scene_render(scene, frame, &r->raw[0], &r->raw[1]);
	for (int side = 0; side < 2; side++)
		sx_rectify(&r->raw[side], side ? right : left, &r->map[side], (struct sx_stretch){0});
	sx_scene_destroy(scene);
	return 0;
}
