/*
 * Calibration files of rectified stereo cameras, as people bring them.
 *
 *  - OpenCV YAML with P1 and P2 or with Q (stereoRectify), P2[0][3] = -fx * baseline, in metres
 *  - ROS camera_info YAML with projection_matrix (or P): the right camera's file, or "LEFT,RIGHT"
 *  - KITTI: P_rect_02 and P_rect_03, or P2 and P3; where they are absent 00/01, P0/P1
 *  - plain text: lines "fx: 707.1", also fy cx cy baseline_m, and cx_right width height
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CALIBRATION_H
#define SX_CONFIG_CALIBRATION_H

#include <stddef.h>

/* px and m; baseline_m 0: the file has none. width, height 0: the file does not say. */
struct sx_calibration {
	double fx, fy, cx, cy;
	double baseline_m;
	int width, height;
	const char *format; /* for the log: "OpenCV YAML", ... */
};

/*
 * path: a file, or two separated by a comma. 0, or 1 when everything but the baseline is there (why says what
 * is missing). -EINVAL: not a usable calibration, -ENOENT, -EACCES, ...: cannot be read; why names file and
 * reason. *ret is only written when it returns 0 or 1.
 */
int sx_calibration_read(struct sx_calibration *ret, const char *path, char *why, size_t why_bytes);

#endif
