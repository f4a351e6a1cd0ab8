/*
 * The kernels of motion on vec_neon.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec_neon.h"

#include "cpu/motion/motion_kernels.h"

const struct sx_motion_kernels sx_motion_kernels_neon = SX_MOTION_KERNELS;
