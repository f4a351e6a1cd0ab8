/*
 * How sure a measured plane is. Formulas as in road_plane.h: operations in a fixed order.
 *
 * Of least squares: what is left of the samples gives their variance, the normal matrix how it gets into
 * slope, cross and the disparity at the centre, first derivatives how from there into pitch, roll, height.
 * That would hold for samples that are off each by itself. They are not: windows, paths of aggregation and
 * the median spread an error over neighbours, so only one of SX_ROAD_ALIKE counts. And they are off in common
 * where they are far, by SX_ROAD_FAR_PX, which what is left does not show. Both numbers are those for which
 * errors on synthetic streets agree (docs/algorithm.md, road).
 *
 * A low camera often sees little floor before other things, which lean the plane (road_plane.h,
 * sx_road_worth()): where less than half of the samples lie on it, sigmas are larger by the square of
 * what is missing.
 *
 * What is not in it: a wrong baseline or principal point, a road that is no plane from the camera on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_ROAD_ROAD_SIGMA_H
#define SX_STAGES_ROAD_ROAD_SIGMA_H

#include "stages/road/road_sums.h"

#define SX_ROAD_ALIKE 20.0
#define SX_ROAD_FAR_PX 0.2 /* of disparity, at the horizon; nothing in the last row */

/* Variance of what changes by m, s, c with disparity at the centre, slope, cross. */
struct sx_road_spread {
	double centre, slope, both, cross; /* both: covariance of slope and cross */
};
SX_ROAD_INLINE double sx_road_variance(const struct sx_road_spread *v, double m, double s, double c)
{
	return ((m * m) * v->centre + (s * s) * v->slope) + ((2.0 * s * c) * v->both + (c * c) * v->cross);
}

SX_ROAD_INLINE struct sx_road_spread sx_road_spread_of(const struct sx_road_sums *s,
						       const struct sx_road_plane *p)
{
	const double n = (double)s->n, mx = (double)s->x / n, my = (double)s->y / n, md = (double)s->d / n;
	const double xx = (double)s->xx - mx * (double)s->x, xy = (double)s->xy - mx * (double)s->y;
	const double yy = (double)s->yy - my * (double)s->y, xd = (double)s->xd - mx * (double)s->d;
	const double yd = (double)s->yd - my * (double)s->d, dd = (double)s->dd - md * (double)s->d;
	const double det = xx * yy - xy * xy, left = (dd - 16.0 * p->slope * yd) - 16.0 * p->cross * xd;
	const double variance = left > 0.0 ? SX_ROAD_ALIKE * left / (256.0 * (double)(s->samples - 3)) : 0.0;
	struct sx_road_spread v;

	v.centre = variance / n;
	v.slope = variance * xx / det;
	v.both = -(variance * xy) / det;
	v.cross = variance * yy / det;
	return v;
}

/* What a plane that few of all samples lie on is less sure by. */
SX_ROAD_INLINE double sx_road_doubt(const struct sx_road_view *w, const struct sx_road_sums *s, int samples)
{
	const double most = (double)samples / (2.0 * (double)s->samples);

	return most > 1.0 ? 1.0 + w->elsewhere * (most * most - 1.0) : 1.0;
}

/* The three sigmas of a plane that sx_road_solve() has made of these sums, of so many samples. */
SX_ROAD_INLINE void sx_road_sigmas(const struct sx_road_view *w, const struct sx_road_sums *s, int samples,
				   const struct sx_road_plane *p, struct sx_road *road)
{
	const struct sx_camera *c = &w->camera;
	const struct sx_road_spread v = sx_road_spread_of(s, p);
	const double n = (double)s->n, per_slope = 1.0 / (p->slope * c->fy);
	const double x = ((double)s->x / n + (double)sx_road_centre_x(w)) - c->cx;
	const double y = (double)s->y / n + (double)sx_road_centre_y(w);
	const double horizon = -(p->at_origin + p->cross * c->cx) / p->slope;
	const double t = (c->cy - horizon) / c->fy, r = p->cross * c->fx * per_slope;
	const double length = (1.0 + t * t) + r * r;
	/* of tan pitch and tan roll, by centre, slope, cross */
	const double tm = per_slope, ts = (horizon - y) * per_slope, tc = -x * per_slope;
	const double rs = -r / p->slope, rc = c->fx * per_slope;
	const double height = c->baseline_m * (c->fx / c->fy) / (p->slope * sqrt(length));
	/* of the height, as a share of it */
	const double hm = t * tm / length, hs = 1.0 / p->slope + (t * ts + r * rs) / length;
	const double hc = (t * tc + r * rc) / length;
	/* of what is off in common */
	const double last = p->slope * ((double)w->end_row - horizon), far = SX_ROAD_FAR_PX * tm;
	const double far_height = SX_ROAD_FAR_PX / (last > 1.0 ? last : 1.0) - t * far / length;
	const double doubt = sx_road_doubt(w, s, samples);

	road->pitch_sigma_rad = doubt * (sqrt(sx_road_variance(&v, tm, ts, tc) + far * far) / (1.0 + t * t));
	road->roll_sigma_rad = doubt * (sqrt(sx_road_variance(&v, 0.0, rs, rc)) / (1.0 + r * r));
	road->height_sigma_m =
		doubt * (height * sqrt(sx_road_variance(&v, hm, hs, hc) + far_height * far_height));
}

#endif
