/*
 * The segmenter's kernels on vec32_plain.h, compiled for SSE4.1.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec32_plain.h"

#include "cpu/kernels/segment_kernels.h"

const struct sx_segment_kernels sx_segment_kernels_sse4 = SX_SEGMENT_KERNELS;
