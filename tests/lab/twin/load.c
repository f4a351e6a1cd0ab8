/*
 * Loads: starts and stops them, and computes what they moved.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/lab/twin/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/lab/kernels/bench.h"

#define MEMORY_BYTES ((size_t)4 << 30)
#define FAR_BYTES_MAX ((size_t)32 << 30)
#define START_NS 300000000 /* ns; blocks that do not run by then have no room */

static uint32_t *volatile told_of_all; /* stop word of the single load of this program */

const char *twin_kind_name(enum twin_kind kind)
{
	static const char *const names[TWIN_KINDS] = {
		[TWIN_READ] = "read",	    [TWIN_WRITE] = "write", [TWIN_COPY] = "copy",
		[TWIN_SECTORS] = "sectors", [TWIN_PAGES] = "pages", [TWIN_SCATTER] = "scatter",
		[TWIN_ATOMICS] = "atomics", [TWIN_HOT] = "hot",	    [TWIN_SUMS] = "sums",
		[TWIN_SUMS_64] = "sums-64",
	};

	return names[kind];
}

void twin_load_end_all(void)
{
	uint32_t *told = told_of_all;

	if (told)
		((volatile uint32_t *)told)[0] = ((volatile uint32_t *)told)[1] = 1;
}

static void *take_shared(size_t bytes, void *device)
{
	void *host = NULL;

	bench_must(cudaHostAlloc(&host, bytes, cudaHostAllocMapped | cudaHostAllocPortable), "pinned memory");
	memset(host, 0, bytes);
	bench_must(cudaHostGetDevicePointer((void **)device, host, 0), "pinned memory");
	return host;
}

/*
 * Allocates one block of memory for all kinds. The part for TWIN_PAGES takes at most half of the free memory.
 */
static void take_memory(struct twin_load *l)
{
	size_t idle = 0, all = 0;

	bench_must(cudaMemGetInfo(&idle, &all), "asking for free memory");
	l->bytes = MEMORY_BYTES;
	while (l->bytes > idle / 2)
		l->bytes /= 2;
	l->far_bytes = FAR_BYTES_MAX;
	while (l->far_bytes > l->bytes && l->far_bytes > idle / 2)
		l->far_bytes /= 2;
	bench_must(cudaMalloc(&l->memory, l->far_bytes), "memory of loads");
	bench_must(cudaMemset(l->memory, 0, l->far_bytes), "memory of loads");
	bench_must(cudaMalloc((void **)&l->word, 4 * sizeof(*l->word)), "words of loads");
	bench_must(cudaMemset(l->word, 0, 4 * sizeof(*l->word)), "words of loads");
	l->told = take_shared(2 * sizeof(*l->told), &l->given_device);
	l->block = take_shared(TWIN_BLOCKS_MAX * sizeof(*l->block), &l->block_device);
	l->keeper = take_shared(TWIN_KEEPERS * sizeof(*l->keeper), &l->keeper_device);
	told_of_all = l->told;
	atexit(twin_load_end_all);
}

/* Sets aside as much of the cache as the device permits. If it permits none, only the loads take cache. */
static void set_cache_aside(struct twin_load *l)
{
	struct cudaDeviceProp p;
	cudaStreamAttrValue v = {0};
	cudaError_t e;

	bench_must(cudaGetDeviceProperties(&p, 0), "asking for the cache");
	l->cache_bytes = (size_t)p.l2CacheSize;
	l->window_bytes = (size_t)p.accessPolicyMaxWindowSize;
	l->kept_bytes = (size_t)p.persistingL2CacheMaxSize;
	if (l->kept_bytes > l->window_bytes)
		l->kept_bytes = l->window_bytes;
	l->kept_bytes &= ~(size_t)0xffff;
	if (!l->kept_bytes)
		return;
	bench_must(cudaMalloc(&l->kept, l->kept_bytes), "memory that stays in the cache");
	bench_must(cudaMemset(l->kept, 0, l->kept_bytes), "memory that stays in the cache");
	v.accessPolicyWindow.base_ptr = l->kept;
	v.accessPolicyWindow.num_bytes = l->kept_bytes;
	v.accessPolicyWindow.hitRatio = 1;
	v.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
	v.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
	e = cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, l->kept_bytes);
	if (!e)
		e = cudaStreamSetAttribute(l->keep_stream, cudaStreamAttributeAccessPolicyWindow, &v);
	if (!e)
		return;
	cudaGetLastError();
	printf("no cache can be set aside (%s): its lines are only touched again and again\n",
	       cudaGetErrorString(e));
	fflush(stdout);
}

