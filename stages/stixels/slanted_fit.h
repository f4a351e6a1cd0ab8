/*
 * Slanted stixels: arithmetic of one candidate (rows v_bottom .. v_top of a column as ground, object or sky),
 * for stages/, cpu/ and gpu/, like stages/stixels/slanted_model.h.
 *
 * Sums are exact integers, so any order of summation is right. The rest is float: each operation is rounded,
 * in the order given here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_SLANTED_FIT_H
#define SX_STAGES_STIXELS_SLANTED_FIT_H

#include "stages/stixels/slanted_model.h"

/*
 * Sums over the rows of a stixel. Rows y and disparities c count from the origin, the highest row of weight >
 * 0 at or below v_top. Both are small if the stixel is a single surface. e: disparity less expected ground.
 * As ground, with weights g: n, x, xx, e, xe, ee; as an object, with weights w: w, c, cc. 2160 rows give |x|
 * < 2^30, the rest below 2^47.
 */
struct sx_slanted_sums {
	int32_t n, x, w;
	int64_t xx, e, xe, ee, c, cc;
};

/* Adds row y with weights w and g (times sign: +-1). e, c: as above. */
SX_SLANTED void sx_slanted_add(struct sx_slanted_sums *s, int32_t w, int32_t g, int32_t y, int32_t e,
			       int32_t c)
{
	const int32_t wy = g * y, we = g * e, wc = w * c;

	s->n += g;
	s->w += w;
	s->x += wy;
	s->xx += (int64_t)wy * y;
	s->e += we;
	s->xe += (int64_t)we * y;
	s->ee += (int64_t)we * e;
	s->c += wc;
	s->cc += (int64_t)wc * c;
}

/* Returns (float)s for |s| < 2^47: two exact conversions of less than 24 bits, one rounding. */
SX_SLANTED float sx_slanted_float(int64_t s)
{
	const float high = (float)(int32_t)(s >> 24), low = (float)(int32_t)(s & 0xffffff);

	return high * 16777216.0f + low;
}

/*
 * Plane: disparity less expected ground = a + b y. Objects: b = 0, a is their disparity. fit: energy of data
 * and plane prior.
 */
struct sx_slanted_plane {
	float a, b, fit;
};

/*
 * Fits a ground plane. y: v_bottom - origin; lambda_offset: of row v_bottom; lambda_slope: of the frame.
 * Above the origin there is no data, and all results are 0. Otherwise the origin has a weight of 1 at least,
 * and all weights with lambda_offset are below 620000 (sx_params_check()). So in the worst case the
 * determinant is that share (1 of 620000) of its terms. This is twice their largest rounding error, so the
 * determinant is positive.
 */
SX_SLANTED struct sx_slanted_plane sx_slanted_ground(const struct sx_slanted_model *m,
						     const struct sx_slanted_sums *s, float lambda_offset,
						     float lambda_slope, int y)
{
	const float bottom = y < 0 ? (float)y : 0.0f, foot = lambda_offset * bottom;
	const float n = (float)s->n + lambda_offset, x = (float)s->x + foot;
	const float xx = (sx_slanted_float(s->xx) + foot * bottom) + lambda_slope;
	const float e = sx_slanted_float(s->e), xe = sx_slanted_float(s->xe);
	const float r = 1.0f / (n * xx - x * x);
	struct sx_slanted_plane p;
	float off_a, off_b, rest;

	p.a = (e * xx - x * xe) * r;
	p.b = (n * xe - x * e) * r;
	/*
	 * residual of the normal equations: with this correction an error of a and b has only a second-order
	 * effect on the energy
	 */
	off_a = (p.a * n + p.b * x) - e;
	off_b = (p.a * x + p.b * xx) - xe;
	rest = (sx_slanted_float(s->ee) - p.a * e) - p.b * xe;
	rest = rest + (p.a * off_a + p.b * off_b);
	p.fit = rest > 0.0f ? rest * m->k_ground : 0.0f;
	return p;
}

/* Returns the energy of the plane's prior alone. */
SX_SLANTED float sx_slanted_ground_prior(const struct sx_slanted_model *m, const struct sx_slanted_plane *p,
					 float lambda_offset, float lambda_slope, int y)
{
	const float foot = p->a + p->b * (float)y;

	return (lambda_offset * (foot * foot) + lambda_slope * (p->b * p->b)) * m->k_ground;
}

/* Adds the cost of `holes` ground cells without a disparity. */
SX_SLANTED float sx_slanted_with_holes(const struct sx_slanted_model *m, float fit, int32_t holes)
{
	return fit + (float)holes * m->hole;
}

/*
 * Fits an object. d: disparity of the origin. Without any weight an object has disparity 0 and costs nothing.
 */
SX_SLANTED struct sx_slanted_plane sx_slanted_object(const struct sx_slanted_model *m,
						     const struct sx_slanted_sums *s, int32_t d)
{
	const float c = sx_slanted_float(s->c);
	const float mean = s->w > 0 ? c * (1.0f / (float)s->w) : 0.0f;
	const float rest = sx_slanted_float(s->cc) - c * mean;
	struct sx_slanted_plane p;

	p.a = s->w > 0 ? (float)d + mean : 0.0f;
	p.b = 0.0f;
	p.fit = rest > 0.0f ? rest * m->k_object : 0.0f;
	return p;
}

/* Returns the contribution of a cell to dd. most: limit for outliers, in units of w d^2. */
SX_SLANTED int64_t sx_slanted_sky_part(int32_t w, int32_t d, int64_t most)
{
	const int64_t part = (int64_t)(w * d) * d;

	return part < most ? part : most;
}

/* Returns the energy of sky. dd: sum of sx_slanted_sky_part(). */
SX_SLANTED float sx_slanted_sky(const struct sx_slanted_model *m, int64_t dd)
{
	return sx_slanted_float(dd) * m->k_sky;
}

/*
 * Returns the index of the cost of residual r (1/16 px) in the exact model; kw: weight times 128 k of the
 * kind.
 */
SX_SLANTED int sx_slanted_outlier(float r, float kw)
{
	const float q = (r * r) * kw + 0.5f;

	return q < (float)(SX_SLANTED_OUTLIERS - 1) ? (int)q : SX_SLANTED_OUTLIERS - 1;
}

#endif
