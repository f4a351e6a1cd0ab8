/*
 * Union-find on which many threads work at once, without locks: no thread waits for another.
 *
 * The word of a node is the index of its parent; the word of a root is its own index. Only roots change their
 * parent, by compare-and-swap, and a node never becomes a root again. So an ancestor that was read once stays
 * an ancestor, and a search may shorten the path that it took.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_UNION_FIND_CUH
#define SX_GPU_STEREO_UNION_FIND_CUH

#include "gpu/cuda.cuh"

/*
 * Union-find within a block: parent is memory that only this block uses meanwhile, shared or of the device. The lower index becomes the root, so parents
 * only become lower, and a minimum never undoes a shortcut that another thread has made. While threads may
 * write, use only atomics.
 */
__device__ __forceinline__ uint32_t sx_union_find_word(uint32_t *parent, uint32_t i)
{
	return atomicOr(&parent[i], 0u);
}

__device__ __forceinline__ uint32_t sx_union_find_find(uint32_t *parent, uint32_t i)
{
	for (uint32_t p = sx_union_find_word(parent, i); p != i; p = sx_union_find_word(parent, i)) {
		uint32_t above = sx_union_find_word(parent, p);

		if (above == p)
			return p;
		atomicMin(&parent[i], above);
		i = above;
	}
	return i;
}

__device__ __forceinline__ void sx_union_find_join(uint32_t *parent, uint32_t a, uint32_t b)
{
	for (;;) {
		uint32_t low, high;

		a = sx_union_find_find(parent, a);
		b = sx_union_find_find(parent, b);
		if (a == b)
			return;
		low = min(a, b);
		high = max(a, b);
		if (atomicCAS(&parent[high], high, low) == high)
			return;
	}
}

/*
 * Union-find across blocks. A node is a component found by one block; size is its number of pixels. Nodes
 * below SX_UNION_FIND_KEPT need not be counted any more. While trees are joined, sums are kept at the roots.
 */
#define SX_UNION_FIND_KEPT UINT32_MAX

struct sx_union_find {
	uint32_t *parent, *size;
};

__device__ __forceinline__ uint32_t sx_union_find_root(const struct sx_union_find *f, uint32_t i)
{
	volatile uint32_t *parent = f->parent;

	while (i != SX_UNION_FIND_KEPT) {
		uint32_t p = parent[i];

		if (p == i)
			return i;
		i = p;
	}
	return i;
}

/*
 * Moves the count of node, which is no longer a root, to its root. Of two threads, the one that adds to a
 * node may see that the node has a parent, and the one that set the parent may see the sum. At least one of
 * them sees it and moves the count.
 */
__device__ __forceinline__ void sx_union_find_carry(const struct sx_union_find *f, uint32_t node)
{
	for (;;) {
		uint32_t parent, sum;

		__threadfence();
		parent = ((volatile uint32_t *)f->parent)[node];
		if (parent == node || parent == SX_UNION_FIND_KEPT)
			return;
		sum = atomicExch(&f->size[node], 0u);
		if (!sum)
			return;
		atomicAdd(&f->size[parent], sum);
		node = parent;
	}
}

/*
 * Returns true if root a becomes the child of root b. Any order is correct; one that looks random keeps trees
 * flat.
 */
__device__ __forceinline__ bool sx_union_find_below(uint32_t a, uint32_t b)
{
	return b == SX_UNION_FIND_KEPT || (a != SX_UNION_FIND_KEPT && a * 0x9e3779b1u > b * 0x9e3779b1u);
}

/* Joins two trees. a, b: nodes, or SX_UNION_FIND_KEPT. */
__device__ __forceinline__ void sx_union_find_unite(const struct sx_union_find *f, uint32_t a, uint32_t b)
{
	for (;;) {
		uint32_t child, parent;

		a = sx_union_find_root(f, a);
		b = sx_union_find_root(f, b);
		if (a == b)
			return;
		child = sx_union_find_below(a, b) ? a : b;
		parent = child == a ? b : a;
		if (atomicCAS(&f->parent[child], child, parent) == child) {
			sx_union_find_carry(f, child);
			return;
		}
	}
}

#endif
