/*
 * Inputs of column kernels for tests: a road and lists of segments, in device memory that x owns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_STIXELS_SEGMENTS_CASE_H
#define SX_TESTS_GPU_STIXELS_SEGMENTS_CASE_H

#include "gpu/stages_cuda.h"
#include "tests/gpu/on_device.h"

#define SEGMENTS_CASE_NUMBER 77 /* frame number that the road contains */

/* Creates a road in device memory. height: number of ground rows of the road. */
struct sx_cuda_road *segments_case_road(struct on_device *x, const struct sx_road *road, int height);

/* Copies `like` to the device: lists, counts and totals. */
struct sx_segments segments_case_upload(struct on_device *x, const struct sx_segments *like);

#endif
