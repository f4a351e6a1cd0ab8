/*
 * How long each way of ZNCC's kernels takes, for the tables of gpu/zncc.cu and gpu/zncc_cost.cu: best and median of a kernel's launches, ms.
 *
 *   bench_zncc [WIDTH HEIGHT [DISPARITIES [LAUNCHES [SMS]]]]
 *
 * SMS: multiprocessors that the launches may use; 0, the default: all.
 * On the emulator it only shows that it runs. Exit: 0, 1 a call fails, 64 wrong usage.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/green.h"
#include "gpu/memory.h"
#include "gpu/zncc_cuda.h"
#include "tests/check.h"

#define WARM_UP 3
#define LAUNCHES_MAX 1000

struct bench {
	struct sx_image grey[2], words[2];
	struct sx_stereo_params p;
	uint8_t *volume;
	struct sx_green *green;
	cudaStream_t stream;
	int launches;
};

static const char *const sums_names[] = {"chosen", "direct", "running"};
static const char *const scan_names[] = {"chosen", "plain", "row", "zigzag"};

static void must(cudaError_t e, const char *what)
{
	if (e == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
	exit(1);
}

static cudaError_t run_sums(const struct bench *b, int how)
{
	return sx_zncc_windows_cuda_run(b->grey, b->words, b->p.zncc_window, (enum sx_zncc_sums)how,
					b->stream);
}

static cudaError_t run_scan(const struct bench *b, int how)
{
	return sx_zncc_cost_cuda_run(b->grey, b->words, &b->p, b->volume, (enum sx_zncc_scan)how, b->stream);
}

static int compare(const void *a, const void *b)
{
	const float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static void time_one(const struct bench *b, const char *what, const char *name,
		     cudaError_t (*run)(const struct bench *, int), int how)
{
	static float ms[LAUNCHES_MAX];
	cudaEvent_t from, to;

	must(cudaEventCreate(&from), "cudaEventCreate");
	must(cudaEventCreate(&to), "cudaEventCreate");
	for (int i = 0; i < WARM_UP; i++)
		must(run(b, how), name);
	for (int i = 0; i < b->launches; i++) {
		must(cudaEventRecord(from, b->stream), "cudaEventRecord");
		must(run(b, how), name);
		must(cudaEventRecord(to, b->stream), "cudaEventRecord");
		must(cudaEventSynchronize(to), name);
		must(cudaEventElapsedTime(&ms[i], from, to), "cudaEventElapsedTime");
	}
	qsort(ms, (size_t)b->launches, sizeof(*ms), compare);
	printf("%-6s window %2d %-8s %8.4f %8.4f\n", what, b->p.zncc_window, name, (double)ms[0],
	       (double)ms[b->launches / 2]);
	must(cudaEventDestroy(from), "cudaEventDestroy");
	must(cudaEventDestroy(to), "cudaEventDestroy");
}

/* A device image of noise. */
static void fill(const struct bench *b, const struct sx_image *device, uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);
	struct check_image host;

	check_image_init(&host, SX_PIXEL_U8, device->width, device->height, 0);
	check_fill(&host.image, CHECK_NOISE, &r);
	for (int y = 0; y < device->height; y++)
		must(cudaMemcpyAsync(sx_image_row(device, y), sx_image_row(&host.image, y),
				     (size_t)device->width, cudaMemcpyHostToDevice, b->stream),
		     "grey");
	must(cudaStreamSynchronize(b->stream), "grey");
	check_image_finish(&host);
}

/* On sms multiprocessors, or on all. Returns how many these are. */
static int take_stream(struct bench *b, int sms)
{
	int granted = 0;
	char why[160];

	must(cudaFree(NULL), "a context");
	if (!sms) {
		must(cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking), "a stream");
		return 0;
	}
	if (sx_green_create(&b->green, 0, sms, &granted, why, sizeof(why)) < 0) {
		fprintf(stderr, "%s\n", why);
		exit(1);
	}
	must(sx_green_enter(b->green), "entering a part of the GPU");
	must(sx_green_stream(b->green, 0, &b->stream), "a stream");
	return granted;
}

static void take(struct bench *b, struct sx_cuda_memory *m, int width, int height)
{
	m->stream = b->stream;
	for (int i = 0; i < 2; i++) {
		sx_cuda_take_image(m, &b->grey[i], SX_PIXEL_U8, width, height);
		sx_cuda_take_image(m, &b->words[i], SX_PIXEL_U64, width, height);
	}
	b->volume = sx_cuda_take(m, (size_t)width * (size_t)height * (size_t)b->p.disparities);
	must(m->error, "memory");
	for (int i = 0; i < 2; i++)
		fill(b, &b->grey[i], (uint64_t)i);
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

int main(int argc, char **argv)
{
	const int width = argument(argc, argv, 1, 32, 4096, 1024),
		  height = argument(argc, argv, 2, 32, 2160, 440);
	struct sx_cuda_memory m;
	struct bench b;
	int sms;

	memset(&m, 0, sizeof(m));
	memset(&b, 0, sizeof(b));
	b.p.cost = SX_COST_ZNCC;
	b.p.disparities = argument(argc, argv, 3, 32, 256, 128) / 32 * 32;
	b.launches = argument(argc, argv, 4, 1, LAUNCHES_MAX, 100);
	sms = take_stream(&b, argument(argc, argv, 5, 0, 1000, 0));
	take(&b, &m, width, height);
	printf("%dx%d, %d disparities, %d launches, %d multiprocessors (0: all): best, median in ms\n", width,
	       height, b.p.disparities, b.launches, sms);
	for (b.p.zncc_window = 3; b.p.zncc_window <= 15; b.p.zncc_window += 2) {
		for (int how = SX_ZNCC_SUMS_DIRECT; how <= SX_ZNCC_SUMS_RUNNING; how++)
			time_one(&b, "words", sums_names[how], run_sums, how);
		for (int how = SX_ZNCC_SCAN_PLAIN; how < SX_ZNCC_SCAN_COUNT; how++)
			time_one(&b, "volume", scan_names[how], run_scan, how);
	}
	sx_cuda_memory_finish(&m);
	must(cudaStreamDestroy(b.stream), "a stream");
	sx_green_destroy(b.green);
	return 0;
}
