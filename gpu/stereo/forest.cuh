/*
 * Union-find that many threads work on at once: without locks, nobody waits for anybody's progress.
 *
 * A node's word is its parent's index; a root's is its own. Only roots change their parent, by
 * compare-and-swap, and never become roots again; so an ancestor once read stays one, and a search may
 * shorten the way it went.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_FOREST_CUH
#define SX_GPU_STEREO_FOREST_CUH

#include "gpu/cuda.cuh"

/*
 * Within a block, all of parent in shared memory. The lower index becomes the root, so parents only ever get
 * lower, and a minimum never puts back what another thread has shortened further. Nothing but atomics while
 * threads may write.
 */
__device__ __forceinline__ uint32_t sx_forest_word(uint32_t *parent, uint32_t i)
{
	return atomicOr(&parent[i], 0u);
}

__device__ __forceinline__ uint32_t sx_forest_find(uint32_t *parent, uint32_t i)
{
	for (uint32_t p = sx_forest_word(parent, i); p != i; p = sx_forest_word(parent, i)) {
		uint32_t above = sx_forest_word(parent, p);

		if (above == p)
			return p;
		atomicMin(&parent[i], above);
		i = above;
	}
	return i;
}

__device__ __forceinline__ void sx_forest_join(uint32_t *parent, uint32_t a, uint32_t b)
{
	for (;;) {
		uint32_t low, high;

		a = sx_forest_find(parent, a);
		b = sx_forest_find(parent, b);
		if (a == b)
			return;
		low = min(a, b);
		high = max(a, b);
		if (atomicCAS(&parent[high], high, low) == high)
			return;
	}
}

/*
 * Across blocks: nodes are components that one block has found, size their pixels. Those that need not be
 * counted any more hang below SX_FOREST_KEPT. Sums are kept at the roots while trees are joined.
 */
#define SX_FOREST_KEPT UINT32_MAX

struct sx_forest {
	uint32_t *parent, *size;
};

__device__ __forceinline__ uint32_t sx_forest_root(const struct sx_forest *f, uint32_t i)
{
	volatile uint32_t *parent = f->parent;

	while (i != SX_FOREST_KEPT) {
		uint32_t p = parent[i];

		if (p == i)
			return i;
		i = p;
	}
	return i;
}

/*
 * node is no root any more: brings what it has counted to its root. Either the one that adds to a node sees
 * that it has a parent, or the one that gave it the parent sees the sum: whoever does takes it on.
 */
__device__ __forceinline__ void sx_forest_carry(const struct sx_forest *f, uint32_t node)
{
	for (;;) {
		uint32_t parent, sum;

		__threadfence();
		parent = ((volatile uint32_t *)f->parent)[node];
		if (parent == node || parent == SX_FOREST_KEPT)
			return;
		sum = atomicExch(&f->size[node], 0u);
		if (!sum)
			return;
		atomicAdd(&f->size[parent], sum);
		node = parent;
	}
}

/* Which of two roots becomes the child: any order will do, one that looks random keeps trees flat. */
__device__ __forceinline__ bool sx_forest_below(uint32_t a, uint32_t b)
{
	return b == SX_FOREST_KEPT || (a != SX_FOREST_KEPT && a * 0x9e3779b1u > b * 0x9e3779b1u);
}

/* a, b: nodes, or SX_FOREST_KEPT. */
__device__ __forceinline__ void sx_forest_unite(const struct sx_forest *f, uint32_t a, uint32_t b)
{
	for (;;) {
		uint32_t child, parent;

		a = sx_forest_root(f, a);
		b = sx_forest_root(f, b);
		if (a == b)
			return;
		child = sx_forest_below(a, b) ? a : b;
		parent = child == a ? b : a;
		if (atomicCAS(&f->parent[child], child, parent) == child) {
			sx_forest_carry(f, child);
			return;
		}
	}
}

#endif
