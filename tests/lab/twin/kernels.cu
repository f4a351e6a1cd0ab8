/*
 * Kernels of loads and probes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/cuda.cuh"
#include "tests/lab/twin/kernels.h"

#define PROBE_THREADS 512
#define AT_ONCE 8 /* number of a thread's loads in flight */

static __device__ uint64_t clock_ns(void)
{
	uint64_t t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

/* Permutes 32-bit numbers so that neighbours are spread out. */
static __device__ uint32_t shuffled(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}

static __device__ uint32_t folded(uint4 v)
{
	return v.x ^ v.y ^ v.z ^ v.w;
}

/* Returns the offset of this block's chunk in a pass. All blocks go through memory together. */
static __device__ size_t chunk_begin(size_t bytes, uint64_t pass)
{
	return (pass * gridDim.x + blockIdx.x) * TWIN_CHUNK & (bytes - 1);
}

static __device__ uint32_t read_pass(const struct twin_work &w, uint64_t pass)
{
	const uint4 *p = (const uint4 *)((const char *)w.memory + chunk_begin(w.bytes, pass)) + threadIdx.x;
	uint32_t sum = 0;

	for (int i = 0; i < TWIN_STEPS; i += AT_ONCE) {
		uint4 v[AT_ONCE];

#pragma unroll
		for (int k = 0; k < AT_ONCE; k++)
			v[k] = __ldcg(p + (i + k) * TWIN_THREADS);
#pragma unroll
		for (int k = 0; k < AT_ONCE; k++)
			sum ^= folded(v[k]);
	}
	return sum;
}

static __device__ uint32_t write_pass(const struct twin_work &w, uint64_t pass)
{
	uint4 *p = (uint4 *)((char *)w.memory + chunk_begin(w.bytes, pass)) + threadIdx.x;
	const uint32_t x = (uint32_t)pass;

#pragma unroll 8
	for (int i = 0; i < TWIN_STEPS; i++)
		__stcg(p + i * TWIN_THREADS, make_uint4(x, x, x, x));
	return 0;
}

static __device__ uint32_t copy_pass(const struct twin_work &w, uint64_t pass)
{
	const size_t half = w.bytes / 2, at = chunk_begin(half, pass);
	const uint4 *from = (const uint4 *)((const char *)w.memory + at) + threadIdx.x;
	uint4 *to = (uint4 *)((char *)w.memory + half + at) + threadIdx.x;

	for (int i = 0; i < TWIN_STEPS; i += AT_ONCE) {
		uint4 v[AT_ONCE];

#pragma unroll
		for (int k = 0; k < AT_ONCE; k++)
			v[k] = __ldcg(from + (i + k) * TWIN_THREADS);
#pragma unroll
		for (int k = 0; k < AT_ONCE; k++)
			__stcg(to + (i + k) * TWIN_THREADS, v[k]);
	}
	return 0;
}

/* Returns the offset of sector number n of this thread's walk, from the start of memory. */
static __device__ size_t anywhere(const struct twin_work &w, uint64_t pass, int n)
{
	const uint32_t thread = blockIdx.x * TWIN_THREADS + threadIdx.x;
	const uint32_t x = shuffled(thread * 0x9e3779b9u + (uint32_t)(pass * TWIN_STEPS) + (uint32_t)n);

	return (size_t)(x & (uint32_t)(w.bytes / 32 - 1)) * 32;
}

static __device__ uint32_t sectors_pass(const struct twin_work &w, uint64_t pass)
{
	uint32_t sum = 0;

	for (int i = 0; i < TWIN_STEPS; i += AT_ONCE) {
		uint32_t v[AT_ONCE];

#pragma unroll
		for (int k = 0; k < AT_ONCE; k++)
			v[k] = __ldcg((const uint32_t *)((const char *)w.memory + anywhere(w, pass, i + k)));
#pragma unroll
		for (int k = 0; k < AT_ONCE; k++)
			sum ^= v[k];
	}
	return sum;
}

static __device__ uint32_t scatter_pass(const struct twin_work &w, uint64_t pass)
{
#pragma unroll 8
	for (int i = 0; i < TWIN_STEPS; i++)
		__stcg((uint32_t *)((char *)w.memory + anywhere(w, pass, i)), (uint32_t)pass);
	return 0;
}

static __device__ uint32_t atomics_pass(const struct twin_work &w, uint64_t pass)
{
#pragma unroll 8
	for (int i = 0; i < TWIN_STEPS; i++)
		atomicAdd((uint32_t *)((char *)w.memory + anywhere(w, pass, i)), 1u);
	return 0;
}

static __device__ uint32_t hot_pass(const struct twin_work &w)
{
	const volatile uint32_t *p = (const volatile uint32_t *)w.memory + threadIdx.x % 32;
	uint32_t sum = 0;

#pragma unroll 8
	for (int i = 0; i < TWIN_STEPS; i++)
		sum ^= *p;
	return sum;
}

/* Adds to `lines` lines, a power of two, that are a page and a line apart. */
static __device__ uint32_t sums_pass(const struct twin_work &w, uint64_t pass, uint32_t lines)
{
	const uint32_t first = (uint32_t)pass + blockIdx.x + threadIdx.x / 32;

#pragma unroll 8
	for (uint32_t i = 0; i < TWIN_STEPS; i++) {
		const size_t line = shuffled(first + i * 8) & (lines - 1);

		atomicAdd((uint32_t *)((char *)w.memory + line * (4096 + TWIN_LINE)) + threadIdx.x % 32, 1u);
	}
	return 0;
}

template <int KIND> static __device__ uint32_t run_pass(const struct twin_work &w, uint64_t pass)
{
	switch (KIND) {
	case TWIN_READ:
		return read_pass(w, pass);
	case TWIN_WRITE:
		return write_pass(w, pass);
	case TWIN_COPY:
		return copy_pass(w, pass);
	case TWIN_SECTORS:
	case TWIN_PAGES:
		return sectors_pass(w, pass);
	case TWIN_SCATTER:
		return scatter_pass(w, pass);
	case TWIN_ATOMICS:
		return atomics_pass(w, pass);
	case TWIN_HOT:
		return hot_pass(w);
	default:
		return sums_pass(w, pass, KIND == TWIN_SUMS ? 1 : 64);
	}
}

/*
 * Returns whether a block has to end. One thread of the block calls it. Only the first block reads the host's
 * word, over the bus, and passes it on.
 */
static __device__ bool is_over(const struct twin_work &w, uint64_t begin)
{
	if (blockIdx.x == 0 && *(const volatile uint32_t *)w.told)
		*(volatile uint32_t *)w.stop = 1;
	return *(volatile uint32_t *)w.stop || clock_ns() - begin > w.limit_ns;
}

/*
 * Writes the result of one block for the host. The use of the sum keeps the compiler from removing the loads.
 */
static __device__ void tell(const struct twin_work &w, uint64_t begin, uint64_t passes, uint32_t sum)
{
	if (threadIdx.x == 0) {
		w.blocks[blockIdx.x].passes = passes;
		w.blocks[blockIdx.x].ns = clock_ns() - begin;
	}
	if (sum == 0x5eed5eedu)
		w.stop[1] = sum;
}

template <int KIND> static __global__ void __launch_bounds__(TWIN_THREADS, 4) load_kernel(struct twin_work w)
{
	const uint64_t begin = clock_ns();
	uint64_t passes = 0;
	uint32_t sum = 0;
	bool over = false;

	if (threadIdx.x == 0)
		*(volatile uint64_t *)&w.blocks[blockIdx.x].started = 1;
	do {
		if (threadIdx.x == 0)
			over = is_over(w, begin);
		sum ^= run_pass<KIND>(w, passes++);
	} while (!__syncthreads_or(over));
	tell(w, begin, passes, sum);
}

static __global__ void __launch_bounds__(TWIN_THREADS) keep_kernel(struct twin_work w)
{
	const size_t all = w.bytes / 16, stride = (size_t)gridDim.x * TWIN_THREADS;
	const uint4 *p = (const uint4 *)w.memory;
	const uint64_t begin = clock_ns();
	uint64_t passes = 0;
	uint32_t sum = 0;
	bool over = false;

	if (threadIdx.x == 0)
		*(volatile uint64_t *)&w.blocks[blockIdx.x].started = 1;
	do {
		if (threadIdx.x == 0)
			over = is_over(w, begin);
#pragma unroll 4
		for (size_t i = (size_t)blockIdx.x * TWIN_THREADS + threadIdx.x; i < all; i += stride)
			sum ^= folded(__ldcg(p + i));
		passes++;
		__nanosleep(2000);
	} while (!__syncthreads_or(over));
	tell(w, begin, passes, sum);
}

template <int WAY>
static __global__ void __launch_bounds__(PROBE_THREADS) probe_kernel(uint4 *p, size_t n, int repeat)
{
	const size_t stride = (size_t)gridDim.x * PROBE_THREADS, half = WAY == TWIN_PROBE_COPY ? n / 2 : n;
	uint32_t sum = 0;

	for (int r = 0; r < repeat; r++)
#pragma unroll 4
		for (size_t i = (size_t)blockIdx.x * PROBE_THREADS + threadIdx.x; i < half; i += stride) {
			if (WAY == TWIN_PROBE_WRITE)
				__stcg(p + i, make_uint4(r, 0, 0, 0));
			else if (WAY == TWIN_PROBE_COPY)
				__stcg(p + half + i, __ldcg(p + i));
			else
				sum ^= folded(__ldcg(p + i));
		}
	if (sum == 0x5eed5eedu)
		p[0].x = sum;
}

/* Links all lines, a power of two, into one ring: a linear congruence of full period. */
static __global__ void chain_kernel(char *memory, uint32_t lines)
{
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < lines; i += gridDim.x * blockDim.x)
		*(uint32_t *)(memory + (size_t)i * TWIN_LINE) = (i * 1664525u + 1013904223u) & (lines - 1);
}

