/*
 * Replaces the reader of XML in a build without expat.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/calibration/calibration_priv.h"

int sx_calibration_xml(struct sx_calibration_raw *raw, const char *text, struct sx_why *why)
{
	return sx_calibration_refuse(
		why, "a file of XML, which this build does not read (no expat): write OpenCV's YAML "
		     "(a file name that ends in .yml)");
}
