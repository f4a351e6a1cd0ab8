/*
 * The kernels of motion, on the vectors whose header was included before. Each motion_*.c includes this file once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_MOTION_MOTION_KERNELS_H
#define SX_CPU_MOTION_MOTION_KERNELS_H

#include "cpu/kernel_sets.h"
#include "cpu/motion/corners_kernel.h"
#include "cpu/motion/describe_kernel.h"
#include "cpu/motion/ego_kernel.h"
#include "cpu/motion/expect_kernel.h"
#include "cpu/motion/find_kernel.h"
#include "cpu/motion/group_kernel.h"
#include "cpu/motion/refine_kernel.h"

#define SX_MOTION_KERNELS                                                                                \
	{                                                                                                \
		.census_rows = motion_census_rows, .corner_row = motion_corner_row, .vote = motion_vote, \
		.find = {motion_match, motion_refine, find_again}, .ego_sums = motion_ego_sums,          \
		.group_sums = motion_group_sums, .expect = motion_expect,                                \
	}

#endif
