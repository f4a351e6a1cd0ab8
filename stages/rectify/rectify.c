/*
 * Rectification maps of a rig, and their use on images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/rectify/rectify.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "stages/rectify/lens.h"
#include "stages/rectify/mat3.h"

/* Rounds a position among n pixels to 1/256 px. False: outside. */
static bool round_position(double p, int n, unsigned *at)
{
	double rounded = floor(256 * p + 0.5), end = 256.0 * (n - 1);

	if (!(rounded >= 0 && rounded <= end))
		return false;
	*at = (unsigned)(rounded < end ? rounded : end - 1);
	return true;
}

static void fill_map(const struct sx_rectify_map *map, const struct sx_rig *rig, int side)
{
	const struct sx_raw_camera *camera = &rig->raw[side];
	const double reach = sx_lens_reach(camera);
	double back[9];

	sx_mat3_invert(back, rig->rotation[side]);
	for (int y = 0; y < map->height; y++) {
		size_t row = (size_t)y * (size_t)map->stride;

		for (int x = 0; x < map->stride; x++) {
			const double ahead[3] = {(x - rig->cx) / rig->fx, (y - rig->cy) / rig->fy, 1};
			double ray[3], u, v;
			unsigned a, b;

			map->place[row + (size_t)x] = SX_RECTIFY_OUTSIDE;
			map->part[row + (size_t)x] = 0;
			if (x >= map->width)
				continue;
			sx_mat3_apply(ray, back, ahead);
			if (!sx_lens_project(camera, reach, ray, &u, &v) ||
			    !round_position(u, map->raw_width, &a) || !round_position(v, map->raw_height, &b))
				continue;
			map->place[row + (size_t)x] = b >> 8 << 16 | a >> 8;
			map->part[row + (size_t)x] = (uint16_t)((b & 255) << 8 | (a & 255));
		}
	}
}

/*
 * Adds `sign` to the count of each column whose pixel in row y is outside. Ignores a row y outside the image.
 */
static void count_outside(const struct sx_rectify_map *map, int y, int sign, int *counts)
{
	if (y < 0 || y >= map->height)
		return;
	for (int x = 0; x < map->width; x++)
		if (map->place[(size_t)y * (size_t)map->stride + (size_t)x] == SX_RECTIFY_OUTSIDE)
			counts[x] += sign;
}

/* Returns the longest run of columns without a counted column within radius. */
static struct sx_row_view view_of(const int *counts, int width, int radius)
{
	struct sx_row_view best = {0, 0};
	int near = 0, first = 0;

	for (int x = 0; x < radius && x < width; x++)
		near += counts[x] > 0;
	for (int x = 0; x < width; x++) {
		if (x + radius < width)
			near += counts[x + radius] > 0;
		if (x - radius > 0)
			near -= counts[x - radius - 1] > 0;
		if (near)
			first = x + 1;
		else if (x + 1 - first > best.end - best.first)
			best = (struct sx_row_view){(uint16_t)first, (uint16_t)(x + 1)};
	}
	return best;
}

static void find_views(const struct sx_rectify_map *map, const int radius[2], int *counts)
{
	for (int y = 0; y < radius[1] && y < map->height; y++)
		count_outside(map, y, 1, counts);
	for (int y = 0; y < map->height; y++) {
		count_outside(map, y + radius[1], 1, counts);
		count_outside(map, y - radius[1] - 1, -1, counts);
		map->view[y] = view_of(counts, map->width, radius[0]);
	}
}

int sx_rectify_map_init(struct sx_rectify_map *ret, const struct sx_rig *rig, int side, const int radius[2])
{
	int stride = (rig->width + SX_RECTIFY_STRIDE - 1) / SX_RECTIFY_STRIDE * SX_RECTIFY_STRIDE;
	size_t entries = (size_t)stride * (size_t)rig->height;
	struct sx_rectify_map map = {.width = rig->width,
				     .height = rig->height,
				     .stride = stride,
				     .raw_width = rig->raw_width,
				     .raw_height = rig->raw_height};
	int *counts = calloc((size_t)rig->width, sizeof(*counts));

	map.place = aligned_alloc(64, entries * sizeof(*map.place));
	map.part = aligned_alloc(64, entries * sizeof(*map.part));
	map.view = calloc((size_t)rig->height, sizeof(*map.view));
	if (!counts || !map.place || !map.part || !map.view) {
		free(counts);
		sx_rectify_map_finish(&map);
		return -ENOMEM;
	}
	fill_map(&map, rig, side);
	find_views(&map, radius, counts);
	free(counts);
	*ret = map;
	return 0;
}

void sx_rectify_map_finish(struct sx_rectify_map *map)
{
	free(map->place);
	free(map->part);
	free(map->view);
	*map = (struct sx_rectify_map){0};
}

size_t sx_rectify_map_bytes(const struct sx_rectify_map *map)
{
	const size_t entries = (size_t)map->stride * (size_t)map->height;

	return entries * (sizeof(*map->place) + sizeof(*map->part)) +
	       (size_t)map->height * sizeof(*map->view);
}

/* Interpolates the grey level between four raw pixels, the first of which is at (x, y). */
static uint8_t grey_between(const struct sx_image *src, unsigned x, unsigned y, unsigned part,
			    struct sx_stretch stretch)
{
	const unsigned a = part & 255, b = part >> 8;
	const struct sx_image raw = {(uint8_t *)sx_image_row(src, (int)y) + x * sx_pixel_bytes(src->pixel), 2,
				     2, src->pitch, src->pixel};
	uint8_t g[4];
	const struct sx_image grey = {g, 2, 2, 2, SX_PIXEL_U8};

	sx_ingest(&raw, &grey, stretch);
	return (uint8_t)(((256 - b) * ((256 - a) * g[0] + a * g[1]) + b * ((256 - a) * g[2] + a * g[3]) +
			  32768) >>
			 16);
}

void sx_rectify(const struct sx_image *src, const struct sx_image *grey, const struct sx_rectify_map *map,
		struct sx_stretch stretch)
{
	for (int y = 0; y < map->height; y++) {
		uint8_t *out = sx_image_row(grey, y);

		for (int x = 0; x < map->width; x++) {
			size_t i = (size_t)y * (size_t)map->stride + (size_t)x;
			uint32_t place = map->place[i];

			out[x] = 0;
			if (place != SX_RECTIFY_OUTSIDE)
				out[x] =
					grey_between(src, place & 0xffff, place >> 16, map->part[i], stretch);
		}
	}
}
