/*
 * Slanted stixels on the GPU: sums over the rows of a candidate and the costs of its kinds, in the fewest
 * instructions. The values equal stages/stixels/slanted_fit.h and stages/stixels/slanted_prior.h, bit for
 * bit.
 *
 * Sums are exact in every form. Up to SLANTED_SMALL rows, sums of weights and of rows are integers in floats
 * (below 2^24), and other sums have 32 bits. Only three sums have 64 bits; they include a bias by which each
 * becomes two floats without a conversion.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_SLANTED_SLANTED_FIT_CUH
#define SX_GPU_SLANTED_SLANTED_FIT_CUH

#include <stixel.h>

#include "stages/stixels/slanted_prior.h"

#include "gpu/cuda.cuh"

#define SLANTED_INLINE __device__ __forceinline__

/*
 * Largest number of rows for struct slanted_sums_small, by the ranges of its members:
 * 255 * 360 * 359 / 2 < 2^24 (x), 255 * 360^3 / 3 < 2^32 (xx), 255 * 12287 * 360 < 2^31 (e, c),
 * 255 * 12287^2 * 360 < 2^45 (biased sums).
 */
#define SLANTED_SMALL 360

/*
 * A row of cells in the form in which it leaves the sums, and its road. Weights: w as an object, g as ground,
 * 0 without a cell.
 */
struct __align__(16) slanted_row
{
	float w;
	int32_t minus_w, d;
	float gravity;
	float g;
	int32_t minus_g, e;
	float lambda_offset;
	float ground; /* expected in this row */
	float hole;   /* 1: the cell has no weight */
	int32_t minus_ge;
	int32_t object_below; /* objects that begin here have their top rows below it */
};

/*
 * Costs of the segments on which a stixel that begins in a row can stand, from struct sx_slanted_below of the
 * row before.
 */
struct __align__(16) slanted_base
{
	float on_object, on_ground, object, ground_next;
	float on_sky_cut; /* cost on sky there, with the cut */
	float sky;	  /* cost of sky that begins here */
	/* values of the row itself, as it leaves the sums; their product is -sx_slanted_sky_part() */
	int32_t minus_sky, sky_d;
};

/*
 * Returns 1 / x, rounded to nearest, for x and 1 / x that are not subnormal. This is ptxas's division without
 * its special cases.
 */
SLANTED_INLINE float slanted_reciprocal(float x)
{
#if defined(SX_EMULATE) || !defined(__CUDA_ARCH__)
	return 1.0f / x;
#else
	float r;

	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
	return __fmaf_rn(r, __fmaf_rn(-x, r, 1.0f), r);
#endif
}

#define SLANTED_BIAS ((int64_t)0x4b400000 << 23)

/*
 * Returns (float)(s - SLANTED_BIAS) for less than 2^45. The bits become two integers in floats, and only the
 * second operation rounds.
 */
SLANTED_INLINE float slanted_unbias(int64_t s)
{
	const float high = __int_as_float((int)(s >> 23)) - 12582913.0f; /* 1.5 * 2^23 + 1 */
	const float low = __int_as_float(((int)s & 0x7fffff) | 0x4b000000);

	return __fmaf_rn(high, 8388608.0f, low);
}

/* Sums without an origin: over all rows up to one row. */
struct slanted_totals {
	int64_t n, x, xx, e, xe, ee, w, d, dd;
	int64_t sky; /* parts of the rows where sky may begin */
};

/* The same sums as in stages/stixels/slanted_fit.h, for any height. */
struct slanted_sums_wide {
	struct sx_slanted_sums s;
	int64_t sky;
	int32_t y, d0; /* the lowest row, relative to the origin */
};

SLANTED_INLINE void slanted_set(struct slanted_sums_wide *s, const struct slanted_totals &t, int origin,
				int32_t d0)
{
	s->s.n = (int32_t)t.n;
	s->s.w = (int32_t)t.w;
	s->s.x = (int32_t)(t.x - origin * t.n);
	s->s.xx = t.xx - 2 * (int64_t)origin * t.x + (int64_t)origin * origin * t.n;
	s->s.e = t.e;
	s->s.xe = t.xe - origin * t.e;
	s->s.ee = t.ee;
	s->s.c = t.d - d0 * t.w;
	s->s.cc = t.dd - 2 * (int64_t)d0 * t.d + (int64_t)d0 * d0 * t.w;
	s->sky = t.sky;
	s->y = -origin;
	s->d0 = d0;
}

