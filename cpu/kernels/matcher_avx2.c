/*
 * The matcher's kernels on vec_avx2.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec_avx2.h"

#include "cpu/kernels/matcher_kernels.h"

const struct sx_matcher_kernels sx_matcher_kernels_avx2 = SX_MATCHER_KERNELS;
