/*
 * Small kernels that use all features of the emulator, some of them wrongly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_EMULATE_KERNELS_H
#define SX_TESTS_GPU_EMULATE_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sums in[0..n) with four warps per block, through shuffles, shared memory and an atomic. */
cudaError_t emulate_sum(const uint32_t *in, int n, uint32_t *out, cudaStream_t stream);
/*
 * out[i] = sum over the group of lanes (of 4, 8, 16 or 32) that contains i. Groups of one warp run loops of
 * different length.
 */
cudaError_t emulate_groups(uint32_t *out, int threads, cudaStream_t stream);
/* Calls each warp function once. out: 16 words per lane of one warp. Lanes from `leave` on return first. */
cudaError_t emulate_lanes(uint32_t *out, int leave, cudaStream_t stream);
/* Calls functions for rounding, bits and conversions. out: one word per case. */
#define EMULATE_MATH_COUNT 29
cudaError_t emulate_math(uint32_t *out, cudaStream_t stream);
/* out[i] += in[i] in one launch, and scaling through dynamic shared memory of a template type. */
cudaError_t emulate_add(uint32_t *out, const uint32_t *in, int n, cudaStream_t stream);
/* Each block appends its index to a list at the position given by an atomic counter. */
cudaError_t emulate_blocks(uint32_t *list, uint32_t *count, int blocks, cudaStream_t stream);

enum emulate_fault {
	EMULATE_MISSING_LANE,	/* one lane never reaches a shuffle */
	EMULATE_OTHER_FUNCTION, /* lanes of one mask call ballot and shuffle */
	EMULATE_NOT_NAMED,	/* a mask without the caller */
	EMULATE_ABSENT_SOURCE,	/* a shuffle from a lane outside of the mask */
	EMULATE_BARRIER,	/* two different __syncthreads */
	EMULATE_HALF_BARRIER,	/* half of a warp at the barrier, half at __syncwarp */
	EMULATE_UNWRITTEN,	/* reads shared memory that was never written: no report, garbage in out */
	EMULATE_LOCK_STEP, /* exchanges data through shared memory without __syncwarp: no report, wrong values in out */
	EMULATE_FAULT_COUNT
};
cudaError_t emulate_fault(enum emulate_fault how, uint32_t *out, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
