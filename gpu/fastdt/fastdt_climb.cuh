/*
 * FastDT's last pass, up: a warp climbs a column of the image. S of all disparities of a pixel is in
 * registers, and as keys in shared memory, and the winner is found from it. gpu/fastdt/fastdt_winner.cu
 * describes the use. stages/stereo/fastdt.h and stages/stereo/winner.h define the results.
 *
 * A lane owns the four cells of word i = lane of gpu/stereo/volume.cuh. With D > 128 it also owns the cells
 * of word lane + 32; with D < 128 the upper lanes own none. D = 128:
 *
 *   lane 0         lane 1        ...   lane 31
 *   0, 1, 64, 65   2, 3, 66, 67  ...   62, 63, 126, 127         at.v[k][4]: V of the four cells of word k
 *
 * Keys are S << 16 | d. A batch of them is in shared memory, row after row upwards. Empty keys between the
 * columns serve as padding, so that diagonals, which are the pixels of the right image, have no ends:
 *
 *   | PAD: NONE | column 0: d = 0 .. D - 1 | PAD: NONE | column 1: 0 .. D - 1 | ... | column 7: 0 .. D - 1 |
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_FASTDT_FASTDT_CLIMB_CUH
#define SX_GPU_FASTDT_FASTDT_CLIMB_CUH

#include "gpu/fastdt/fastdt.cuh"
#include "gpu/fastdt/fastdt_priv.h"
#include "gpu/warp.cuh"
#include "stages/stereo/winner.h"

#define COLUMNS 8 /* columns of a block, one per warp */
#define THREADS (32 * COLUMNS)
#define PAD COLUMNS /* empty keys before and after the keys of a column: COLUMNS - 1, made even */
#define NONE 0xffffffffu
#define SUM_OF_KEY 0xffff0000u

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

struct work {
	struct sx_dt_planes planes;
	uint8_t *volume;
	uint8_t *left, *right, *confidence;
	size_t left_pitch, right_pitch, confidence_pitch;
	int disparities;
	int uniqueness;
	enum sx_subpixel subpixel;
	bool keep; /* S is written to the volume */
};

/*
 * Properties of a block's shape that are known at compile time. D: disparities, or 0 if only known at run
 * time. WORDS: words per lane, of four disparities each.
 */
template <int DISPARITIES, int LANE_WORDS> struct shape {
	static const int D = DISPARITIES, W = LANE_WORDS;
	/* rows of a batch; as many as fit registers and shared memory */
	static const int rows = W == 1 ? 8 : 4;
	typedef sx_dt_halves cells;

	static __device__ __forceinline__ int disparities(const struct work &w)
	{
		return D ? D : w.disparities;
	}
	/* Return the keys from column to column, and from row to row. */
	static __host__ __device__ __forceinline__ int stride(int disparities)
	{
		return disparities + PAD;
	}
	static __host__ __device__ __forceinline__ int row(int disparities)
	{
		return PAD + COLUMNS * stride(disparities);
	}
};

template <bool HELD> __device__ __forceinline__ int hold(int v)
{
	return HELD ? max(min(v, (int)INT16_MAX), (int)INT16_MIN) : v;
}

/*
 * Computes S << 16 of four cells; the low bits are undefined. above: V(d) - V(O). Steps are rounded, so a sum
 * can exceed that of the largest cost, and S can exceed 16 bits. CAREFUL: S is clamped then. Else the return
 * value is not 0.
 */
template <bool CAREFUL>
__device__ __forceinline__ uint32_t sums_of(uint32_t (&s)[4], const int (&above)[4], uint32_t factor)
{
	uint32_t over = 0;

#pragma unroll
	for (int j = 0; j < 4; j++) {
		const uint64_t product = (uint64_t)(uint32_t)above[j] * factor;

		s[j] = CAREFUL && product >> 32 ? NONE : (uint32_t)product;
		over |= (uint32_t)(product >> 32);
	}
	return over;
}

/* Values of a pixel in the plane `beside`. All lanes of a column read the same ones. */
struct beside {
	uint2 v;

