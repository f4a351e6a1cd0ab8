/*
 * The matcher's kernels on vec_neon.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec_neon.h"

#include "cpu/kernels/matcher_kernels.h"

const struct sx_matcher_kernels sx_matcher_kernels_neon = SX_MATCHER_KERNELS;
