/*
 * What follows the disparity map, by instruction set: each stixel_*.c fills one table from the same source.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_STIXEL_KERNELS_H
#define SX_CPU_STIXEL_KERNELS_H

#include "cpu/stixel_dp_cpu.h"
#include "stages/reduce.h"

struct sx_stixel_kernels {
	const char *name;
	sx_dp_column_fn *dp_column;
	/* as sx_reduce() */
	void (*reduce)(const struct sx_image *disparity, const struct sx_image *confidence, int width_px,
		       enum sx_reduction how, struct sx_image *columns, struct sx_image *columns_confidence);
};

extern const struct sx_stixel_kernels sx_stixel_kernels_plain, sx_stixel_kernels_avx2;

/* simd: name of the engine's kernels; "plain" keeps to what every machine has. */
const struct sx_stixel_kernels *sx_stixel_kernels_choose(const char *simd);

#endif