/* Removes the lowest row. ground, sky: the sums of these kinds are still needed. */
SLANTED_INLINE void slanted_drop(struct slanted_sums_wide *s, const struct slanted_row &r,
				 const struct slanted_base &base, bool ground, bool sky)
{
	sx_slanted_add(&s->s, r.minus_w, r.minus_g, s->y, r.e, r.d - s->d0);
	if (sky)
		s->sky += (int64_t)base.minus_sky * base.sky_d;
	s->y++;
}

SLANTED_INLINE float slanted_y(const struct slanted_sums_wide &s)
{
	return (float)s.y;
}

SLANTED_INLINE struct sx_slanted_plane slanted_ground(const struct sx_slanted_model &m,
						      const struct slanted_sums_wide &s, float lambda_offset,
						      float lambda_slope)
{
	return sx_slanted_ground(&m, &s.s, lambda_offset, lambda_slope, s.y);
}

SLANTED_INLINE struct sx_slanted_plane slanted_object(const struct sx_slanted_model &m,
						      const struct slanted_sums_wide &s)
{
	return sx_slanted_object(&m, &s.s, s.d0);
}

SLANTED_INLINE float slanted_sky(const struct sx_slanted_model &m, const struct slanted_sums_wide &s)
{
	return sx_slanted_sky(&m, s.sky);
}

/* Sums for up to SLANTED_SMALL rows. xe, ee, cc, sky: biased. */
struct slanted_sums_small {
	float n, x, w, y, d0;
	uint32_t xx;
	int32_t e, c, row, d_origin; /* row: y as an integer */
	int64_t xe, ee, cc, sky;
};

SLANTED_INLINE void slanted_set(struct slanted_sums_small *s, const struct slanted_totals &t, int origin,
				int32_t d0)
{
	struct slanted_sums_wide wide;

	slanted_set(&wide, t, origin, d0);
	s->n = (float)wide.s.n;
	s->w = (float)wide.s.w;
	s->x = (float)wide.s.x;
	s->y = (float)wide.y;
	s->d0 = (float)d0;
	s->xx = (uint32_t)wide.s.xx;
	s->e = (int32_t)wide.s.e;
	s->c = (int32_t)wide.s.c;
	s->row = wide.y;
	s->d_origin = d0;
	s->xe = wide.s.xe + SLANTED_BIAS;
	s->ee = wide.s.ee + SLANTED_BIAS;
	s->cc = wide.s.cc + SLANTED_BIAS;
	s->sky = wide.sky + SLANTED_BIAS;
}

SLANTED_INLINE void slanted_drop(struct slanted_sums_small *s, const struct slanted_row &r,
				 const struct slanted_base &base, bool ground, bool sky)
{
	const int32_t c = r.d - s->d_origin, wc = r.minus_w * c;

	if (ground) {
		s->n -= r.g;
		s->x = __fmaf_rn(-r.g, s->y, s->x);
		s->xx += (uint32_t)(r.minus_g * s->row * s->row);
		s->e += r.minus_ge;
		s->xe += (int64_t)r.minus_ge * s->row;
		s->ee += (int64_t)r.minus_ge * r.e;
		s->row++;
		s->y += 1.0f;
	}
	s->w -= r.w;
	s->c += wc;
	s->cc += (int64_t)wc * c;
	if (sky)
		s->sky += (int64_t)base.minus_sky * base.sky_d;
}

/* Removes several rows, the lowest of which is row v. gone: the sums over these rows. */
SLANTED_INLINE void slanted_skip(struct slanted_sums_small *s, const struct slanted_totals &gone, int v,
				 int rows)
{
	struct slanted_sums_wide wide;

	slanted_set(&wide, gone, v - s->row, s->d_origin);
	s->n -= (float)wide.s.n;
	s->w -= (float)wide.s.w;
	s->x -= (float)wide.s.x;
	s->y += (float)rows;
	s->xx -= (uint32_t)wide.s.xx;
	s->e -= (int32_t)wide.s.e;
	s->c -= (int32_t)wide.s.c;
	s->row += rows;
	s->xe -= wide.s.xe;
	s->ee -= wide.s.ee;
	s->cc -= wide.s.cc;
	s->sky -= wide.sky;
}

