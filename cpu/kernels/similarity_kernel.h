/*
 * Path kernels for the case that sums of two paths fit a byte (SX_VOLUME_SIMILARITY, cpu/matcher.h).
 * stages/stereo/sgm.h defines the result.
 *
 * A similarity is what a cost falls short of a bound. The similarity of a matching cost is 32 - C, the number
 * of bits in which descriptors agree; that of a path cost is Q = P2 + 32 - L. With similarities, bytes that
 * saturate at 0 need one operation where costs need two:
 *
 *     Q = max(0, max(Q', max(Q'(d-1), Q'(d+1)) - P1) - (max Q' - P2)) + similarity     Q': the pixel before
 *
 * A disparity that does not exist has similarity 0, which is the value that shifts insert.
 *
 *   128 disparities are n = 128 / VEC_BYTES vectors, interleaved: lane i of vector k is disparity n i + k. So
 *   neighbours are whole vectors, except for one shift at either end.
 *
 *           lane     0       1        2             VEC_BYTES - 1
 *     Q     [k]    | k     | n + k  | 2 n + k | ...
 *     before       | k - 1 | ...                    vector k - 1; of vector 0: vb_up(vector n - 1)
 *     next         | k + 1 | ...                    vector k + 1; of vector n - 1: vb_down(vector 0)
 *
 *   The right descriptors have the same order (sx_matcher_planes_bytes()): residue r of a plane has the bytes
 *   n j + r, so vector k of a pixel is VEC_BYTES consecutive bytes.
 *
 * Work:   per vector of a path 6 operations, and 2 shifts per pixel. Per plane of cost 2 operations (avx512)
 *         or 1, and an addition.
 * Memory: the paths down run in bands of some columns, whose state stays in the first-level cache, and write
 *         the volume. The paths up run together with the rows (similarity_winner_kernel.h).
 * Ranges: Q <= P2 + 32, 2 (P2 + 32) <= 255. max Q' >= P2, because Q of the best disparity is P2 + its
 *         similarity.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_SIMILARITY_KERNEL_H
#define SX_CPU_KERNELS_SIMILARITY_KERNEL_H

#include <stdatomic.h>

#include "cpu/kernels/sgm_kernel.h"

#define SIMILARITY_PLANES (32 / VEC_PLANE_BITS)
#define SIMILARITY_PIXELS 4 /* pixels whose costs are computed together */
#define SIMILARITY_VECTORS_MAX (SX_MATCHER_SIMILARITY_DISPARITIES / VEC_BYTES)

/* Returns the right descriptors of row y. */
static ALWAYS_INLINE const uint8_t *similarity_planes(const struct sx_matcher *m,
						      const struct sx_matcher_frame *f, int y)
{
	return f->planes + (size_t)y * (size_t)(m->residues * m->planes) * m->plane_pitch;
}

/* Loads planes of VEC_BYTES right descriptors: every n-th descriptor from byte q of the planes on. */
static ALWAYS_INLINE void similarity_load(const uint8_t *planes, unsigned q, size_t pitch,
					  vb right[SIMILARITY_PLANES], int vectors)
{
	unsigned n = (unsigned)vectors;
	size_t at = (size_t)(q % n) * SIMILARITY_PLANES * pitch + q / n;

	for (int i = 0; i < SIMILARITY_PLANES; i++)
		right[i] = vb_load(planes + (size_t)i * pitch + at);
}

static ALWAYS_INLINE vb similarity_operand(const uint32_t *descriptor, int plane)
{
	/* loads that broadcast a byte cost nothing extra */
	const uint8_t *bytes = (const uint8_t *)descriptor;
	const int byte_of = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 3 : 0;
	unsigned byte = bytes[byte_of ^ plane * VEC_PLANE_BITS / 8];

	if (VEC_PLANE_BITS == 8)
		return vb_operand(byte);
	return vb_operand(plane & 1 ? byte >> 4 : byte & 15);
}

static ALWAYS_INLINE void similarity_operands(const uint32_t *descriptor, vb operand[SIMILARITY_PLANES])
{
	for (int i = 0; i < SIMILARITY_PLANES; i++)
		operand[i] = similarity_operand(descriptor, i);
}

