/*
 * All kernels on the vectors that were included before; included once by each kernels_*.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_H
#define SX_CPU_KERNELS_H

#include "cpu/census_cpu.h"
#include "cpu/cost_cpu.h"
#include "cpu/fastdt_cpu.h"
#include "cpu/left_right_cpu.h"
#include "cpu/median_cpu.h"
#include "cpu/sgm_cpu.h"
#include "cpu/winner_cpu.h"
#include "cpu/zncc_cpu.h"

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
