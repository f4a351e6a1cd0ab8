/*
 * Speckle filter by union-find.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/speckle.h"

#include <stdbool.h>
#include <stdlib.h>

/*
 * One entry per pixel, row after row: the parent of the pixel. The root of a component is its lowest index.
 */
struct union_find {
	uint32_t *parent, *size;
};

size_t sx_speckle_scratch_bytes(int width, int height)
{
	return 2 * (size_t)width * (size_t)height * sizeof(uint32_t);
}

static uint32_t find_root(struct union_find *f, uint32_t i)
{
	while (f->parent[i] != i) {
		f->parent[i] = f->parent[f->parent[i]]; /* halve the path for later searches */
		i = f->parent[i];
	}
	return i;
}

static void join(struct union_find *f, uint32_t a, uint32_t b)
{
	a = find_root(f, a);
	b = find_root(f, b);
	f->parent[a > b ? a : b] = a > b ? b : a;
}

static bool are_connected(uint16_t a, uint16_t b, int range)
{
	return a != SX_DISPARITY_INVALID && b != SX_DISPARITY_INVALID && abs(a - b) <= 16 * range;
}

static void join_row(struct union_find *f, const struct sx_image *img, int y, int range)
{
	const uint16_t *row = sx_image_row(img, y), *above = y ? sx_image_row(img, y - 1) : NULL;
	uint32_t width = (uint32_t)img->width, first = (uint32_t)y * width;

	for (uint32_t x = 0; x < width; x++) {
		f->parent[first + x] = first + x;
		f->size[first + x] = 0;
		if (x && are_connected(row[x], row[x - 1], range))
			join(f, first + x, first + x - 1);
		if (above && are_connected(row[x], above[x], range))
			join(f, first + x, first + x - width);
	}
}

void sx_speckle(const struct sx_image *disparity, const struct sx_filter_params *p, void *scratch)
{
	uint32_t width = (uint32_t)disparity->width, height = (uint32_t)disparity->height;
	struct union_find f;

	if (p->speckle_size <= 0)
		return;
	f.parent = scratch;
	f.size = f.parent + (size_t)width * height;
	for (int y = 0; y < disparity->height; y++)
		join_row(&f, disparity, y, p->speckle_range);
	for (uint32_t i = 0; i < width * height; i++)
		f.size[find_root(&f, i)]++;
	for (uint32_t y = 0; y < height; y++) {
		uint16_t *row = sx_image_row(disparity, (int)y);

		for (uint32_t x = 0; x < width; x++)
			if (f.size[find_root(&f, y * width + x)] <= (uint32_t)p->speckle_size)
				row[x] = SX_DISPARITY_INVALID;
	}
}
