/*
 * The recurrence of one SGM path on a group of G lanes. A lane keeps N words of gpu/stereo/volume.cuh: 4 N
 * disparities, as 2 N pairs. The group keeps the 4 N G disparities of a pixel. With D = 128, G = 8 and N = 4:
 *
 *                        lane 0          lane 1         ...   lane 7
 *   match[0], stored[0]  0, 1, 64, 65    8, 9, 72, 73   ...   56, 57, 120, 121     bytes of a word,
 *    ...                                                                           lowest first
 *   match[3], stored[3]  6, 7, 70, 71    ...                  62, 63, 126, 127
 *
 *   v[0]                 0 / 64          8 / 72         ...   56 / 120             pairs,
 *   v[1]                 1 / 65          9 / 73         ...   57 / 121             low half / high half
 *    ...
 *   v[7]                 7 / 71          15 / 79        ...   63 / 127
 *
 * So d - 1 and d + 1 of a pair are also pairs, of the lane itself or of the lanes beside it. Below 0 / 64 is
 * none / 63, and above 63 / 127 is 64 / none: a half comes from the group's other end.
 *
 * Notation: M = Cmax - C, as stored; V = P2 + Cmax - L, 0 .. P2 + Cmax; m = P2 - max over d of V. To the next
 *   pixel:
 *   B(d) = max(V(d), V(d-1) - P1, V(d+1) - P1),   H(d) = max(B(d) + m, 0),   V' = H + M'.
 * This is stages/stereo/sgm.h with the signs inverted: H = P2 - (L' - C'), and its clamp at 0 is part of the
 * fp16 addition. If P2 falls by F at an edge, H is clamped at F: max(B(d) + m - F, 0) + F, and M' + F are
 * added together. V' is computed for four cells at once, as the bytes that are stored, and split into pairs
 * again. This is one instruction per cell less than splitting M' and packing V'.
 * Ranges: Cmax + P1 + P2 <= 255, so V is a byte and |B + m - F| < 768: exact in simd.cuh.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_SGM_PATH_CUH
#define SX_GPU_STEREO_SGM_PATH_CUH

#include "gpu/simd.cuh"

#define SX_ALL_LANES 0xffffffffu
/*
 * V of a disparity that does not exist: -1024 in both halves. It is below any V, and P1 can still be
 * subtracted.
 */
#define SX_PATH_ABSENT 0x84008400u
/*
 * Selectors of __byte_perm() for another lane's pair and absent values: that pair; absent and its low half;
 * its high half and absent.
 */
#define SX_PATH_AS_IT_IS 0x3210u
#define SX_PATH_ABSENT_LOW 0x1054u
#define SX_PATH_HIGH_ABSENT 0x7632u

/* Values of a lane that are constant along a path. */
struct sx_path_lane {
	int below, above; /* lanes of the warp that own the disparities next to this lane's */
	uint32_t below_bytes, above_bytes;
	uint32_t p1, p2; /* pairs */
};

/* State at one pixel. */
template <int N> struct sx_path_state {
	uint32_t v[2 * N], m; /* m: in both halves */
};

/*
 * Initialises a lane. A group's lanes are APART from each other in the warp: lane g is at g * APART + index
 * of the group, or with APART = 1 at g after the group's first lane. The pair below the first pair of a pixel
 * is (absent, D/2 - 1): the low half of the last pair, moved up. The pair above the last pair is (D/2,
 * absent).
 */
template <int G, int APART = 1>
__device__ __forceinline__ void sx_path_lane_init(struct sx_path_lane *lane, int g, int p1, int p2)
{
	const int first = (int)threadIdx.x % 32 - g * APART;

	lane->below = first + (g + G - 1) % G * APART;
	lane->above = first + (g + 1) % G * APART;
	lane->below_bytes = g == 0 ? SX_PATH_ABSENT_LOW : SX_PATH_AS_IT_IS;
	lane->above_bytes = g == G - 1 ? SX_PATH_HIGH_ABSENT : SX_PATH_AS_IT_IS;
	lane->p1 = sx_pair(p1);
	lane->p2 = sx_pair(p2);
}

/*
 * Sets the state before the first pixel of a path: L = P2 for all disparities, so that the next step yields H
 * = P2, V = P2 + M.
 */
template <int N>
__device__ __forceinline__ void sx_path_start(struct sx_path_state<N> *s, const struct sx_path_lane *lane)
{
#pragma unroll
	for (int i = 0; i < 2 * N; i++)
		s->v[i] = 0;
	s->m = lane->p2;
}

