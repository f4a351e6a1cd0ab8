/*
 * All kernels on the vectors that were included before; included once by each kernels_*.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_KERNELS_H
#define SX_CPU_KERNELS_KERNELS_H

#include "cpu/kernels/census_kernel.h"
#include "cpu/kernels/cost_kernel.h"
#include "cpu/kernels/fastdt_kernel.h"
#include "cpu/kernels/left_right_kernel.h"
#include "cpu/kernels/median_kernel.h"
#include "cpu/kernels/sgm_kernel.h"
#include "cpu/kernels/winner_kernel.h"
#include "cpu/kernels/zncc_kernel.h"

#define SX_KERNELS                                                                                    \
	{                                                                                             \
		.name = VEC_NAME, .bytes = VEC_BYTES, .plane_bits = VEC_PLANE_BITS,                   \
		.census_rows = census_rows, .sgm_band = sgm_band, .winner_row = winner_row,           \
		.median_rows = median_rows, .left_right_rows = left_right_rows,                       \
		.confidence_rows = confidence_rows, .connected_row = connected_row,                   \
		.fastdt_row = fastdt_row, .fastdt_planes = fastdt_planes, .fastdt_band = fastdt_band, \
		.fastdt_winners = fastdt_winners, .zncc_words_rows = zncc_words_rows,                 \
		.zncc_rows = zncc_rows,                                                               \
	}

#endif
