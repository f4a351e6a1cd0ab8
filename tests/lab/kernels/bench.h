/*
 * What programs share that time kernels on a device, all of it or a part. On the emulator they only show that
 * they run. What fails ends the program: exit 1, 64 wrong usage.
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
 * usage: [WIDTH HEIGHT [DISPARITIES [LAUNCHES [SMS]]]]. sms: multiprocessors that launches may use; 0: all.
 */
struct bench {
	int width, height, disparities, launches, sms;
	struct sx_green *green;
	cudaStream_t stream, side;
	struct sx_cuda_memory memory; /* of stream */
};

void bench_init(struct bench *b, int argc, char **argv);
void bench_finish(struct bench *b);
void bench_must(cudaError_t e, const char *what);
/* A device image of noise. */
struct sx_image bench_noise(struct bench *b, uint64_t seed);
/* Sorts. */
void bench_print(float *ms, int count);
/* run, again and again: prints best and median. */
void bench_time(const struct bench *b, cudaError_t (*run)(void *arg), void *arg);

#endif