SLANTED_INLINE float slanted_y(const struct slanted_sums_small &s)
{
	return s.y;
}

SLANTED_INLINE struct sx_slanted_plane slanted_ground(const struct sx_slanted_model &m,
						      const struct slanted_sums_small &s, float lambda_offset,
						      float lambda_slope)
{
	const float bottom = fminf(s.y, 0.0f), foot = lambda_offset * bottom;
	const float n = s.n + lambda_offset, x = s.x + foot;
	const float xx = ((float)s.xx + foot * bottom) + lambda_slope;
	const float e = (float)s.e, xe = slanted_unbias(s.xe);
	const float r = slanted_reciprocal(n * xx - x * x);
	struct sx_slanted_plane p;
	float off_a, off_b, rest;

	p.a = (e * xx - x * xe) * r;
	p.b = (n * xe - x * e) * r;
	off_a = (p.a * n + p.b * x) - e;
	off_b = (p.a * x + p.b * xx) - xe;
	rest = (slanted_unbias(s.ee) - p.a * e) - p.b * xe;
	rest = rest + (p.a * off_a + p.b * off_b);
	p.fit = fmaxf(rest * m.k_ground, 0.0f);
	return p;
}

/* Returns the plane of an object. Without weight c is 0, so the mean is 0 with any factor. */
SLANTED_INLINE struct sx_slanted_plane slanted_object(const struct sx_slanted_model &m,
						      const struct slanted_sums_small &s)
{
	const float c = (float)s.c, mean = c * slanted_reciprocal(fmaxf(s.w, 1.0f));
	struct sx_slanted_plane p;

	p.a = s.w > 0.0f ? s.d0 + mean : 0.0f;
	p.b = 0.0f;
	p.fit = fmaxf((slanted_unbias(s.cc) - c * mean) * m.k_object, 0.0f);
	return p;
}

SLANTED_INLINE float slanted_sky(const struct sx_slanted_model &m, const struct slanted_sums_small &s)
{
	return slanted_unbias(s.sky) * m.k_sky;
}

/*
 * ---- segment below: the costs of sx_slanted_on_object() and so on; from is found again when going back ---
 */

/*
 * Returns the cost of the segment below an object. sky: the segment below may be sky. Illegal costs are 3e38,
 * with or without a prior, and lose every comparison.
 */
SLANTED_INLINE float slanted_under_object(const struct sx_slanted_model &m, const struct slanted_base &b,
					  float a, float gravity, bool sky)
{
	const float nearer = a - b.object, far = fabsf(a - b.ground_next);
	const float object = b.on_object + (nearer > 1.0f ? m.cut_order + m.order * nearer : m.cut);
	const float ground = b.on_ground + (far > 1.0f ? m.cut + gravity * (16.0f + far) : m.cut);
	const float both = fminf(object, ground);

	return sky ? fminf(both, b.on_sky_cut) : both;
}

SLANTED_INLINE float slanted_under_ground(const struct sx_slanted_model &m, const struct slanted_base &b,
					  float a)
{
	const float object = a - b.object <= 1.0f ? b.on_object + m.cut : SX_SLANTED_ILLEGAL;
	const float gap = fabsf(a - b.ground_next);

	return fminf(object, b.on_ground + (gap > 1.0f ? m.cut_gap : m.cut));
}

/* Sets everything except the values of the row itself. */
SLANTED_INLINE void slanted_set_base(const struct sx_slanted_model &m, const struct sx_slanted_below &b,
				     struct slanted_base *to)
{
	to->on_object = b.cost[STIXEL_OBJECT];
	to->on_ground = b.cost[STIXEL_GROUND];
	to->object = b.object;
	to->ground_next = b.ground_next;
	to->on_sky_cut = b.cost[STIXEL_SKY] + m.cut;
	to->sky = sx_slanted_on_sky(&m, &b).cost;
}

#endif
