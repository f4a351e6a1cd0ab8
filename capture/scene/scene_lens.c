/*
 * Computes the place in the drawn view that each pixel of a raw camera sees.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/scene_lens.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/contract.h"
#include "capture/scene/scene_world.h"
#include "stages/rectify/rig.h"

/* width of the rim of the drawn view, px: no raw pixel looks there, but samples around a pixel's place may */
#define RIM 8
#define STEPS 1024 /* steps per px: rounding hides the differences between math libraries */

int sx_lens_margin(int px)
{
	return px / 4 + RIM;
}

/* Computes the place in the view that raw pixel (x, y) sees. */
static void place(const struct sx_scene *s, int side, int x, int y, float at[2])
{
	const struct sx_view *v = &s->view[side];
	double u, w;

	sx_must_be(v->width > 2 * RIM && v->height > 2 * RIM);
	at[0] = -1;
	at[1] = -1;
	if (!sx_rig_unproject(&s->rig, side, x, y, &u, &w))
		return;
	u += sx_lens_margin(s->rig.width);
	w += sx_lens_margin(s->rig.height);
	if (!(u >= RIM && u <= v->width - 1 - RIM && w >= RIM && w <= v->height - 1 - RIM))
		return;
	at[0] = (float)(rint(u * STEPS) / STEPS);
	at[1] = (float)(rint(w * STEPS) / STEPS);
}

static int init_side(struct sx_scene *s, int side)
{
	struct sx_lens_view *lens = &s->lens[side];

	sx_must_be(!lens->at);
	lens->width = s->rig.raw_width;
	lens->height = s->rig.raw_height;
	lens->at = calloc((size_t)lens->width * (size_t)lens->height, 2 * sizeof(*lens->at));
	if (!lens->at)
		return -ENOMEM;
	for (int y = 0; y < lens->height; y++)
		for (int x = 0; x < lens->width; x++)
			place(s, side, x, y, lens->at + 2 * ((size_t)y * (size_t)lens->width + (size_t)x));
	return 0;
}

int sx_lens_init(struct sx_scene *s)
{
	int r = init_side(s, 0);

	return r < 0 ? r : init_side(s, 1);
}

void sx_lens_finish(struct sx_lens_view *lens)
{
	free(lens->at);
	*lens = (struct sx_lens_view){0};
}
