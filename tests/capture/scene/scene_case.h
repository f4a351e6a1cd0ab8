/*
 * A synthetic street with its pictures and its truth, for tests of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_CAPTURE_SCENE_SCENE_CASE_H
#define SX_TESTS_CAPTURE_SCENE_SCENE_CASE_H

#include <stdint.h>

#include "capture/scene/scene_world.h"
#include "tests/scene_truth.h"

#define W 480
#define H 180

struct street {
	struct sx_scene *scene;
	struct sx_image left, right;
	struct sx_scene_truth truth;
};

void open_street(struct street *s, const char *name, unsigned seed, int width, int height);
void close_street(struct street *s);
void draw(struct street *s, uint32_t frame);
/* Removes the light that the two cameras see differently. Call it before draw(). */
void put_out_light(struct street *s);
uint64_t hash_images(const struct street *s);
uint64_t hash_truth(const struct street *s);

#endif
