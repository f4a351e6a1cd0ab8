/*
 * Two raw cameras, and the rectified pair that is to be made of their images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_RIG_H
#define SX_BASE_RIG_H

/* Models of a lens, as OpenCV and ROS name and number their coefficients. */
enum sx_lens {
	SX_LENS_PLUMB_BOB,   /* k1 k2 p1 p2 k3; k1 k2 p1 p2 where k3 is 0; pinhole where all are 0 */
	SX_LENS_RATIONAL,    /* rational_polynomial: k1 k2 p1 p2 k3 k4 k5 k6 */
	SX_LENS_EQUIDISTANT, /* fisheye: k1 k2 k3 k4 */
};

#define SX_LENS_COEFFICIENTS 8

/* One raw camera: K as fx, fy, cx, cy in px (pixel centres at whole numbers), no skew; the rest of D is 0. */
struct sx_raw_camera {
	double fx, fy, cx, cy;
	enum sx_lens lens;
	double distortion[SX_LENS_COEFFICIENTS];
};

/*
 * [0] left, [1] right. rotation: 3x3, row by row, from the axes of a raw camera to those of the rectified
 * pair (R1, R2 of OpenCV, R of camera_info). Axes: x to the right, y down, z ahead. The rectified cameras
 * share fx, fy, cx, cy (P1, P2), so that disparity is 0 at infinity, and lie baseline_m apart along x.
 */
struct sx_rig {
	int raw_width, raw_height; /* of both raw images, px */
	struct sx_raw_camera raw[2];
	double rotation[2][9];
	int width, height; /* of the rectified images, px */
	double fx, fy, cx, cy;
	double baseline_m;
};

#endif