	__device__ __forceinline__ uint32_t factor() const
	{
		return v.x;
	}
	__device__ __forceinline__ int least() const
	{
		return (int16_t)v.y;
	}
	__device__ __forceinline__ uint16_t weight() const
	{
		return (uint16_t)(v.y >> 16);
	}
};

/*
 * State of a lane on its column. Its inputs are loaded one batch ahead: each row into the registers of the
 * row that was just processed.
 */
template <typename S> struct climb {
	uint32_t words[S::rows][S::W][S::cells::words];
	struct beside beside[S::rows];
	struct state {
		int v[S::W][4], least;
		uint16_t carried;
	} at;
	/*
	 * address of the lane's first word in row 0 of the column, and in the row to load next; bytes between
	 * rows
	 */
	const uint8_t *first, *from;
	const uint8_t *first_beside, *from_beside;
	uint32_t row, beside_row;

	/* Moves to the next batch to load. y: its lowest row. */
	__device__ __forceinline__ void go_to(int y)
	{
		from = first + (size_t)y * row;
		from_beside = first_beside + (size_t)y * beside_row;
	}
	/* Loads row i of that batch. Rows must be loaded in order, from the lowest on. */
	__device__ __forceinline__ void load(int i, const struct work &w, int lane)
	{
#pragma unroll
		for (int k = 0; k < S::W; k++)
			if (lane + 32 * k < S::disparities(w) / 4)
				sx_words_load<S::cells::words>(
					words[i][k], reinterpret_cast<const uint32_t *>(
							     from + (size_t)(128 * k * S::cells::words)));
		beside[i].v = *reinterpret_cast<const uint2 *>(from_beside);
		from -= row;
		from_beside -= beside_row;
	}
};

/*
 * Result of a warp for a pixel: the winner's key, and the lanes that own a sum that may make it ambiguous,
 * near or far.
 */
struct found {
	uint32_t key, rivals;
};

/*
 * Processes one row of a column and stores its keys in shared memory. over: see sums_of(). Every lane of the
 * warp must call it.
 */
template <typename S, bool HELD, bool CAREFUL>
__device__ __forceinline__ struct found climb_row(struct climb<S> &c, int i, const struct work &w, int lane,
						  uint32_t *keys, uint32_t *over)
{
	const int half = S::disparities(w) / 2;
	const int least = hold<HELD>(sx_dt_step(c.beside[i].least(), c.at.least, c.at.carried));
	uint32_t best = NONE;

	c.at.least = least;
#pragma unroll
	for (int k = 0; k < S::W; k++) {
		const int d = 2 * (lane + 32 * k);
		uint32_t key[4];
		int in[4], above[4];

		S::cells::get(in, c.words[i][k], 0);
#pragma unroll
		for (int j = 0; j < 4; j++) {
			c.at.v[k][j] = hold<HELD>(sx_dt_step(in[j], c.at.v[k][j], c.at.carried));
			above[j] = c.at.v[k][j] - least;
		}
		if (k == 0) /* O is stored at the place of d = 0, where V is 0 */
			above[0] = lane == 0 ? -least : above[0];
		*over |= sums_of<CAREFUL>(key, above, c.beside[i].factor());
#pragma unroll
		for (int j = 0; j < 4; j++)
			key[j] = (key[j] & SUM_OF_KEY) | (uint32_t)(d + j % 2 + j / 2 * half);
		if (d < half) {
			best = min(best, min(min(key[0], key[1]), min(key[2], key[3])));
			*reinterpret_cast<uint2 *>(keys + d) = make_uint2(key[0], key[1]);
			*reinterpret_cast<uint2 *>(keys + d + half) = make_uint2(key[2], key[3]);
		}
	}
	c.at.carried = c.beside[i].weight();

	const uint32_t key = sx_warp_min(best);
	const bool rivals = 100 * (key >> 16) >= (uint32_t)w.uniqueness * (best >> 16);
	const struct found f = {key, __ballot_sync(SX_WARP_ALL_LANES, rivals)};

	return f;
}

/*
 * Writes S of a batch into the volume, for SX_TAP_SUM. y: lowest row of the batch. keys: keys of the column.
 */
