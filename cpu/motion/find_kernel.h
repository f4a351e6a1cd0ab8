/*
 * Search for a block of descriptors. stages/motion/match.h defines the result.
 *
 * Work:   the costs of VEC_BYTES / 4 neighbouring places at a time, nine samples after each other. Bits are
 *         counted in bytes, whose sum is at most 72. A key is cost, row; the least key of a column is kept.
 * Memory: reads the rows of the samples. A vector begins at a place that counts, and below its row there are
 *         two more rows, so that it stays in the image.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_MOTION_FIND_KERNEL_H
#define SX_CPU_MOTION_FIND_KERNEL_H

#include <stdlib.h>

#include "cpu/vec/vec_inline.h"
#include "stages/motion/guess.h"
#include "stages/motion/view.h"

#define FIND_LANES (VEC_BYTES / 4)
#define FIND_SIDE (2 * SX_MOTION_REACH_MAX + 1)
#define FIND_VECTORS ((FIND_SIDE + FIND_LANES - 1) / FIND_LANES)
#define FIND_ROW_BITS 7 /* bits of a key: FIND_SIDE rows */
/* Adders of three words leave four of nine words to count, where a set counts bits with several instructions. */
#if VEC_PLANE_BITS == 4 || defined(SX_VEC_PLAIN)
#define FIND_ADDERS
#endif
#define FIND_APART 2 /* px: nearer places are no rivals */

/* Samples of a block: their descriptors, and where they lie in the image that is searched, bytes. */
struct find_block {
	uint32_t descriptor[SX_MOTION_SAMPLES];
	ptrdiff_t at[SX_MOTION_SAMPLES];
	int rx, ry; /* reach of the samples, px */
};

static ALWAYS_INLINE int find_larger(int a, int b)
{
	return a > b ? a : b;
}

static ALWAYS_INLINE int find_smaller(int a, int b)
{
	return a < b ? a : b;
}

static ALWAYS_INLINE void find_take(struct find_block *b, const struct sx_image *from,
				    const struct sx_image *to, int x, int y,
				    const struct sx_motion_guess *warp)
{
	int n = 0;

	b->rx = b->ry = 0;
	for (int j = -SX_MOTION_STRIDE; j <= SX_MOTION_STRIDE; j += SX_MOTION_STRIDE) {
		const uint32_t *row = (const uint32_t *)sx_image_row(from, y + j) + x;
		const int wy = (warp->down * j + 512) >> 10;

		b->ry = find_larger(b->ry, abs(wy));
		for (int i = -SX_MOTION_STRIDE; i <= SX_MOTION_STRIDE; i += SX_MOTION_STRIDE, n++) {
			const int wx = (warp->across * i + warp->shear * j + 512) >> 10;

			b->rx = find_larger(b->rx, abs(wx));
			b->descriptor[n] = row[i];
			b->at[n] = wy * (ptrdiff_t)to->pitch + wx * (ptrdiff_t)sizeof(uint32_t);
		}
	}
}

/* Returns the bits in which the samples at p differ from the block's sample n. */
static ALWAYS_INLINE vu find_differ(const uint8_t *p, const struct find_block *b, int n)
{
	return (vu)vb_load(p + b->at[n]) ^ b->descriptor[n];
}

/* Returns the number of bits of each byte. */
static ALWAYS_INLINE vb find_bits(vu v)
{
	const vb low = vb_bits(vb_plane((vb)v, 0));

	return VEC_PLANE_BITS == 4 ? vb_add(low, vb_bits(vb_plane((vb)v, 1))) : low;
}

#ifdef FIND_ADDERS
/* Adds three words bit by bit: returns the sums, and sets *carry to what has twice their weight. */
static ALWAYS_INLINE vu find_add3(vu a, vu b, vu c, vu *carry)
{
	const vu one = a ^ b;

	*carry = (a & b) | (one & c);
	return one ^ c;
}

