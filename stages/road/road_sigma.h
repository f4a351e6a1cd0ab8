/*
 * Standard deviations of a measured plane. Formulas as in road_plane.h: operations in a fixed order.
 *
 * They follow from least squares. The residuals of the samples give the variance of samples. The normal
 * matrix transforms it into variances of slope, cross and the disparity at the centre. First derivatives
 * transform these into pitch, roll and height. This would hold for independent errors. But windows, paths of
 * aggregation and the median spread an error over neighbours, so only one of SX_ROAD_ALIKE samples counts.
 * Far samples also have a common error, SX_ROAD_FAR_PX, which the residuals do not show. Both numbers were
 * chosen so that the computed deviations agree with errors on synthetic streets (docs/develop/algorithm.md,
 * road).
 *
 * A low camera often sees little floor before other things, which tilt the plane (road_plane.h,
 * sx_road_worth()). If less than half of the samples lie on the plane, the standard deviations grow with the
 * square of the ratio of half of the samples to those on the plane.
 *
 * Not included: a wrong baseline or principal point, and a road that is no plane from the camera on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_ROAD_ROAD_SIGMA_H
#define SX_STAGES_ROAD_ROAD_SIGMA_H

#include "stages/road/road_sums.h"

#define SX_ROAD_ALIKE 20.0
#define SX_ROAD_FAR_PX 0.2 /* disparity at the horizon; falls to 0 in the last row */

/*
 * Returns the variance of a quantity whose derivatives by the disparity at the centre, slope and cross are m,
 * s and c.
 */
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

/* Returns the factor by which the standard deviations grow if few of all samples lie on the plane. */
SX_ROAD_INLINE double sx_road_doubt(const struct sx_road_view *w, const struct sx_road_sums *s, int samples)
{
	const double most = (double)samples / (2.0 * (double)s->samples);

	return most > 1.0 ? 1.0 + w->elsewhere * (most * most - 1.0) : 1.0;
}

/*
 * Computes the three standard deviations of a plane that sx_road_solve() has computed from these sums.
 * samples: number of all samples.
 */
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
	/* derivatives of tan pitch and tan roll by centre, slope, cross */
	const double tm = per_slope, ts = (horizon - y) * per_slope, tc = -x * per_slope;
	const double rs = -r / p->slope, rc = c->fx * per_slope;
	const double height = c->baseline_m * (c->fx / c->fy) / (p->slope * sqrt(length));
	/* derivatives of the height, as a share of it */
	const double hm = t * tm / length, hs = 1.0 / p->slope + (t * ts + r * rs) / length;
	const double hc = (t * tc + r * rc) / length;
	/* effects of the common error */
	const double last = p->slope * ((double)w->end_row - horizon), far = SX_ROAD_FAR_PX * tm;
	const double far_height = SX_ROAD_FAR_PX / (last > 1.0 ? last : 1.0) - t * far / length;
	const double doubt = sx_road_doubt(w, s, samples);

	road->pitch_sigma_rad = doubt * (sqrt(sx_road_variance(&v, tm, ts, tc) + far * far) / (1.0 + t * t));
	road->roll_sigma_rad = doubt * (sqrt(sx_road_variance(&v, 0.0, rs, rc)) / (1.0 + r * r));
	road->height_sigma_m =
		doubt * (height * sqrt(sx_road_variance(&v, hm, hs, hc) + far_height * far_height));
}

#endif
