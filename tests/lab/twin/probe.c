/*
 * Measures the memory of a slice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/lab/twin/probe.h"

#include <string.h>

#include "tests/lab/kernels/bench.h"

#define MEMORY_BYTES ((size_t)2 << 30)
#define CHAIN_BYTES ((size_t)512 << 20)
#define PROBE_BYTES ((size_t)128 << 20) /* bytes of one launch: more than caches hold */
#define TIMES 3
#define HOPS 1000

void twin_probe_init(struct twin_probe *p)
{
	memset(p, 0, sizeof(*p));
	bench_must(cudaSetDevice(0), "the device");
	bench_must(cudaMalloc(&p->memory, MEMORY_BYTES), "memory of probes");
	bench_must(cudaMemset(p->memory, 0, MEMORY_BYTES), "memory of probes");
	bench_must(cudaMalloc(&p->chain, CHAIN_BYTES), "memory of probes");
	bench_must(twin_chain_run(p->chain, CHAIN_BYTES, 0), "a chain");
	bench_must(cudaHostAlloc((void **)&p->ns, 2 * sizeof(*p->ns),
				 cudaHostAllocMapped | cudaHostAllocPortable),
		   "pinned memory");
	bench_must(cudaHostGetDevicePointer((void **)&p->ns_device, p->ns, 0), "pinned memory");
	bench_must(cudaDeviceSynchronize(), "memory of probes");
}

void twin_probe_finish(struct twin_probe *p)
{
	cudaFree(p->memory);
	cudaFree(p->chain);
	cudaFreeHost(p->ns);
	memset(p, 0, sizeof(*p));
}

void twin_probe_attach(struct twin_probe *p, const struct sx_device *d)
{
	struct twin_probe_told told;

	bench_must(sx_cuda_enter(d), "entering the slice");
	bench_must(sx_cuda_stream(d, &p->stream), "a stream of the slice");
	bench_must(cudaEventCreate(&p->from), "an event");
	bench_must(cudaEventCreate(&p->to), "an event");
	p->blocks = 4 * d->sms;
	twin_probe_all(p, &told);
}

void twin_probe_detach(struct twin_probe *p)
{
	cudaEventDestroy(p->from);
	cudaEventDestroy(p->to);
	cudaStreamDestroy(p->stream);
}

static double median(double *v, int n)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k > 0 && v[k] < v[k - 1]; k--) {
			const double t = v[k];

			v[k] = v[k - 1];
			v[k - 1] = t;
		}
	return v[n / 2];
}

/* Runs one launch. Returns its time, ms. */
static double launch_ms(struct twin_probe *p, enum twin_way way, void *memory, size_t bytes, int repeat)
{
	float ms = 0;

	bench_must(cudaEventRecord(p->from, p->stream), "a probe");
	bench_must(twin_probe_run(way, memory, bytes, repeat, p->blocks, p->stream), "a probe");
	bench_must(cudaEventRecord(p->to, p->stream), "a probe");
	bench_must(cudaEventSynchronize(p->to), "a probe");
	bench_must(cudaEventElapsedTime(&ms, p->from, p->to), "a probe");
	return (double)ms;
}

/* Returns the next bytes of the memory, which have not been read for long. */
static void *next(struct twin_probe *p, size_t bytes)
{
	if (p->at + bytes > MEMORY_BYTES)
		p->at = 0;
	p->at += bytes;
	return (char *)p->memory + p->at - bytes;
}

static double way_gbs(struct twin_probe *p, enum twin_way way)
{
	double ms[TIMES];

	for (int i = 0; i < TIMES; i++)
		ms[i] = launch_ms(p, way, next(p, PROBE_BYTES), PROBE_BYTES, 1);
	return (double)PROBE_BYTES / median(ms, TIMES) / 1e6;
}

double twin_probe_copy(struct twin_probe *p)
{
	return way_gbs(p, TWIN_PROBE_COPY);
}

double twin_probe_cache(struct twin_probe *p, size_t bytes)
{
	const int repeat = (int)(PROBE_BYTES / bytes);
	double ms[TIMES];

	for (int i = 0; i < TIMES; i++)
		ms[i] = launch_ms(p, TWIN_PROBE_READ, p->memory, bytes, repeat);
	return (double)bytes * repeat / median(ms, TIMES) / 1e6;
}

double twin_probe_stream_ms(struct twin_probe *p, enum twin_way way, double bytes)
{
	const double most = (double)(MEMORY_BYTES / 4), parts = bytes / most;
	const int whole = (int)parts;
	const size_t rest = (size_t)((parts - whole) * most) & ~(size_t)0xff;
	double ms[TIMES];

	for (int i = 0; i < TIMES; i++) {
		ms[i] = rest ? launch_ms(p, way, next(p, rest), rest, 1) : 0;
		for (int k = 0; k < whole; k++)
			ms[i] += launch_ms(p, way, next(p, MEMORY_BYTES / 4), MEMORY_BYTES / 4, 1);
	}
	return median(ms, TIMES);
}

static double latency_ns(struct twin_probe *p)
{
	double ns[TIMES];

	for (int i = 0; i < TIMES; i++) {
		bench_must(twin_chase_run(p->chain, p->line, HOPS, p->ns_device, p->stream), "a chase");
		bench_must(cudaStreamSynchronize(p->stream), "a chase");
		ns[i] = (double)((volatile uint64_t *)p->ns)[0] / HOPS;
		p->line = (uint32_t)((volatile uint64_t *)p->ns)[1];
	}
	return median(ns, TIMES);
}

void twin_probe_all(struct twin_probe *p, struct twin_probe_told *ret)
{
	ret->read = way_gbs(p, TWIN_PROBE_READ);
	ret->write = way_gbs(p, TWIN_PROBE_WRITE);
	ret->copy = way_gbs(p, TWIN_PROBE_COPY);
	ret->cache = twin_probe_cache(p, TWIN_CACHE_BYTES);
	ret->latency_ns = latency_ns(p);
}

void twin_probe_where(struct twin_probe *p, uint32_t *seen)
{
	const size_t bytes = TWIN_MULTIPROCESSORS_MAX * sizeof(*seen);

	bench_must(cudaMemsetAsync(p->memory, 0, bytes, p->stream), "looking where blocks run");
	bench_must(twin_where_run(p->memory, p->blocks, p->stream), "looking where blocks run");
	bench_must(cudaMemcpyAsync(seen, p->memory, bytes, cudaMemcpyDeviceToHost, p->stream),
		   "looking where blocks run");
	bench_must(cudaStreamSynchronize(p->stream), "looking where blocks run");
}
