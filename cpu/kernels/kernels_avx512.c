/*
 * The matcher's kernels on vec_avx512.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec_avx512.h"

#include "cpu/kernels/kernels.h"

const struct sx_kernels sx_kernels_avx512 = SX_KERNELS;
