/*
 * Times ZNCC's kernels for each window: the words of windows, and the cost volume. Prints best and median of
 * launches, ms.
 *
 *   bench_zncc [WIDTH HEIGHT [DISPARITIES [LAUNCHES [SMS]]]]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "gpu/zncc/zncc_cuda.h"
#include "tests/lab/kernels/bench.h"

struct zncc {
	struct bench b;
	struct sx_image grey[2], words[2];
	struct sx_stereo_params p;
	uint8_t *volume;
};

static cudaError_t run_sums(void *arg)
{
	const struct zncc *z = arg;

	return sx_zncc_windows_cuda_run(z->grey, z->words, z->p.zncc_window, z->b.stream);
}

static cudaError_t run_volume(void *arg)
{
	const struct zncc *z = arg;

	return sx_zncc_cost_cuda_run(z->grey, z->words, &z->p, z->volume, z->b.stream);
}

static void time_one(struct zncc *z, const char *what, cudaError_t (*run)(void *))
{
	printf("%-6s window %2d", what, z->p.zncc_window);
	bench_time(&z->b, run, z);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct zncc z = {.p.cost = SX_COST_ZNCC};
	struct bench *b = &z.b;

	bench_init(b, argc, argv);
	z.p.disparities = b->disparities;
	for (int i = 0; i < 2; i++) {
		z.grey[i] = bench_noise(b, (uint64_t)i);
		sx_cuda_take_image(&b->memory, &z.words[i], SX_PIXEL_U64, b->width, b->height);
	}
	z.volume = sx_cuda_take(&b->memory, (size_t)b->width * (size_t)b->height * (size_t)b->disparities);
	bench_must(b->memory.error, "memory");
	for (z.p.zncc_window = 3; z.p.zncc_window <= 15; z.p.zncc_window += 2) {
		time_one(&z, "words", run_sums);
		time_one(&z, "volume", run_volume);
	}
	bench_finish(b);
	return 0;
}
