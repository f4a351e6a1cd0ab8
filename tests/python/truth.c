/*
 * Ground truth of the synthetic street, for tests of programs that read frames: python-truth WxH FRAME WIDTH
 * prints the road and, for each column of WIDTH px, the disparity of the lowest object that is completely in
 * the column (0 without one).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/why.h"
#include "tests/scene_truth.h"
#include <stixel.h>

static double first_object(const struct stixel *s, const struct stixel *end)
{
	for (; s < end; s++)
		if (s->kind == STIXEL_OBJECT)
			return s->disparity_q7 / 128.0;
	return 0;
}

static int print(const struct sx_scene_truth *t, int width)
{
	int columns = t->width / width;
	struct stixel *stixels = calloc((size_t)columns * (size_t)t->height, sizeof(*stixels));
	uint32_t *offsets = calloc((size_t)columns + 1, sizeof(*offsets));

	if (!stixels || !offsets) {
		free(stixels);
		free(offsets);
		return 1;
	}
	sx_scene_stixels(t, width, stixels, offsets);
	printf("{\"fx\": %.17g, \"fy\": %.17g, \"cx\": %.17g, \"cy\": %.17g, \"baseline_m\": %.17g, "
	       "\"height_m\": %.17g, \"pitch_deg\": %.17g, \"slope\": %.17g, \"offset\": %.17g, \"first\": [",
	       t->camera.fx, t->camera.fy, t->camera.cx, t->camera.cy, t->camera.baseline_m,
	       t->camera.height_m, t->camera.pitch_deg, t->road_slope, t->road_offset);
	for (int u = 0; u < columns; u++)
		printf("%s%.9g", u ? ", " : "", first_object(stixels + offsets[u], stixels + offsets[u + 1]));
	puts("]}");
	free(stixels);
	free(offsets);
	return 0;
}

int main(int argc, char **argv)
{
	struct sx_scene_params p = {0};
	struct sx_scene_truth t = {0};
	struct sx_scene *scene;
	struct sx_why why = {""};
	int r = 1;

	if (argc != 4 || sscanf(argv[1], "%dx%d", &p.width, &p.height) != 2)
		return 64;
	p.seed = 1;
	if (sx_scene_create(&scene, &p, &why) < 0) {
		fprintf(stderr, "python-truth: %s\n", why.text);
		return 64;
	}
	if (sx_scene_truth_init(&t, scene) == 0) {
		sx_scene_truth(scene, (uint32_t)strtoul(argv[2], NULL, 10), &t);
		r = print(&t, (int)strtol(argv[3], NULL, 10));
	}
	sx_scene_truth_finish(&t);
	sx_scene_destroy(scene);
	return r;
}
