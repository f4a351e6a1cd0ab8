/*
 * Path kernels. stages/stereo/sgm.h defines the result.
 *
 *   A band of n columns, sheared for the diagonals (shear 1: one column to the right in each row). Column b
 *   holds L of one pixel; lane i of its vector k is disparity k * VEC_BYTES + i. A path runs from column b to
 *   column b of the next row.
 *
 *     row y       | b 0 | b 1 | b 2 | ... | b n-1 |
 *     row y + 1         | b 0 | b 1 | b 2 | ... | b n-1 |
 *     row y + 2               | b 0 | b 1 | b 2 | ... | b n-1 |
 *
 * Work:   a band is some columns wide (sheared by one column per row for the diagonals). Its chains are
 *         independent, so their latencies overlap. A diagonal chain that starts at the image's side finds the
 *         cleared state of the band, which yields L = C for every P2. For its P2 the kernel reads a grey
 *         level beside the image.
 * Memory: matching costs, and excess costs E = L - C of the paths down, stay in the worker's scratch, about 1
 *         MB. The volume is written once.
 * Ranges: L <= Cmax + P2 and L + P1 <= 255 (sx_params_check). The missing neighbours of d = 0 and of the last
 *         d are 255, which is never the lesser of two before P1 is added.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_SGM_KERNEL_H
#define SX_CPU_KERNELS_SGM_KERNEL_H

#include <string.h>

#include "cpu/kernels/cost_kernel.h"
#include "cpu/matcher.h"

/*
 * Returns the excess cost of one step. at, before, next: L of the previous pixel at d, d - 1 and d + 1.
 * least: minimum of that L.
 */
static ALWAYS_INLINE vb path_step(vb at, vb before, vb next, vb least, vb p1, vb p2)
{
	vb t = vb_min(vb_add(vb_min(before, next), p1), at);

	return vb_min(vb_sub(t, least), p2);
}

/* Returns P2 of a step between two pixels of the left image. */
static ALWAYS_INLINE vb edge_p2(const struct sx_matcher *m, bool horizontal, int grey, int before)
{
	return vb_set1(m->edge_p2[horizontal][grey < before ? before - grey : grey - before]);
}

/*
 * Steps a chain. from, to: L of a pixel and of the next pixel of its chain. *least: minimum of from, then of
 * to.
 */
static ALWAYS_INLINE void chain_step(const uint8_t *from, uint8_t *to, uint8_t *least, const uint8_t *cost,
				     uint8_t *e, vb p1, vb p2, int disparities)
{
	vb m = vb_set1(*least), min = vb_set1(255);
	uint8_t all[VEC_BYTES];

	for (int d = 0; d < disparities; d += VEC_BYTES) {
		vb step =
			path_step(vb_load(from + d), vb_load(from + d - 1), vb_load(from + d + 1), m, p1, p2);
		vb l = vb_add(step, vb_load(cost + d));

		vb_store(e + d, step);
		vb_store(to + d, l);
		min = vb_min(min, l);
	}
	vb_store(all, vb_min_all(min));
	*least = all[0];
}

#ifndef AHEAD
#define AHEAD 4
#endif
#define LINE 64 /* bytes; affects only speed */

static ALWAYS_INLINE void prefetch_read(const uint8_t *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += LINE)
		__builtin_prefetch(p + i, 0);
}

/* Prefetches into the second-level cache. */
static ALWAYS_INLINE void prefetch_far(const uint8_t *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += LINE)
		__builtin_prefetch(p + i, 0, 2);
}

static ALWAYS_INLINE void prefetch_write(uint8_t *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += LINE)
		__builtin_prefetch(p + i, 1);
}

struct band {
	uint8_t *state[2]; /* L of the previous row and of this row */
	uint8_t least[64];
	size_t pitch;
	int x0, columns; /* image column of column 0 of the band in row 0; number of columns */
	int shear;
};

