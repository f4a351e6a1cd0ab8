/*
 * gpu/stereo/forest.cuh run by real threads, with the processor's atomics.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_STEREO_FOREST_THREADS_H
#define SX_TESTS_GPU_STEREO_FOREST_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct forest_edge {
	uint32_t a, b;
};

/*
 * Joins the ends of all edges, then counts nodes at their roots while every node comes to name its root, each
 * phase by that many threads. parent, size: one word a node, written here. In a block: as
 * gpu/stereo/filter.cu works in shared memory; otherwise as it works across blocks, where every node counts 1
 * from the start.
 */
void forest_threads_run(bool in_block, uint32_t *parent, uint32_t *size, int nodes,
			const struct forest_edge *edges, int edge_count, int threads);

/*
 * The same by two threads of one processor: the first is interrupted once, before that access of joining, or
 * else of counting, and the second one does all its share then. False when the first has no such access: then
 * the second did nothing.
 */
bool forest_interrupted_run(bool in_block, bool joining, int access, uint32_t *parent, uint32_t *size,
			    int nodes, const struct forest_edge *edges, int edge_count);

#ifdef __cplusplus
}
#endif

#endif
