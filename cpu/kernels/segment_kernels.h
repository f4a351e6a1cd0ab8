/*
 * The segmenter's kernels, on the vectors whose header was included before. Each segment_*.c includes this
 * file once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_SEGMENT_KERNELS_H
#define SX_CPU_KERNELS_SEGMENT_KERNELS_H

#include "cpu/kernel_sets.h"
#include "cpu/kernels/evidence_kernel.h"
#include "cpu/kernels/reduce_cells_kernel.h"
#include "cpu/kernels/reduce_kernel.h"
#include "cpu/kernels/slanted_kernel.h"
#include "cpu/kernels/stixel_dp_kernel.h"

#define SX_SEGMENT_KERNELS                                                                                  \
	{                                                                                                   \
		.dp_column = dp_column, .slanted_column = slanted_column, .reduce = reduce,                 \
		.reduce_cells = reduce_cells, .reduce_scores = reduce_scores, .bright_cells = bright_cells, \
		.weigh_columns = weigh_columns,                                                             \
	}

#endif
