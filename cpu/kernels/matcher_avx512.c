/*
 * The matcher's kernels on vec_avx512.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec_avx512.h"

#include "cpu/kernels/matcher_kernels.h"

const struct sx_matcher_kernels sx_matcher_kernels_avx512 = SX_MATCHER_KERNELS;
