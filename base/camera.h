/*
 * Model of a rectified stereo camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_CAMERA_H
#define SX_BASE_CAMERA_H

/*
 * The left camera of a rectified pair. fx, fy, cx, cy: px; fx 0: not known. baseline_m: distance of the right
 * camera, to the right. height_m: height over the road. pitch_deg: positive downwards. roll_deg: positive if
 * the road comes nearer to the camera towards the right.
 */
struct sx_camera {
	double fx, fy, cx, cy;
	double baseline_m, height_m, pitch_deg, roll_deg;
};

#endif
