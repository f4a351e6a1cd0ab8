/*
 * The matcher's kernels on vec_neon.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec_neon.h"

#include "cpu/kernels.h"

const struct sx_kernels sx_kernels_neon = SX_KERNELS;
