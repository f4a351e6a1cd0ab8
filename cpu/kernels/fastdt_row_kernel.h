/*
 * FastDT of rows: costs and the passes to the right and to the left. stages/stereo/fastdt.h defines the
 * result; cpu/kernels/fastdt_kernel.h has the next steps.
 *
 * Work:   vectors hold disparities of a pixel. A step is a rounding product of 16 bits and an addition; the
 *         planes O and G are processed beside them as scalars. Costs of four pixels, then their steps to the
 *         right; at the end of the row the steps to the left.
 * Memory: a row of A stays in the second-level cache. The volume is written once, past the caches.
 * Ranges: with K the largest weight, Cmax / (1 - K)^4 <= 65535 (sx_params_check). So A and B and their
 *         differences are below 2048 (see sx_fastdt_lowest) and need no clamp. All products round within 16
 *         bits.
 * Shapes: any.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_FASTDT_ROW_KERNEL_H
#define SX_CPU_KERNELS_FASTDT_ROW_KERNEL_H

#include <stdlib.h>
#include <string.h>

#include "cpu/kernels/cost_kernel.h"

#define DT_WORDS (SX_MATCHER_DISPARITIES_MAX / VEC_WORDS) /* most vectors per pixel */

static ALWAYS_INLINE int dt_scale(int v, int weight)
{
	return (v * weight + 16384) >> SX_FASTDT_WEIGHT_BITS;
}

/*
 * Encode and decode this engine's codes: the values that sx_fastdt_encode() keeps, numbered downwards from 0,
 * for v >= -2048. Code -64 is -128, code -124 is -2048. The fine and the coarse steps each have a linear
 * formula. The formula that applies gives the larger result when encoding, and the lesser when decoding.
 */
static ALWAYS_INLINE vw dt_encode(vw v)
{
	vw fine = vw_sshift_right(v, 1), coarse = vw_sub(vw_sshift_right(v, 5), vw_set1(60));

	return vw_smin(vw_smax(fine, coarse), vw_set1(0));
}

static ALWAYS_INLINE vw dt_decode(vw code)
{
	return vw_smin(vw_add(code, code), vw_add(vw_shift_left(code, 5), vw_set1(1920)));
}

/* Computes the weights of row y: to the pixels before, and to the row above. */
static void dt_weights(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
		       struct sx_matcher_scratch *s)
{
	const uint8_t *row = sx_image_row(&f->grey[0], y),
		      *above = y ? sx_image_row(&f->grey[0], y - 1) : row;
	int32_t *across = s->fastdt.across, *down = f->maps.down + (size_t)y * (size_t)m->width;
	const int32_t *table = m->weights;

	across[0] = across[m->width] = 0;
	for (int x = 1; x < m->width; x++)
		across[x] = table[abs(row[x] - row[x - 1])];
	for (int x = 0; x < m->width; x++)
		down[x] = table[abs(row[x] - above[x])];
	if (y == 0)
		memset(down, 0, (size_t)m->width * sizeof(*down));
	if (y == m->height - 1)
		memset(down + m->width, 0, (size_t)m->width * sizeof(*down));
}

/* Place of a pixel in the volume on the way to the left. */
struct dt_place {
	size_t at; /* see sx_fastdt_pixel() */
	size_t jump;
	int column, columns; /* column in the band; columns of the band */
};

static ALWAYS_INLINE struct dt_place dt_last_place(const struct sx_matcher *m, int y)
{
	int columns = sx_fastdt_columns(m);

	return (struct dt_place){.at = sx_fastdt_pixel(m, m->width - 1, y),
				 .jump = (size_t)(m->height - 1) * (size_t)columns,
				 .column = (m->width - 1) % columns,
				 .columns = columns};
}

static ALWAYS_INLINE void dt_go_left(struct dt_place *p)
{
	p->at--;
	if (p->column-- == 0) {
		p->column = p->columns - 1;
		p->at -= p->jump;
	}
}

/* Returns the costs of n pixels from x on. Costs of zncc are already computed. */
static ALWAYS_INLINE const uint8_t *dt_costs(const struct sx_matcher *m, const struct sx_matcher_frame *f,
					     int y, int x, int n, struct sx_matcher_scratch *s,
					     int disparities)
{
	if (f->costs)
		return stored_costs(m, f, y, x);
	cost_pixels(m, f, y, x, n, s->row_cost, disparities);
	return s->row_cost;
}

static ALWAYS_INLINE void dt_right_words(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
					 struct sx_matcher_scratch *s, int vectors)
{
	int32_t *gains = f->maps.gain + (size_t)y * (size_t)m->width;
	int disparities = vectors * VEC_WORDS, gain = 0;
	uint16_t *row = s->fastdt.row;
	vw l[DT_WORDS];

