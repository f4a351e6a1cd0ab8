/*
 * Evidence of thin objects: sums of costs over groups and strips, step 5 of stages/pyramid/pyramid.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_PYRAMID_GROUPS_KERNEL_H
#define SX_CPU_PYRAMID_GROUPS_KERNEL_H

#include <string.h>

#include "cpu/kernels/cost_kernel.h"
#include "cpu/search.h"

#define GROUP_VECTORS 4 /* groups whose sums stay in registers */

/* Adds bytes to words. */
static ALWAYS_INLINE void add_bytes(uint16_t *sum, vb v, bool adds)
{
	uint8_t byte[VEC_BYTES];

	vb_store(byte, v);
	for (int i = 0; i < VEC_BYTES; i += VEC_WORDS) {
		const vw w = vw_widen(byte + i);

		vw_store(sum + i, adds ? vw_add(w, vw_load(sum + i)) : w);
	}
}

/* A part of a group whose sums are bytes: up to 4 columns of a row or of two. */
struct group_part {
	const void *left[2]; /* descriptors of the rows */
	const uint8_t *right[2];
	int rows, x, n;
};

/* Adds the costs of one pixel to `vectors` vectors of sums, from disparity d on. */
static ALWAYS_INLINE void add_pixel(const struct sx_search_level *l, uint64_t left, const uint8_t *right,
				    size_t at, int vectors, vb *total, int planes)
{
	const uint8_t *outside = l->m.out_of_view;
	const vb most = vb_set1(l->m.cost_max);
	vb cost[GROUP_VECTORS];

	for (int v = 0; v < vectors; v++)
		cost[v] = outside ? vb_set1(0) : total[v];
	for (int k = 0; k < planes; k++) {
		const vb operand = vb_operand(left >> (k * VEC_PLANE_BITS) & ((1u << VEC_PLANE_BITS) - 1));
		const uint8_t *of = right + (size_t)k * l->m.plane_pitch + at;

		for (int v = 0; v < vectors; v++)
			cost[v] = vb_add(cost[v], vb_distance(operand, vb_load(of + v * VEC_BYTES)));
	}
	for (int v = 0; v < vectors; v++)
		total[v] =
			!outside
				? cost[v]
				: vb_add(total[v],
					 vb_min(vb_or(cost[v], vb_load(outside + at + v * VEC_BYTES)), most));
}

/* Sums the costs of a part over the disparities from d on, `vectors` vectors. */
static ALWAYS_INLINE void sum_part(const struct sx_search_level *l, const struct group_part *part, int d,
				   int vectors, uint16_t *sum, bool adds, int planes, bool is_narrow)
{
	vb total[GROUP_VECTORS];

	for (int v = 0; v < vectors; v++)
		total[v] = vb_set1(0);
	for (int y = 0; y < part->rows; y++)
		for (int x = part->x; x < part->x + part->n; x++)
			add_pixel(l,
				  is_narrow ? ((const uint32_t *)part->left[y])[x]
					    : ((const uint64_t *)part->left[y])[x],
				  part->right[y], (size_t)(l->scale.width - 1 - x + d), vectors, total,
				  planes);
	for (int v = 0; v < vectors; v++)
		add_bytes(sum + v * VEC_BYTES, total[v], adds);
}

static ALWAYS_INLINE void groups_of_rows(const struct sx_search_level *l, int y, int rows, uint16_t *out,
					 bool adds, int planes, bool is_narrow)
{
	const int n = l->m.p.disparities, width = l->scale.width;
	struct group_part part = {.rows = rows};

	for (int i = 0; i < rows; i++) {
		part.left[i] = sx_image_row(&l->f.census[0], y + 2 * i);
		part.right[i] = l->f.planes + (size_t)(y + 2 * i) * (size_t)planes * l->m.plane_pitch;
	}
	for (part.x = 0; part.x < width; part.x += SX_PYRAMID_GROUP, out += n) {
		int d = 0;

		part.n = width - part.x < SX_PYRAMID_GROUP ? width - part.x : SX_PYRAMID_GROUP;
		for (; d + GROUP_VECTORS * VEC_BYTES <= n; d += GROUP_VECTORS * VEC_BYTES)
			sum_part(l, &part, d, GROUP_VECTORS, out + d, adds, planes, is_narrow);
		for (; d + 2 * VEC_BYTES <= n; d += 2 * VEC_BYTES)
			sum_part(l, &part, d, 2, out + d, adds, planes, is_narrow);
		for (; d < n; d += VEC_BYTES)
			sum_part(l, &part, d, 1, out + d, adds, planes, is_narrow);
	}
}

