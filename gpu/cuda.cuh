/*
 * First include of every kernel file: the CUDA headers and the one way to launch a kernel. tests/gpu/emulate
 * compiles the same files for the CPU, where a launch means something else. Kernels therefore use only what
 * this header and simd.cuh name.
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

/*
 * Launches a kernel. kernel: in parentheses if it has template arguments. shared: dynamic shared memory,
 * bytes.
 */
#define SX_LAUNCH(kernel, grid, block, shared, stream, ...) \
	kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)

/* Declares the block's dynamic shared memory inside a kernel: type *name. */
#define SX_DYNAMIC_SHARED(type, name)                                      \
	extern __shared__ __align__(16) unsigned char sx_dynamic_shared[]; \
	type *const name = reinterpret_cast<type *>(sx_dynamic_shared)
#endif

/*
 * Returns the error of the launch; does not wait for the kernel. Last step of every function that launches.
 */
#define SX_LAUNCHED() cudaPeekAtLastError()

#endif
