/*
 * What a frame's kernels share: where its input lies, and what the host is told. Both blocks are pinned host
 * memory that the device sees, so that one captured graph serves every frame: kernels read addresses, not
 * arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_FRAME_H
#define SX_GPU_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stages/monitor/monitor.h"
#include "stages/road/road.h"
#include "stages/stereo/stretch.h"

/* struct sx_scores of a frame, as kernels read it; data: NULL where the pair has none. */
struct sx_cuda_scores {
	const uint8_t *data;
	uint64_t pitch, plane_bytes;
	int32_t scale, width, height, unused;
};

/*
 * Written by the host before the graph starts. image: left, right, as the device addresses them.
 * number: another one each frame. The road stage copies it into sx_cuda_road, the compaction from there into
 * sx_cuda_output: a record without it is not of this frame, and the frame counts as failed.
 */
struct sx_cuda_input {
	const uint8_t *image[2];
	uint64_t pitch[2];
	struct sx_cuda_scores scores;
	struct sx_road previous;
	int32_t has_previous;
	uint32_t number;
};

/*
 * The road of one frame on the device; written by the road stage, read by the segmenters and the compaction.
 * road: what sx_road_describe() fills in, the host does, as it needs atan.
 * ground_q4[height]: as sx_road_ground(), v from the bottom.
 */
struct sx_cuda_road {
	struct sx_road road;
	int32_t *ground_q4;
	uint32_t number; /* of the input */
};

/* What the host reads when the frame is done; stixels and offsets lie behind it in the same pinned block. */
struct sx_cuda_output {
	struct sx_road road;
	uint32_t count;
	uint32_t number; /* of the road */
	struct sx_monitor monitor;
	struct sx_stretch stretch; /* range of a Y16 pair; else 0 */
};

#endif
