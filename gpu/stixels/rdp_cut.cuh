/*
 * Column segmentation by RDP (rdp.cu), first part: a column's cells and the rows at which it is cut.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_RDP_CUT_CUH
#define SX_GPU_STIXELS_RDP_CUT_CUH

#include "base/image.h"
#include "gpu/cuda.cuh"
#include "gpu/warp.cuh"
#include "stages/road/road_ground.h"

#define RDP_SMALL 32 /* rows between the ends of a small piece; its cuts are bits 1 .. 31 */
#define RDP_WORK 64  /* segments of a column that fit shared memory */
#define RDP_WARPS_MAX 4
#define RDP_SHARED_MAX (48 * 1024)
#define RDP_ALL SX_WARP_ALL_LANES

struct sx_rdp_cuda {
	int height, columns, warps, width; /* width: px of a column */
	int block;			   /* cells of a block; odd */
	uint32_t inverse_block;		   /* v / block = v * inverse_block >> 20 */
	int warp_words;			   /* words of shared memory per warp */
	float epsilon_q4, max_q4;
	int sky_q4, ground_q4;
	const uint16_t *span_q4; /* see struct sx_rdp_tables */
};

/* Data of a warp for its column. */
struct rdp_column {
	float *cell;   /* [32 block] */
	uint32_t *cut; /* bits of rows */
	/* [32] small pieces put aside: first | last << 16; uses the memory of work before work does */
	uint32_t *node;
	uint32_t *work;	     /* see struct entry */
	const float *ground; /* [32 block]: at the axis, Q4 */
	float shift;	     /* ground of the column minus ground at the axis */
	int vhor, unseen, lane;
};

/* ---- cells --------------------------------------------------------------------------------------------- */

__device__ __forceinline__ float rdp_invalid_cell(void)
{
	return __int_as_float(0x7fffffff);
}

__device__ __forceinline__ bool rdp_is_valid(float cell)
{
	return cell == cell;
}

__device__ __forceinline__ float rdp_cell_of(uint32_t d, bool inside, float max_q4)
{
	const float x = (float)d;

	return !inside || d == SX_DISPARITY_INVALID ? rdp_invalid_cell() : x < max_q4 ? x : max_q4;
}

__device__ __forceinline__ void rdp_load_cells(const struct sx_rdp_cuda *s, const uint4 *row,
					       const struct rdp_column *c)
{
	for (int v = 8 * c->lane; v < 32 * s->block; v += 256) {
		const uint4 d = v < s->height ? row[v / 8] : make_uint4(0, 0, 0, 0);
		float4 *to = (float4 *)(c->cell + v);
		const int n = s->height - v;

		to[0] = make_float4(rdp_cell_of(d.x & 0xffff, 0 < n, s->max_q4),
				    rdp_cell_of(d.x >> 16, 1 < n, s->max_q4),
				    rdp_cell_of(d.y & 0xffff, 2 < n, s->max_q4),
				    rdp_cell_of(d.y >> 16, 3 < n, s->max_q4));
		to[1] = make_float4(rdp_cell_of(d.z & 0xffff, 4 < n, s->max_q4),
				    rdp_cell_of(d.z >> 16, 5 < n, s->max_q4),
				    rdp_cell_of(d.w & 0xffff, 6 < n, s->max_q4),
				    rdp_cell_of(d.w >> 16, 7 < n, s->max_q4));
	}
	__syncwarp();
}

/* Returns the value of the first valid cell, or of the last one; 0 if none is valid. */
__device__ __forceinline__ float rdp_first_valid(const struct rdp_column *c, int height)
{
	for (int v = 0; v < height; v += 32) {
		const uint32_t m = __ballot_sync(RDP_ALL, rdp_is_valid(c->cell[v + c->lane]));

		if (m)
			return c->cell[v + __ffs((int)m) - 1];
	}
	return 0;
}

__device__ __forceinline__ float rdp_last_valid(const struct rdp_column *c, int height)
{
	for (int v = (height - 1) / 32 * 32; v >= 0; v -= 32) {
		const uint32_t m = __ballot_sync(RDP_ALL, rdp_is_valid(c->cell[v + c->lane]));

		if (m)
			return c->cell[v + 31 - __clz((int)m)];
	}
	return 0;
}

/* ---- road ---------------------------------------------------------------------------------------------- */

/* Returns the number of rows from the bottom whose ground is above a limit, Q4. */
__device__ __forceinline__ int rdp_rows_above(const struct sx_rdp_cuda *s, const struct rdp_column *c,
					      float limit)
{
	for (int first = 0; first < s->height; first += 32) {
		const int v = first + c->lane;
		const uint32_t end =
			__ballot_sync(RDP_ALL, v >= s->height || c->ground[v] + c->shift <= limit);

		if (end)
			return first + __ffs((int)end) - 1;
	}
	return s->height;
}

/* Reads the road in column u: sx_road_column_ground(), sx_road_unseen_rows(). */
__device__ __forceinline__ void rdp_see_road(const struct sx_rdp_cuda *s, struct rdp_column *c,
					     const struct sx_road *road, int u)
{
	c->shift = (float)sx_road_shift_q4(road->cross, road->axis, u, s->width);
	c->vhor = rdp_rows_above(s, c, 0.0f);
	c->unseen = rdp_rows_above(s, c, (float)sx_road_in_view_q4(u, s->width));
}

