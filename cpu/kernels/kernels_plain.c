/*
 * The matcher's kernels on vec_plain.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec_plain.h"

#include "cpu/kernels/kernels.h"

const struct sx_kernels sx_kernels_plain = SX_KERNELS;
