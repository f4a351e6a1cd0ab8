/*
 * Geometry of two raw cameras: lens models, and how a pair is rectified.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_RECTIFY_RIG_H
#define SX_STAGES_RECTIFY_RIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rig.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Whether a rectified pair can be made: sizes 32x32 to 4096x2160, finite numbers, focal lengths above 0,
 * rotations that are rotations (within 1e-3), a baseline above 0; and a lens whose model still grows with the
 * angle as far as the rectified image needs it (a polynomial that turns back would show points twice), or as
 * far as the raw image reaches. What lies beyond in the raw image is not used. 0, or -EINVAL with one
 * sentence in why.
 */
int sx_rig_check(const struct sx_rig *rig, char *why, size_t why_bytes);

/* The part of sx_rig_check() that concerns what sx_rig_align() is given: sizes, K, coefficients. */
int sx_rig_check_given(const struct sx_rig *rig, char *why, size_t why_bytes);

/*
 * Fills rotation, fx, fy, cx, cy and baseline_m of a rig whose sizes and raw cameras are given, from how
 * the cameras stand: a point p of the left one is r p + t of the right one (R, T of cv::stereoCalibrate;
 * metres). As OpenCV's stereoRectify() with CALIB_ZERO_DISPARITY (Bouguet; which OpenCV: align.c): each
 * camera turns by half of r, then both so that t lies along x. alpha: 0: all pixels of the rectified images
 * are seen, 1: all raw pixels are in them, between: between; -1: OpenCV's default, the scale of the raw
 * cameras. 0, or -EINVAL with one sentence in why: r is no rotation, the cameras stand above each other or
 * exchanged, nothing is seen by both, what sx_rig_check() refuses. *rig is only written on
 * success.
 */
int sx_rig_align(struct sx_rig *rig, const double r[9], const double t[3], double alpha, char *why,
		 size_t why_bytes);

/* Whether raw images are rectified already: no lens distortion, no rotation, K is P, of one size. */
bool sx_rig_is_rectified(const struct sx_rig *rig);

/*
 * Where raw camera side sees the pixel (u, v) of the rectified image, px. False: not at all (behind it, or
 * where its lens model has turned back). It first finds out how far the model goes, which takes
 * microseconds: for whole images there are maps.
 */
bool sx_rig_project(const struct sx_rig *rig, int side, double u, double v, double *x, double *y);

/* The other way: the pixel of the rectified image that raw pixel (x, y) becomes. False: none. */
bool sx_rig_unproject(const struct sx_rig *rig, int side, double x, double y, double *u, double *v);

#ifdef __cplusplus
}
#endif

#endif
