/*
 * Small corrections of a rig whose cameras have moved against each other since they were calibrated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_ROW_ERROR_ROW_CORRECTION_H
#define SX_DAEMON_ROW_ERROR_ROW_CORRECTION_H

#include <stdbool.h>

#include "base/rig.h"

/*
 * Correction of the right image, with the sign of the measured error: by how many rows the right image is
 * lower than the left one in the middle column, and by how many degrees it is turned clockwise, which makes
 * its right side lower. Zeroed: no correction.
 */
struct sx_row_correction {
	double shift_px, rotation_deg;
};

bool sx_row_correction_equal(const struct sx_row_correction *a, const struct sx_row_correction *b);

/*
 * Turns the right camera about z and x, so that the content of the middle row of the rectified image moves up
 * by shift_px + tan(rotation_deg) * (x - (width - 1) / 2) rows. The left image and all numbers of the
 * rectified pair stay.
 */
void sx_rig_correct_rows(struct sx_rig *rig, const struct sx_row_correction *c);

/*
 * Returns a rig for a pair that is already rectified. Its maps move no pixel, except that the last column and
 * row lie 1/256 px inside (stages/rectify/rectify.h). fx, fy, baseline_m: above 0.
 */
struct sx_rig sx_rig_of_rectified(int width, int height, double fx, double fy, double cx, double cy,
				  double baseline_m);

#endif
