/*
 * Left-right check. stages/stereo/left_right.h defines the result.
 *
 * Work:   looks up the right row one pixel at a time; the rest works on vectors, without branches.
 * Ranges: k is clamped to the row before the look-up. The value found counts only if k was inside the row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_LEFT_RIGHT_KERNEL_H
#define SX_CPU_KERNELS_LEFT_RIGHT_KERNEL_H

#include <string.h>

#include "cpu/kernels/winner_kernel.h"
#include "cpu/matcher.h"
#include "stages/stereo/left_right.h"

#define BIAS 8192 /* keeps columns and their differences positive; they are above -BIAS and below BIAS */

/*
 * Looks up partners. found: the right row's disparity of each pixel's partner; any value if k is outside the
 * row.
 */
static ALWAYS_INLINE void find_partners(const uint16_t *left, const uint16_t *right, uint16_t *found, int x0,
					int n)
{
	for (int i = 0; i < n; i++) {
		int k = x0 + i - (left[i] >> 4);

		found[i] = right[k < 0 ? 0 : k];
	}
}

/*
 * The conditions of a row. k and found are wrong if k >= 0 and |found - d| > tolerance, or k is not in view,
 * or the column is `end` or beyond.
 */
struct left_right {
	vw tolerance, before_0, before_view, end_of_view, end; /* columns + BIAS */
	vw offset, least, at_least; /* offset is added to left; if left <= least, at_least is used instead */
};

static ALWAYS_INLINE struct left_right make_left_right(const struct sx_filter_params *f,
						       const struct sx_stereo_params *p, int width)
{
	bool off = f->left_right < 0, keep = off || f->left_right_keep;
	int min_disparity = p->min_disparity, offset = 16 * min_disparity;
	int first = min_disparity > 0 ? min_disparity : 0;

	return (struct left_right){
		.tolerance = vw_set1(off || f->left_right > BIAS ? BIAS : f->left_right),
		/* off: right is any map and is not read */
		.before_0 = vw_set1(off ? INT16_MAX : BIAS - 1),
		.before_view = vw_set1(keep ? 0 : BIAS + first - 1),
		.end_of_view = vw_set1(keep ? INT16_MAX : BIAS + min_disparity + width),
		.end = vw_set1(keep ? INT16_MAX : BIAS + width - sx_left_right_border(p)),
		.offset = vw_set1(offset),
		.least = vw_set1(offset < 0 ? -offset : 0),
		.at_least = vw_set1(offset > 0 ? offset : 0),
	};
}

static ALWAYS_INLINE vw check_partners(const struct left_right *c, vw left, vw found, vw column)
{
	vw d = vw_shift_right(left, 4), k = vw_sub(column, d);
	vw zero = vw_set1(0), bad = vw_set1(-1);
	vw apart = vw_sub(vw_umax(found, d), vw_umin(found, d));
	vw wrong = vw_where_greater(k, c->before_0, vw_where_greater(apart, c->tolerance, bad, zero), zero);
	vw value = vw_where_greater(left, c->least, vw_add(left, c->offset), c->at_least);

	wrong = vw_or(wrong, vw_where_greater(k, c->before_view, zero, bad));
	wrong = vw_or(wrong, vw_where_greater(c->end_of_view, k, zero, bad));
	wrong = vw_or(wrong, vw_where_greater(c->end, column, zero, bad));
	wrong = vw_or(wrong, vw_where_greater(d, vw_set1((SX_DISPARITY_INVALID >> 4) - 1), bad, zero));
	return vw_or(value, wrong);
}

static ALWAYS_INLINE void left_right_row(const struct left_right *c, const uint16_t *left,
					 const uint16_t *right, uint16_t *out, int width)
{
	static const uint16_t steps[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
					   16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
	uint16_t found[VEC_WORDS] = {0}, last[VEC_WORDS];

	for (int x = 0; x < width; x += VEC_WORDS) {
		int n = width - x < VEC_WORDS ? width - x : VEC_WORDS;
		vw result;

		find_partners(left + x, right, found, x, n);
		result = check_partners(c, vw_load(left + x), vw_load(found),
					vw_add(vw_load(steps), vw_set1(x + BIAS)));
		if (n == VEC_WORDS) {
			vw_store(out + x, result);
			continue;
		}
		vw_store(last, result);
		memcpy(out + x, last, (size_t)n * sizeof(*last));
	}
}

static void left_right_rows(const struct sx_image *left, const struct sx_image *right,
			    const struct sx_image *dst, const struct sx_filter_params *f,
			    const struct sx_stereo_params *p, int y0, int y1)
{
	struct left_right c = make_left_right(f, p, left->width);

	for (int y = y0; y < y1; y++)
		left_right_row(&c, sx_image_row(left, y), sx_image_row(right, y), sx_image_row(dst, y),
			       left->width);
}

#endif
