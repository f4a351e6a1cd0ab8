/*
 * The matcher's kernels, on the vectors whose header was included before. Each matcher_*.c includes this file
 * once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_MATCHER_KERNELS_H
#define SX_CPU_KERNELS_MATCHER_KERNELS_H

#include "cpu/kernel_sets.h"
#include "cpu/kernels/census_kernel.h"
#include "cpu/kernels/confidence_kernel.h"
#include "cpu/kernels/fastdt_kernel.h"
#include "cpu/kernels/left_right_kernel.h"
#include "cpu/kernels/median_kernel.h"
#include "cpu/kernels/sgm_kernel.h"
#include "cpu/kernels/similarity_winner_kernel.h"
#include "cpu/kernels/smooth_kernel.h"
#include "cpu/kernels/speckle_kernel.h"
#include "cpu/kernels/winner_kernel.h"
#include "cpu/kernels/zncc_kernel.h"
#include "stages/stereo/chance_sum.h"

#define SX_MATCHER_KERNELS                                                                        \
	{                                                                                         \
		.bytes = VEC_BYTES, .plane_bits = VEC_PLANE_BITS, .census_rows = census_rows,     \
		.zncc_words_rows = zncc_words_rows, .zncc_rows = zncc_rows, .sgm_band = sgm_band, \
		.winner_row = winner_row, .similarity_band = similarity_band,                     \
		.similarity_rows = similarity_rows, .fastdt_row = fastdt_row,                     \
		.fastdt_planes = fastdt_planes, .fastdt_band = fastdt_band,                       \
		.fastdt_winners = fastdt_winners, .median_rows = median_rows,                     \
		.left_right_rows = left_right_rows, .smooth_rows = smooth_rows,                   \
		.connected_row = connected_row, .confidence_rows = confidence_rows,               \
		.chance_sum_row = sx_chance_sum_row,                                              \
	}

#endif
