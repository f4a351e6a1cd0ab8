/*
 * Times FastDT with ZNCC from the words of windows to the winner, for each variant and window. Prints best
 * and median, ms: all; costs; the passes to the right, to the left and down; up and the winner.
 *
 *   bench_fastdt [WIDTH HEIGHT [DISPARITIES [LAUNCHES [SMS]]]]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "gpu/fastdt/fastdt_cuda.h"
#include "gpu/zncc/zncc_cuda.h"
#include "stages/stereo/zncc.h"
#include "tests/lab/kernels/bench.h"

enum { MARKS = 4 }; /* time stamps: at the start, after costs, after the passes, at the end */

struct fastdt {
	struct bench b;
	struct sx_image grey[2], words[2], winner[2], confidence;
	struct sx_stereo_params p;
	uint8_t *costs;
	cudaEvent_t fork, join; /* events of the side stream */
	uint64_t *marks;	/* time stamps in device memory */
	struct sx_fastdt_cuda *s;
};

static cudaError_t run(void *arg)
{
	const struct fastdt *f = arg;
	const cudaStream_t stream = f->b.stream;
	cudaError_t e;

	if ((e = sx_cuda_mark(f->marks, stream)) || (e = sx_fastdt_cuda_weights(f->s, &f->grey[0], stream)) ||
	    (e = cudaEventRecord(f->fork, stream)) || (e = cudaStreamWaitEvent(f->b.side, f->fork, 0)) ||
	    (e = sx_fastdt_cuda_gain(f->s, f->b.side)) || (e = cudaEventRecord(f->join, f->b.side)) ||
	    (e = sx_zncc_cost_cuda_run(f->grey, f->words, &f->p, f->costs, stream)) ||
	    (e = sx_cuda_mark(f->marks + 1, stream)) || (e = sx_fastdt_cuda_passes(f->s, stream)) ||
	    (e = cudaStreamWaitEvent(stream, f->join, 0)) || (e = sx_cuda_mark(f->marks + 2, stream)) ||
	    (e = sx_fastdt_cuda_winner(f->s, &f->winner[0], &f->winner[1], &f->confidence, stream)))
		return e;
	return sx_cuda_mark(f->marks + MARKS - 1, stream);
}

/* Prints the times between the stamps, by the clock of the device. */
static void time_parts(struct fastdt *f)
{
	static float ms[MARKS - 1][BENCH_LAUNCHES_MAX];
	uint64_t ns[MARKS];

	for (int i = 0; i < f->b.launches; i++) {
		bench_must(run(f), "a launch");
		bench_must(cudaMemcpyAsync(ns, f->marks, sizeof(ns), cudaMemcpyDeviceToHost, f->b.stream),
			   "marks");
		bench_must(cudaStreamSynchronize(f->b.stream), "a kernel");
		for (int k = 0; k < MARKS - 1; k++)
			ms[k][i] = (float)(ns[k + 1] - ns[k]) * 1e-6f;
	}
	for (int k = 0; k < MARKS - 1; k++)
		bench_print(ms[k], f->b.launches);
}

static void time_one(struct fastdt *f)
{
	const struct sx_stereo_params *p = &f->p;
	const struct sx_context_config c = {.width = f->b.width, .height = f->b.height, .params.stereo = *p};
	struct sx_cuda_memory m = {.stream = f->b.stream};

	f->costs = sx_cuda_take(&m, sx_fastdt_cuda_cost_bytes(&c));
	if (sx_fastdt_cuda_create(&f->s, &m, &c, f->costs) < 0)
		bench_must(m.error, "memory");
	bench_must(sx_zncc_windows_cuda_run(f->grey, f->words, p->zncc_window, f->b.stream), "windows");
	printf("%-5s window %2d", p->fastdt == SX_FASTDT_INT8 ? "int8" : "int16", p->zncc_window);
	bench_time(&f->b, run, f);
	printf("; costs");
	time_parts(f);
	printf("\n");
	sx_fastdt_cuda_destroy(f->s);
	sx_cuda_memory_finish(&m);
}

static void take(struct fastdt *f)
{
	struct bench *b = &f->b;
	struct sx_cuda_memory *m = &b->memory;

	for (int i = 0; i < 2; i++) {
		f->grey[i] = bench_noise(b, (uint64_t)i);
		sx_cuda_take_image(m, &f->words[i], SX_PIXEL_U64, b->width, b->height);
		sx_cuda_take_image(m, &f->winner[i], SX_PIXEL_U16, b->width, b->height);
	}
	sx_cuda_take_image(m, &f->confidence, SX_PIXEL_U8, b->width, b->height);
	f->marks = sx_cuda_take(m, MARKS * sizeof(*f->marks));
	bench_must(m->error, "memory");
	bench_must(cudaEventCreateWithFlags(&f->fork, cudaEventDisableTiming), "an event");
	bench_must(cudaEventCreateWithFlags(&f->join, cudaEventDisableTiming), "an event");
}

int main(int argc, char **argv)
{
	struct fastdt f;
	struct sx_stereo_params *p = &f.p;

	memset(&f, 0, sizeof(f));
	bench_init(&f.b, argc, argv);
	take(&f);
	for (int variant = SX_FASTDT_INT16; variant <= SX_FASTDT_INT8; variant++) {
		for (int window = 3; window <= SX_ZNCC_WINDOW_MAX; window += 2) {
			memset(p, 0, sizeof(*p));
			p->cost = SX_COST_ZNCC;
			p->aggregation = SX_AGGREGATION_FASTDT;
			p->fastdt = (enum sx_fastdt)variant;
			p->zncc_window = window;
			p->disparities = f.b.disparities;
			p->uniqueness = 95;
			p->subpixel = SX_SUBPIXEL_TRUNC;
			sx_stereo_resolve(p);
			time_one(&f);
		}
	}
	bench_must(cudaEventDestroy(f.fork), "an event");
	bench_must(cudaEventDestroy(f.join), "an event");
	bench_finish(&f.b);
	return 0;
}