template <typename S>
__device__ __forceinline__ void keep_batch(const struct climb<S> &c, const struct work &w, int y, int lane,
					   const uint32_t *keys)
{
	const int half = S::disparities(w) / 2;

	for (int i = 0; i < S::rows * S::W; i++) {
		const int d = 2 * (lane + 32 * (i % S::W)), row = i / S::W;
		const uint32_t *key = keys + row * S::row(2 * half) + d;
		uint8_t *to = w.volume + (size_t)(c.first - w.volume) + (size_t)(y - row) * c.row +
			      (size_t)(128 * (i % S::W) * S::cells::words);

		if (d < half && y - row < w.planes.height)
			*reinterpret_cast<uint2 *>(to) =
				make_uint2(__byte_perm(key[0], key[1], 0x7632),
					   __byte_perm(key[half], key[half + 1], 0x7632));
	}
}

template <typename S>
__device__ __forceinline__ void start_climb(struct climb<S> &c, const struct work &w, int x, int lane)
{
	const size_t lanes = (size_t)S::disparities(w) / 4, word = S::cells::words * 4;

	c.row = (uint32_t)((size_t)w.planes.width * lanes * word);
	c.first = w.volume + ((size_t)x * lanes + (size_t)lane) * word;
	c.beside_row = (uint32_t)(w.planes.pitch * sizeof(uint2));
	c.first_beside = (const uint8_t *)w.planes.beside + (size_t)x * sizeof(uint2);
	c.at.carried = 0;
	c.at.least = 0;
#pragma unroll
	for (int k = 0; k < 4 * S::W; k++)
		c.at.v[k / 4][k % 4] = 0;
		/* lanes without disparities load nothing, so their words stay 0 */
#pragma unroll
	for (int k = 0; k < S::rows * S::W * S::cells::words; k++)
		c.words[k / (S::W * S::cells::words)][k / S::cells::words % S::W][k % S::cells::words] = 0;
}

template <typename S>
__device__ __forceinline__ void load_batch(struct climb<S> &c, const struct work &w, int y, int lane)
{
	c.go_to(y);
#pragma unroll
	for (int i = 0; i < S::rows; i++)
		c.load(i, w, lane);
}

/*
 * Processes a loaded batch, whose lowest row is y, and loads the next batch. CUT: some of its rows do not
 * exist. Returns the result of sums_of().
 */
template <typename S, bool HELD, bool CAREFUL, bool CUT>
__device__ __forceinline__ uint32_t climb_batch(struct climb<S> &c, const struct work &w, int y, int lane,
						uint32_t *keys, struct found *founds)
{
	struct found found_here = {NONE, 0}; /* lane i has the result of row i */
	uint32_t over = 0;

	c.go_to(max(y - S::rows, S::rows - 1)); /* the last batch is loaded twice */
#pragma unroll
	for (int i = 0; i < S::rows; i++) {
		if (!CUT || y - i < w.planes.height) {
			const struct found f = climb_row<S, HELD, CAREFUL>(
				c, i, w, lane, keys + i * S::row(S::disparities(w)), &over);

			found_here = lane == i ? f : found_here;
		} else {
			c.at.carried = c.beside[i].weight();
		}
		c.load(i, w, lane);
	}
	if (lane < S::rows)
		founds[lane * COLUMNS] = found_here;
	return over;
}

/*
 * Processes a batch. CAREFUL: sums are clamped at once. This is for U from codes, whose rounding often makes
 * sums exceed the sum of the largest cost. Else a batch with such a sum is processed again.
 */
template <typename S, bool HELD, bool CAREFUL>
__device__ __forceinline__ void climb_any(struct climb<S> &c, const struct work &w, int y, int lane,
					  uint32_t *keys, struct found *founds)
{
	const typename climb<S>::state before = c.at;
	bool again = y >= w.planes.height;

	if (!again) {
		const uint32_t over = climb_batch<S, HELD, CAREFUL, false>(c, w, y, lane, keys, founds);

		again = !CAREFUL && __any_sync(SX_WARP_ALL_LANES, over != 0);
		if (again) {
			c.at = before;
			load_batch(c, w, y, lane);
		}
	}
	if (again)
		climb_batch<S, HELD, true, true>(c, w, y, lane, keys, founds);
	if (w.keep)
		keep_batch(c, w, y, lane, keys);
}

} // namespace

#endif
