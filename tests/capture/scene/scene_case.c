/*
 * A street for tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/capture/scene/scene_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/why.h"

void open_street(struct street *s, const char *name, unsigned seed, int width, int height)
{
	struct sx_scene_params p = {name, seed, width, height};
	struct sx_why why;

	memset(s, 0, sizeof(*s));
	assert_int_equal(sx_scene_create(&s->scene, &p, &why), 0);
	assert_int_equal(sx_image_init(&s->left, SX_PIXEL_U8, width, height), 0);
	assert_int_equal(sx_image_init(&s->right, SX_PIXEL_U8, width, height), 0);
	assert_int_equal(sx_scene_truth_init(&s->truth, s->scene), 0);
}

void close_street(struct street *s)
{
	sx_scene_truth_finish(&s->truth);
	sx_image_finish(&s->left);
	sx_image_finish(&s->right);
	sx_scene_destroy(s->scene);
}

void draw(struct street *s, uint32_t frame)
{
	sx_scene_render(s->scene, frame, &s->left, &s->right);
	sx_scene_truth(s->scene, frame, &s->truth);
}

void put_out_light(struct street *s)
{
	struct sx_verge *v = &s->scene->street.verge;

	v->glare = 0;
	v->wet = 0;
	for (int i = 0; i < SX_FLARE_SPOTS; i++)
		v->flare[i].light = 0;
}

static uint64_t add_hash(uint64_t h, const void *data, size_t bytes)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < bytes; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
	return h;
}

uint64_t hash_images(const struct street *s)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (int y = 0; y < s->left.height; y++) {
		h = add_hash(h, sx_image_row(&s->left, y), (size_t)s->left.width);
		h = add_hash(h, sx_image_row(&s->right, y), (size_t)s->right.width);
	}
	return h;
}

uint64_t hash_truth(const struct street *s)
{
	size_t n = (size_t)s->truth.width * (size_t)s->truth.height;
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	h = add_hash(h, s->truth.disparity, n * sizeof(float));
	h = add_hash(h, s->truth.kind, n);
	h = add_hash(h, s->truth.visible, n);
	return add_hash(h, s->truth.object, n * sizeof(uint16_t));
}
