/*
 * gpu/stereo/union_find.cuh on real threads, with the processor's atomics.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_STEREO_UNION_FIND_THREADS_H
#define SX_TESTS_GPU_STEREO_UNION_FIND_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct union_find_edge {
	uint32_t a, b;
};

/*
 * Joins the ends of all edges. Then counts nodes at their roots, while every node is set to name its root.
 * Each phase uses `threads` threads. parent, size: one word per node, written here. in_block: as
 * gpu/stereo/filter.cu works in shared memory; otherwise as it works across blocks, where every node counts 1
 * from the start.
 */
void union_find_threads_run(bool in_block, uint32_t *parent, uint32_t *size, int nodes,
			    const struct union_find_edge *edges, int edge_count, int threads);

/*
 * Does the same with two threads of one processor. The first thread is interrupted once, before access number
 * `access` of joining, or otherwise of counting. The second thread then does all its share. Returns false if
 * the first thread has no such access: then the second thread did nothing.
 */
bool union_find_interrupted_run(bool in_block, bool joining, int access, uint32_t *parent, uint32_t *size,
				int nodes, const struct union_find_edge *edges, int edge_count);

#ifdef __cplusplus
}
#endif

#endif