/* Returns, in each byte, the number of bits in which nine samples differ. */
static ALWAYS_INLINE vb find_count(const uint8_t *p, const struct find_block *b)
{
	vu ones[3], twos[4], fours[2], one, two;
	vb all;

	for (int i = 0; i < 3; i++)
		ones[i] = find_add3(find_differ(p, b, 3 * i), find_differ(p, b, 3 * i + 1),
				    find_differ(p, b, 3 * i + 2), &twos[i]);
	one = find_add3(ones[0], ones[1], ones[2], &twos[3]);
	two = find_add3(twos[0], twos[1], twos[2], &fours[0]);
	fours[1] = two & twos[3];
	two ^= twos[3];
	all = vb_add(find_bits(fours[0]), find_bits(fours[1]));
	all = vb_add(vb_add(all, all), find_bits(two));
	return vb_add(vb_add(all, all), find_bits(one));
}
#else
static ALWAYS_INLINE vb find_count(const uint8_t *p, const struct find_block *b)
{
	vb all = vb_set1(0);

	UNROLL
	for (int n = 0; n < SX_MOTION_SAMPLES; n++)
		all = vb_add(all, find_bits(find_differ(p, b, n)));
	return all;
}
#endif

/* Returns the costs of FIND_LANES places from p on. */
static ALWAYS_INLINE vu find_costs(const uint8_t *p, const struct find_block *b)
{
	const vb bytes = find_count(p, b);
	vu pairs;

	pairs = ((vu)bytes & 0x00ff00ffu) + ((vu)bytes >> 8 & 0x00ff00ffu);
	return (pairs + (pairs >> 16)) & 0xffffu;
}

/*
 * Computes the same as sx_motion_find(). second: whether to compute ret.second; without it, it is
 * SX_MOTION_COST_NONE. reach: a constant where this is inlined.
 */
static ALWAYS_INLINE struct sx_motion_place find_place(const struct sx_image *from, const struct sx_image *to,
						       int x, int y, int gx, int gy,
						       struct sx_motion_reach reach,
						       const struct sx_motion_guess *warp, bool second)
{
	const int edge = SX_MOTION_STRIDE + SX_MOTION_CENSUS_RADIUS;
	struct sx_motion_place best = {gx, gy, SX_MOTION_COST_NONE, SX_MOTION_COST_NONE};
	uint32_t column[FIND_VECTORS * FIND_LANES], least = UINT32_MAX, rival = UINT32_MAX;
	vu keys[FIND_VECTORS][FIND_SIDE];
	struct find_block b;
	int left, top, columns, rows;

	if (x < edge || y < edge || x >= from->width - edge || y >= from->height - edge)
		return best;
	find_take(&b, from, to, x, y, warp);
	left = find_larger(gx - reach.x, b.rx + SX_MOTION_CENSUS_RADIUS);
	top = find_larger(gy - reach.y, b.ry + SX_MOTION_CENSUS_RADIUS);
	columns = find_smaller(gx + reach.x + 1, to->width - b.rx - SX_MOTION_CENSUS_RADIUS) - left;
	rows = find_smaller(gy + reach.y + 1, to->height - b.ry - SX_MOTION_CENSUS_RADIUS) - top;
	if (columns <= 0 || rows <= 0)
		return best;
	for (int v = 0; v * FIND_LANES < columns; v++) {
		const uint8_t *p = (const uint8_t *)sx_image_row(to, top) +
				   (ptrdiff_t)(left + v * FIND_LANES) * (ptrdiff_t)sizeof(uint32_t);
		vb all = vb_set1(0x7f); /* no key has such words */

		for (int j = 0; j < rows; j++, p += to->pitch) {
			const vu key = find_costs(p, &b) << FIND_ROW_BITS | (uint32_t)j;

			if (second)
				keys[v][j] = key;
			all = (vb)vw_min((vw)all, (vw)key);
		}
		vb_store((uint8_t *)&column[v * FIND_LANES], (vb)((vu)all & 0xffffu));
	}
	for (int i = 0; i < columns; i++) {
		const uint32_t key = column[i] << 8 | (uint32_t)i;

		least = key < least ? key : least;
	}
	best.x = left + (int)(least & 255);
	best.y = top + (int)(least >> 8 & ((1 << FIND_ROW_BITS) - 1));
	best.cost = least >> (8 + FIND_ROW_BITS);
	if (!second)
		return best;
	/* columns apart have their least cost already; of those near, rows apart count */
	for (int i = 0; i < columns; i++)
		if (abs(left + i - best.x) > FIND_APART)
			rival = column[i] < rival ? column[i] : rival;
	for (int v = 0; v * FIND_LANES < columns; v++) {
		const int first = left + v * FIND_LANES, row = best.y - top;
		uint32_t lanes[FIND_LANES];
		vb all = vb_set1(0x7f);

		if (first > best.x + FIND_APART || first + FIND_LANES - 1 < best.x - FIND_APART)
			continue;
		for (int j = 0; j < row - FIND_APART; j++)
			all = (vb)vw_min((vw)all, (vw)keys[v][j]);
		for (int j = row + FIND_APART + 1; j < rows; j++)
			all = (vb)vw_min((vw)all, (vw)keys[v][j]);
		vb_store((uint8_t *)lanes, (vb)((vu)all & 0xffffu));
		for (int i = 0; i < FIND_LANES && first + i < left + columns; i++)
			if (abs(first + i - best.x) <= FIND_APART)
				rival = lanes[i] < rival ? lanes[i] : rival;
	}
	if (rival < 0x7f7f)
		best.second = rival >> FIND_ROW_BITS;
	return best;
}

