/*
 * The kernels of motion on vec_plain.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec_plain.h"

#include "cpu/motion/motion_kernels.h"

const struct sx_motion_kernels sx_motion_kernels_plain = SX_MOTION_KERNELS;