static ALWAYS_INLINE vb similarity_of(const vb operand[SIMILARITY_PLANES], const vb right[SIMILARITY_PLANES])
{
	vb sum = vb_distance(operand[0], right[0]);

	for (int i = 1; i < SIMILARITY_PLANES; i++)
		sum = vb_add(sum, vb_distance(operand[i], right[i]));
	return sum;
}

#if VEC_BYTES == 64
/*
 * Computes 32 - C of SIMILARITY_PIXELS pixels. Disparity 0 of the first pixel is at byte q of the planes.
 * Neighbours share all vectors except one. If registers have room for the vectors, each is loaded once.
 */
static ALWAYS_INLINE void similarity_costs_all(const uint32_t *left, const uint8_t *planes, unsigned q,
					       size_t pitch, uint8_t *similarity, int vectors)
{
	vb operand[SIMILARITY_PLANES];
	vb right[SIMILARITY_PIXELS + SIMILARITY_VECTORS_MAX][SIMILARITY_PLANES];

	for (int u = 0; u < SIMILARITY_PIXELS - 1 + vectors; u++)
		similarity_load(planes, q - (SIMILARITY_PIXELS - 1) + (unsigned)u, pitch, right[u], vectors);
	for (int i = 0; i < SIMILARITY_PIXELS; i++) {
		similarity_operands(&left[i], operand);
		for (int k = 0; k < vectors; k++, similarity += VEC_BYTES)
			vb_store(similarity, similarity_of(operand, right[SIMILARITY_PIXELS - 1 - i + k]));
	}
}
#elif VEC_PLANE_BITS == 4
#define SIMILARITY_TOGETHER 4 /* vectors of two pixels whose sums fit the registers */

/*
 * Computes n vectors of two pixels, from vector `first` on, plane by plane: n + 1 loads serve both pixels.
 * Without this grouping the compiler keeps more values than there are registers.
 */
static ALWAYS_INLINE void similarity_costs_two(const uint32_t *left, const uint8_t *planes, unsigned q,
					       size_t pitch, uint8_t *similarity, int first, int n,
					       int vectors)
{
	const uint8_t *at[SIMILARITY_TOGETHER + 1];
	vb a[SIMILARITY_TOGETHER], b[SIMILARITY_TOGETHER];

	for (int u = 0; u <= n; u++) {
		unsigned byte = q - 1 + (unsigned)first + (unsigned)u, residues = (unsigned)vectors;

		at[u] = planes + (size_t)(byte % residues) * SIMILARITY_PLANES * pitch + byte / residues;
	}
	for (int u = 0; u < n; u++)
		a[u] = b[u] = vb_set1(0);
	UNROLL
	for (int i = 0; i < SIMILARITY_PLANES; i++) {
		vb operand_a = similarity_operand(&left[0], i), operand_b = similarity_operand(&left[1], i);

		UNROLL
		for (int u = 0; u <= n; u++) {
			vb right = vb_kept(vb_load(at[u] + (size_t)i * pitch));

			if (u > 0)
				a[u - 1] = vb_kept(vb_add(a[u - 1], vb_distance(operand_a, right)));
			if (u < n)
				b[u] = vb_kept(vb_add(b[u], vb_distance(operand_b, right)));
		}
		/* keeps the compiler from loading the next plane early, for which it has too few registers */
		atomic_signal_fence(memory_order_seq_cst);
	}
	for (int u = 0; u < n; u++) {
		vb_store(similarity + (first + u) * VEC_BYTES, a[u]);
		vb_store(similarity + (vectors + first + u) * VEC_BYTES, b[u]);
	}
}

