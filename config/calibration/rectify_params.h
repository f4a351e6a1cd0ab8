/*
 * Settings of rectification in section [camera].
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CALIBRATION_RECTIFY_PARAMS_H
#define SX_CONFIG_CALIBRATION_RECTIFY_PARAMS_H

/* Choice: are images rectified if the calibration file describes raw cameras? */
enum sx_rectify_choice {
	SX_RECTIFY_AUTO, /* rectify if the file says that the images are raw */
	SX_RECTIFY_YES,
	SX_RECTIFY_NO /* the images are rectified already */
};

/* Choice: are rows corrected from the image content (daemon/row_error/row_control.h)? */
enum sx_row_choice { SX_ROW_CORRECTION_OFF, SX_ROW_CORRECTION_AUTO };

struct sx_rectify_params {
	enum sx_rectify_choice choice;
	enum sx_row_choice row_correction;
	double alpha;	   /* see sx_rig_align() */
	int width, height; /* size of the rectified images, px; 0: size of the raw images */
};

#endif
