/*
 * The model of a rectified stereo camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_CAMERA_H
#define SX_BASE_CAMERA_H

/*
 * The left camera. fx, fy, cx, cy in px; fx 0: not known. baseline_m: how far to the right of it the right
 * one is; height_m over the road; pitch_deg downwards; roll_deg: positive where the road comes nearer to the
 * right.
 */
struct sx_camera {
	double fx, fy, cx, cy;
	double baseline_m, height_m, pitch_deg, roll_deg;
};

#endif