/* Runs every kind for a moment, because loading a kernel later would wait for the running load. */
static void warm_up(struct twin_load *l)
{
	struct twin_load_told told;

	for (int k = 0; k < TWIN_KINDS; k++) {
		twin_load_start(l, (enum twin_kind)k, l->sms, 0.01);
		twin_load_stop(l, &told);
	}
	twin_load_keep(l, 0.01);
	twin_load_release(l);
}

int twin_load_init(struct twin_load *l, int slice, struct sx_why *why)
{
	int r;

	memset(l, 0, sizeof(*l));
	bench_must(cudaSetDevice(0), "the device");
	bench_must(cudaFree(NULL), "a context");
	take_memory(l);
	bench_must(cudaDeviceSynchronize(), "clearing memory");
	r = sx_green_create(&l->rest, 0, slice, true, &l->sms, why);
	if (r < 0)
		return r;
	bench_must(sx_green_enter(l->rest), "entering the rest");
	bench_must(sx_green_stream(l->rest, 0, &l->stream), "a stream of the rest");
	bench_must(sx_green_stream(l->rest, 0, &l->keep_stream), "a stream of the rest");
	bench_must(cudaEventCreateWithFlags(&l->ended, cudaEventDisableTiming), "an event");
	set_cache_aside(l);
	bench_must(cudaStreamSynchronize(0), "clearing memory");
	warm_up(l);
	return 0;
}

void twin_load_finish(struct twin_load *l)
{
	struct twin_load_told told;

	if (!l->memory)
		return;
	twin_load_stop(l, &told);
	twin_load_release(l);
	if (l->rest) {
		bench_must(sx_green_enter(l->rest), "entering the rest");
		cudaEventDestroy(l->ended);
		cudaStreamDestroy(l->stream);
		cudaStreamDestroy(l->keep_stream);
	}
	sx_green_destroy(l->rest);
	bench_must(cudaSetDevice(0), "the device");
	told_of_all = NULL;
	cudaFree(l->memory);
	cudaFree(l->kept);
	cudaFree(l->word);
	cudaFreeHost(l->told);
	cudaFreeHost(l->block);
	cudaFreeHost(l->keeper);
	memset(l, 0, sizeof(*l));
}

int twin_load_most(const struct twin_load *l, enum twin_kind kind)
{
	int each = 0;

	bench_must(twin_load_blocks(kind, &each), "asking for room");
	if (each > 1)
		each--; /* leaves room for a keeper */
	return each * l->sms < TWIN_BLOCKS_MAX ? each * l->sms : TWIN_BLOCKS_MAX;
}

/* Waits until the blocks have reported their start. Returns the number of running blocks. */
static int await_blocks(const struct twin_block *b, int blocks)
{
	const int64_t end = sx_now_ns() + START_NS;
	int running = 0;

	do {
		running = 0;
		for (int i = 0; i < blocks; i++)
			running += ((const volatile struct twin_block *)b)[i].started != 0;
	} while (running < blocks && sx_now_ns() < end);
	return running;
}

