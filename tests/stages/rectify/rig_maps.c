/*
 * Aligns a rig and prints it, for a test that compares it with OpenCV's: rig-maps FOLDER < RIG > ALIGNED.
 *
 * RIG: raw_width raw_height width height alpha; for each camera fx fy cx cy, its lens by its name in ROS and
 * 8 coefficients; r (9), t (3). ALIGNED: fx fy cx cy baseline_m, rotations (9 + 9), processor time of each
 * map, ms. FOLDER/raw0, raw1: U8 images without padding. The program writes files beside them for each camera:
 * place0 (uint32) and part0 (uint16), both with the map's stride, view0 (2 uint16 per row; radius 4, 3),
 * grey0 (U8).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stages/rectify/lens.h"
#include "stages/rectify/rectify.h"
#include "stages/rectify/rig.h"

static void fail(const char *what)
{
	fprintf(stderr, "rig-maps: %s\n", what);
	exit(1);
}

static double number(void)
{
	double n;

	if (scanf("%lf", &n) != 1)
		fail("a number is missing");
	return n;
}

static void read_camera(struct sx_raw_camera *c)
{
	char name[32];

	c->fx = number();
	c->fy = number();
	c->cx = number();
	c->cy = number();
	if (scanf("%31s", name) != 1)
		fail("a lens is missing");
	c->lens = SX_LENS_PLUMB_BOB;
	while (sx_lens_name(c->lens) && strcmp(name, sx_lens_name(c->lens)))
		c->lens++;
	for (int i = 0; i < SX_LENS_COEFFICIENTS; i++)
		c->distortion[i] = number();
}

static void align(struct sx_rig *rig)
{
	double r[9], t[3], alpha;
	struct sx_why why;

	rig->raw_width = (int)number();
	rig->raw_height = (int)number();
	rig->width = (int)number();
	rig->height = (int)number();
	alpha = number();
	read_camera(&rig->raw[0]);
	read_camera(&rig->raw[1]);
	for (int i = 0; i < 9; i++)
		r[i] = number();
	for (int i = 0; i < 3; i++)
		t[i] = number();
	if (sx_rig_align(rig, r, t, alpha, &why) < 0)
		fail(why.text);
}

static FILE *open_in(const char *folder, const char *name, int side, const char *mode)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s%d", folder, name, side);
	f = fopen(path, mode);
	if (!f)
		fail(path);
	return f;
}

static void write_all(const char *folder, const char *name, int side, const void *data, size_t bytes)
{
	FILE *f = open_in(folder, name, side, "wb");

	if (fwrite(data, 1, bytes, f) != bytes || fclose(f))
		fail(name);
}

static void remap(const char *folder, int side, const struct sx_rectify_map *map)
{
	size_t bytes = (size_t)map->raw_width * (size_t)map->raw_height;
	struct sx_image raw = {malloc(bytes), map->raw_width, map->raw_height, (size_t)map->raw_width,
			       SX_PIXEL_U8};
	struct sx_image grey = {malloc((size_t)map->width * (size_t)map->height), map->width, map->height,
				(size_t)map->width, SX_PIXEL_U8};
	FILE *f = open_in(folder, "raw", side, "rb");

	if (!raw.data || !grey.data || fread(raw.data, 1, bytes, f) != bytes)
		fail("raw image");
	fclose(f);
	sx_rectify(&raw, &grey, map, (struct sx_stretch){0, 0});
	write_all(folder, "grey", side, grey.data, (size_t)map->width * (size_t)map->height);
	free(raw.data);
	free(grey.data);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	static const int radius[2] = {4, 3};
	struct sx_rig rig = {0};

	if (argc != 2)
		fail("usage: rig-maps FOLDER");
	align(&rig);
	printf("%.17g %.17g %.17g %.17g %.17g\n", rig.fx, rig.fy, rig.cx, rig.cy, rig.baseline_m);
	for (int i = 0; i < 18; i++)
		printf("%.17g ", rig.rotation[i / 9][i % 9]);
	for (int side = 0; side < 2; side++) {
		struct sx_rectify_map map;
		double began = now_ms();
		size_t entries;

		if (sx_rectify_map_init(&map, &rig, side, radius) < 0)
			fail("no memory");
		printf("%.3f\n", now_ms() - began);
		entries = (size_t)map.stride * (size_t)map.height;
		write_all(argv[1], "place", side, map.place, entries * sizeof(*map.place));
		write_all(argv[1], "part", side, map.part, entries * sizeof(*map.part));
		write_all(argv[1], "view", side, map.view, (size_t)map.height * sizeof(*map.view));
		remap(argv[1], side, &map);
		sx_rectify_map_finish(&map);
	}
	return 0;
}
