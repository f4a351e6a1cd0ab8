/*
 * Device memory of one context: taken while the context is made, given back with it, every byte counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_MEMORY_H
#define SX_GPU_MEMORY_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/image.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SX_CUDA_BLOCKS_MAX 96
#define SX_CUDA_PINNED_MAX 8
#define SX_CUDA_ALIGN 256 /* of cudaMalloc; counted in full, as the allocator takes it */

/*
 * error: the first that happened; everything after it fails at once, so that only the end need be checked.
 * counting: nothing is taken, addresses are made up, only bytes are counted, so that a context knows what it
 *   needs before it takes anything. So whoever takes memory writes to it by sx_cuda_upload() alone until the
 *   first run.
 * stream: on which content is written (and waited for).
 * lent, lent_bytes: see sx_cuda_lend().
 */
struct sx_cuda_memory {
	void *block[SX_CUDA_BLOCKS_MAX], *pinned[SX_CUDA_PINNED_MAX];
	int blocks, pinned_blocks;
	size_t bytes, pinned_bytes;
	unsigned char *lent;
	size_t lent_bytes;
	bool counting;
	cudaStream_t stream;
	cudaError_t error;
};

/* To the next multiple of `to`. */
static inline size_t sx_cuda_rounded_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* Zeroed device memory, aligned to SX_CUDA_ALIGN bytes. NULL after an error. Not while a stream captures. */
void *sx_cuda_take(struct sx_cuda_memory *m, size_t bytes);
/*
 * Most of a context's memory is path sums, of which nobody needs anything once the winner is found. lend:
 * they are free from then on, until the next frame begins. scratch: memory for a stage behind that, whose
 * content is lost between frames and is garbage at first: of what was lent while that lasts, else as
 * sx_cuda_take(). No two share any.
 */
void sx_cuda_lend(struct sx_cuda_memory *m, void *block, size_t bytes);
void *sx_cuda_take_scratch(struct sx_cuda_memory *m, size_t bytes);
/* As sx_cuda_take() with a copy of host memory in it: tables. */
void *sx_cuda_upload(struct sx_cuda_memory *m, const void *data, size_t bytes);
/* A device image; pitch is a multiple of 128 bytes. ret->data is NULL after an error. */
void sx_cuda_take_image(struct sx_cuda_memory *m, struct sx_image *ret, enum sx_pixel pixel, int width,
			int height);
/* Zeroed host memory that the device reads and writes where it lies. device: its address there. */
void *sx_cuda_take_pinned(struct sx_cuda_memory *m, size_t bytes, void **device);
/* Shared memory that a block of the current device may have, bytes. 0 after an error. */
size_t sx_cuda_shared_max(struct sx_cuda_memory *m);
/* Accepts a zeroed one and zeroes it. */
void sx_cuda_memory_finish(struct sx_cuda_memory *m);

#ifdef __cplusplus
}
#endif

#endif