static __global__ void chase_kernel(const char *memory, uint32_t line, int hops, uint64_t *ns)
{
	const uint64_t begin = clock_ns();

	for (int i = 0; i < hops; i++)
		line = *(const volatile uint32_t *)(memory + (size_t)line * TWIN_LINE);
	ns[0] = clock_ns() - begin;
	ns[1] = line;
}

/*
 * Marks the multiprocessor of each block. Blocks stay long enough that later blocks go to other
 * multiprocessors.
 */
static __global__ void where_kernel(uint32_t *seen)
{
	const uint64_t begin = clock_ns();
	uint32_t sm;

	asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
	if (threadIdx.x == 0 && sm < TWIN_MULTIPROCESSORS_MAX)
		seen[sm] = 1;
	while (clock_ns() - begin < 50000)
		;
}

typedef void load_fn(struct twin_work w);

static load_fn *const loads[TWIN_KINDS] = {load_kernel<TWIN_READ>,    load_kernel<TWIN_WRITE>,
					   load_kernel<TWIN_COPY>,    load_kernel<TWIN_SECTORS>,
					   load_kernel<TWIN_PAGES>,   load_kernel<TWIN_SCATTER>,
					   load_kernel<TWIN_ATOMICS>, load_kernel<TWIN_HOT>,
					   load_kernel<TWIN_SUMS>,    load_kernel<TWIN_SUMS_64>};

