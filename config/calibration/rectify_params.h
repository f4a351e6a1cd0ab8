/*
 * Settings of rectification, of section [camera].
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CALIBRATION_RECTIFY_PARAMS_H
#define SX_CONFIG_CALIBRATION_RECTIFY_PARAMS_H

/* Whether images are rectified, where the calibration file describes raw cameras. */
enum sx_rectify_choice {
	SX_RECTIFY_AUTO, /* rectified where the file says that they are raw */
	SX_RECTIFY_YES,
	SX_RECTIFY_NO /* the images are rectified already */
};

/* Whether rows are corrected by what the pictures say (daemon/rows/row_control.h). */
enum sx_row_choice { SX_ROW_CORRECTION_OFF, SX_ROW_CORRECTION_AUTO };

struct sx_rectify_params {
	enum sx_rectify_choice choice;
	enum sx_row_choice row_correction;
	double alpha;	   /* sx_rig_align() */
	int width, height; /* size of the rectified images, px; 0: as the raw ones */
};

#endif