/* Computes 32 - C of SIMILARITY_PIXELS pixels. Disparity 0 of the first pixel is at byte q of the planes. */
static ALWAYS_INLINE void similarity_costs_all(const uint32_t *left, const uint8_t *planes, unsigned q,
					       size_t pitch, uint8_t *similarity, int vectors)
{
	for (int i = 0; i < SIMILARITY_PIXELS;
	     i += 2, left += 2, q -= 2, similarity += 2 * vectors * VEC_BYTES) {
		int k = 0;

		for (; k + SIMILARITY_TOGETHER <= vectors; k += SIMILARITY_TOGETHER)
			similarity_costs_two(left, planes, q, pitch, similarity, k, SIMILARITY_TOGETHER,
					     vectors);
		for (; k + 2 <= vectors; k += 2)
			similarity_costs_two(left, planes, q, pitch, similarity, k, 2, vectors);
		if (k < vectors)
			similarity_costs_two(left, planes, q, pitch, similarity, k, 1, vectors);
	}
}
#else
static ALWAYS_INLINE void similarity_costs_all(const uint32_t *left, const uint8_t *planes, unsigned q,
					       size_t pitch, uint8_t *similarity, int vectors)
{
	vb operand[SIMILARITY_PLANES], right[SIMILARITY_PLANES];

	for (int i = 0; i < SIMILARITY_PIXELS; i++) {
		similarity_operands(&left[i], operand);
		for (int k = 0; k < vectors; k++, similarity += VEC_BYTES) {
			similarity_load(planes, q - (unsigned)i + (unsigned)k, pitch, right, vectors);
			vb_store(similarity, similarity_of(operand, right));
		}
	}
}
#endif

/* Computes the similarities of n pixels of row y from column x on, at most SIMILARITY_PIXELS. */
static ALWAYS_INLINE void similarity_costs(const struct sx_matcher *m, const struct sx_matcher_frame *f,
					   int y, int x, int n, uint8_t *similarity, int vectors)
{
	const uint32_t *left = (const uint32_t *)sx_image_row(&f->census[0], y) + x;
	const uint8_t *planes = similarity_planes(m, f, y);
	unsigned q = (unsigned)(m->width - 1 - x);

	if (n == SIMILARITY_PIXELS) {
		similarity_costs_all(left, planes, q, m->plane_pitch, similarity, vectors);
		return;
	}
	for (int i = 0; i < n; i++) {
		vb operand[SIMILARITY_PLANES], right[SIMILARITY_PLANES];

		similarity_operands(&left[i], operand);
		for (int k = 0; k < vectors; k++, similarity += VEC_BYTES) {
			similarity_load(planes, q - (unsigned)i + (unsigned)k, m->plane_pitch, right,
					vectors);
			vb_store(similarity, similarity_of(operand, right));
		}
	}
}

struct similarity_path {
	vb similarity[SIMILARITY_VECTORS_MAX];
	vb least;	/* 255 minus the greatest similarity */
	vb p1, p2_left; /* 255 minus P2 */
};

static ALWAYS_INLINE struct similarity_path similarity_path_of(int p1, int p2)
{
	return (struct similarity_path){.p1 = vb_set1(p1), .p2_left = vb_set1(255 - p2)};
}

/* Starts a path. Before the first pixel all disparities have similarity P2, so L = C at the first pixel. */
static ALWAYS_INLINE void similarity_path_start(struct similarity_path *c, int vectors)
{
	for (int k = 0; k < vectors; k++)
		c->similarity[k] = vb_sub(vb_set1(255), c->p2_left);
	c->least = c->p2_left;
}

/* Steps to the next pixel of a path. similarity: 32 - C of that pixel. */
static ALWAYS_INLINE void similarity_path_step(struct similarity_path *c, const uint8_t *similarity,
					       int vectors)
{
	vb floor = vb_sub(c->p2_left, c->least), most = vb_set1(0);
	vb before = vb_up(c->similarity[vectors - 1]), last = vb_down(c->similarity[0]);

	for (int k = 0; k < vectors; k++) {
		vb at = c->similarity[k],
		   beside = vb_max(before, k + 1 < vectors ? c->similarity[k + 1] : last);
		vb step = vb_sub_held(vb_max(vb_sub_held(beside, c->p1), at), floor);

		c->similarity[k] = vb_add(step, vb_load(similarity + k * VEC_BYTES));
		most = vb_max(most, c->similarity[k]);
		before = at;
	}
	c->least = vb_max_all_left(most);
}

/* Loads one of many paths whose state is in memory: Q, and 255 minus the greatest Q. */
static ALWAYS_INLINE void similarity_path_load(struct similarity_path *c, const uint8_t *state,
					       const uint8_t *least, int vectors)
{
	for (int k = 0; k < vectors; k++)
		c->similarity[k] = vb_load(state + k * VEC_BYTES);
	c->least = vb_set1(*least);
}

