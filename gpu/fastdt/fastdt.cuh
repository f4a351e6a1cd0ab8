/*
 * FastDT on lanes: the layout of values in memory, the loads of a lane along its line, and the recurrence.
 *
 * A lane owns four disparities of each pixel of a line: the disparities of one word of gpu/stereo/volume.cuh,
 * in its order. No lane needs values of another: disparities are independent, except for the one that is
 * subtracted, which has a plane of its own.
 *
 * Planes (weights, subtracted values, gain) are [y][x] with a pitch and a number of rows that are multiples
 * of 8, so that batches of 8 positions need no condition there. Padding of weights is 0, so no value passes
 * it.
 *
 * Ranges: sx_params_check() allows Cmax g^4 <= 65535, with g the gain of a pass. So 0 <= A <= Cmax g < 400
 * (mostly below 256, then A is a byte), |B| <= Cmax g^2 < 2048, |U| <= (Cmax g^2 + 31) g < 12000 (31: codes
 * of 8 bits are rounded down), with or without the subtraction. So only the pass up can exceed 16 bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_FASTDT_FASTDT_CUH
#define SX_GPU_FASTDT_FASTDT_CUH

#include "gpu/stereo/sgm_path.cuh"
#include "stages/stereo/fastdt.h"

__host__ __device__ __forceinline__ int sx_dt_step(int in, int before, uint16_t weight)
{
	return in + ((before * (int)weight + (1 << (SX_FASTDT_WEIGHT_BITS - 1))) >> SX_FASTDT_WEIGHT_BITS);
}

/*
 * Returns the byte offset of position i of a walk. Uses a 32-bit multiply if the offset cannot be negative:
 * one instruction, and it issues on the less busy pipe.
 */
template <bool BACK> __device__ __forceinline__ ptrdiff_t sx_dt_apart(int i, int step)
{
	return BACK ? (ptrdiff_t)i * step : (ptrdiff_t)((uint64_t)(uint32_t)i * (uint32_t)step);
}

/* Layouts of a lane's four cells in memory: the number of words, and the conversions to and from values. */

/* Cmax - C; read only. most: Cmax in each byte. */
struct sx_dt_matches {
	static const int words = 1;

	static __device__ __forceinline__ void get(int (&v)[4], const uint32_t (&w)[1], uint32_t most)
	{
		const uint32_t cost = most - w[0];

#pragma unroll
		for (int k = 0; k < 4; k++)
			v[k] = (int)__byte_perm(cost, 0, 0x4440u | (uint32_t)k);
	}
};

/* values 0 .. 255 */
struct sx_dt_bytes {
	static const int words = 1;

	static __device__ __forceinline__ void get(int (&v)[4], const uint32_t (&w)[1], uint32_t)
	{
#pragma unroll
		for (int k = 0; k < 4; k++)
			v[k] = (int)__byte_perm(w[0], 0, 0x4440u | (uint32_t)k);
	}
	static __device__ __forceinline__ void put(uint32_t (&w)[1], const int (&v)[4])
	{
		w[0] = (uint32_t)v[0] + (uint32_t)v[1] * 256 +
		       ((uint32_t)v[2] + (uint32_t)v[3] * 256) * 65536;
	}
};

/*
 * Codes of sx_fastdt_encode() from -2048 on. B is never lower (see above), so the code with steps of 512 does
 * not occur.
 */
struct sx_dt_codes {
	static const int words = 1;

	/*
	 * The six bits with ones above them, shifted to their place: by 5 or 1, and out of the word for code
	 * 0.
	 */
	static __device__ __forceinline__ int decoded(uint32_t w, int k)
	{
		const uint32_t code = __byte_perm(w, 0xffffffffu, 0x4440u | (uint32_t)k);
		const uint32_t by = __byte_perm(0x0105091fu, 0, (code & 3) | 0x4440u);

		return (int)((uint32_t)((int)code >> 2) << by);
	}
	static __device__ __forceinline__ void get(int (&v)[4], const uint32_t (&w)[1], uint32_t)
	{
#pragma unroll
		for (int k = 0; k < 4; k++)
			v[k] = decoded(w[0], k);
	}
	static __device__ __forceinline__ void put(uint32_t (&w)[1], const int (&v)[4])
	{
		const uint32_t a = __byte_perm((uint32_t)v[0], (uint32_t)v[1], 0x5410),
			       b = __byte_perm((uint32_t)v[2], (uint32_t)v[3], 0x5410);
		/*
		 * near: steps of 2; far: steps of 32. The masks remove the bits that shifts carry from one
		 * value to the next.
		 */
		const uint32_t near = (__byte_perm(a, b, 0x6420) << 1 & 0xfcfcfcfcu) | 0x03030303u;
		const uint32_t far = (__byte_perm(a >> 3, b >> 3, 0x6420) & 0xfcfcfcfcu) | 0x02020202u;
		/*
		 * below: the signs of bytes 1, 3, 5, 7, which are ones if v < 0. is_near: ones if v >= -128,
		 * for the values below 0.
		 */
		const uint32_t below = sx_prmt(a, b, 0xfdb9);
		const uint32_t is_near =
			sx_prmt((a & 0x7fff7fffu) + 0x00800080u, (b & 0x7fff7fffu) + 0x00800080u, 0xfdb9);

		w[0] = ((near & is_near) | (far & ~is_near)) & below;
	}
};

/* 16 bits with sign */
struct sx_dt_halves {
	static const int words = 2;

