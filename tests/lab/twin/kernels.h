/*
 * Kernels of twin: loads that take memory away from others, and probes that tell what is left of it.
 *
 * A load runs until it is told to stop or its time is over, whichever comes first; nothing that a program
 * does or fails to do keeps it longer.
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
 * read, write, copy: one after the other, 16 bytes a lane. sectors: reads of 32 bytes anywhere, each lane
 * another place, so that DRAM opens a row for each. pages: the same over so much memory that translations of
 * addresses miss as well. scatter: writes of 4 bytes anywhere, which memory with a check code has to read
 * first. atomics: sums anywhere. The rest leaves DRAM alone: hot reads one line of 128 bytes again and again,
 * sums adds to one line, sums-64 to 64 of them in different parts of the cache.
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

#define TWIN_THREADS 256				    /* of a load's block */
#define TWIN_STEPS 64					    /* of each thread in a pass */
#define TWIN_LINE 128					    /* bytes between the places of a chase */
#define TWIN_CHUNK ((size_t)TWIN_STEPS * TWIN_THREADS * 16) /* bytes of a pass of read, write */
#define TWIN_MULTIPROCESSORS_MAX 1024

/* What a block of a load tells at its end; started: it runs. */
struct twin_block {
	uint64_t started, passes, ns;
};

/*
 * memory: bytes of it, a power of two. told, blocks: host memory that the device sees; told: not 0: stop.
 * stop: a word of device memory, 0 before. limit_ns: the longest that a block runs.
 */
struct twin_work {
	void *memory;
	size_t bytes;
	const uint32_t *told;
	uint32_t *stop;
	uint64_t limit_ns;
	struct twin_block *blocks;
};

/* Of blocks of TWIN_THREADS; starts it on stream and returns. */
cudaError_t twin_load_run(enum twin_kind kind, int blocks, const struct twin_work *w, cudaStream_t stream);
/* Reads memory again and again, 2 us apart, so that what shall stay in the cache is always young there. */
cudaError_t twin_keep_run(int blocks, const struct twin_work *w, cudaStream_t stream);
/* Blocks of a kind that one multiprocessor of the current context's device holds. */
cudaError_t twin_load_blocks(enum twin_kind kind, int *ret);
/* Bytes that a block asks of memory or cache in a pass; whole sectors, except of sums: 4 a lane. */
size_t twin_load_pass_bytes(enum twin_kind kind);

enum twin_way { TWIN_PROBE_READ, TWIN_PROBE_WRITE, TWIN_PROBE_COPY };
/*
 * Goes repeat times over bytes at memory (a multiple of 16; copy: from its first half to its second), past
 * L1. blocks: of 512 threads.
 */
cudaError_t twin_probe_run(enum twin_way way, void *memory, size_t bytes, int repeat, int blocks,
			   cudaStream_t stream);
/* Makes of bytes at memory, a power of two, a chain of all its lines in an order without a pattern. */
cudaError_t twin_chain_run(void *memory, size_t bytes, cudaStream_t stream);
/* One thread follows it for hops lines from line first on; ns: device memory, how long that took. */
cudaError_t twin_chase_run(void *memory, uint32_t first, int hops, uint64_t *ns, cudaStream_t stream);
/* seen[i]: multiprocessor i computed a block. TWIN_MULTIPROCESSORS_MAX words of device memory, zeroed. */
cudaError_t twin_where_run(uint32_t *seen, int blocks, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
