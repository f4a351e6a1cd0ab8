/*
 * Cost kernel; meaning in stages/stereo/cost.h.
 *
 * Work:   per left pixel one operand for each plane of its descriptor, then per VEC_BYTES disparities and plane
 *         a load, a table look-up (or a population count) and an addition.
 *         Costs that are stored (zncc) are copied.
 * Ranges: sums of at most 16 nibbles or 8 bytes: 0..64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_COST_KERNEL_H
#define SX_CPU_KERNELS_COST_KERNEL_H

#include <string.h>

#include "cpu/matcher.h"
#include "cpu/vec/vec_inline.h"

#define PLANES_MAX (64 / VEC_PLANE_BITS)
#define VEC_WORDS (VEC_BYTES / 2)

static ALWAYS_INLINE vi vi_load(const void *p)
{
	vi v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static ALWAYS_INLINE void vi_store(void *p, vi v)
{
	memcpy(p, &v, sizeof(v));
}

/* One pixel. right: plane 0 from the byte on that belongs to its disparity 0. */
static ALWAYS_INLINE void cost_pixel(uint64_t descriptor, const uint8_t *right, size_t pitch,
				     const uint8_t *outside, vb most, uint8_t *cost, int disparities,
				     int planes)
{
	vb operand[PLANES_MAX];

	for (int k = 0; k < planes; k++)
		operand[k] = vb_operand(descriptor >> (k * VEC_PLANE_BITS) & ((1u << VEC_PLANE_BITS) - 1));
	for (int d = 0; d < disparities; d += VEC_BYTES) {
		vb sum = vb_distance(operand[0], vb_load(right + d));

		for (int k = 1; k < planes; k++)
			sum = vb_add(sum, vb_distance(operand[k], vb_load(right + (size_t)k * pitch + d)));
		if (outside)
			sum = vb_min(vb_or(sum, vb_load(outside + d)), most);
		vb_store(cost + d, sum);
	}
}

/* n pixels of row y from column x on. left32, or else left64: descriptors of the row. */
static ALWAYS_INLINE void cost_pixels_of(const struct sx_matcher *m, const uint8_t *right,
					 const uint64_t *left64, const uint32_t *left32, int x, int n,
					 uint8_t *cost, int disparities, int planes)
{
	const uint8_t *outside = m->out_of_view;
	size_t pitch = m->plane_pitch;
	int at = m->width - 1 - x;
	vb most = vb_set1(m->cost_max);

	for (int i = 0; i < n; i++, at--, cost += disparities) {
		uint64_t descriptor = left32 ? left32[x + i] : left64[x + i];

		if (outside)
			cost_pixel(descriptor, right + at, pitch, outside + at, most, cost, disparities,
				   planes);
		else
			cost_pixel(descriptor, right + at, pitch, NULL, most, cost, disparities, planes);
	}
}

static ALWAYS_INLINE const uint8_t *stored_costs(const struct sx_matcher *m, const struct sx_matcher_frame *f,
						 int y, int x)
{
	return f->costs + ((size_t)y * (size_t)m->width + (size_t)x) * (size_t)m->p.disparities;
}

/* Costs of n pixels of row y from column x on, one after the other. */
static ALWAYS_INLINE void cost_pixels(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
				      int x, int n, uint8_t *cost, int disparities)
{
	const uint8_t *right = f->planes + (size_t)y * (size_t)m->planes * m->plane_pitch;
	const void *left = sx_image_row(&f->census[0], y);

	if (f->costs)
		memcpy(cost, stored_costs(m, f, y, x), (size_t)n * (size_t)disparities);
	else if (m->p.cost == SX_COST_CSCT)
		cost_pixels_of(m, right, NULL, left, x, n, cost, disparities, 32 / VEC_PLANE_BITS);
	else if (m->p.cost == SX_COST_CENSUS48)
		cost_pixels_of(m, right, left, NULL, x, n, cost, disparities, 48 / VEC_PLANE_BITS);
	else
		cost_pixels_of(m, right, left, NULL, x, n, cost, disparities, 64 / VEC_PLANE_BITS);
}

#endif