	for (int k = 0; k < vectors; k++)
		l[k] = vw_set1(0);
	for (int x0 = 0; x0 < m->width; x0 += 4) {
		int n = m->width - x0 < 4 ? m->width - x0 : 4;
		const uint8_t *cost = dt_costs(m, f, y, x0, n, s, disparities);

		for (int x = x0; x < x0 + n; x++, cost += disparities, row += disparities) {
			int weight = s->fastdt.across[x];
			vw w = vw_set1(weight);

			gain = m->cost_max + dt_scale(gain, weight);
			gains[x] = gain;
			for (int k = 0; k < vectors; k++) {
				l[k] = vw_add(vw_widen(cost + k * VEC_WORDS), vw_scale(l[k], w));
				vw_store(row + k * VEC_WORDS, l[k]);
			}
		}
	}
}

static ALWAYS_INLINE void dt_left_words(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
					struct sx_matcher_scratch *s, int vectors)
{
	size_t first = (size_t)y * (size_t)m->width;
	struct dt_place place = dt_last_place(m, y);
	int disparities = vectors * VEC_WORDS, gain = 0, lowest = 0;
	const uint16_t *row = s->fastdt.row;
	vw l[DT_WORDS];

	for (int k = 0; k < vectors; k++)
		l[k] = vw_set1(0);
	for (int x = m->width - 1; x >= 0; x--, dt_go_left(&place)) {
		const uint16_t *a = row + (size_t)x * (size_t)disparities;
		uint16_t *out = (uint16_t *)f->volume + place.at * (size_t)disparities;
		int weight = s->fastdt.across[x + 1];
		vw w = vw_set1(weight), subtracted;

		gain = f->maps.gain[first + (size_t)x] + dt_scale(gain, weight);
		f->maps.gain[first + (size_t)x] = gain;
		lowest = *a + dt_scale(lowest, weight); /* B(0) */
		f->maps.least[first + (size_t)x] = -lowest;
		subtracted = vw_set1(lowest);
		for (int k = 0; k < vectors; k++) {
			l[k] = vw_add(vw_load(a + k * VEC_WORDS), vw_scale(l[k], w));
			vw_stream(out + k * VEC_WORDS, vw_sub(l[k], subtracted));
		}
	}
}

static ALWAYS_INLINE void dt_left_codes(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
					struct sx_matcher_scratch *s, int vectors)
{
	size_t first = (size_t)y * (size_t)m->width;
	struct dt_place place = dt_last_place(m, y);
	int disparities = vectors * VEC_WORDS, gain = 0, least = 0;
	const uint16_t *row = s->fastdt.row;
	vw l[DT_WORDS];

	for (int k = 0; k < vectors; k++)
		l[k] = vw_set1(0);
	for (int x = m->width - 1; x >= 0; x--, dt_go_left(&place)) {
		const uint16_t *a = row + (size_t)x * (size_t)disparities;
		uint8_t *out = (uint8_t *)f->volume + place.at * (size_t)disparities;
		int weight = s->fastdt.across[x + 1];
		vw w = vw_set1(weight), subtracted = vw_set1(*a);

		gain = f->maps.gain[first + (size_t)x] + dt_scale(gain, weight);
		f->maps.gain[first + (size_t)x] = gain;
		least = -*a + dt_scale(least, weight);
		f->maps.least[first + (size_t)x] = sx_fastdt_decode(sx_fastdt_encode((int16_t)least));
		for (int k = 0; k < vectors; k++)
			l[k] = vw_add(vw_sub(vw_load(a + k * VEC_WORDS), subtracted), vw_scale(l[k], w));
		for (int k = 0; k < vectors; k += 2)
			vb_stream(out + k * VEC_WORDS, vb_snarrow(dt_encode(l[k]), dt_encode(l[k + 1])));
	}
}

static ALWAYS_INLINE void fastdt_row_of(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
					struct sx_matcher_scratch *s, int disparities)
{
	dt_right_words(m, f, y, s, disparities / VEC_WORDS);
	if (m->p.fastdt == SX_FASTDT_INT8)
		dt_left_codes(m, f, y, s, disparities / VEC_WORDS);
	else
		dt_left_words(m, f, y, s, disparities / VEC_WORDS);
}

static void fastdt_row(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
		       struct sx_matcher_scratch *s)
{
	dt_weights(m, f, y, s);
	if (m->p.disparities == 128)
		fastdt_row_of(m, f, y, s, 128);
	else
		fastdt_row_of(m, f, y, s, m->p.disparities);
}

#endif
