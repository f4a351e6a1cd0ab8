/*
 * Source "synthetic": renders frames of a generated street or room (scene.h) in the capture thread on
 * request.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/contract.h"
#include "capture/scene/scene.h"
#include "capture/scene/scene_fault.h"
#include "capture/source_kinds.h"
#include "stages/rectify/rig.h"

struct synthetic {
	struct sx_scene *scene;
	struct sx_slots slots;
	struct sx_camera camera;
	struct sx_rig rig;
	struct sx_fault fault;
	struct sx_image scratch; /* memory for drawing a fault, which may be set later */
	uint32_t frame;
};

static int synthetic_open(struct sx_source *s, const struct sx_source_params *p, int slots,
			  struct sx_why *why)
{
	int width, height;
	struct sx_scene_params scene = {
		.name = p->scene, .seed = p->seed, .lenses = p->lenses, .fps = p->fps};
	struct synthetic *own = calloc(1, sizeof(*own));
	int r;

	if (!own)
		return sx_why_fail(-ENOMEM, why, "no memory for the source");
	s->own = own;
	sx_scene_usual_size(p->scene, &width, &height);
	width = p->width ? p->width : width;
	height = p->height ? p->height : height;
	scene.width = p->rectified_width ? p->rectified_width : width;
	scene.height = p->rectified_height ? p->rectified_height : height;
	scene.raw_width = width;
	scene.raw_height = height;
	r = sx_source_check_size("size of the synthetic source", width, height, why);
	if (r < 0)
		return r;
	r = sx_fault_parse(&own->fault, p->fault, why);
	if (r == 0)
		r = sx_scene_rig(&scene, &own->rig, why);
	if (r == 0)
		r = sx_image_init(&own->scratch, SX_PIXEL_U8, width, height);
	if (r == 0)
		r = sx_scene_create(&own->scene, &scene, why);
	if (r < 0)
		return r;
	r = sx_slots_init(&own->slots, slots, p->layout, width, height, SX_PIXEL_U8, why);
	if (r == 0)
		r = sx_slots_pace(&own->slots, p->fps, why);
	if (r < 0)
		return r;
	sx_scene_camera(&scene, &own->camera);
	s->info = (struct sx_source_info){
		.width = width,
		.height = height,
		.pixel = SX_PIXEL_U8,
		.memory = "generated",
		.cameras = p->layout == SX_LAYOUT_TWO ? 2 : 1,
		.path = {sx_scene_name(own->scene),
			 p->layout == SX_LAYOUT_TWO ? sx_scene_name(own->scene) : NULL},
		.paced = own->slots.paced,
		.camera = &own->camera,
		.rig = sx_rig_is_rectified(&own->rig) ? NULL : &own->rig,
	};
	return 0;
}

static void synthetic_close(struct sx_source *s)
{
	struct synthetic *own = s->own;

	if (!own)
		return;
	sx_scene_destroy(own->scene);
	sx_image_finish(&own->scratch);
	sx_slots_finish(&own->slots);
	free(own);
}

static bool synthetic_block(const struct sx_source *s, int index, struct sx_block *ret)
{
	const struct synthetic *own = s->own;

	return sx_slots_block(&own->slots, index, ret);
}

static int synthetic_fd(const struct sx_source *s)
{
	const struct synthetic *own = s->own;

	return own->slots.fd;
}

/* Thread: capture. Always gives a pair: the street has no end. */
static int synthetic_next(struct sx_source *s, struct sx_pair *pair, struct sx_why *why)
{
	struct synthetic *own = s->own;
	struct sx_slot *slot = sx_source_slot(s, &own->slots);

	if (!slot)
		return 0;
	sx_must(own->scratch.width, ==, slot->left.width);
	sx_fault_render(&own->fault, own->scene, own->frame++, &slot->left, &slot->right, &own->scratch);
	sx_source_deliver(s, slot, pair);
	return 1;
}

static void synthetic_release(struct sx_source *s, const struct sx_pair *pair)
{
	struct synthetic *own = s->own;

	sx_slots_release(&own->slots, pair->slot);
}

/* Thread: capture. Takes effect from the next pair on. */
static int synthetic_change_controls(struct sx_source *s, const struct sx_source_params *p,
				     struct sx_why *why)
{
	struct synthetic *own = s->own;

	return sx_fault_parse(&own->fault, p->fault, why);
}

const struct sx_source_ops sx_synthetic_ops = {
	.open = synthetic_open,
	.close = synthetic_close,
	.block = synthetic_block,
	.fd = synthetic_fd,
	.next = synthetic_next,
	.release = synthetic_release,
	.change_controls = synthetic_change_controls,
};
