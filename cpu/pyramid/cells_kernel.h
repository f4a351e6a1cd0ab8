/*
 * Matching costs of the cells that are searched. stages/stereo/cost.h defines them.
 *
 *   a vector: VEC_BYTES / 8 pixels beside each other, 8 disparities of each
 *
 * Work:   per vector and plane of a descriptor: 16 right bytes, one shuffle that gives each pixel its window
 *         of 8 bytes (the next pixel's window begins a byte earlier), a comparison, a population count. The
 *         left operands serve all blocks. zncc packs costs of all disparities.
 * Memory: reads up to 15 bytes before a row of planes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_PYRAMID_CELLS_KERNEL_H
#define SX_CPU_PYRAMID_CELLS_KERNEL_H

#include "cpu/pyramid/path_kernel.h"

#define VEC_PIXELS (VEC_BYTES / SX_SEARCH_BLOCK)

typedef uint32_t vec_narrow __attribute__((vector_size(VEC_BYTES / 2)));

/* Computes the costs of a row. */
static void cost_row(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y, uint8_t *cost)
{
	cost_pixels(m, f, y, 0, m->width, cost, m->p.disparities);
}

/* Computes the costs of all disparities for a row of tiles, and copies the costs of the searched blocks. */
static void pack_costs(const struct sx_search_level *l, int j, struct sx_search_scratch *s)
{
	const int y0 = j * SX_SEARCH_TILE_HEIGHT;
	const int y1 =
		y0 + SX_SEARCH_TILE_HEIGHT < l->scale.height ? y0 + SX_SEARCH_TILE_HEIGHT : l->scale.height;
	const size_t pixel = (size_t)l->m.p.disparities, row = (size_t)l->scale.width * pixel;
	const int band = s->dense_rows;

	for (int y = y0; y < y1; y += band) {
		const int end = y + band < y1 ? y + band : y1;
		const uint8_t *dense = sx_search_dense(l, y, end, s);

		for (int x = 0; x < l->scale.width; x++) {
			const struct sx_search_list *list = sx_search_list_at(l, x / SX_SEARCH_TILE_WIDTH, j);
			uint8_t *to = l->cost + (size_t)list->at * SX_BLOCK_CELLS +
				      x % SX_SEARCH_TILE_WIDTH * SX_SEARCH_BLOCK;

			for (int k = 0; k < list->count; k++, to += SX_BLOCK_CELLS)
				for (int v = y; v < end; v++)
					memcpy(to + (v - y0) * SX_TILE_ROW_BYTES,
					       dense + (size_t)(v - y) * row + (size_t)x * pixel +
						       list->block[k] * SX_SEARCH_BLOCK,
					       SX_SEARCH_BLOCK);
		}
	}
}

/* Loads the descriptors of VEC_PIXELS pixels, 8 bytes each. */
static ALWAYS_INLINE vb load_descriptors(const void *row, int x, bool is_narrow)
{
	vec_narrow v;

	if (!is_narrow)
		return vb_load((const uint8_t *)row + (size_t)x * sizeof(uint64_t));
	memcpy(&v, (const uint8_t *)row + (size_t)x * sizeof(uint32_t), sizeof(v));
	return (vb) __builtin_convertvector(v, vq);
}

/* Splits descriptors into planes, each spread over the lanes of its pixel. */
static ALWAYS_INLINE void left_operands(vb descriptors, vb *operand, int planes)
{
	for (int k = 0; k < planes; k++) {
		const int bit = k * VEC_PLANE_BITS;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		const vb byte = vb_spread8(descriptors, 7 - bit / 8);
#else
		const vb byte = vb_spread8(descriptors, bit / 8);
#endif

		operand[k] = vb_plane(byte, bit % 8 != 0);
	}
}

/* Computes the costs of a row of a tile. right: plane 0 of the row, from the byte of disparity 0 of px 0 on. */
static ALWAYS_INLINE void costs_of_row(const struct sx_search_level *l, const struct sx_search_list *list,
				       int x0, const void *left, const uint8_t *right, uint8_t *cost,
				       int planes, bool is_narrow)
{
	const uint8_t *outside = l->m.out_of_view;
	const vb most = vb_set1(l->m.cost_max);

	for (int i = 0; i < SX_SEARCH_TILE_WIDTH; i += VEC_PIXELS) {
		const ptrdiff_t at = l->scale.width - x0 - i - VEC_PIXELS;
		vb operand[PLANES_MAX];

		left_operands(load_descriptors(left, x0 + i, is_narrow), operand, planes);
		for (int k = 0; k < list->count; k++) {
			const ptrdiff_t d = at + list->block[k] * SX_SEARCH_BLOCK;
			vb sum = vb_set1(0);

			for (int n = 0; n < planes; n++)
				sum = vb_add(sum,
					     vb_bits((vb)((vq)operand[n] ^
							  (vq)vb_windows8(right + d +
									  n * (ptrdiff_t)l->m.plane_pitch))));
			if (outside)
				sum = vb_min(vb_or(sum, vb_windows8(outside + d)), most);
			vb_store(cost + k * SX_BLOCK_CELLS + i * SX_SEARCH_BLOCK, sum);
		}
	}
}

static ALWAYS_INLINE void costs_of_tiles(const struct sx_search_level *l, int j, int planes, bool is_narrow)
{
	const int y0 = j * SX_SEARCH_TILE_HEIGHT;

	for (int y = y0; y < y0 + SX_SEARCH_TILE_HEIGHT && y < l->scale.height; y++) {
		const void *left = sx_image_row(&l->f.census[0], y);
		const uint8_t *right = l->f.planes + (size_t)y * (size_t)planes * l->m.plane_pitch;

		for (int q = 0; q < l->scale.tiles_x; q++) {
			const struct sx_search_list *list = sx_search_list_at(l, q, j);

			costs_of_row(l, list, q * SX_SEARCH_TILE_WIDTH, left, right,
				     l->cost + (size_t)list->at * SX_BLOCK_CELLS +
					     (y - y0) * SX_TILE_ROW_BYTES,
				     planes, is_narrow);
		}
	}
}

/* Computes the costs of the cells of a row of tiles. */
static void search_costs(const struct sx_search_level *l, int j, struct sx_search_scratch *s)
{
	if (l->is_small || l->m.p.cost == SX_COST_ZNCC)
		pack_costs(l, j, s);
	else if (l->m.p.cost == SX_COST_CSCT)
		costs_of_tiles(l, j, 32 / VEC_PLANE_BITS, true);
	else if (l->m.p.cost == SX_COST_CENSUS48)
		costs_of_tiles(l, j, 48 / VEC_PLANE_BITS, false);
	else
		costs_of_tiles(l, j, 64 / VEC_PLANE_BITS, false);
}

#endif
