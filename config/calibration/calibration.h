/*
 * Calibration files of stereo cameras, in the formats that users have.
 *
 *  - OpenCV YAML, JSON and XML with P1 and P2, or with Q (stereoRectify); P2[0][3] = -fx * baseline, metres.
 *    Raw images need K1 D1 K2 D2 and R1 R2, or R T. One file, or two as "INTRINSICS,EXTRINSICS".
 *  - ROS camera_info YAML with projection_matrix (or P): the right camera's file, or "LEFT,RIGHT". Raw images
 *    need both files.
 *  - Kalibr's camchain YAML: cam0 is left, cam1 right. EuRoC's sensor.yaml of both cameras, "LEFT,RIGHT". Raw
 *    images.
 *  - ZED's SN*.conf: the image size selects the section. Raw images.
 *  - KITTI: P_rect_02 and P_rect_03, or P2 and P3. If they are absent, or the images are grey: 00/01, P0/P1.
 *  - Middlebury's calib.txt: if doffs is not 0, the images are shifted by doffs.
 *  - Plain text: lines "fx: 707.1", also fy cx cy baseline_m, and cx_right width height.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CALIBRATION_H
#define SX_CONFIG_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rig.h"
#include "base/why.h"
#include "config/calibration/rectify_params.h"

/* The pairs of KITTI: cameras 0 and 1 are grey, cameras 2 and 3 are colour. */
enum sx_calibration_pair { SX_PAIR_UNKNOWN, SX_PAIR_GREY, SX_PAIR_COLOUR };

/* Values of the configuration that are given beside the file. */
struct sx_calibration_wish {
	struct sx_rectify_params rectify;
	int width, height;	 /* size of raw images, px, for files without a size; 0: not known */
	double baseline_m;	 /* baseline, m; 0: not given */
	bool baseline_overrides; /* replaces the file's baseline; false: only for files without one */
	enum sx_calibration_pair images;
};

/*
 * A calibration: px and m, of the rectified camera. baseline_m 0: the file has none. width, height: of raw
 * images, px; 0: not in the file (never with rectify).
 */
struct sx_calibration {
	double fx, fy, cx, cy;
	double baseline_m;
	double file_baseline_m; /* baseline in the file, m, if wish.baseline_overrides; 0: none */
	int width, height;
	const char *format; /* for the log: "OpenCV YAML", ... */
	const char *pair;   /* for the log: pair of the file that was used; NULL: the file has one pair */
	bool other_pair;    /* the images come from another pair, which is not in the file */
	bool rectify;	    /* the images are raw; rig says how to rectify them */
	struct sx_rig rig;
};

/*
 * Reads a calibration. path: a file, or two separated by a comma. Returns 0, or 1 if only the baseline is
 * missing (why says what is missing). -EINVAL: not a usable calibration; -ENOENT, -EACCES, ...: cannot be
 * read. why then names the file and the reason. *ret is written only with 0 or 1.
 */
int sx_calibration_read(struct sx_calibration *ret, const char *path, const struct sx_calibration_wish *wish,
			struct sx_why *why);

#endif
