/*
 * The segmenters' kernels on vec32_avx2.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec32_avx2.h"

#include <string.h>

#include "cpu/kernels/reduce_cells_kernel.h"
#include "cpu/kernels/reduce_kernel.h"
#include "cpu/kernels/slanted_kernel.h"
#include "cpu/kernels/stixel_dp_kernel.h"
#include "cpu/kernels/stixel_kernels.h"

const struct sx_stixel_kernels sx_stixel_kernels_avx2 = {VI_NAME, dp_column,	slanted_column,
							 reduce,  reduce_cells, reduce_scores};