static void start_band(struct band *b, const struct sx_matcher *m, struct sx_matcher_scratch *s)
{
	b->pitch = sx_matcher_state_pitch(m);
	for (int k = 0; k < 2; k++) {
		b->state[k] = s->state + (size_t)k * (size_t)m->band_columns * b->pitch;
		for (int i = 0; i < m->band_columns; i++) {
			uint8_t *row = b->state[k] + (size_t)i * b->pitch;

			memset(row, 255, b->pitch);
			memset(row + SX_MATCHER_MARGIN, 0, (size_t)m->p.disparities);
		}
		b->state[k] += SX_MATCHER_MARGIN;
	}
	memset(b->least, 0, sizeof(b->least));
}

static void swap_state(struct band *b)
{
	uint8_t *t = b->state[0];

	b->state[0] = b->state[1];
	b->state[1] = t;
}

/*
 * Clips a band to columns [*from, *to), which are in the image at row y. Column i of the band has x = result
 * + i.
 */
static int clip_band(const struct band *b, const struct sx_matcher *m, int y, int *from, int *to)
{
	int x = b->x0 + y * b->shear;

	*from = x < 0 ? -x : 0;
	*to = m->width - x < b->columns ? m->width - x : b->columns;
	return x;
}

/*
 * Prefetches the right descriptors, or stored costs, of columns [x, x + n) of row y. They are pieces of rows
 * far apart, which the hardware does not prefetch.
 */
static ALWAYS_INLINE void prefetch_row(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
				       int x, int n, int disparities)
{
	const uint8_t *row = f->planes + (size_t)y * (size_t)m->planes * m->plane_pitch + (m->width - x - n);

	if (y >= m->height)
		return;
	if (f->costs)
		prefetch_read(stored_costs(m, f, y, x), (size_t)(n * disparities));
	for (int k = 0; k < m->planes; k++)
		prefetch_read(row + (size_t)k * m->plane_pitch, (size_t)(n + disparities));
}

static ALWAYS_INLINE void sweep_down(const struct sx_matcher *m, const struct sx_matcher_frame *f,
				     struct band *b, struct sx_matcher_scratch *s, bool edges,
				     int disparities)
{
	vb p1 = vb_set1(m->p.p1_vertical), p2 = vb_set1(m->p.p2_vertical);

	for (int y = 0; y < m->height; y++) {
		const uint8_t *grey = sx_image_row(&f->grey[0], y);
		const uint8_t *grey_before = sx_image_row(&f->grey[0], y > 0 ? y - 1 : 0);
		size_t row = (size_t)y * (size_t)m->band_columns * (size_t)disparities;
		int from, to, x = clip_band(b, m, y, &from, &to);

		if (from >= to)
			continue;
		prefetch_row(m, f, y + 2, x + from, to - from, disparities);
		cost_pixels(m, f, y, x + from, to - from, s->cost + row + from * disparities, disparities);
		for (int i = from; i < to; i++) {
			size_t at = row + (size_t)(i * disparities), state = (size_t)i * b->pitch;

			if (edges)
				p2 = edge_p2(m, false, grey[x + i], grey_before[x + i - b->shear]);
			chain_step(b->state[0] + state, b->state[1] + state, &b->least[i], s->cost + at,
				   s->down + at, p1, p2, disparities);
		}
		swap_state(b);
	}
}

static ALWAYS_INLINE void add_bytes(uint8_t *volume, const uint8_t *down, const uint8_t *up, bool first,
				    int disparities)
{
	for (int d = 0; d < disparities; d += VEC_BYTES) {
		vb e = vb_add(vb_load(down + d), vb_load(up + d));

		if (first)
			vb_stream(volume + d, e);
		else
			vb_store(volume + d, vb_add(e, vb_load(volume + d)));
	}
}

