/*
 * Blocks that the host and the kernels of a frame share: the input block and the output block. Both are
 * pinned host memory that the device addresses. The kernels read all addresses of a frame from the input
 * block, so one captured graph serves every frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_FRAME_H
#define SX_GPU_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stages/diagnostics/diagnostics.h"
#include "stages/road/road.h"
#include "stages/stereo/stretch.h"

/*
 * Class scores of a frame (struct sx_scores) in the layout that kernels read. data: NULL if the pair has no
 * scores.
 */
struct sx_cuda_scores {
	const uint8_t *data;
	uint64_t pitch, plane_bytes;
	int32_t scale, width, height, unused;
};

/*
 * Input block of a frame. The host writes it before it launches the graph.
 * image: left and right image, as device addresses.
 * number: differs in each frame. The road stage copies it into sx_cuda_road, and the compaction copies it
 *   from there into sx_cuda_output. If the output has another number, the record is not of this frame and the
 *   host counts the frame as failed.
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
 * Road of one frame, in device memory. The road stage writes it; the segmenters and the compaction read it.
 * road: without the members that sx_road_describe() computes. The host fills them in, because they need atan.
 * ground_q4[height]: as from sx_road_ground(), v counted from the bottom.
 */
struct sx_cuda_road {
	struct sx_road road;
	int32_t *ground_q4;
	uint32_t number; /* copy of sx_cuda_input.number */
};

/*
 * Output block, which the host reads after the frame is done. Stixels and offsets follow in the same pinned
 * block.
 */
struct sx_cuda_output {
	struct sx_road road;
	uint32_t count;
	uint32_t number; /* copy of sx_cuda_road.number */
	struct sx_diagnostics diagnostics;
	struct sx_stretch stretch; /* range of a Y16 pair; 0 for other formats */
};

#endif
