/*
 * Device memory and pinned host memory of one context.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/memory.h"

#include <stdint.h>
#include <string.h>

#define PITCH 128

/* Returns an invented address while bytes are counted. It is not NULL and is never dereferenced. */
static void *made_up(const struct sx_cuda_memory *m)
{
	return (void *)(uintptr_t)((size_t)SX_CUDA_ALIGN + m->bytes + m->pinned_bytes);
}

/* Writes the content and waits for it, so kernels of other streams need not wait. */
static cudaError_t fill(struct sx_cuda_memory *m, void *block, const void *data, size_t bytes)
{
	cudaError_t e = data ? cudaMemcpyAsync(block, data, bytes, cudaMemcpyHostToDevice, m->stream)
			     : cudaMemsetAsync(block, 0, bytes, m->stream);

	return e ? e : cudaStreamSynchronize(m->stream);
}

static void *memory_take(struct sx_cuda_memory *m, const void *data, size_t bytes)
{
	const size_t whole = sx_cuda_rounded_up(bytes ? bytes : 1, SX_CUDA_ALIGN);
	void *block = NULL;

	if (m->error)
		return NULL;
	if (m->counting) {
		block = made_up(m);
		m->bytes += whole;
		return block;
	}
	if (m->blocks == SX_CUDA_BLOCKS_MAX) {
		m->error = cudaErrorMemoryAllocation;
		return NULL;
	}
	m->error = cudaMalloc(&block, whole);
	if (m->error)
		return NULL;
	m->block[m->blocks++] = block;
	m->bytes += whole;
	m->error = fill(m, block, data, data ? bytes : whole);
	return m->error ? NULL : block;
}

void *sx_cuda_take(struct sx_cuda_memory *m, size_t bytes)
{
	return memory_take(m, NULL, bytes);
}

void sx_cuda_lend(struct sx_cuda_memory *m, void *block, size_t bytes)
{
	m->lent = block;
	m->lent_bytes = block ? bytes : 0;
}

void *sx_cuda_take_scratch(struct sx_cuda_memory *m, size_t bytes)
{
	const size_t whole = sx_cuda_rounded_up(bytes ? bytes : 1, SX_CUDA_ALIGN);
	unsigned char *block = m->lent;

	if (m->error || whole > m->lent_bytes)
		return memory_take(m, NULL, bytes);
	m->lent += whole;
	m->lent_bytes -= whole;
	return block;
}

void *sx_cuda_upload(struct sx_cuda_memory *m, const void *data, size_t bytes)
{
	return memory_take(m, data, bytes);
}

void sx_cuda_take_image(struct sx_cuda_memory *m, struct sx_image *ret, enum sx_pixel pixel, int width,
			int height)
{
	struct sx_image img;

	memset(&img, 0, sizeof(img));
	img.width = width;
	img.height = height;
	img.pixel = pixel;
	img.pitch = sx_cuda_rounded_up((size_t)width * sx_pixel_bytes(pixel), PITCH);
	img.data = sx_cuda_take(m, img.pitch * (size_t)height);
	*ret = img;
}

void *sx_cuda_take_pinned(struct sx_cuda_memory *m, size_t bytes, void **device)
{
	const size_t whole = sx_cuda_rounded_up(bytes ? bytes : 1, SX_CUDA_ALIGN);
	void *block = NULL;

	*device = NULL;
	if (m->error)
		return NULL;
	if (m->counting) {
		block = *device = made_up(m);
		m->pinned_bytes += whole;
		return block;
	}
	if (m->pinned_blocks == SX_CUDA_PINNED_MAX) {
		m->error = cudaErrorMemoryAllocation;
		return NULL;
	}
	m->error = cudaHostAlloc(&block, whole, cudaHostAllocPortable | cudaHostAllocMapped);
	if (m->error)
		return NULL;
	m->pinned[m->pinned_blocks++] = block;
	m->pinned_bytes += whole;
	memset(block, 0, whole);
	m->error = cudaHostGetDevicePointer(device, block, 0);
	return m->error ? NULL : block;
}

size_t sx_cuda_shared_max(struct sx_cuda_memory *m)
{
	int device = 0, bytes = 0;

	if (m->error == cudaSuccess)
		m->error = cudaGetDevice(&device);
	if (m->error == cudaSuccess)
		m->error = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
	return m->error == cudaSuccess ? (size_t)bytes : 0;
}

void sx_cuda_memory_finish(struct sx_cuda_memory *m)
{
	for (int i = 0; i < m->blocks; i++)
		cudaFree(m->block[i]);
	for (int i = 0; i < m->pinned_blocks; i++)
		cudaFreeHost(m->pinned[i]);
	memset(m, 0, sizeof(*m));
}
