/*
 * Shared functions of programs that time kernels on a device or on a part of it. On the emulator these
 * programs just prove that they run. A failure ends the program: exit 1, or 64 for wrong usage.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_LAB_KERNELS_BENCH_H
#define SX_TESTS_LAB_KERNELS_BENCH_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "gpu/host/green_context.h"
#include "gpu/memory.h"

#define BENCH_WARM_UP 3
#define BENCH_LAUNCHES_MAX 1000

/*
 * Arguments: [WIDTH HEIGHT [DISPARITIES [LAUNCHES [SMS]]]]. sms: number of multiprocessors that launches may
 * use; 0: all.
 */
struct bench {
	int width, height, disparities, launches, sms;
	struct sx_green *green;
	cudaStream_t stream, side;
	struct sx_cuda_memory memory; /* memory of `stream` */
};

void bench_init(struct bench *b, int argc, char **argv);
void bench_finish(struct bench *b);
void bench_must(cudaError_t e, const char *what);
/* Returns an image of noise in device memory. */
struct sx_image bench_noise(struct bench *b, uint64_t seed);
/* Prints best and median. Sorts ms. */
void bench_print(float *ms, int count);
/* Calls run repeatedly and prints the best and the median time. */
void bench_time(const struct bench *b, cudaError_t (*run)(void *arg), void *arg);

#endif
