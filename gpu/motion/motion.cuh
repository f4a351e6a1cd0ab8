/*
 * Parts that the kernels of motion share: which pass runs, and around which step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_MOTION_MOTION_CUH
#define SX_GPU_MOTION_MOTION_CUH

#include "gpu/cuda.cuh"
#include "gpu/motion/motion_kernels.h"
#include "gpu/warp.cuh"
#include "stages/motion/group_rounds.h"
#include "stages/motion/pair.h"

/* Returns whether it is the turn of a pass: if it is next, and the frame before has another left image. */
__device__ __forceinline__ bool motion_is_next(const struct motion_state *s, uint32_t pass)
{
	return s->next == pass && s->differs && (pass != MOTION_VOTED || s->judges);
}

/* Returns the step that a pass searches around, and sets *offset to its offset of disparities. */
__device__ __forceinline__ struct sx_motion_step motion_step_of(const struct sx_camera *c,
								const struct motion_state *s, int pass,
								double *offset)
{
	const uint32_t index = (uint32_t)s->least;

	*offset = pass == MOTION_AGAIN ? s->ego.used.px : s->prior.px;
	if (pass == MOTION_AGAIN)
		return s->ego.step;
	return pass == MOTION_VOTED && index ? sx_motion_fan_step(c, (int)index - 1) : s->learned.step;
}

template <typename T> __device__ __forceinline__ T *motion_row(const struct sx_image *image, int y)
{
	return (T *)((char *)image->data + (size_t)y * image->pitch);
}

/* Copies words. All threads of the block take part; they wait before and after it. */
__device__ __forceinline__ void motion_copy(void *to, const void *from, size_t bytes)
{
	__syncthreads();
	for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x)
		((uint32_t *)to)[i] = ((const uint32_t *)from)[i];
	__syncthreads();
}

/* Returns the place of the n-th bit that is set. */
__device__ __forceinline__ int motion_nth_bit(uint32_t bits, int n)
{
	for (; n > 0; n--)
		bits &= bits - 1;
	return __ffs((int)bits) - 1;
}

#endif
