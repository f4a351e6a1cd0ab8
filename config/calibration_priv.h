/*
 * What the readers of calibration formats share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CALIBRATION_PRIV_H
#define SX_CONFIG_CALIBRATION_PRIV_H

#include <stdbool.h>
#include <stddef.h>

/* One or two projection matrices 3x4, row by row, or single numbers; whatever a file says. */
struct sx_calibration_raw {
	const char *format;
	const char *left_name, *right_name; /* of the matrices, for sentences */
	bool have_left, have_right, have_q;
	double left[12], right[12], q[16];
	bool have_plain[5]; /* fx fy cx cy baseline_m */
	double plain[5];
	bool have_cx_right;
	double cx_right;
	double width, height;
};

/* text: a whole file, size bytes and a 0. 0, or -EINVAL with a sentence without the file's name in why. */
int sx_calibration_yaml(struct sx_calibration_raw *ret, const char *text, size_t size, char *why,
			size_t why_bytes);
int sx_calibration_text(struct sx_calibration_raw *ret, const char *text, char *why, size_t why_bytes);
/* Looks like YAML of OpenCV or ROS? */
bool sx_calibration_is_yaml(const char *text);

#endif
