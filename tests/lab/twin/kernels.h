/*
 * Kernels of twin: loads that take memory bandwidth away from others, and probes that measure what is left.
 *
 * A load runs until the host stops it or its time is over, whichever comes first. Nothing that a program does
 * or fails to do keeps it longer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_LAB_TWIN_KERNELS_H
#define SX_TESTS_LAB_TWIN_KERNELS_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Kinds of load.
 *
 * read, write, copy: sequential, 16 bytes a lane. sectors: reads of 32 bytes at random places, a different
 * place for each lane, so that DRAM opens a row for each. pages: the same over so much memory that address
 * translations miss as well. scatter: writes of 4 bytes at random places, which memory with a check code has
 * to read first. atomics: sums at random places. The other kinds do not use DRAM: hot reads one line of 128
 * bytes again and again, sums adds to one line, sums-64 to 64 lines in different parts of the cache.
 */
enum twin_kind {
	TWIN_READ,
	TWIN_WRITE,
	TWIN_COPY,
	TWIN_SECTORS,
	TWIN_PAGES,
	TWIN_SCATTER,
	TWIN_ATOMICS,
	TWIN_FIRST_OF_CACHE,
	TWIN_HOT = TWIN_FIRST_OF_CACHE,
	TWIN_SUMS,
	TWIN_SUMS_64,
	TWIN_KINDS
};

#define TWIN_THREADS 256				    /* threads of a load's block */
#define TWIN_STEPS 64					    /* steps of each thread in a pass */
#define TWIN_LINE 128					    /* bytes between the places of a pointer chase */
#define TWIN_CHUNK ((size_t)TWIN_STEPS * TWIN_THREADS * 16) /* bytes of a pass of read or write */
#define TWIN_MULTIPROCESSORS_MAX 1024

/* Results that a block of a load writes at its end. started: set when the block starts. */
struct twin_block {
	uint64_t started, passes, ns;
};

/*
 * Arguments of a load. bytes: size of memory, a power of two. `told`, blocks: host memory that the device can
 * access; a value other than 0 in `told` stops the load. stop: a word of device memory, 0 at the start.
 * limit_ns: longest time that a block runs.
 */
struct twin_work {
	void *memory;
	size_t bytes;
	const uint32_t *told;
	uint32_t *stop;
	uint64_t limit_ns;
	struct twin_block *blocks;
};

/* Starts a load of `blocks` blocks of TWIN_THREADS on the stream, and returns. */
cudaError_t twin_load_run(enum twin_kind kind, int blocks, const struct twin_work *w, cudaStream_t stream);
/* Starts a keeper: reads memory again and again, every 2 us, so that its lines stay recent in the cache. */
cudaError_t twin_keep_run(int blocks, const struct twin_work *w, cudaStream_t stream);
/* Returns in *ret how many blocks of a kind one multiprocessor of the current context's device holds. */
cudaError_t twin_load_blocks(enum twin_kind kind, int *ret);
/*
 * Returns the bytes that a block requests from memory or cache in a pass: whole sectors, but for sums 4 bytes
 * a lane.
 */
size_t twin_load_pass_bytes(enum twin_kind kind);

enum twin_way { TWIN_PROBE_READ, TWIN_PROBE_WRITE, TWIN_PROBE_COPY };
/*
 * Moves `repeat` times over the bytes at memory, bypassing L1. bytes: a multiple of 16. copy: from the first
 * half to the second. blocks: of 512 threads.
 */
cudaError_t twin_probe_run(enum twin_way way, void *memory, size_t bytes, int repeat, int blocks,
			   cudaStream_t stream);
/* Links all lines of the memory into a chain without a pattern. bytes: a power of two. */
cudaError_t twin_chain_run(void *memory, size_t bytes, cudaStream_t stream);
/*
 * Follows the chain in one thread for `hops` lines, starting at line `first`. ns: device memory, the time it
 * took.
 */
cudaError_t twin_chase_run(void *memory, uint32_t first, int hops, uint64_t *ns, cudaStream_t stream);
/*
 * Sets seen[i] to 1 if multiprocessor i computed a block. seen: TWIN_MULTIPROCESSORS_MAX words of device
 * memory, zeroed.
 */
cudaError_t twin_where_run(uint32_t *seen, int blocks, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
