/*
 * Lens models: rays of a raw camera to pixels and back.
 *
 * A model is only used as far as it grows: from the axis to where what it makes of an angle is largest.
 * Behind that a polynomial shows other points in the same places.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_RECTIFY_LENS_H
#define SX_STAGES_RECTIFY_LENS_H

#include <stdbool.h>

#include "base/rig.h"

/* plumb_bob, rational_polynomial, equidistant; NULL: no lens. */
const char *sx_lens_name(enum sx_lens lens);

/* How many coefficients the model has; the others are 0. */
int sx_lens_coefficients(enum sx_lens lens);

/*
 * How far the model grows, as a square: of the angle in rad (equidistant, up to half a turn), else of its
 * tangent (up to 1000).
 */
double sx_lens_reach(const struct sx_raw_camera *camera);

/* The pixel of a ray (not of unit length). reach: sx_lens_reach(). False: beyond it, behind a flat camera. */
bool sx_lens_project(const struct sx_raw_camera *camera, double reach, const double ray[3], double *x,
		     double *y);

/* A ray of a pixel; equidistant: of unit length, else z is 1. False: the model shows nothing there. */
bool sx_lens_unproject(const struct sx_raw_camera *camera, double x, double y, double ray[3]);

#endif