	static __device__ __forceinline__ void get(int (&v)[4], const uint32_t (&w)[2], uint32_t)
	{
#pragma unroll
		for (int k = 0; k < 4; k++)
			v[k] = k % 2 ? (int)w[k / 2] >> 16 : (int)(int16_t)w[k / 2];
	}
	static __device__ __forceinline__ void put(uint32_t (&w)[2], const int (&v)[4])
	{
		w[0] = __byte_perm((uint32_t)v[0], (uint32_t)v[1], 0x5410);
		w[1] = __byte_perm((uint32_t)v[2], (uint32_t)v[3], 0x5410);
	}
};

__device__ __forceinline__ void sx_dt_pick(uint16_t *e, const uint32_t *words, int i)
{
	*e = (uint16_t)(words[i / 2] >> 16 * (i % 2));
}

__device__ __forceinline__ void sx_dt_pick(int16_t *e, const uint32_t *words, int i)
{
	*e = (int16_t)(words[i / 2] >> 16 * (i % 2));
}

__device__ __forceinline__ void sx_dt_put(uint32_t *words, int i, int16_t e)
{
	words[i / 2] = __byte_perm(words[i / 2], (uint32_t)(uint16_t)e, i % 2 ? 0x5410 : 0x3254);
}

/* BATCH elements of a plane along a line, from the lowest position on. Here the line is a column. */
template <typename E, int BATCH, bool ACROSS> struct sx_dt_along {
	E e[BATCH];

	__device__ __forceinline__ void load(const E *at, size_t pitch)
	{
#pragma unroll
		for (int i = 0; i < BATCH; i++)
			e[i] = at[(size_t)i * pitch];
	}
	__device__ __forceinline__ void set(int i, E value)
	{
		e[i] = value;
	}
	__device__ __forceinline__ void store(E *at, size_t pitch) const
	{
#pragma unroll
		for (int i = 0; i < BATCH; i++)
			at[(size_t)i * pitch] = e[i];
	}
	__device__ __forceinline__ E get(int i) const
	{
		return e[i];
	}
};

/* BATCH elements of a plane along a row, from the lowest position on, loaded 16 bytes at a time. */
template <typename E, int BATCH> struct sx_dt_along<E, BATCH, true> {
	uint32_t raw[BATCH * sizeof(E) / 4];

	__device__ __forceinline__ void load(const E *at, size_t)
	{
		sx_words_load<(int)(BATCH * sizeof(E) / 4)>(raw, reinterpret_cast<const uint32_t *>(at));
	}
	/* Sets element i. Call it once per element, in any order that is known at compile time. */
	__device__ __forceinline__ void set(int i, E value)
	{
		sx_dt_put(raw, i, value);
	}
	__device__ __forceinline__ void store(E *at, size_t) const
	{
		sx_words_store<(int)(BATCH * sizeof(E) / 4)>(reinterpret_cast<uint8_t *>(at), raw);
	}
	__device__ __forceinline__ E get(int i) const
	{
		E e;

		sx_dt_pick(&e, raw, i);
		return e;
	}
};

/*
 * Cells that a lane fetches ahead along its line: N words per position, in a ring of BATCHES batches in
 * shared memory. Batches are aligned. The batch at the line's end may be incomplete; it is the last batch, or
 * with BACK the first. It is fetched whole, because volumes have room after their last pixel, and the excess
 * is not used. Only the lane itself reads what it fetched. THREADS: threads of the block.
 */
template <int N, int BATCH, int BATCHES, bool BACK, int THREADS> struct sx_dt_ring {
	static const int stride = THREADS * N; /* words from slot to slot */

	const uint8_t *from; /* address of the next fetch */
	int step;	     /* bytes from position to position, in the direction of the walk */
	uint32_t *words;     /* slot 0 of the lane */
	int batches, cut;    /* batches: of the line; cut: positions that exist of the batch at its end */
	int next, slot;	     /* next: batch to fetch; slot: where to put it */

	/*
	 * Returns true if position i of the batch at the line's end exists. i counts in the direction of the
	 * walk.
	 */
	__device__ __forceinline__ bool exists(int i) const
	{
		return BACK ? i >= BATCH - cut : i < cut;
	}
	/* Starts a walk. base: position 0 of a line of length positions. */
	__device__ __forceinline__ void start(const uint8_t *base, int bytes, int length, uint32_t *shared)
	{
		batches = (length + BATCH - 1) / BATCH;
		cut = length - (batches - 1) * BATCH;
		step = BACK ? -bytes : bytes;
		from = BACK ? base + (ptrdiff_t)(batches * BATCH - 1) * bytes : base;
		words = shared + threadIdx.x * N;
		next = slot = 0;
#pragma unroll
		for (int b = 0; b < BATCHES - 1; b++)
			fetch();
	}
	__device__ __forceinline__ void fetch()
	{
		uint32_t *to = words + slot * BATCH * stride;

		if (next < batches) {
#pragma unroll
			for (int i = 0; i < BATCH; i++)
				sx_words_copy<N>(to + i * stride, from + sx_dt_apart<BACK>(i, step));
		}
		sx_words_commit();
		from += (ptrdiff_t)BATCH * step;
		slot = slot + 1 < BATCHES ? slot + 1 : 0;
		next++;
	}
	/* Fetches one more batch and returns the slots of the batch to process now. */
	__device__ __forceinline__ const uint32_t *turn()
	{
		fetch();
		sx_words_wait<BATCHES - 1>();
		return words + slot * BATCH * stride;
	}
};

#endif
