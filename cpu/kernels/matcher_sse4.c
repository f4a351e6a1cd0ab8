/*
 * The matcher's kernels on vec_sse4.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec_sse4.h"

#include "cpu/kernels/matcher_kernels.h"

const struct sx_matcher_kernels sx_matcher_kernels_sse4 = SX_MATCHER_KERNELS;
