/*
 * Sizes and memory of FastDT in the CPU engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/fastdt.h"

#include "cpu/matcher.h"

#define BAND_BYTES (768 * 1024) /* bytes of sums in a band; leaves room in a second-level cache of 1 MB */

static size_t pixels(const struct sx_matcher *m)
{
	return (size_t)m->width * (size_t)m->height;
}

int sx_fastdt_columns(const struct sx_matcher *m)
{
	size_t column = (size_t)m->height * (size_t)m->p.disparities * sizeof(uint16_t);
	int n = (int)(BAND_BYTES / column) / 4 * 4;

	return n < 4 ? 4 : n > SX_FASTDT_COLUMNS_MAX ? SX_FASTDT_COLUMNS_MAX : n;
}

int sx_fastdt_bands(const struct sx_matcher *m)
{
	return (m->width + sx_fastdt_columns(m) - 1) / sx_fastdt_columns(m);
}

size_t sx_fastdt_pixel(const struct sx_matcher *m, int x, int y)
{
	int n = sx_fastdt_columns(m);

	return ((size_t)(x / n) * (size_t)m->height + (size_t)y) * (size_t)n + (size_t)(x % n);
}

size_t sx_fastdt_volume_bytes(const struct sx_matcher *m)
{
	size_t cells = sx_fastdt_pixel(m, (int)(sx_fastdt_bands(m) * sx_fastdt_columns(m)), 0) *
		       (size_t)m->p.disparities;

	return m->p.fastdt == SX_FASTDT_INT8 ? cells : cells * sizeof(uint16_t);
}

size_t sx_fastdt_right_pitch(const struct sx_matcher *m)
{
	return (size_t)m->width + (size_t)m->p.disparities + SX_MATCHER_MARGIN / sizeof(uint16_t);
}

static size_t lay_out_maps(struct sx_fastdt_maps *maps, const struct sx_matcher *m, uint8_t *memory)
{
	size_t n = pixels(m), used = 0;

	maps->down = sx_matcher_take(memory, &used, (n + (size_t)m->width) * sizeof(*maps->down));
	maps->least = sx_matcher_take(memory, &used, n * sizeof(*maps->least));
	maps->gain = sx_matcher_take(memory, &used, n * sizeof(*maps->gain));
	maps->s0 = sx_matcher_take(memory, &used, n * sizeof(*maps->s0));
	maps->side_low = sx_matcher_take(memory, &used, n * sizeof(*maps->side_low));
	maps->side_high = sx_matcher_take(memory, &used, n * sizeof(*maps->side_high));
	maps->d0 = sx_matcher_take(memory, &used, n * sizeof(*maps->d0));
	return used;
}

size_t sx_fastdt_maps_bytes(const struct sx_matcher *m)
{
	struct sx_fastdt_maps maps;

	return lay_out_maps(&maps, m, NULL);
}

void sx_fastdt_maps_init(struct sx_fastdt_maps *maps, const struct sx_matcher *m, uint8_t *memory)
{
	lay_out_maps(maps, m, memory);
}

size_t sx_fastdt_scratch_lay_out(struct sx_fastdt_scratch *s, const struct sx_matcher *m, uint8_t *memory)
{
	size_t width = (size_t)m->width, height = (size_t)m->height, disparities = (size_t)m->p.disparities;
	size_t band_row = (size_t)sx_fastdt_columns(m) * disparities, used = 0;

	s->across = sx_matcher_take(memory, &used, (width + 1) * sizeof(*s->across));
	s->row = sx_matcher_take(memory, &used, width * disparities * sizeof(*s->row));
	s->sums = sx_matcher_take(memory, &used, (height + 1) * band_row * sizeof(*s->sums));
	s->state = sx_matcher_take(memory, &used, band_row * sizeof(*s->state));
	s->words = sx_matcher_take(memory, &used,
				   2 * (size_t)sx_fastdt_columns(m) * sx_matcher_sum_pitch(m) *
					   sizeof(*s->words));
	s->lowest = sx_matcher_take(memory, &used, sx_matcher_sum_pitch(m) * sizeof(*s->lowest));
	s->right_sum =
		sx_matcher_take(memory, &used, height * sx_fastdt_right_pitch(m) * sizeof(*s->right_sum));
	s->right_x = sx_matcher_take(memory, &used, height * sx_fastdt_right_pitch(m) * sizeof(*s->right_x));
	return used;
}

static int scaled(int v, int weight)
{
	return (v * weight + 16384) >> SX_FASTDT_WEIGHT_BITS;
}

int sx_fastdt_lowest(const struct sx_matcher *m)
{
	int weight = m->weights[0], most = 0, least = 0, before;

	do { /* terminates: each step brings the value nearer to its fixed point */
		before = most;
		most = m->cost_max + scaled(most, weight);
	} while (most != before);
	do {
		before = least;
		least = scaled(least, weight) - most;
	} while (least != before);
	return least;
}
