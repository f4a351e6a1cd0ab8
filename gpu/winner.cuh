/*
 * Winner takes all on a group of lanes that walks along an image row: the pieces of gpu/winner.cu and of path kernels
 * that end in a winner. A lane owns 16 disparities of each pixel, as 8 pair words: word r of lane g is the pair
 * (d, d + D/2) of d = 8 g + r; so D/16 lanes make a group, and a block of 8 consecutive disparities is one half of one
 * lane's words.
 *
 * A key is S << SHIFT | index. As fp16 bit patterns below 0x7c00 keys are ordered like integers, so that one
 * instruction takes the minimum of two pairs. SHIFT = 6: index = 8 g + r, for S <= SX_WINNER_NARROW and D <= 128:
 * d but for the half. SHIFT = 3: index = r, for any S of ours (up to 2040): the place inside a block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_WINNER_CUH
#define SX_GPU_WINNER_CUH

#include "gpu/cuda.cuh"
#include "stages/params.h"
#include "stages/winner.h"

#define SX_WINNER_NARROW 480
#define SX_KEY_NONE 0x7bffu /* above every key */
#define SX_KEY_NONE_PAIR 0x7bff7bffu

/* Both halves the smaller of the two keys. */
__device__ __forceinline__ uint32_t sx_key_min(uint32_t a, uint32_t b)
{
#ifdef SX_EMULATE
	uint32_t low = (a & 0xffff) < (b & 0xffff) ? a & 0xffff : b & 0xffff;

	return low | (a >> 16 < b >> 16 ? a >> 16 : b >> 16) << 16;
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
	uint32_t r;

	asm("min.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
#else
	return __vminu2(a, b);
#endif
}

__device__ __forceinline__ uint32_t sx_key_min8(const uint32_t (&k)[8])
{
	return sx_key_min(sx_key_min(sx_key_min(sx_key_min(k[0], k[1]), k[2]),
				     sx_key_min(sx_key_min(k[3], k[4]), k[5])),
			  sx_key_min(k[6], k[7]));
}

/*
 * Key r of a lane where every V is 0 (gpu/volume.cuh), that is, S = largest. Kept in registers on purpose: a compiler that
 * knows the constants in it adds them in an instruction of their own.
 */
template <int SHIFT> __device__ __forceinline__ uint32_t sx_winner_origin(int lane, int r, int largest)
{
	uint32_t key = (uint32_t)((largest << SHIFT) + (SHIFT == 6 ? 8 * lane + r : r)) * 0x10001u;

#ifndef SX_EMULATE
	asm volatile("" : "+r"(key));
#endif
	return key;
}

/* sums: of V. */
template <int SHIFT>
__device__ __forceinline__ void sx_winner_keys(uint32_t (&keys)[8], const uint32_t (&sums)[8],
					       const uint32_t (&origin)[8])
{
#pragma unroll
	for (int r = 0; r < 8; r++)
		keys[r] = origin[r] - sums[r] * (1u << SHIFT);
}

/* S << 8 | d of one key: ordered as the winner is, lowest d first. block: lane, + lanes for the high half. */
template <int SHIFT> __device__ __forceinline__ uint32_t sx_winner_entry(uint32_t key, int block, int lanes)
{
	const uint32_t d = SHIFT == 6 ? (key & 63) + (block < lanes ? 0 : 8 * (uint32_t)lanes)
				      : (key & 7) + 8 * (uint32_t)block;

	return (key >> SHIFT) << 8 | d;
}

/*
 * One pixel's keys in shared memory, as a lane that finishes the pixel reads them: the keys, in two planes (r < 4,
 * r >= 4), so that neighbouring lanes write 16 bytes each without a bank conflict; behind the keys of all pixels the least
 * pair of each lane. The strides keep the 8 pixels of a group in different banks.
 */
struct sx_winner_rows {
	uint32_t *keys, *least;
};

__host__ __device__ inline int sx_winner_keys_stride(int lanes)
{
	return 8 * lanes + 4;
}

__host__ __device__ inline int sx_winner_least_stride(int lanes)
{
	return (lanes + 3) / 4 * 4 + 4;
}

/* Words of shared memory for the pixels that a warp holds at a time. */
__host__ __device__ inline int sx_winner_warp_words(int lanes)
{
	return 32 / lanes * lanes * (sx_winner_keys_stride(lanes) + sx_winner_least_stride(lanes));
}

__device__ __forceinline__ struct sx_winner_rows sx_winner_rows_of(uint32_t *warp_words, int lanes, int pixel)
{
	struct sx_winner_rows rows;

	rows.keys = warp_words + pixel * sx_winner_keys_stride(lanes);
	rows.least = warp_words + 32 / lanes * lanes * sx_winner_keys_stride(lanes) +
		     pixel * sx_winner_least_stride(lanes);
	return rows;
}

__device__ __forceinline__ void sx_winner_put(struct sx_winner_rows rows, const uint32_t (&keys)[8],
					      int lanes, int lane)
{
	*reinterpret_cast<uint4 *>(rows.keys + 4 * lane) = make_uint4(keys[0], keys[1], keys[2], keys[3]);
	*reinterpret_cast<uint4 *>(rows.keys + 4 * lanes + 4 * lane) =
		make_uint4(keys[4], keys[5], keys[6], keys[7]);
	rows.least[lane] = sx_key_min8(keys);
}

struct sx_winner_options {
	int uniqueness;
	enum sx_subpixel subpixel;
	float rise; /* 1 / (60 paths) */
};

struct sx_winner_result {
	uint16_t disparity;
	uint8_t confidence;
};

/* The 16-bit place of disparity d. */
__device__ __forceinline__ uint16_t *sx_winner_at(struct sx_winner_rows rows, int lanes, int d)
{
	const int block = d >> 3, high = block >= lanes, lane = block - (high ? lanes : 0);

	return reinterpret_cast<uint16_t *>(rows.keys) + 2 * ((d >> 2 & 1) * 4 * lanes + 4 * lane + (d & 3)) +
	       high;
}

/* Least pair of all lanes. */
template <int LANES>
__device__ __forceinline__ uint32_t sx_winner_least(struct sx_winner_rows rows, int lanes)
{
	uint32_t m = SX_KEY_NONE_PAIR;

	if (LANES % 4 == 0 && LANES) {
#pragma unroll
		for (int i = 0; i < LANES / 4; i++) {
			const uint4 v = reinterpret_cast<const uint4 *>(rows.least)[i];

			m = sx_key_min(sx_key_min(m, v.x), v.y);
			m = sx_key_min(sx_key_min(m, v.z), v.w);
		}
	} else {
		for (int i = 0; i < lanes; i++)
			m = sx_key_min(m, rows.least[i]);
	}
	return m;
}

/* S << 8 | d of the winner. */
template <int LANES, int SHIFT>
__device__ __forceinline__ uint32_t sx_winner_best(struct sx_winner_rows rows, int lanes)
{
	if (SHIFT == 6) {
		const uint32_t m = sx_winner_least<LANES>(rows, lanes);
		const uint32_t low = sx_winner_entry<6>(m & 0xffff, 0, lanes);
		const uint32_t high = sx_winner_entry<6>(m >> 16, lanes, lanes);

		return low < high ? low : high;
	}
	/* S and the block first; r goes along in the word it came from. */
	uint32_t best = 0xffffffffu;

#pragma unroll
	for (int i = 0; i < (LANES ? LANES : lanes); i++) {
		const uint32_t pair = rows.least[i];
		const uint32_t low = (pair << 16 & 0xfff80000u) | (uint32_t)i;
		const uint32_t high = (pair & 0xfff80000u) | (uint32_t)(i + lanes);

		best = min(best, min(low, high));
	}
	const int block = (int)(best & 31), lane = block < lanes ? block : block - lanes;
	const uint32_t r = rows.least[lane] >> (block < lanes ? 0 : 16) & 7;

	return best >> 19 << 8 | (8 * (uint32_t)block + r);
}

/* Takes the winner and its neighbours out of the keys, and the two lanes' least again: what is left are the rivals. */
template <int LANES, int SHIFT>
__device__ __forceinline__ uint32_t sx_winner_rival(struct sx_winner_rows rows, int lanes, int d0)
{
	const int first = max(d0 - 1, 0), last = min(d0 + 1, 16 * lanes - 1);

	*sx_winner_at(rows, lanes, first) = SX_KEY_NONE;
	*sx_winner_at(rows, lanes, d0) = SX_KEY_NONE;
	*sx_winner_at(rows, lanes, last) = SX_KEY_NONE;
#pragma unroll
	for (int i = 0; i < 2; i++) {
		const int block = (i ? last : first) >> 3, lane = block < lanes ? block : block - lanes;
		const uint4 a = *reinterpret_cast<const uint4 *>(rows.keys + 4 * lane);
		const uint4 b = *reinterpret_cast<const uint4 *>(rows.keys + 4 * lanes + 4 * lane);
		const uint32_t keys[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};

		rows.least[lane] = sx_key_min8(keys);
	}
	const uint32_t m = sx_winner_least<LANES>(rows, lanes);

	return min(m & 0xffff, m >> 16) >> SHIFT;
}

/*
 * a / b rounded down, 0 <= a < 2^20, b > 0, inverse: 1 / b, good to 2^-22. (a + 0.5) / b is at least 0.5 / b away from every
 * integer, and the product errs by less than 2^-20 / b.
 */
__device__ __forceinline__ int sx_winner_divide(int a, float inverse)
{
	return (int)(((float)a + 0.5f) * inverse);
}

/* 1 / a to within 2^-22; 1 <= a < 2^20. */
__device__ __forceinline__ float sx_winner_inverse(int a)
{
#ifdef SX_EMULATE
	return 1.0f / (float)a;
#else
	float r;

	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"((float)a));
	return r;
#endif
}

__device__ __forceinline__ int sx_winner_refine(int before, int s0, int after, enum sx_subpixel how)
{
	const int den = before - 2 * s0 + after, b = 2 * den;
	const int a = 16 * (before - after) + den; /* -7.5 b .. 8.5 b */

	const float inverse = sx_winner_inverse(b);

	if (how == SX_SUBPIXEL_FLOOR)
		return sx_winner_divide(a + 8 * b, inverse) - 8;
	return a < 0 ? -sx_winner_divide(-a, inverse) : sx_winner_divide(a, inverse);
}

/* One lane finishes one pixel; overwrites its keys. */
template <int LANES, int SHIFT>
__device__ __forceinline__ struct sx_winner_result sx_winner_finish(struct sx_winner_rows rows, int lanes,
								    const struct sx_winner_options &o)
{
	const uint32_t best = sx_winner_best<LANES, SHIFT>(rows, lanes);
	const int d0 = (int)(best & 255), s0 = (int)(best >> 8), last = 16 * lanes - 1;
	const int before = *sx_winner_at(rows, lanes, max(d0 - 1, 0)) >> SHIFT;
	const int after = *sx_winner_at(rows, lanes, min(d0 + 1, last)) >> SHIFT;
	const bool at_end = d0 == 0 || d0 == last;
	struct sx_winner_result r;
	int q4 = 16 * d0;

	if (o.subpixel != SX_SUBPIXEL_OFF)
		q4 += at_end ? 0 : sx_winner_refine(before, s0, after, o.subpixel);
	if (o.uniqueness < 100 &&
	    100 * s0 > o.uniqueness * (int)sx_winner_rival<LANES, SHIFT>(rows, lanes, d0))
		q4 = SX_DISPARITY_INVALID;
	const int rise = sx_winner_divide((max(before, after) - s0) * 255, o.rise);

	r.disparity = (uint16_t)q4;
	r.confidence = (uint8_t)(at_end ? SX_WINNER_CONFIDENCE_END : min(rise, 255));
	return r;
}

/*
 * Least S of the right image. Its pixel x meets the left one X at d = X - x: as the group moves on to X + 1, the minimum so far
 * of word r is that of word r + 1, and continues. enter: the previous lane's word 7 of the step before (SHIFT = 6), or
 * nothing. At word 7 the low half's minimum leaves for x = X - (8 lane + 7), the high half's for x - D/2.
 */
__device__ __forceinline__ void sx_winner_right(uint32_t (&run)[8], const uint32_t (&keys)[8], uint32_t enter)
{
#pragma unroll
	for (int r = 7; r > 0; r--)
		run[r] = sx_key_min(run[r - 1], keys[r]);
	run[0] = sx_key_min(enter, keys[0]);
}

/* The same for a group that moves to X - 1: leaves at word 0 for x = X - 8 lane, and x - D/2. */
__device__ __forceinline__ void sx_winner_right_back(uint32_t (&run)[8], const uint32_t (&keys)[8],
						     uint32_t enter)
{
#pragma unroll
	for (int r = 0; r < 7; r++)
		run[r] = sx_key_min(run[r + 1], keys[r]);
	run[7] = sx_key_min(enter, keys[7]);
}

#endif
