/*
 * Calibration files of stereo cameras, as people bring them.
 *
 *  - OpenCV YAML, JSON and XML with P1 and P2 or with Q (stereoRectify), P2[0][3] = -fx * baseline, metres;
 *    for raw images K1 D1 K2 D2 and R1 R2, or R T; in one file or in two, "INTRINSICS,EXTRINSICS"
 *  - ROS camera_info YAML with projection_matrix (or P): the right camera's file, or "LEFT,RIGHT", which raw
 *    images need
 *  - Kalibr's camchain YAML: cam0 is left, cam1 right; EuRoC's sensor.yaml of both, "LEFT,RIGHT"; raw images
 *  - ZED's SN*.conf, of which the size of the images tells the section; raw images
 *  - KITTI: P_rect_02 and P_rect_03, or P2 and P3; where they are absent, or images are grey, 00/01, P0/P1
 *  - Middlebury's calib.txt; where doffs is not 0, images are moved by it
 *  - plain text: lines "fx: 707.1", also fy cx cy baseline_m, and cx_right width height
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CALIBRATION_H
#define SX_CONFIG_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rig.h"
#include "config/calibration/rectify_params.h"

/* KITTI's cameras 0 and 1 are grey, 2 and 3 colour ones. */
enum sx_calibration_pair { SX_PAIR_UNKNOWN, SX_PAIR_GREY, SX_PAIR_COLOUR };

/* What the configuration says beside the file. */
struct sx_calibration_wish {
	struct sx_rectify_params rectify;
	int width, height;	 /* of raw images, for files that do not say; 0: not known */
	double baseline_m;	 /* 0: not given */
	bool baseline_overrides; /* it takes the place of the file's; else it is for files that have none */
	enum sx_calibration_pair images;
};

/*
 * px and m, of the rectified camera; baseline_m 0: the file has none. width, height: of raw images, 0: the
 * file does not say (never with rectify).
 */
struct sx_calibration {
	double fx, fy, cx, cy;
	double baseline_m;
	double file_baseline_m; /* what the file says where wish.baseline_overrides; 0: nothing */
	int width, height;
	const char *format; /* for the log: "OpenCV YAML", ... */
	const char *pair;   /* for the log: which of the file's pairs this is; NULL: there is one */
	bool other_pair;    /* images are of another pair, which the file does not have */
	bool rectify;	    /* images are raw, rig says how they become rectified */
	struct sx_rig rig;
};

/*
 * path: a file, or two separated by a comma. 0, or 1 when everything but the baseline is there (why says what
 * is missing). -EINVAL: not a usable calibration, -ENOENT, -EACCES, ...: cannot be read; why names file and
 * reason. *ret is only written when it returns 0 or 1.
 */
int sx_calibration_read(struct sx_calibration *ret, const char *path, const struct sx_calibration_wish *wish,
			char *why, size_t why_bytes);

#endif