/* Returns the group's maximum of each half. */
template <int G, int APART> __device__ __forceinline__ uint32_t sx_path_reduce_halves(uint32_t v)
{
#pragma unroll
	for (int i = 1; i < G; i *= 2)
		v = sx_pair_max(v, __shfl_xor_sync(SX_ALL_LANES, v, i * APART));
	return v;
}

/* Returns the group's maximum of both halves, in both halves. */
template <int G, int APART = 1> __device__ __forceinline__ uint32_t sx_path_reduce(uint32_t v)
{
	return sx_pair_max_across(sx_path_reduce_halves<G, APART>(v));
}

/* Computes H of the lane's pairs at the next pixel, limited by m. Every lane of the warp must call it. */
template <int N>
__device__ __forceinline__ void sx_path_best(const struct sx_path_state<N> *s,
					     const struct sx_path_lane *lane, uint32_t m,
					     uint32_t (&h)[2 * N])
{
	uint32_t beside[2 * N + 2];

#pragma unroll
	for (int i = 0; i < 2 * N; i++)
		beside[i + 1] = sx_pair_sub(s->v[i], lane->p1);
	beside[0] = __byte_perm(__shfl_sync(SX_ALL_LANES, beside[2 * N], lane->below), SX_PATH_ABSENT,
				lane->below_bytes);
	beside[2 * N + 1] = __byte_perm(__shfl_sync(SX_ALL_LANES, beside[1], lane->above), SX_PATH_ABSENT,
					lane->above_bytes);
#pragma unroll
	for (int i = 0; i < 2 * N; i++)
		h[i] = sx_pair_add_clamp(sx_pair_max(sx_pair_max(beside[i], beside[i + 2]), s->v[i]), m);
}

/* Computes the limit m of the next pixel from V of this pixel. */
template <int N, int G, int APART>
__device__ __forceinline__ void sx_path_limit(struct sx_path_state<N> *s, const struct sx_path_lane *lane)
{
	s->m = sx_pair_sub(lane->p2, sx_path_reduce<G, APART>(sx_pair_max_of<2 * N>(s->v)));
}

/* Continues a path from the V stored at a pixel. Every lane of the warp must call it. */
template <int N, int G, int APART>
__device__ __forceinline__ void sx_path_resume(struct sx_path_state<N> *s, const struct sx_path_lane *lane,
					       const uint32_t (&stored)[N])
{
#pragma unroll
	for (int i = 0; i < N; i++) {
		s->v[2 * i] = sx_pair_even(stored[i]);
		s->v[2 * i + 1] = sx_pair_odd(stored[i]);
	}
	sx_path_limit<N, G, APART>(s, lane);
}

/*
 * Steps to the next pixel. match: M of the lane's disparities. stored: receives their V. p2_cut: F, by
 * which P2 is cut, in each of four bytes; read only with EDGES. Every lane of the warp must call it.
 */
template <int N, int G, bool EDGES, int APART = 1>
__device__ __forceinline__ void sx_path_step(struct sx_path_state<N> *s, const struct sx_path_lane *lane,
					     const uint32_t (&match)[N], uint32_t p2_cut,
					     uint32_t (&stored)[N])
{
	uint32_t h[2 * N];

	sx_path_best<N>(s, lane, EDGES ? sx_pair_sub(s->m, sx_pair_even(p2_cut)) : s->m, h);
#pragma unroll
	for (int i = 0; i < N; i++)
		stored[i] = sx_pair_bytes(h[2 * i] + match[i] + (EDGES ? p2_cut : 0), h[2 * i + 1]);
	sx_path_resume<N, G, APART>(s, lane, stored);
}

/*
 * Computes V at the next pixel if M comes as pairs. V is not stored; sx_path_words() returns the bytes. m is
 * not changed.
 */
template <int N, bool EDGES>
__device__ __forceinline__ void sx_path_next(struct sx_path_state<N> *s, const struct sx_path_lane *lane,
					     const uint32_t (&match)[2 * N], uint32_t p2_cut)
{
	uint32_t h[2 * N];

	sx_path_best<N>(s, lane, EDGES ? sx_pair_sub(s->m, sx_pair_even(p2_cut)) : s->m, h);
#pragma unroll
	for (int i = 0; i < 2 * N; i++)
		s->v[i] = h[i] + match[i] + (EDGES ? sx_pair_even(p2_cut) : 0);
}

/* Step to the next pixel along one path, or along two paths whose maxima cross the lanes together. */
template <int N, int G, bool EDGES, int APART>
__device__ __forceinline__ void sx_path_step_pairs(struct sx_path_state<N> *s,
						   const struct sx_path_lane *lane,
						   const uint32_t (&match)[2 * N], uint32_t p2_cut)
{
	sx_path_next<N, EDGES>(s, lane, match, p2_cut);
	sx_path_limit<N, G, APART>(s, lane);
}

