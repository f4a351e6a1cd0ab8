/*
 * Device memory of a chain of motion, and the launches of a frame in their order. Internal header of gpu/motion/.
 *
 * A frame is a fixed sequence of launches, because it is a part of a graph. What the reference decides by what it has
 * found, a kernel decides by the state: a launch whose turn it is not ends at once.
 *
 *   plan     reads the frame's input; copies the stixels
 *   view     the images of this frame; whether the frame before has the same left image
 *   corners  features, with their owners
 *   search   three times: around the expected step, around the step that votes choose, and again around the first
 *            result; after each of them the rounds of ego-motion
 *   movers   features of things that move
 *   group    velocities of stixels
 *   finish   stixels that move alone; what the chain learns; results
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_MOTION_MOTION_KERNELS_H
#define SX_GPU_MOTION_MOTION_KERNELS_H

#include <cuda_runtime_api.h>

#include "gpu/motion/motion_cuda.h"
#include "stages/motion/ego_rounds.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The next step of a frame: a pass of the search, the groups, or nothing. */
enum { MOTION_NOTHING, MOTION_EXPECTED, MOTION_VOTED, MOTION_AGAIN, MOTION_GROUP };

#define MOTION_SUM_WORDS (sizeof(struct sx_motion_sums) / sizeof(int64_t))

/* State of a chain, and of the frame that it computes. */
struct motion_state {
	struct sx_motion_learned learned;
	/* the frame */
	struct sx_motion_turn turn;
	struct sx_motion_range prior;
	double seconds;
	uint32_t number, stixels;
	uint32_t differs; /* 1: the left image is not that of the frame before */
	uint32_t next;
	unsigned long long least; /* votes << 32 | step of the fan + 1; 0: the expected step */
	uint32_t judges;
	/* a pass of the search */
	uint32_t found; /* features in the list */
	int32_t done; /* launch of ego-motion after which no sums are added up any more; 0: sums are still added up */
	struct sx_motion_ego_search search[2]; /* after launches with even and odd numbers */
	/* the step that the last pass was around, with its offset; and the result */
	struct sx_motion_step last;
	double last_offset;
	struct sx_motion_ego ego;
	/* sums of the rounds of ego-motion */
	struct sx_motion_sums sums[SX_MOTION_SUMS_MOST];
};

struct motion_work {
	struct sx_motion_cuda_size size;
	struct sx_motion_cells cells;
	struct motion_state *state;
	struct sx_motion_view *views; /* SX_MOTION_CHAIN_VIEWS */
	struct stixel *stixels;	      /* copies of the frame's, and of its offsets and velocities */
	uint32_t *offsets;
	struct sx_motion_velocity *velocities;
	uint32_t *list;	  /* features that were found */
	uint32_t *parent; /* sets of stixels: two words for each */
};

/* A frame as kernels see it: the images by value. */
struct motion_frame {
	struct sx_motion_cuda_frame at;
	struct sx_image left, disparity;
};

cudaError_t sx_motion_cuda_plan(const struct motion_work *w, const struct motion_frame *f,
				cudaStream_t stream);
cudaError_t sx_motion_cuda_fill_view(const struct motion_work *w, const struct motion_frame *f,
				     cudaStream_t stream);
cudaError_t sx_motion_cuda_corners(const struct motion_work *w, const struct motion_frame *f,
				   cudaStream_t stream);
cudaError_t sx_motion_cuda_votes(const struct motion_work *w, const struct motion_frame *f,
				 cudaStream_t stream);
cudaError_t sx_motion_cuda_search(const struct motion_work *w, const struct motion_frame *f, int pass,
				  cudaStream_t stream);
cudaError_t sx_motion_cuda_ego(const struct motion_work *w, const struct motion_frame *f, int pass,
			       cudaStream_t stream);
cudaError_t sx_motion_cuda_movers(const struct motion_work *w, const struct motion_frame *f,
				  cudaStream_t stream);
cudaError_t sx_motion_cuda_group(const struct motion_work *w, const struct motion_frame *f,
				 cudaStream_t stream);
cudaError_t sx_motion_cuda_finish(const struct motion_work *w, const struct motion_frame *f,
				  cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
