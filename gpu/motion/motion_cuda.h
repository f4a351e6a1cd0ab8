/*
 * Motion between two frames on the GPU, with the chain that remembers earlier frames: stages/motion/pair.h and
 * stages/motion/filter/chain.h without its filter. It follows the rules of gpu/stages_cuda.h.
 *
 * The memory of a chain belongs to all contexts that join it. So the frames of a chain run one after the other: the
 * caller orders them by an event. Their images never leave the device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_MOTION_MOTION_CUDA_H
#define SX_GPU_MOTION_MOTION_CUDA_H

#include "gpu/frame.h"
#include "gpu/memory.h"
#include "stages/motion/filter/chain.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stixel;

/* Sizes of a chain. most: stixels of a frame, at most. columns: of stixels, which have `width` px. */
struct sx_motion_cuda_size {
	struct sx_camera camera;
	int image_width, image_height, columns, width;
	uint32_t most;
	int sms;
};

/*
 * Inputs and results of a frame. turn, number, count, offsets, stixels, ego, velocities, done: device addresses of
 * pinned memory. The first launch reads number, which differs in each frame, and the last one writes it to done.
 * The host writes turn before each frame (sx_motion_ring_next()). left, disparity, road: device memory.
 * features, flows: one for each cell, in device memory.
 */
struct sx_motion_cuda_frame {
	const struct sx_motion_turn *turn;
	const uint32_t *number;
	const struct sx_image *left, *disparity;
	const struct sx_cuda_road *road;
	const uint32_t *count, *offsets;
	const struct stixel *stixels;
	struct sx_motion_feature *features;
	struct sx_motion_flow *flows;
	struct sx_motion_ego *ego;
	struct sx_motion_velocity *velocities;
	uint32_t *done;
};

struct sx_motion_cuda;
/* Takes the memory of a chain, which has seen no frame yet. Returns 0 or -ENOMEM; m->error says more. */
int sx_motion_cuda_create(struct sx_motion_cuda **ret, struct sx_cuda_memory *m,
			  const struct sx_motion_cuda_size *size);
void sx_motion_cuda_destroy(struct sx_motion_cuda *s);
/* Measures the motion of a frame, as sx_motion_chain_run() does. */
cudaError_t sx_motion_cuda_run(const struct sx_motion_cuda *s, const struct sx_motion_cuda_frame *f,
			       cudaStream_t stream);
/* Returns the images of place i of the chain, for checks. */
const struct sx_motion_view *sx_motion_cuda_view(const struct sx_motion_cuda *s, int i);

#ifdef __cplusplus
}
#endif

#endif
