/*
 * Cost kernel. stages/stereo/cost.h defines the result.
 *
 * Work:   per left pixel one operand for each plane of its descriptor. Then per VEC_BYTES disparities and
 *         plane a load, a table look-up (or a population count) and an addition. Stored costs (zncc) are
 *         copied.
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

/* Computes the costs of one pixel. right: plane 0, from the byte of the pixel's disparity 0 on. */
static ALWAYS_INLINE void cost_pixel(uint64_t descriptor, const uint8_t *right, size_t pitch, uint8_t *cost,
				     int disparities, int planes)
{
	vb operand[PLANES_MAX];

	for (int k = 0; k < planes; k++)
		operand[k] = vb_operand(descriptor >> (k * VEC_PLANE_BITS) & ((1u << VEC_PLANE_BITS) - 1));
	for (int d = 0; d < disparities; d += VEC_BYTES) {
		vb sum = vb_distance(operand[0], vb_load(right + d));

		for (int k = 1; k < planes; k++)
			sum = vb_add(sum, vb_distance(operand[k], vb_load(right + (size_t)k * pitch + d)));
		vb_store(cost + d, sum);
	}
}

/*
 * Computes the costs of n pixels of row y from column x on. left32, or else left64: descriptors of the row.
 */
static ALWAYS_INLINE void cost_pixels_of(const struct sx_matcher *m, const uint8_t *right,
					 const uint64_t *left64, const uint32_t *left32, int x, int n,
					 uint8_t *cost, int disparities, int planes)
{
	int at = m->width - 1 - x;

	for (int i = 0; i < n; i++, at--, cost += disparities)
		cost_pixel(left32 ? left32[x + i] : left64[x + i], right + at, m->plane_pitch, cost,
			   disparities, planes);
}

static ALWAYS_INLINE const uint8_t *stored_costs(const struct sx_matcher *m, const struct sx_matcher_frame *f,
						 int y, int x)
{
	return f->costs + ((size_t)y * (size_t)m->width + (size_t)x) * (size_t)m->p.disparities;
}

/* Sets the largest cost where the right column is outside the image, if out_of_view is max. */
static __attribute__((noinline)) void cost_out_of_view(const struct sx_matcher *m, int x, int n,
						       uint8_t *cost)
{
	const uint8_t *outside = m->out_of_view + m->width - 1 - x;
	vb most = vb_set1(m->cost_max);

	for (int i = 0; i < n; i++, outside--)
		for (int d = 0; d < m->p.disparities; d += VEC_BYTES, cost += VEC_BYTES)
			vb_store(cost, vb_min(vb_or(vb_load(cost), vb_load(outside + d)), most));
}

/*
 * Computes costs other than CSCT. All kernels that read costs share this function, because compiling it for
 * each kernel takes long.
 */
static __attribute__((noinline)) void cost_pixels_other(const struct sx_matcher *m,
							const struct sx_matcher_frame *f, int y, int x, int n,
							uint8_t *cost)
{
	const uint8_t *right = f->planes + (size_t)y * (size_t)m->planes * m->plane_pitch;
	const void *left = sx_image_row(&f->census[0], y);
	int disparities = m->p.disparities;

	if (f->costs)
		memcpy(cost, stored_costs(m, f, y, x), (size_t)n * (size_t)disparities);
	else if (m->p.cost == SX_COST_CENSUS48)
		cost_pixels_of(m, right, left, NULL, x, n, cost, disparities, 48 / VEC_PLANE_BITS);
	else
		cost_pixels_of(m, right, left, NULL, x, n, cost, disparities, 64 / VEC_PLANE_BITS);
}

/* Computes the costs of n pixels of row y from column x on, one pixel after the other. */
static ALWAYS_INLINE void cost_pixels(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
				      int x, int n, uint8_t *cost, int disparities)
{
	const uint8_t *right = f->planes + (size_t)y * (size_t)m->planes * m->plane_pitch;

	if (m->p.cost == SX_COST_CSCT)
		cost_pixels_of(m, right, NULL, sx_image_row(&f->census[0], y), x, n, cost, disparities,
			       32 / VEC_PLANE_BITS);
	else
		cost_pixels_other(m, f, y, x, n, cost);
	if (m->out_of_view && !f->costs)
		cost_out_of_view(m, x, n, cost);
}

#endif
