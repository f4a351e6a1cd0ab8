/*
 * Lens models: project rays of a raw camera to pixels and back.
 *
 * A model is used only as far as it grows: from the axis to the angle with the largest radius in the image.
 * Beyond that angle a polynomial shows other points at the same pixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_RECTIFY_LENS_H
#define SX_STAGES_RECTIFY_LENS_H

#include <stdbool.h>

#include "base/rig.h"

/* Returns plumb_bob, rational_polynomial or equidistant; NULL: unknown lens. */
const char *sx_lens_name(enum sx_lens lens);

/* Returns the number of coefficients of the model. The others are 0. */
int sx_lens_coefficients(enum sx_lens lens);

/*
 * Returns the limit up to which the model grows, as a square: of the angle in rad (equidistant, up to half a
 * turn), else of the tangent of the angle (up to 1000).
 */
double sx_lens_reach(const struct sx_raw_camera *camera);

/*
 * Computes the pixel of a ray, which may have any length. reach: sx_lens_reach(). False: the ray lies beyond
 * the reach, or behind a camera whose lens is not equidistant.
 */
bool sx_lens_project(const struct sx_raw_camera *camera, double reach, const double ray[3], double *x,
		     double *y);

/*
 * Computes a ray of a pixel: of unit length if the lens is equidistant, else with z = 1. False: the model
 * shows no ray at this pixel.
 */
bool sx_lens_unproject(const struct sx_raw_camera *camera, double x, double y, double ray[3]);

#endif
