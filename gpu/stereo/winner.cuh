/*
 * Winner-takes-all on a group of lanes that walks along an image row: building blocks of
 * gpu/stereo/winner.cu.
 *
 * D/16 lanes make a group and share a pixel. A lane owns 16 disparities as 8 pair words. Word r of lane g is
 * the pair (d, d + D/2) with d = 8 g + r. With D = 128 (lanes across, words down, low half / high half):
 *
 *             lane 0     lane 1     lane 2   ...  lane 7
 *   word 0    0 / 64     8 / 72    16 / 80   ...  56 / 120      a key, 16 bits: V << SHIFT | rank
 *   word 1    1 / 65     9 / 73    17 / 81   ...  57 / 121        SHIFT 6:  vvvvvvvvvv rrrrrr
 *    ...                                                          SHIFT 3:  vvvvvvvvvvvvv rrr
 *   word 7    7 / 71    15 / 79    23 / 87   ...  63 / 127
 *
 * A block is 8 consecutive disparities: one half of one lane's words. Block g is the low half of lane g;
 * block g + D/16 is its high half. V is the sum over the paths, see gpu/stereo/volume.cuh. S = largest - V,
 * so the winner has the largest V. The rank falls as d rises, so the largest key is the winner, and of equal
 * V the lowest d wins. Keys are fp16 bit patterns below 0x7c00, which are ordered like integers, so one
 * instruction takes the maximum of two pairs.
 * SHIFT 6, for S <= SX_WINNER_NARROW and D <= 128: the rank is the place in the half, D/2 - 1 - d. Inside its
 * own lane a key has the rank that it would have in the last lane, 7 - r; 8 per lane are added when it
 * leaves.
 * SHIFT 3, for any S (up to 2040): the rank is the place in the block, 7 - r.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_WINNER_CUH
#define SX_GPU_STEREO_WINNER_CUH

#include "gpu/cuda.cuh"
#include "stages/params/params.h"
#include "stages/stereo/sgm.h"
#include "stages/stereo/winner.h"

#define SX_WINNER_NARROW 480
#define SX_WINNER_NARROW_SHIFT 6
#define SX_WINNER_WIDE_SHIFT 3
/* Mask of the rank in a narrow key, and in both keys of a pair. */
#define SX_WINNER_RANKS 63u
#define SX_WINNER_RANK_PAIR 0x003f003fu
/* Added to both keys of a pair: one rank up, or one lane up (8 ranks). */
#define SX_WINNER_RANK_UP 0x00010001u
#define SX_WINNER_LANE_UP 0x00080008u
/* Returns the larger key in each half. 0 means no key. */
__device__ __forceinline__ uint32_t sx_key_max(uint32_t a, uint32_t b)
{
#ifdef SX_EMULATE
	uint32_t low = (a & 0xffff) > (b & 0xffff) ? a & 0xffff : b & 0xffff;

	return low | (a >> 16 > b >> 16 ? a >> 16 : b >> 16) << 16;
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
	uint32_t r;

	asm("max.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
#else
	return __vmaxu2(a, b);
#endif
}

__device__ __forceinline__ uint32_t sx_key_max8(const uint32_t (&k)[8])
{
	return sx_key_max(sx_key_max(sx_key_max(sx_key_max(k[0], k[1]), k[2]),
				     sx_key_max(sx_key_max(k[3], k[4]), k[5])),
			  sx_key_max(k[6], k[7]));
}

/*
 * Makes keys from sums. sums: V. scale: 1 << SHIFT; a run-time value, because with a constant the compiler
 * would shift and add instead of multiply.
 */
__device__ __forceinline__ void sx_winner_keys(uint32_t (&keys)[8], const uint32_t (&sums)[8], uint32_t scale)
{
#pragma unroll
	for (int r = 0; r < 8; r++)
		keys[r] = sums[r] * scale + (uint32_t)(7 - r) * SX_WINNER_RANK_UP;
}

/*
 * Returns V << 8 | 255 - d of one key with SHIFT 3. The largest is the winner, and of equal V the lowest d
 * wins.
 */
__device__ __forceinline__ uint32_t sx_winner_entry(uint32_t key, int block)
{
	return (key >> SX_WINNER_WIDE_SHIFT) << 8 | (248 - 8 * (uint32_t)block + (key & 7));
}

/*
 * Row of one pixel in shared memory, as the lane that finishes the pixel reads it. It has the keys, then the
 * best pair of each lane, then the key that left the group (SHIFT 6, sx_winner_right()). In every second
 * group of four lanes the halves of a lane's keys are exchanged, so that eight neighbouring lanes write 16
 * bytes each without a bank conflict. The strides put the pixels of a group, and the same pixel of all
 * groups, into different banks.
 */
__host__ __device__ inline int sx_winner_best_at(int lanes)
{
	return 8 * lanes;
}

/*
 * Returns the first of four words. Groups use them in turn, so that every pixel of a warp has its own bank.
 */
__host__ __device__ inline int sx_winner_leaving_at(int lanes)
{
	return 8 * lanes + (lanes + 3) / 4 * 4;
}

/* Returns the words of a pixel: an odd multiple of four. */
__host__ __device__ inline int sx_winner_row_words(int lanes)
{
	return (sx_winner_leaving_at(lanes) / 4 + 1) / 2 * 8 + 4;
}

/* Returns the words of all pixels that a group holds at a time. */
__host__ __device__ inline int sx_winner_group_words(int lanes)
{
	const int words = lanes * sx_winner_row_words(lanes);

	return words + (((lanes + 3) / 4 * 4 - words) & 31);
}

/* Returns the place of word i = 8 lane + r. APART: distance of a group's lanes in the warp, 1 or 4. */
template <int APART> __device__ __forceinline__ int sx_winner_word(int i)
{
	return i ^ (APART == 1 ? i >> 3 & 4 : i >> 1 & 4);
}

template <int SHIFT, int APART = 1>
__device__ __forceinline__ void sx_winner_put(uint32_t *row, const uint32_t (&keys)[8], uint32_t leaving,
					      int lanes, int lane, int leaving_at)
{
	const uint32_t ranks =
		SHIFT == SX_WINNER_NARROW_SHIFT ? (uint32_t)(lanes - 1 - lane) * SX_WINNER_LANE_UP : 0;

	*reinterpret_cast<uint4 *>(row + sx_winner_word<APART>(8 * lane)) =
		make_uint4(keys[0], keys[1], keys[2], keys[3]);
	*reinterpret_cast<uint4 *>(row + sx_winner_word<APART>(8 * lane + 4)) =
		make_uint4(keys[4], keys[5], keys[6], keys[7]);
	row[sx_winner_best_at(lanes) + lane] = sx_key_max8(keys) + ranks;
	if (SHIFT == SX_WINNER_NARROW_SHIFT && lane == lanes - 1)
		row[leaving_at] = leaving;
}

struct sx_winner_options {
	int uniqueness;
	int limit; /* (uniqueness - 100) largest */
	enum sx_subpixel subpixel;
	float rise; /* 1 / (60 paths) */
};

/* Makes options. p: resolved parameters. */
static inline struct sx_winner_options sx_winner_options_of(const struct sx_stereo_params *p)
{
	const struct sx_winner_options o = {p->uniqueness, (p->uniqueness - 100) * sx_sgm_largest(p),
					    p->subpixel, 1.0f / (float)sx_winner_rise(p)};

	return o;
}

/* Returns true if the sum of V of any two paths fits a byte. */
static inline bool sx_winner_two_fit(const struct sx_stereo_params *p)
{
	const int p2 = p->paths > 2 && p->p2_vertical > p->p2 ? p->p2_vertical : p->p2;

	return 2 * (p2 + sx_cost_max(p->cost)) <= UINT8_MAX;
}

struct sx_winner_result {
	uint16_t disparity;
	uint8_t confidence;
};

/* Returns the place of disparity d, bytes. LANES: lanes per pixel, or 0 if only known at run time. */
template <int LANES, int APART> __device__ __forceinline__ unsigned sx_winner_place(unsigned d, int lanes)
{
	const unsigned half = 8 * (unsigned)(LANES ? LANES : lanes);
	const unsigned high = d >= half,
		       i = LANES && !(LANES & (LANES - 1)) ? d % half : d - (high ? half : 0);

	return 4 * (unsigned)sx_winner_word<APART>((int)i) + (high ? 2 : 0);
}

__device__ __forceinline__ uint16_t *sx_winner_at(uint32_t *row, unsigned place)
{
	return reinterpret_cast<uint16_t *>(reinterpret_cast<unsigned char *>(row) + place);
}

/* Returns the best pair of all lanes. */
template <int LANES> __device__ __forceinline__ uint32_t sx_winner_best(const uint32_t *row, int lanes)
{
	const uint32_t *best = row + sx_winner_best_at(lanes);
	uint32_t m = 0;

	if (LANES % 4 == 0 && LANES) {
#pragma unroll
		for (int i = 0; i < LANES / 4; i++) {
			const uint4 v = reinterpret_cast<const uint4 *>(best)[i];

			m = sx_key_max(i ? sx_key_max(m, v.x) : v.x, v.y);
			m = sx_key_max(sx_key_max(m, v.z), v.w);
		}
	} else {
		for (int i = 0; i < lanes; i++)
			m = sx_key_max(m, best[i]);
	}
	return m;
}

struct sx_winner_found {
	int d, v;
};

template <int LANES, int SHIFT>
__device__ __forceinline__ struct sx_winner_found sx_winner_find(const uint32_t *row, int lanes)
{
	struct sx_winner_found found;

	if (SHIFT == SX_WINNER_NARROW_SHIFT) {
		const uint32_t best = sx_winner_best<LANES>(row, lanes), low = best & 0xffff,
			       high = best >> 16;
		const bool low_wins =
			/* only V decides between the halves; if equal, the lower half wins */
			(low | SX_WINNER_RANKS) >= high;
		const uint32_t key = low_wins ? low : high;

		found.d = (low_wins ? 8 : 16) * lanes - 1 - (int)(key & SX_WINNER_RANKS);
		found.v = (int)(key >> SX_WINNER_NARROW_SHIFT);
		return found;
	}
	/*
	 * A value is V << 19 | 31 - block, so of equal V the lowest block wins. The rank is read from the
	 * winning lane.
	 */
	const uint32_t v_mask = 0xffffffffu << (16 + SX_WINNER_WIDE_SHIFT), blocks_end = 31;
	const uint32_t *best = row + sx_winner_best_at(lanes);
	uint32_t all = 0;

#pragma unroll
	for (int i = 0; i < (LANES ? LANES : lanes); i++) {
		const uint32_t low = (best[i] << 16 & v_mask) | (blocks_end - (uint32_t)i);
		const uint32_t high = (best[i] & v_mask) | (blocks_end - (uint32_t)(i + lanes));

		all = max(all, max(low, high));
	}
	const int block = (int)(blocks_end - (all & blocks_end)),
		  lane = block < lanes ? block : block - lanes;

	found.d = 8 * block + 7 - (int)(best[lane] >> (block < lanes ? 0 : 16) & 7);
	found.v = (int)(all >> (16 + SX_WINNER_WIDE_SHIFT));
	return found;
}

/* Recomputes a lane's best pair, without ranks. place: place of one of the lane's keys. */
__device__ __forceinline__ void sx_winner_renew(uint32_t *row, int lanes, unsigned place)
{
	const uint4 *keys = reinterpret_cast<const uint4 *>(sx_winner_at(row, place & ~31u));
	const uint4 first = keys[0], last = keys[1];
	const uint32_t all[8] = {first.x, first.y, first.z, first.w, last.x, last.y, last.z, last.w};

	row[sx_winner_best_at(lanes) + (int)(place >> 5)] = sx_key_max8(all);
}

/*
 * Removes the winner and its neighbours from the keys; the rest are the rivals. Returns the largest V of the
 * rivals.
 */
template <int LANES, int SHIFT>
__device__ __forceinline__ int sx_winner_rival(uint32_t *row, int lanes, unsigned before, unsigned winner,
					       unsigned after)
{
	*sx_winner_at(row, before) = 0;
	*sx_winner_at(row, winner) = 0;
	*sx_winner_at(row, after) = 0;
	sx_winner_renew(row, lanes, before);
	if ((before ^ after) & ~31u)
		sx_winner_renew(row, lanes, after);

	const uint32_t best = sx_winner_best<LANES>(row, lanes);

	return (int)(max(best & 0xffff, best >> 16) >> SHIFT);
}

/*
 * Returns a / b rounded down. 0 <= a < 2^20, b > 0. inverse: 1 / b with an error below 2^-22. The result is
 * exact: (a + 0.5) / b is at least 0.5 / b away from every integer, and the product has an error below 2^-20
 * / b.
 */
__device__ __forceinline__ int sx_winner_divide(int a, float inverse)
{
	return (int)(((float)a + 0.5f) * inverse);
}

/* Returns 1 / a with an error below 2^-22; 1 <= a < 2^20. */
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

/*
 * Returns the sub-pixel offset. before, after: how much larger S is at the neighbours than at the winner. The
 * sum is 0 only at the ends of the range, where the result is not used.
 */
__device__ __forceinline__ int sx_winner_refine(int before, int after, enum sx_subpixel how)
{
	const int den = max(before + after, 1), b = 2 * den;
	const int a = 16 * (before - after) + den; /* -7.5 b .. 8.5 b */
	/* Rounds down. With SX_SUBPIXEL_TRUNC it rounds towards zero, which is up for a < 0. */
	const int up = how == SX_SUBPIXEL_TRUNC && a < 0 ? b - 1 : 0;

	return sx_winner_divide(a + 8 * b + up, sx_winner_inverse(b)) - 8;
}

/* Finishes one pixel in one lane. Overwrites the pixel's keys. */
template <int LANES, int SHIFT, int APART = 1>
__device__ __forceinline__ struct sx_winner_result sx_winner_finish(uint32_t *row, int lanes,
								    const struct sx_winner_options &o)
{
	const struct sx_winner_found best = sx_winner_find<LANES, SHIFT>(row, lanes);
	const int end = 16 * lanes - 1;
	const unsigned winner_at = sx_winner_place<LANES, APART>((unsigned)best.d, lanes),
		       before_at = sx_winner_place<LANES, APART>((unsigned)max(best.d - 1, 0), lanes),
		       after_at = sx_winner_place<LANES, APART>((unsigned)min(best.d + 1, end), lanes);
	const int before = best.v - (*sx_winner_at(row, before_at) >> SHIFT);
	const int after = best.v - (*sx_winner_at(row, after_at) >> SHIFT);
	const bool at_end = best.d == 0 || best.d == end;
	const int rise = sx_winner_divide(max(before, after) * 255, o.rise);
	struct sx_winner_result r;
	int q4 = 16 * best.d;

	if (o.subpixel != SX_SUBPIXEL_OFF) {
		const int part = sx_winner_refine(before, after, o.subpixel);

		q4 += at_end ? 0 : part;
	}
	/* uniqueness test: 100 S(d0) >= uniqueness S(rival) */
	const int rival = sx_winner_rival<LANES, SHIFT>(row, lanes, before_at, winner_at, after_at);

	if (o.uniqueness * rival - 100 * best.v >= o.limit)
		q4 = SX_DISPARITY_INVALID;
	r.disparity = (uint16_t)q4;
	r.confidence = (uint8_t)(at_end ? SX_WINNER_CONFIDENCE_END : min(rise, 255));
	return r;
}

/*
 * Finds the winner of the right image. Right pixel x meets left pixel X at d = X - x, so its cells lie on a
 * diagonal: when the group moves on to X + 1, the best key of word r moves to word r + 1. Per lane (words
 * across, left pixels down):
 *
 *                 word 0    word 1          word 7
 *   pixel X       key ___   key ___   ...   key ->   key that leaves at X: of right pixel X - (8 lane + 7)
 *   pixel X + 1   key    \-> key    \-> ... key ->   in the low half, and of the pixel D/2 before it in the
 *                                                    high half. It enters word 0 of the next lane at X + 1,
 *                                                    8 ranks up (SHIFT 6), or atomic maxima combine it with
 *                                                    other keys (SHIFT 3)
 *
 * run: best keys so far, by word. Two left pixels are processed at a time, first and second. The key that
 * leaves at the first is sx_winner_leaves(); the key that leaves at the second is run[7] afterwards.
 * enters_first, enters_second: the keys that left the previous lane one pixel earlier.
 */
__device__ __forceinline__ uint32_t sx_winner_leaves(const uint32_t (&run)[8], const uint32_t (&first)[8])
{
	return sx_key_max(run[6], first[7]);
}

__device__ __forceinline__ void sx_winner_right(uint32_t (&run)[8], const uint32_t (&first)[8],
						const uint32_t (&second)[8], uint32_t enters_first,
						uint32_t enters_second)
{
#pragma unroll
	for (int r = 7; r > 1; r--)
		run[r] = sx_key_max(sx_key_max(run[r - 2], first[r - 1]), second[r]);
	run[1] = sx_key_max(sx_key_max(enters_first, first[0]), second[1]);
	run[0] = sx_key_max(enters_second, second[0]);
}

/*
 * Returns the disparities of two neighbours of the right map, SHIFT 6. low, high: best keys of both in the
 * lower and in the upper half of the disparities. Only V decides between the halves; if equal, the lower half
 * wins.
 */
__device__ __forceinline__ uint32_t sx_winner_right_pair(uint32_t low, uint32_t high, int lanes)
{
	const uint32_t half = (uint32_t)lanes * SX_WINNER_LANE_UP; /* D/2, twice */
	/*
	 * Keys never use the top bit of a half, so it serves as a borrow flag. It survives the subtraction if
	 * low, with its rank set to the largest, is not below high.
	 */
	const uint32_t sentinel = 0x80008000u;
	const uint32_t low_wins = ((low | sentinel | SX_WINNER_RANK_PAIR) - high) >> 15 & SX_WINNER_RANK_UP,
		       mask = low_wins * 0xffffu;
	const uint32_t rank = ((low & mask) | (high & ~mask)) & SX_WINNER_RANK_PAIR;

	return half - SX_WINNER_RANK_UP + (half & ~mask) - rank;
}

#endif
