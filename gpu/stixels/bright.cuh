/*
 * Brightness of cells: sx_cell_is_bright() on the GPU (stages/stixels/sky.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_BRIGHT_CUH
#define SX_GPU_STIXELS_BRIGHT_CUH

#include "gpu/cuda.cuh"

/* The image and its cells. If a cell's width is a multiple of whole words, cells are read by words. */
struct sx_bright_image {
	const uint8_t *data;
	size_t pitch;
	int height, cell_width, cell_height;
};

/* Grey levels of a cell. */
struct sx_grey_levels {
	uint32_t least, most;
};

__device__ __forceinline__ void sx_add_level(struct sx_grey_levels *s, uint32_t grey)
{
	s->least = grey < s->least ? grey : s->least;
	s->most = grey > s->most ? grey : s->most;
}

/* Returns true if a cell is bright. Stops at the first row of pixels that is not. */
__device__ __forceinline__ bool sx_is_bright(const struct sx_bright_image &p, int u, int v, int bright,
					     uint32_t range)
{
	const uint8_t *row =
		p.data + (size_t)(p.height - (v + 1) * p.cell_height) * p.pitch + (size_t)(u * p.cell_width);
	struct sx_grey_levels s = {255, 0};

	for (int y = 0; y < p.cell_height; y++, row += p.pitch) {
		if (p.cell_width % 4 == 0) {
			for (int x = 0; x < p.cell_width / 4; x++) {
				const uint32_t word = ((const uint32_t *)row)[x];

				sx_add_level(&s, word & 255);
				sx_add_level(&s, word >> 8 & 255);
				sx_add_level(&s, word >> 16 & 255);
				sx_add_level(&s, word >> 24);
			}
		} else {
			for (int x = 0; x < p.cell_width; x++)
				sx_add_level(&s, row[x]);
		}
		if ((int)s.least < bright || s.most - s.least > range)
			return false;
	}
	return true;
}

#endif