static ALWAYS_INLINE void similarity_path_store(const struct similarity_path *c, uint8_t *state,
						uint8_t *least, int vectors)
{
	for (int k = 0; k < vectors; k++)
		vb_store(state + k * VEC_BYTES, c->similarity[k]);
	*least = (uint8_t)vb_first(c->least);
}

/* Prefetches the data that similarity_costs() will read for columns [x, x + n) of row y. */
static ALWAYS_INLINE void similarity_prefetch(const struct sx_matcher *m, const struct sx_matcher_frame *f,
					      int y, int x, int n, int vectors)
{
	const uint8_t *p;

	if (y >= m->height)
		return;
	p = similarity_planes(m, f, y) + (m->width - x - n) / vectors;
	prefetch_read((const uint8_t *)sx_image_row(&f->census[0], y) + (size_t)x * sizeof(uint32_t),
		      (size_t)n * sizeof(uint32_t));
	for (int i = 0; i < vectors * SIMILARITY_PLANES; i++, p += m->plane_pitch)
		prefetch_read(p, (size_t)(VEC_BYTES + n / vectors + LINE));
}

/*
 * Steps columns [x, x + n) of row y down, at most SIMILARITY_PIXELS columns. state, least: of the row before.
 */
static ALWAYS_INLINE void similarity_band_step(const struct sx_matcher *m, const struct sx_matcher_frame *f,
					       int y, int x, int n, struct similarity_path *c, uint8_t *state,
					       uint8_t *least, int vectors)
{
	size_t cells = (size_t)(vectors * VEC_BYTES);
	uint8_t *volume = (uint8_t *)f->volume + ((size_t)y * (size_t)m->width + (size_t)x) * cells;
	uint8_t cost[SIMILARITY_PIXELS * SX_MATCHER_SIMILARITY_DISPARITIES] __attribute__((aligned(64)));

	similarity_costs(m, f, y, x, n, cost, vectors);
	for (int i = 0; i < n; i++, volume += cells, state += cells) {
		similarity_path_load(c, state, &least[i], vectors);
		similarity_path_step(c, cost + (size_t)i * cells, vectors);
		similarity_path_store(c, state, &least[i], vectors);
		for (int k = 0; k < vectors; k++)
			vb_stream(volume + k * VEC_BYTES, c->similarity[k]);
	}
}

/* Runs the paths down in a band. Also resets the paths up of these columns to their start. */
static ALWAYS_INLINE void similarity_band_of(const struct sx_matcher *m, const struct sx_matcher_frame *f,
					     int i, struct sx_matcher_scratch *s, int vectors)
{
	struct similarity_path c = similarity_path_of(m->p.p1_vertical, m->p.p2_vertical);
	size_t cells = (size_t)(vectors * VEC_BYTES);
	int x = i * m->band_columns, n = m->width - x < m->band_columns ? m->width - x : m->band_columns;
	uint8_t least[SX_MATCHER_SIMILARITY_COLUMNS];

	memset(least, 255 - m->p.p2_vertical, (size_t)n);
	memset(s->state, m->p.p2_vertical, (size_t)n * cells);
	memset(f->up.least + x, 255 - m->p.p2_vertical, (size_t)n);
	memset(f->up.similarity + (size_t)x * cells, m->p.p2_vertical, (size_t)n * cells);
	for (int y = 0; y < m->height; y++) {
		similarity_prefetch(m, f, y + 2, x, n, vectors);
		for (int j = 0; j < n; j += SIMILARITY_PIXELS)
			similarity_band_step(m, f, y, x + j,
					     n - j < SIMILARITY_PIXELS ? n - j : SIMILARITY_PIXELS, &c,
					     s->state + (size_t)j * cells, least + j, vectors);
	}
}

static void similarity_band(const struct sx_matcher *m, const struct sx_matcher_frame *f, int i,
			    struct sx_matcher_scratch *s)
{
	if (m->residues == 128 / VEC_BYTES)
		similarity_band_of(m, f, i, s, 128 / VEC_BYTES);
	else if (m->residues == 64 / VEC_BYTES)
		similarity_band_of(m, f, i, s, 64 / VEC_BYTES);
	else
		similarity_band_of(m, f, i, s, m->residues);
}

#endif
