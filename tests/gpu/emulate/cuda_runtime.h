/*
 * Interface of the runtime for kernel files, with the templates that take a kernel or a variable by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_EMULATE_CUDA_RUNTIME_H
#define SX_TESTS_GPU_EMULATE_CUDA_RUNTIME_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
template <typename T>
inline cudaError_t cudaFuncSetAttribute(T *kernel, enum cudaFuncAttribute what, int value)
{
	return cudaFuncSetAttribute((const void *)kernel, what, value);
}

template <typename T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T *kernel, int threads,
								 size_t shared)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads, shared);
}

template <typename T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t bytes, size_t offset,
					   enum cudaMemcpyKind kind, cudaStream_t stream)
{
	return cudaMemcpyAsync((char *)&symbol + offset, src, bytes, kind, stream);
}

template <typename T>
inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t bytes, size_t offset = 0,
				      enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
	return cudaMemcpy((char *)&symbol + offset, src, bytes, kind);
}

template <typename T> inline cudaError_t cudaMalloc(T **at, size_t bytes)
{
	return cudaMalloc((void **)at, bytes);
}
#endif

#endif
