/*
 * The kernels of motion on vec_avx512.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec_avx512.h"

#include "cpu/motion/motion_kernels.h"

const struct sx_motion_kernels sx_motion_kernels_avx512 = SX_MOTION_KERNELS;