/* ---- cut ----------------------------------------------------------------------------------------------- */

/*
 * Returns the cell between first and last at which to cut, or 0. With run = last - first, the distance of
 * cell i times run is |d_first * run + rise * (i - first) - d_i * run|.
 */
__device__ __forceinline__ int rdp_farthest(const struct sx_rdp_cuda *s, const struct rdp_column *c,
					    int first, int last)
{
	const float df = c->cell[first], rise = c->cell[last] - df, run = (float)(last - first);
	float line = fmaf(rise, (float)(c->lane + 1), df * run), best = s->epsilon_q4 * run;
	uint32_t at = 0, top;

#pragma unroll 4
	for (int i = first + 1 + c->lane; i < last; i += 32) {
		const float off = fabsf(fmaf(-c->cell[i], run, line));

		line += 32 * rise;
		if (off > best) {
			best = off;
			at = (uint32_t)i;
		}
	}
	/* positive floats are ordered like integers */
	top = sx_warp_max(at ? __float_as_uint(best) : 0);
	if (!top)
		return 0;
	return (int)sx_warp_min(at && __float_as_uint(best) == top ? at : UINT32_MAX);
}

/* Returns all cuts between the ends of a small piece, as bits relative to its first row. For one lane. */
__device__ __forceinline__ uint32_t rdp_cut_small(float epsilon_q4, const float *cell, int end)
{
	float da = cell[0], db = cell[end];
	uint32_t cuts = 0;
	int a = 0, b = end;

	while (a < end) {
		const float rise = db - da, run = (float)(b - a);
		float line = fmaf(da, run, rise), best = epsilon_q4 * run;
		int at = 0;

		for (int i = a + 1; i < b; i++) {
			const float off = fabsf(fmaf(-cell[i], run, line));

			line += rise;
			if (off > best) {
				best = off;
				at = i;
			}
		}
		if (at) {
			cuts |= 1u << at;
			b = at;
		} else {
			/* continue with the next piece: up to the lowest cut above */
			const uint32_t above = b < end ? cuts & (0xfffffffeu << b) : 0;

			a = b;
			da = db;
			b = above ? __ffs((int)above) - 1 : end;
		}
		db = cell[b];
	}
	return cuts;
}

__device__ __forceinline__ void rdp_cut_small_pieces(const struct sx_rdp_cuda *s, const struct rdp_column *c,
						     int n)
{
	__syncwarp();
	if (c->lane < n) {
		const uint32_t node = c->node[c->lane];
		const int first = (int)(node & 0xffff), last = (int)(node >> 16);
		const uint32_t cuts = rdp_cut_small(s->epsilon_q4, c->cell + first, last - first);
		const uint32_t low = cuts << first % 32, high = first % 32 ? cuts >> (32 - first % 32) : 0;

		if (low)
			atomicOr(&c->cut[first / 32], low);
		if (high)
			atomicOr(&c->cut[first / 32 + 1], high);
	}
	__syncwarp();
}

/* Returns the lowest cut above row v. The top row is a cut. */
__device__ __forceinline__ int rdp_next_cut(const struct rdp_column *c, int v)
{
	int w = v / 32;
	uint32_t bits = c->cut[w] & (0xfffffffeu << v % 32);

	while (!bits)
		bits = c->cut[++w];
	return 32 * w + __ffs((int)bits) - 1;
}

/* Sets the bits of all cuts. Row 0 is no cut, unless it is the only row. */
__device__ __forceinline__ void rdp_cut_column(const struct sx_rdp_cuda *s, const struct rdp_column *c)
{
	const int top = s->height - 1;
	int first = 0, last = top, small = 0;

	for (int w = c->lane; w <= top / 32; w += 32)
		c->cut[w] = w == top / 32 ? 1u << top % 32 : 0;
	__syncwarp();
	while (first < top) {
		int at = 0;

		if (last - first > RDP_SMALL) {
			at = rdp_farthest(s, c, first, last);
		} else if (last - first > 1) {
			if (c->lane == 0)
				c->node[small] = (uint32_t)first | (uint32_t)last << 16;
			if (++small == 32) {
				rdp_cut_small_pieces(s, c, small);
				small = 0;
			}
		}
		if (at) {
			__syncwarp(); /* wait until all lanes have read the bits of cuts in rdp_next_cut() */
			if (c->lane == 0)
				c->cut[at / 32] |= 1u << at % 32;
			__syncwarp();
			last = at;
		} else {
			first = last;
			if (first < top)
				last = rdp_next_cut(c, first);
		}
	}
	rdp_cut_small_pieces(s, c, small);
}

/* Makes one piece of the rows that the right camera does not see. */
__device__ __forceinline__ void rdp_join_unseen(const struct rdp_column *c)
{
	const int last = c->unseen - 1;

	for (int w = c->lane; 32 * w <= last; w += 32) {
		if (32 * w + 31 < last)
			c->cut[w] = 0;
		else
			c->cut[w] = (c->cut[w] & ~((2u << (last & 31)) - 1)) | 1u << (last & 31);
	}
	__syncwarp();
}

#endif