cudaError_t twin_load_run(enum twin_kind kind, int blocks, const struct twin_work *w, cudaStream_t stream)
{
	SX_LAUNCH(loads[kind], blocks, TWIN_THREADS, 0, stream, *w);
	return SX_LAUNCHED();
}

cudaError_t twin_keep_run(int blocks, const struct twin_work *w, cudaStream_t stream)
{
	SX_LAUNCH(keep_kernel, blocks, TWIN_THREADS, 0, stream, *w);
	return SX_LAUNCHED();
}

cudaError_t twin_load_blocks(enum twin_kind kind, int *ret)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(ret, loads[kind], TWIN_THREADS, 0);
}

size_t twin_load_pass_bytes(enum twin_kind kind)
{
	const size_t lanes = (size_t)TWIN_THREADS * TWIN_STEPS;

	switch (kind) {
	case TWIN_READ:
	case TWIN_WRITE:
		return TWIN_CHUNK;
	case TWIN_COPY:
		return 2 * TWIN_CHUNK;
	case TWIN_HOT:
	case TWIN_SUMS:
	case TWIN_SUMS_64:
		return 4 * lanes;
	default:
		return 32 * lanes;
	}
}

cudaError_t twin_probe_run(enum twin_way way, void *memory, size_t bytes, int repeat, int blocks,
			   cudaStream_t stream)
{
	uint4 *const p = (uint4 *)memory;

	if (way == TWIN_PROBE_READ)
		SX_LAUNCH(probe_kernel<TWIN_PROBE_READ>, blocks, PROBE_THREADS, 0, stream, p, bytes / 16,
			  repeat);
	else if (way == TWIN_PROBE_WRITE)
		SX_LAUNCH(probe_kernel<TWIN_PROBE_WRITE>, blocks, PROBE_THREADS, 0, stream, p, bytes / 16,
			  repeat);
	else
		SX_LAUNCH(probe_kernel<TWIN_PROBE_COPY>, blocks, PROBE_THREADS, 0, stream, p, bytes / 16,
			  repeat);
	return SX_LAUNCHED();
}

cudaError_t twin_chain_run(void *memory, size_t bytes, cudaStream_t stream)
{
	SX_LAUNCH(chain_kernel, 64, 256, 0, stream, (char *)memory, (uint32_t)(bytes / TWIN_LINE));
	return SX_LAUNCHED();
}

cudaError_t twin_chase_run(void *memory, uint32_t first, int hops, uint64_t *ns, cudaStream_t stream)
{
	SX_LAUNCH(chase_kernel, 1, 1, 0, stream, (const char *)memory, first, hops, ns);
	return SX_LAUNCHED();
}

cudaError_t twin_where_run(uint32_t *seen, int blocks, cudaStream_t stream)
{
	SX_LAUNCH(where_kernel, blocks, 1024, 0, stream, seen);
	return SX_LAUNCHED();
}
