/*
 * What every kernel file includes first: the CUDA headers and the one way to launch. tests/gpu/emulate
 * compiles the same files for the CPU, where a launch means something else; kernels keep to what this header
 * and simd.cuh name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_CUDA_CUH
#define SX_GPU_CUDA_CUH

#include <stdint.h>

#ifdef SX_EMULATE
#include <sx_emulate.h>
#else
#include <cuda_runtime.h>

/* kernel: in parentheses when it has template arguments. shared: dynamic shared memory, bytes. */
#define SX_LAUNCH(kernel, grid, block, shared, stream, ...) \
	kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)

/* Declares the block's dynamic shared memory inside a kernel: type *name. */
#define SX_DYNAMIC_SHARED(type, name)                                      \
	extern __shared__ __align__(16) unsigned char sx_dynamic_shared[]; \
	type *const name = reinterpret_cast<type *>(sx_dynamic_shared)
#endif

/* Last step of every function that launched: what the launch said. Does not wait for the kernel. */
#define SX_LAUNCHED() cudaPeekAtLastError()

#endif