void twin_load_keep(struct twin_load *l, double seconds)
{
	const struct twin_work w = {.memory = l->kept,
				    .bytes = l->kept_bytes,
				    .told = l->given_device + 1,
				    .stop = l->word + 2,
				    .limit_ns = (uint64_t)(seconds * 1e9),
				    .blocks = l->keeper_device};

	if (!l->kept_bytes || l->keeps)
		return;
	memset(l->keeper, 0, TWIN_KEEPERS * sizeof(*l->keeper));
	((volatile uint32_t *)l->told)[1] = 0;
	bench_must(sx_green_enter(l->rest), "entering the rest");
	bench_must(cudaMemsetAsync(l->word + 2, 0, 2 * sizeof(*l->word), l->keep_stream), "a keeper");
	bench_must(twin_keep_run(TWIN_KEEPERS, &w, l->keep_stream), "a keeper");
	l->keeps = true;
	await_blocks(l->keeper, TWIN_KEEPERS);
}

void twin_load_release(struct twin_load *l)
{
	if (!l->keeps)
		return;
	((volatile uint32_t *)l->told)[1] = 1;
	bench_must(sx_green_enter(l->rest), "entering the rest");
	bench_must(cudaStreamSynchronize(l->keep_stream), "a keeper");
	if (cudaCtxResetPersistingL2Cache()) /* without this, lines of the load stay in the cache for long */
		cudaGetLastError();
	l->keeps = false;
}

void twin_load_start(struct twin_load *l, enum twin_kind kind, int blocks, double seconds)
{
	const struct twin_work w = {.memory = l->memory,
				    .bytes = kind == TWIN_PAGES ? l->far_bytes : l->bytes,
				    .told = l->given_device,
				    .stop = l->word,
				    .limit_ns = (uint64_t)(seconds * 1e9),
				    .blocks = l->block_device};

	if (blocks <= 0 || l->runs)
		return;
	memset(l->block, 0, TWIN_BLOCKS_MAX * sizeof(*l->block));
	((volatile uint32_t *)l->told)[0] = 0;
	bench_must(sx_green_enter(l->rest), "entering the rest");
	bench_must(cudaMemsetAsync(l->word, 0, 2 * sizeof(*l->word), l->stream), "a load");
	bench_must(twin_load_run(kind, blocks, &w, l->stream), "a load");
	bench_must(cudaEventRecord(l->ended, l->stream), "a load");
	l->runs = true;
	l->blocks = blocks;
	l->kind = kind;
	await_blocks(l->block, blocks);
}

/* Sums up the blocks that ran. They began and ended at about the same time. */
static void sum_up(const struct twin_load *l, struct twin_load_told *ret)
{
	const double bytes = (double)twin_load_pass_bytes(l->kind);

	for (int i = 0; i < l->blocks; i++) {
		if (!l->block[i].ns)
			continue;
		ret->blocks++;
		ret->gbs += (double)l->block[i].passes * bytes / (double)l->block[i].ns;
	}
}

void twin_load_stop(struct twin_load *l, struct twin_load_told *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->lasted = true;
	if (!l->runs)
		return;
	bench_must(sx_green_enter(l->rest), "entering the rest");
	ret->lasted = cudaEventQuery(l->ended) == cudaErrorNotReady;
	((volatile uint32_t *)l->told)[0] = 1;
	bench_must(cudaStreamSynchronize(l->stream), "a load");
	l->runs = false;
	sum_up(l, ret);
}

void twin_load_where(struct twin_load *l, uint32_t *seen)
{
	uint32_t *device;

	bench_must(sx_green_enter(l->rest), "entering the rest");
	bench_must(cudaMalloc((void **)&device, TWIN_MULTIPROCESSORS_MAX * sizeof(*seen)), "memory");
	bench_must(cudaMemset(device, 0, TWIN_MULTIPROCESSORS_MAX * sizeof(*seen)), "memory");
	bench_must(cudaStreamSynchronize(0), "memory");
	bench_must(twin_where_run(device, 4 * l->sms, l->stream), "looking where blocks run");
	bench_must(cudaStreamSynchronize(l->stream), "looking where blocks run");
	bench_must(cudaMemcpy(seen, device, TWIN_MULTIPROCESSORS_MAX * sizeof(*seen), cudaMemcpyDeviceToHost),
		   "looking where blocks run");
	cudaFree(device);
}
