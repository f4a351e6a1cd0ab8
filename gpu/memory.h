/*
 * Device memory and pinned host memory of a context, or of a chain of motion. Its owner takes all memory when it is
 * created and frees it when it is destroyed. Every byte is counted.
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
#define SX_CUDA_PINNED_MAX 10
/* alignment of cudaMalloc, bytes; sizes are rounded up to it before they are counted */
#define SX_CUDA_ALIGN 256

/*
 * Memory of one owner.
 * error: first error. Every later call fails at once, so the caller checks error only at the end.
 * counting: the functions below only count bytes and return invented addresses. A context counts first, and
 *   so knows what it needs before it takes memory. Until the first frame, stages therefore write to their
 *   memory only with sx_cuda_upload().
 * stream: content is written on this stream, and the calls wait for it.
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

/* Rounds n up to the next multiple of `to`. */
static inline size_t sx_cuda_rounded_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/*
 * Takes zeroed device memory, aligned to SX_CUDA_ALIGN bytes. Returns NULL after an error. Must not be called
 * while a stream captures.
 */
void *sx_cuda_take(struct sx_cuda_memory *m, size_t bytes);
/*
 * Lends and takes scratch memory. Most memory of a context holds path sums, which are needed only until the
 * winner is found.
 * lend: marks block as free from the winner until the next frame begins.
 * scratch: takes memory for a stage that runs after the winner. Its content is lost between frames and is
 *   undefined at first. It is cut from the lent block while that has room, else it is taken as by
 *   sx_cuda_take(). Scratch blocks never overlap.
 */
void sx_cuda_lend(struct sx_cuda_memory *m, void *block, size_t bytes);
void *sx_cuda_take_scratch(struct sx_cuda_memory *m, size_t bytes);
/* Takes device memory as sx_cuda_take() does and copies host data, such as tables, into it. */
void *sx_cuda_upload(struct sx_cuda_memory *m, const void *data, size_t bytes);
/* Takes a device image. pitch is a multiple of 128 bytes. ret->data is NULL after an error. */
void sx_cuda_take_image(struct sx_cuda_memory *m, struct sx_image *ret, enum sx_pixel pixel, int width,
			int height);
/*
 * Takes zeroed pinned host memory, which the device reads and writes in place. device: the device's address
 * of it.
 */
void *sx_cuda_take_pinned(struct sx_cuda_memory *m, size_t bytes, void **device);
/* Returns the shared memory that a block of the current device may have, bytes. Returns 0 after an error. */
size_t sx_cuda_shared_max(struct sx_cuda_memory *m);
/* Frees all memory and zeroes *m. Accepts a zeroed struct. */
void sx_cuda_memory_finish(struct sx_cuda_memory *m);

#ifdef __cplusplus
}
#endif

#endif
