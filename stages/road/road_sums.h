/*
 * Plane of least squares through many samples. Formulas as in road_plane.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_ROAD_ROAD_SUMS_H
#define SX_STAGES_ROAD_ROAD_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "stages/road/road_plane.h"

/* Sums over the samples on a plane. x and y count from the centre of the view. */
struct sx_road_sums {
	int64_t samples, n, x, y, d, xx, xy, yy, xd, yd, dd;
};

/*
 * Returns the weight of a sample. Its error has two parts: the noise of the disparity, and the roughness of
 * the road, which grows with the disparity. A sample weighs 1 / (d^2 + (10 px)^2), at most 2597. d: Q4,
 * 16..65534.
 */
SX_ROAD_INLINE int32_t sx_road_weight(int32_t d)
{
	return (int32_t)(67108864u / ((uint32_t)d * (uint32_t)d + 25600u)) + 1;
}

/* Adds a sample. Products of two numbers fit 32 bits. */
SX_ROAD_INLINE void sx_road_add(struct sx_road_sums *s, int32_t x, int32_t y, int32_t d)
{
	const int32_t w = sx_road_weight(d);
	const int32_t wx = w * x, wy = w * y, wd = w * d;

	s->samples++;
	s->n += w;
	s->x += wx;
	s->y += wy;
	s->d += wd;
	s->xx += (int64_t)wx * x;
	s->xy += (int64_t)wx * y;
	s->yy += (int64_t)wy * y;
	s->xd += (int64_t)wx * d;
	s->yd += (int64_t)wy * d;
	s->dd += (int64_t)wd * d;
}

/* Returns the centre that sums count from. */
SX_ROAD_INLINE int sx_road_centre_x(const struct sx_road_view *w)
{
	return w->width / 2;
}
SX_ROAD_INLINE int sx_road_centre_y(const struct sx_road_view *w)
{
	return (w->first_row + w->end_row) / 2;
}

/* Computes the least-squares plane. False: there is none. */
SX_ROAD_INLINE bool sx_road_solve(const struct sx_road_view *w, const struct sx_road_sums *s,
				  struct sx_road_plane *p)
{
	const double n = (double)s->n, mx = (double)s->x / n, my = (double)s->y / n, md = (double)s->d / n;
	const double xx = (double)s->xx - mx * (double)s->x, xy = (double)s->xy - mx * (double)s->y;
	const double yy = (double)s->yy - my * (double)s->y, xd = (double)s->xd - mx * (double)s->d;
	const double yd = (double)s->yd - my * (double)s->d;
	const double det = xx * yy - xy * xy;

	if (s->samples < 3 || !(det > 0.0))
		return false;
	p->slope = (yd * xx - xd * xy) / (16.0 * det);
	p->cross = (xd * yy - yd * xy) / (16.0 * det);
	p->at_origin = (md / 16.0 - p->slope * (my + (double)sx_road_centre_y(w))) -
		       p->cross * (mx + (double)sx_road_centre_x(w));
	return true;
}

/* Returns true if the plane is a road: it has enough of all samples. */
SX_ROAD_INLINE bool sx_road_enough(const struct sx_road_view *w, int64_t on_plane, int samples)
{
	return on_plane >= SX_ROAD_LEAST && on_plane * w->share >= samples;
}

#endif
