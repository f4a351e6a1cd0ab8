/*
 * What follows the disparity map, by instruction set: each stixel_*.c fills one table from the same source.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_STIXEL_KERNELS_H
#define SX_CPU_KERNELS_STIXEL_KERNELS_H

#include "cpu/slanted.h"
#include "cpu/stixel_dp.h"
#include "stages/stixels/reduce.h"

struct sx_stixel_kernels {
	const char *name;
	sx_dp_column_fn *dp_column;
	sx_slanted_column_fn *slanted_column;
	/* as sx_reduce() */
	void (*reduce)(const struct sx_image *disparity, const struct sx_image *confidence, int width_px,
		       enum sx_reduction how, struct sx_image *columns, struct sx_image *columns_confidence);
	/* as sx_reduce_cells() */
	void (*reduce_cells)(const struct sx_image *disparity, const struct sx_image *confidence,
			     int width_px, int cell_height, enum sx_reduction how, struct sx_image *columns,
			     struct sx_image *columns_confidence);
	/* as sx_reduce_scores(), of cells v0 .. v1 - 1 of all columns */
	void (*reduce_scores)(const struct sx_scores *scores, int image_width, int image_height, int width_px,
			      int cell_height, int v0, int v1, struct sx_image *columns);
};

extern const struct sx_stixel_kernels sx_stixel_kernels_plain, sx_stixel_kernels_avx2;

/* simd: name of the engine's kernels; "plain" keeps to what every machine has. */
const struct sx_stixel_kernels *sx_stixel_kernels_choose(const char *simd);

#endif
