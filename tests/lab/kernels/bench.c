/*
 * Arguments, streams and clocks for programs that time kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/lab/kernels/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/why.h"
#include "tests/check.h"

void bench_must(cudaError_t e, const char *what)
{
	if (e == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
	exit(1);
}

static int argument(int argc, char **argv, int i, int least, int most, int otherwise)
{
	char *end = NULL;
	long v = otherwise;

	if (i < argc)
		v = strtol(argv[i], &end, 10);
	if ((end && *end) || v < least || v > most) {
		fprintf(stderr, "usage: %s [WIDTH HEIGHT [DISPARITIES [LAUNCHES [SMS]]]]\n", argv[0]);
		exit(64);
	}
	return (int)v;
}

/* Makes the streams, on sms multiprocessors or, if sms is 0, on all. */
static void take_streams(struct bench *b, int sms)
{
	struct sx_why why;

	bench_must(cudaFree(NULL), "a context");
	if (!sms) {
		bench_must(cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking), "a stream");
		bench_must(cudaStreamCreateWithFlags(&b->side, cudaStreamNonBlocking), "a stream");
		return;
	}
	if (sx_green_create(&b->green, 0, sms, false, &b->sms, &why) < 0) {
		fprintf(stderr, "%s\n", why.text);
		exit(1);
	}
	bench_must(sx_green_enter(b->green), "entering a part of the GPU");
	bench_must(sx_green_stream(b->green, 0, &b->stream), "a stream");
	bench_must(sx_green_stream(b->green, 0, &b->side), "a stream");
}

void bench_init(struct bench *b, int argc, char **argv)
{
	memset(b, 0, sizeof(*b));
	b->width = argument(argc, argv, 1, 32, 4096, 1024);
	b->height = argument(argc, argv, 2, 32, 2160, 440);
	b->disparities = argument(argc, argv, 3, 32, 256, 128) / 32 * 32;
	b->launches = argument(argc, argv, 4, 1, BENCH_LAUNCHES_MAX, 100);
	take_streams(b, argument(argc, argv, 5, 0, 1000, 0));
	b->memory.stream = b->stream;
	printf("%dx%d, %d disparities, %d launches, %d multiprocessors (0: all): best, median in ms\n",
	       b->width, b->height, b->disparities, b->launches, b->sms);
}

void bench_finish(struct bench *b)
{
	sx_cuda_memory_finish(&b->memory);
	bench_must(cudaStreamDestroy(b->side), "a stream");
	bench_must(cudaStreamDestroy(b->stream), "a stream");
	sx_green_destroy(b->green);
}

struct sx_image bench_noise(struct bench *b, uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);
	struct check_image host;
	struct sx_image device;

	sx_cuda_take_image(&b->memory, &device, SX_PIXEL_U8, b->width, b->height);
	bench_must(b->memory.error, "memory");
	check_image_init(&host, SX_PIXEL_U8, b->width, b->height, 0);
	check_fill(&host.image, CHECK_NOISE, &r);
	for (int y = 0; y < b->height; y++)
		bench_must(cudaMemcpyAsync(sx_image_row(&device, y), sx_image_row(&host.image, y),
					   (size_t)b->width, cudaMemcpyHostToDevice, b->stream),
			   "grey");
	bench_must(cudaStreamSynchronize(b->stream), "grey");
	check_image_finish(&host);
	return device;
}

static int compare(const void *a, const void *b)
{
	const float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

void bench_print(float *ms, int count)
{
	qsort(ms, (size_t)count, sizeof(*ms), compare);
	printf(" %8.4f %8.4f", (double)ms[0], (double)ms[count / 2]);
}

void bench_time(const struct bench *b, cudaError_t (*run)(void *arg), void *arg)
{
	static float ms[BENCH_LAUNCHES_MAX];
	cudaEvent_t from, to;

	bench_must(cudaEventCreate(&from), "cudaEventCreate");
	bench_must(cudaEventCreate(&to), "cudaEventCreate");
	for (int i = 0; i < BENCH_WARM_UP; i++)
		bench_must(run(arg), "a launch");
	for (int i = 0; i < b->launches; i++) {
		bench_must(cudaEventRecord(from, b->stream), "cudaEventRecord");
		bench_must(run(arg), "a launch");
		bench_must(cudaEventRecord(to, b->stream), "cudaEventRecord");
		bench_must(cudaEventSynchronize(to), "a kernel");
		bench_must(cudaEventElapsedTime(&ms[i], from, to), "cudaEventElapsedTime");
	}
	bench_print(ms, b->launches);
	bench_must(cudaEventDestroy(from), "cudaEventDestroy");
	bench_must(cudaEventDestroy(to), "cudaEventDestroy");
}