/* The searches of sx_motion_match() and sx_motion_again(). */
static struct sx_motion_place find_coarse(const struct sx_image *from, const struct sx_image *to, int x,
					  int y, int gx, int gy, const struct sx_motion_guess *warp)
{
	return find_place(from, to, x, y, gx, gy, SX_MOTION_COARSE, warp, true);
}

static struct sx_motion_place find_wide(const struct sx_image *from, const struct sx_image *to, int x, int y,
					int gx, int gy, const struct sx_motion_guess *warp)
{
	return find_place(from, to, x, y, gx, gy, SX_MOTION_WIDE, warp, true);
}

static struct sx_motion_place find_fine(const struct sx_image *from, const struct sx_image *to, int x, int y,
					int gx, int gy, const struct sx_motion_guess *warp)
{
	return find_place(from, to, x, y, gx, gy, SX_MOTION_FINE, warp, false);
}

static struct sx_motion_place find_again(const struct sx_image *from, const struct sx_image *to, int x, int y,
					 int gx, int gy, const struct sx_motion_guess *warp)
{
	return find_place(from, to, x, y, gx, gy, SX_MOTION_AGAIN, warp, true);
}

/* Computes the same as sx_motion_match(). */
static void motion_match(const struct sx_motion_view *now, const struct sx_motion_view *before,
			 const struct sx_motion_feature *feature, const struct sx_motion_guess *guesses,
			 int count, struct sx_motion_flow *flow)
{
	static const struct sx_motion_searches searches = {find_coarse, find_wide, find_fine};

	sx_motion_match_by(&searches, now, before, feature, guesses, count, flow);
}

/* Returns the vote of a judge about a guess, as sx_motion_begin() defines it. */
static uint32_t motion_vote(const struct sx_motion_view *now, const struct sx_motion_view *before,
			    const struct sx_motion_feature *f, const struct sx_motion_guess *guess)
{
	const int x = f->x >> 1, y = f->y >> 1;
	const struct sx_motion_place place =
		find_place(&now->half_census, &before->half_census, x, y, x + sx_motion_halved(guess->dx),
			   y + sx_motion_halved(guess->dy), (struct sx_motion_reach){3, 2}, guess, false);

	return place.cost < SX_MOTION_VOTE_MOST ? place.cost : SX_MOTION_VOTE_MOST;
}

#endif