/* Adds costs of a row, of any kind. */
static void groups_of_dense(const struct sx_search_level *l, const uint8_t *cost, uint16_t *out, bool adds)
{
	const int n = l->m.p.disparities;

	for (int x = 0; x < l->scale.width; x++, cost += n) {
		uint16_t *g = out + x / SX_PYRAMID_GROUP * n;
		const bool more = adds || x % SX_PYRAMID_GROUP;

		for (int d = 0; d < n; d++)
			g[d] = (uint16_t)((more ? g[d] : 0) + cost[d]);
	}
}

/* Sums the costs of row y of groups. */
static void search_groups(const struct sx_search_level *l, int y, struct sx_search_scratch *s)
{
	const int y0 = y * SX_PYRAMID_GROUP;
	uint16_t *out = s->groups[y % 4];

	if (!l->is_small && l->m.p.cost == SX_COST_CSCT) { /* sums of 8 costs of csct are bytes */
		groups_of_rows(l, y0, y0 + 2 < l->scale.height ? 2 : 1, out, false, 32 / VEC_PLANE_BITS,
			       true);
		return;
	}
	for (int v = y0; v < y0 + SX_PYRAMID_GROUP && v < l->scale.height; v += 2) {
		if (l->is_small || l->m.p.cost == SX_COST_ZNCC)
			groups_of_dense(l, sx_search_dense(l, v, v + 1, s), out, v > y0);
		else if (l->m.p.cost == SX_COST_CENSUS48)
			groups_of_rows(l, v, 1, out, v > y0, 48 / VEC_PLANE_BITS, false);
		else
			groups_of_rows(l, v, 1, out, v > y0, 64 / VEC_PLANE_BITS, false);
	}
}

/* Returns the place of the first word that is not above x. */
static ALWAYS_INLINE int first_up_to(const uint16_t *words, int x)
{
	int i = 0;

	for (;; i += VEC_BYTES) {
		const uint64_t bits =
			vw_bits_up_to(vw_load(words + i), vw_load(words + i + VEC_WORDS), vw_set1(x));

		if (bits)
			return i + __builtin_ctzll(bits);
	}
}

/*
 * Sums four groups over n disparities. Returns the lowest disparity of the least sum; *least: that sum;
 * *rival: the least sum apart from it. strip: scratch of n words.
 */
static int search_strip(const uint16_t *const groups[4], int n, uint16_t *restrict strip, int *least,
			int *rival)
{
	const uint16_t *a = groups[0], *b = groups[1], *c = groups[2], *e = groups[3];
	vw most = vw_set1(0xffff);
	int b0;

	for (int d = 0; d < n; d += VEC_WORDS) {
		const vw sum = vw_add(vw_add(vw_load(a + d), vw_load(b + d)),
				      vw_add(vw_load(c + d), vw_load(e + d)));

		vw_store(strip + d, sum);
	}
	for (int d = n; d % VEC_BYTES; d++) /* the rest of the last vector never wins */
		strip[d] = 0xffff;
	for (int d = 0; d < n; d += VEC_WORDS)
		most = vw_umin(most, vw_load(strip + d));
	*least = vw_min_all(most);
	b0 = first_up_to(strip, *least);
	for (int d = b0 - SX_PYRAMID_APART; d <= b0 + SX_PYRAMID_APART; d++)
		if (d >= 0 && d < n)
			strip[d] = 0xffff;
	most = vw_set1(0xffff);
	for (int d = 0; d < n; d += VEC_WORDS)
		most = vw_umin(most, vw_load(strip + d));
	*rival = vw_min_all(most);
	return b0;
}

#endif
