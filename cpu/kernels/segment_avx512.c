/*
 * The segmenter's kernels on vec32_avx2.h, with the registers and masks of AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec32_avx2.h"

#include "cpu/kernels/segment_kernels.h"

const struct sx_segment_kernels sx_segment_kernels_avx512 = SX_SEGMENT_KERNELS;