static ALWAYS_INLINE void add_words(uint16_t *volume, const uint8_t *down, const uint8_t *up, bool first,
				    int weight, int disparities)
{
	vpair weights = vpair_make(weight, weight);

	for (int d = 0; d < disparities; d += VEC_BYTES) {
		vw2 e = vw2_dot(vb_load(down + d), vb_load(up + d), weights);
		uint16_t *lo = volume + d, *hi = lo + VEC_BYTES / 2;

		if (first) {
			vw_stream(lo, e.lo);
			vw_stream(hi, e.hi);
		} else {
			vw_store(lo, vw_add(e.lo, vw_load(lo)));
			vw_store(hi, vw_add(e.hi, vw_load(hi)));
		}
	}
}

static ALWAYS_INLINE void sweep_up(const struct sx_matcher *m, const struct sx_matcher_frame *f,
				   struct band *b, bool first, struct sx_matcher_scratch *s, bool edges,
				   int disparities)
{
	vb p1 = vb_set1(m->p.p1_vertical), p2 = vb_set1(m->p.p2_vertical);
	uint8_t up[SX_MATCHER_DISPARITIES_MAX];

	for (int y = m->height - 1; y >= 0; y--) {
		const uint8_t *grey = sx_image_row(&f->grey[0], y);
		const uint8_t *grey_before = sx_image_row(&f->grey[0], y < m->height - 1 ? y + 1 : y);
		size_t row = (size_t)y * (size_t)m->band_columns * (size_t)disparities;
		int from, to, x = clip_band(b, m, y, &from, &to);

		if (!first && from < to && y >= AHEAD)
			prefetch_write((uint8_t *)f->volume + (((size_t)(y - AHEAD) * (size_t)m->width +
								(size_t)(x + from)) *
								       (size_t)disparities
							       << (m->volume_kind == SX_VOLUME_WORDS)),
				       (size_t)(to - from) * (size_t)disparities
					       << (m->volume_kind == SX_VOLUME_WORDS));
		for (int i = from; i < to; i++) {
			size_t at = row + (size_t)(i * disparities), state = (size_t)i * b->pitch;
			size_t cell = ((size_t)y * (size_t)m->width + (size_t)(x + i)) * (size_t)disparities;

			if (edges)
				p2 = edge_p2(m, false, grey[x + i], grey_before[x + i + b->shear]);
			chain_step(b->state[0] + state, b->state[1] + state, &b->least[i], s->cost + at, up,
				   p1, p2, disparities);
			if (m->volume_kind == SX_VOLUME_BYTES)
				add_bytes((uint8_t *)f->volume + cell, s->down + at, up, first, disparities);
			else
				add_words((uint16_t *)f->volume + cell, s->down + at, up, first,
					  1 << m->word_bits, disparities);
		}
		swap_state(b);
	}
}

static ALWAYS_INLINE void sgm_band_of(const struct sx_matcher *m, const struct sx_matcher_frame *f,
				      enum sx_shear shear, int i, bool first, struct sx_matcher_scratch *s,
				      bool edges, int disparities)
{
	struct band b = {.shear = (int)shear, .columns = m->band_columns};

	b.x0 = i * m->band_columns - (shear == SX_SHEAR_RIGHT ? m->height - 1 : 0);
	start_band(&b, m, s);
	sweep_down(m, f, &b, s, edges, disparities);
	start_band(&b, m, s);
	sweep_up(m, f, &b, first, s, edges, disparities);
}

/*
 * Runs a band. The usual numbers of disparities are constants, so that loops unroll and keep their values in
 * registers.
 */
static void sgm_band(const struct sx_matcher *m, const struct sx_matcher_frame *f, enum sx_shear shear, int i,
		     bool first, struct sx_matcher_scratch *s)
{
	if (m->p.p2_edge && m->p.disparities == 128)
		sgm_band_of(m, f, shear, i, first, s, true, 128);
	else if (m->p.p2_edge)
		sgm_band_of(m, f, shear, i, first, s, true, m->p.disparities);
	else if (m->p.disparities == 128)
		sgm_band_of(m, f, shear, i, first, s, false, 128);
	else if (m->p.disparities == 64)
		sgm_band_of(m, f, shear, i, first, s, false, 64);
	else
		sgm_band_of(m, f, shear, i, first, s, false, m->p.disparities);
}

#endif
