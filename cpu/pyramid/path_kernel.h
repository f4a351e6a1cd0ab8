/*
 * Paths over blocks of 8 disparities: one step of a row of pixels, all blocks of a tile.
 * stages/stereo/sgm.h defines the result.
 *
 *   a row: 16 px beside each other (vertical and diagonal paths) or 8 px above each other (horizontal paths)
 *
 *           lane   0 ... 7         8 ... 15        ...
 *     [k]        | px 0, d ... + 7 | px 1, d ... + 7 | ...     d: first disparity of the k-th block
 *
 * Work:   a state holds N = L - m of each cell, m: the least L of its pixel; 255 where a cell is not
 *         searched. So N of two tiles with different lists need no m, and an absent N is above every P2.
 * Ranges: N <= Cmax + P2, N + P1 <= 255 (sx_params_check).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_PYRAMID_PATH_KERNEL_H
#define SX_CPU_PYRAMID_PATH_KERNEL_H

#include <string.h>

#include "cpu/kernels/cost_kernel.h"
#include "cpu/search.h"

typedef uint64_t vq __attribute__((vector_size(VEC_BYTES)));

/* Rows of the previous pixels' N at d, d - 1 and d + 1 of a block. */
struct search_from {
	const uint8_t *at, *before, *next;
};

static const uint8_t search_absent[SX_TILE_ROW_BYTES] __attribute__((aligned(64))) = {
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
static const uint8_t search_zero[SX_TILE_ROW_BYTES] __attribute__((aligned(64)));

/* Returns the least of each group of 8 lanes, in all of them. */
static ALWAYS_INLINE vb lanes_least(vb v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TOWARDS_FIRST <<
#else
#define TOWARDS_FIRST >>
#endif
	v = vb_min(v, (vb)((vq)v TOWARDS_FIRST 32));
	v = vb_min(v, (vb)((vq)v TOWARDS_FIRST 16));
	v = vb_min(v,
		   (vb)((vq)v TOWARDS_FIRST 8)); /* lane 0 has the least; zeroes came in at the other end */
	return vb_spread8(v, 0);
}

/* Input and output of a step. cost, excess: of the first block; the next block is SX_BLOCK_CELLS further. */
struct search_step {
	const struct search_from *from;
	int count; /* number of blocks */
	const uint8_t *cost;
	uint8_t *excess;
	const uint8_t *p2; /* P2 of each lane */
	int p1;
	uint8_t *to; /* N: rows of the blocks, one after the other */
};

/* Steps one vector of a block. Returns its L. */
static ALWAYS_INLINE vb search_step_block(const struct search_step *s, int k, int i, vb p2, bool adds)
{
	const size_t cell = (size_t)k * SX_BLOCK_CELLS + (size_t)i;
	const vb at = vb_load(s->from[k].at + i);
	const vb beside = vb_min(vb_before8(at, vb_load(s->from[k].before + i)),
				 vb_after8(at, vb_load(s->from[k].next + i)));
	const vb e = vb_min(vb_min(at, vb_add_held(beside, vb_set1(s->p1))), p2);
	const vb l = vb_add(e, vb_load(s->cost + cell));

	vb_store(s->excess + cell, adds ? vb_add(e, vb_load(s->excess + cell)) : e);
	return l;
}

/* Steps one row of `count` blocks of `bytes` lanes. adds: the step adds to the excess costs that are there. */
static ALWAYS_INLINE void search_step_of(const struct search_step *s, int count, int bytes, bool adds)
{
	for (int i = 0; i < bytes; i += VEC_BYTES) {
		const vb p2 = vb_load(s->p2 + i);
		vb l[SX_SEARCH_TILE_BLOCKS], least = vb_set1(255);

		for (int k = 0; k < count; k++) {
			l[k] = search_step_block(s, k, i, p2, adds);
			least = vb_min(least, l[k]);
		}
		least = lanes_least(least);
		for (int k = 0; k < count; k++)
			vb_store(s->to + k * bytes + i, vb_sub(l[k], least));
	}
}

/* The same for the many blocks of the coarsest scale. */
static ALWAYS_INLINE void search_step_many(const struct search_step *s, int bytes, bool adds)
{
	for (int i = 0; i < bytes; i += VEC_BYTES) {
		const vb p2 = vb_load(s->p2 + i);
		vb least = vb_set1(255);

		for (int k = 0; k < s->count; k++) {
			const vb l = search_step_block(s, k, i, p2, adds);

			vb_store(s->to + k * bytes + i, l);
			least = vb_min(least, l);
		}
		least = lanes_least(least);
		for (int k = 0; k < s->count; k++)
			vb_store(s->to + k * bytes + i, vb_sub(vb_load(s->to + k * bytes + i), least));
	}
}

static ALWAYS_INLINE void search_step(const struct search_step *s, int bytes, bool adds)
{
	switch (s->count) {
	case 1:
		search_step_of(s, 1, bytes, adds);
		break;
	case 2:
		search_step_of(s, 2, bytes, adds);
		break;
	case 3:
		search_step_of(s, 3, bytes, adds);
		break;
	case 4:
		search_step_of(s, 4, bytes, adds);
		break;
	case 5:
		search_step_of(s, 5, bytes, adds);
		break;
	case 6:
		search_step_of(s, 6, bytes, adds);
		break;
	default:
		search_step_many(s, bytes, adds);
	}
}

/* Returns the row of a block in the state of a tile with this list, or of absent cells. */
static const uint8_t *search_row_of(const struct sx_search_list *list, const uint8_t *state, int block,
				    int bytes)
{
	for (int k = 0; k < list->count; k++)
		if (list->block[k] == block)
			return state + k * bytes;
	return search_absent;
}

/* Fills in where the blocks of `list` come from: the state of a tile with list `old`. Both ascend. */
static ALWAYS_INLINE void search_link(struct search_from *from, const struct sx_search_list *list,
				      const struct sx_search_list *old, const uint8_t *state, int bytes)
{
	for (int k = 0, i = 0; k < list->count; k++) {
		const int block = list->block[k];
		const uint8_t *row[3] = {search_absent, search_absent, search_absent};

		while (i < old->count && old->block[i] < block - 1)
			i++;
		for (int n = i; n < old->count && old->block[n] <= block + 1; n++)
			row[old->block[n] - block + 1] = state + n * bytes;
		from[k] = (struct search_from){.before = row[0], .at = row[1], .next = row[2]};
	}
}

/* Prefetches the cells of a tile into the second-level cache. */
static ALWAYS_INLINE void search_prefetch(const uint8_t *cells, const struct sx_search_list *list)
{
	const uint8_t *p = cells + (size_t)list->at * SX_BLOCK_CELLS;

	for (int i = 0; i < list->count * SX_BLOCK_CELLS; i += 64)
		__builtin_prefetch(p + i, 0, 2);
}

/* Starts paths: N = 0 before the first pixel makes its excess cost 0, so that L = C there. */
static void search_link_start(struct search_from *from, int count)
{
	for (int k = 0; k < count; k++)
		from[k] = (struct search_from){search_zero, search_zero, search_zero};
}

/* Writes P2 to the 8 lanes of a pixel. */
static ALWAYS_INLINE void search_spread(uint8_t *lanes, uint8_t p2)
{
	const uint64_t all = p2 * UINT64_C(0x0101010101010101);

	memcpy(lanes, &all, sizeof(all));
}

#endif
