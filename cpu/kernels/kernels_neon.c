/*
 * The matcher's kernels on vec_neon.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec_neon.h"

#include "cpu/kernels/kernels.h"

const struct sx_kernels sx_kernels_neon = SX_KERNELS;
