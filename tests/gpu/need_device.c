/*
 * Linked into every test that runs on a real device. Without a device the program ends before its first test,
 * with exit code 77 (skipped). If SX_REQUIRE_GPU is set the exit code is 1, so that a machine that should
 * have a GPU cannot pass without one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

static void __attribute__((constructor)) need_device(void)
{
	int count = 0;
	const cudaError_t e = cudaGetDeviceCount(&count);

	if (e == cudaSuccess && count > 0)
		return;
	fprintf(stderr, "no CUDA device: %s\n", e == cudaSuccess ? "none is visible" : cudaGetErrorString(e));
	exit(getenv("SX_REQUIRE_GPU") ? 1 : 77);
}