template <int N, int G, bool EDGES, int APART>
__device__ __forceinline__ void sx_path_step_two(struct sx_path_state<N> (&s)[2],
						 const struct sx_path_lane *lane,
						 const uint32_t (&match)[2][2 * N],
						 const uint32_t (&p2_cut)[2])
{
	uint32_t a, b, m;

	sx_path_next<N, EDGES>(&s[0], lane, match[0], p2_cut[0]);
	sx_path_next<N, EDGES>(&s[1], lane, match[1], p2_cut[1]);
	a = sx_pair_max_of<2 * N>(s[0].v);
	b = sx_pair_max_of<2 * N>(s[1].v);
	m = sx_pair_max(__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632));
	m = sx_pair_sub(lane->p2, sx_path_reduce_halves<G, APART>(m));
	s[0].m = __byte_perm(m, 0, 0x1010);
	s[1].m = __byte_perm(m, 0, 0x3232);
}

/* Converts pairs to the bytes that are stored. */
template <int N>
__device__ __forceinline__ void sx_path_words(uint32_t (&words)[N], const uint32_t (&pairs)[2 * N])
{
#pragma unroll
	for (int i = 0; i < N; i++)
		words[i] = sx_pair_bytes(pairs[2 * i], pairs[2 * i + 1]);
}

/*
 * Returns the number of words that a single load or store moves. Addresses of a lane's words are multiples of
 * 4 N bytes.
 */
template <int N> __host__ __device__ constexpr int sx_words_piece()
{
	return N % 4 == 0 ? 4 : N % 2 == 0 ? 2 : 1;
}

template <int N> __device__ __forceinline__ void sx_words_load(uint32_t (&w)[N], const uint32_t *from)
{
#pragma unroll
	for (int i = 0; i < N; i += sx_words_piece<N>()) {
		if (N % 4 == 0) {
			const uint4 v = *reinterpret_cast<const uint4 *>(from + i);

			w[i] = v.x, w[(i + 1) % N] = v.y, w[(i + 2) % N] = v.z, w[(i + 3) % N] = v.w;
		} else if (N % 2 == 0) {
			const uint2 v = *reinterpret_cast<const uint2 *>(from + i);

			w[i] = v.x, w[(i + 1) % N] = v.y;
		} else {
			w[i] = from[i];
		}
	}
}

template <int N> __device__ __forceinline__ void sx_words_store(uint8_t *to, const uint32_t (&w)[N])
{
	uint32_t *p = reinterpret_cast<uint32_t *>(to);

#pragma unroll
	for (int i = 0; i < N; i += sx_words_piece<N>()) {
		if (N % 4 == 0)
			*reinterpret_cast<uint4 *>(p + i) =
				make_uint4(w[i], w[(i + 1) % N], w[(i + 2) % N], w[(i + 3) % N]);
		else if (N % 2 == 0)
			*reinterpret_cast<uint2 *>(p + i) = make_uint2(w[i], w[(i + 1) % N]);
		else
			p[i] = w[i];
	}
}

/*
 * Starts copying N words from global to shared memory. Only the same thread may read them, after
 * sx_words_wait(). Before sm_80 the thread copies them itself.
 */
template <int N> __device__ __forceinline__ void sx_words_copy(uint32_t *shared, const uint8_t *from)
{
#if !defined(SX_EMULATE) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	const uint32_t to = (uint32_t)__cvta_generic_to_shared(shared);

#pragma unroll
	for (int i = 0; i < N; i += sx_words_piece<N>()) {
		if (N % 4 == 0)
			asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + 4 * i),
				     "l"(from + 4 * i)
				     : "memory");
		else if (N % 2 == 0)
			asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to + 4 * i),
				     "l"(from + 4 * i)
				     : "memory");
		else
			asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to + 4 * i),
				     "l"(from + 4 * i)
				     : "memory");
	}
#else
	uint32_t w[N];

	sx_words_load<N>(w, reinterpret_cast<const uint32_t *>(from));
	sx_words_store<N>(reinterpret_cast<uint8_t *>(shared), w);
#endif
}

/* Makes the copies since the last call one group. */
__device__ __forceinline__ void sx_words_commit()
{
#if !defined(SX_EMULATE) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until all groups except the last PENDING have arrived. */
template <int PENDING> __device__ __forceinline__ void sx_words_wait()
{
#if !defined(SX_EMULATE) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
}

#endif
