/*
 * Geometry of two raw cameras: lens models, and rectification of a pair.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_RECTIFY_RIG_H
#define SX_STAGES_RECTIFY_RIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rig.h"
#include "base/why.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Checks that a rectified pair can be made: sizes 32x32 to 4096x2160, finite numbers, focal lengths above 0,
 * rotations that are rotations (within 1e-3), a baseline above 0. The lens model must grow with the angle as
 * far as the rectified image needs it, or as far as the raw image reaches. A polynomial that turns back would
 * show points twice. Parts of the raw image beyond that angle are not used. Returns 0, or -EINVAL with one
 * sentence in `why`.
 */
int sx_rig_check(const struct sx_rig *rig, struct sx_why *why);

/* Makes the part of sx_rig_check() that concerns the input of sx_rig_align(): sizes, K, coefficients. */
int sx_rig_check_given(const struct sx_rig *rig, struct sx_why *why);

/*
 * Fills rotation, fx, fy, cx, cy and baseline_m of a rig whose sizes and raw cameras are given, from the
 * position of the cameras to each other: point p in the left camera is r p + t in the right one (R, T of
 * cv::stereoCalibrate; metres). Works as OpenCV's stereoRectify() with CALIB_ZERO_DISPARITY (Bouguet; align.c
 * names the version of OpenCV): each camera turns by half of r, then both turn so that t lies along x.
 *
 * alpha: 0: all pixels of the rectified images are seen; 1: the rectified images contain all raw pixels;
 * between 0 and 1: a scale in between; -1: OpenCV's default, the scale of the raw cameras.
 *
 * Returns 0, or -EINVAL with one sentence in `why`: r is no rotation, the cameras stand above each other or
 * are exchanged, no pixel is seen by both cameras, or sx_rig_check() refuses the rig. Writes *rig only on
 * success.
 */
int sx_rig_align(struct sx_rig *rig, const double r[9], const double t[3], double alpha, struct sx_why *why);

/*
 * Returns true if raw images are rectified already: no lens distortion, no rotation, K equal to P, the same
 * size.
 */
bool sx_rig_is_rectified(const struct sx_rig *rig);

/*
 * Computes where raw camera `side` sees pixel (u, v) of the rectified image, px. False: it does not see it
 * (the ray points behind the camera, or its lens model has turned back). Each call first computes the reach
 * of the model, which takes microseconds. Use maps for whole images.
 */
bool sx_rig_project(const struct sx_rig *rig, int side, double u, double v, double *x, double *y);

/* Computes the pixel of the rectified image that raw pixel (x, y) becomes. False: none. */
bool sx_rig_unproject(const struct sx_rig *rig, int side, double x, double y, double *u, double *v);

#ifdef __cplusplus
}
#endif

#endif
