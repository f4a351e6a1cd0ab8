/*
 * Two raw cameras, and the rectified pair that is made from their images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_RIG_H
#define SX_BASE_RIG_H

/* Models of a lens. The coefficients have the names and the order of OpenCV and ROS. */
enum sx_lens {
	SX_LENS_PLUMB_BOB,   /* k1 k2 p1 p2 k3; without k3 if it is 0; pinhole if all are 0 */
	SX_LENS_RATIONAL,    /* rational_polynomial: k1 k2 p1 p2 k3 k4 k5 k6 */
	SX_LENS_EQUIDISTANT, /* fisheye: k1 k2 k3 k4 */
};

#define SX_LENS_COEFFICIENTS 8

/*
 * A raw camera. fx, fy, cx, cy: matrix K without skew, px; pixel centres are at whole numbers. distortion:
 * D, padded with 0.
 */
struct sx_raw_camera {
	double fx, fy, cx, cy;
	enum sx_lens lens;
	double distortion[SX_LENS_COEFFICIENTS];
};

/*
 * A stereo rig. Index 0 is the left camera, 1 the right one. rotation: 3x3, row by row, from the axes of a
 * raw camera to the axes of the rectified pair (R1, R2 of OpenCV, R of camera_info). Axes: x to the right, y
 * down, z ahead. The rectified cameras share fx, fy, cx, cy (P1, P2), so that disparity is 0 at infinity.
 * They lie baseline_m apart along x.
 */
struct sx_rig {
	int raw_width, raw_height; /* size of both raw images, px */
	struct sx_raw_camera raw[2];
	double rotation[2][9];
	int width, height; /* size of the rectified images, px */
	double fx, fy, cx, cy;
	double baseline_m;
};

#endif
