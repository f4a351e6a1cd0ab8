/*
 * Replaces the YAML readers in a build of the engines alone, which has no libyaml.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>

#include "config/calibration/calibration_priv.h"

bool sx_calibration_is_yaml(const char *text)
{
	return text[0] == '%';
}

int sx_calibration_yaml(struct sx_calibration_raw *raw, const char *text, struct sx_why *why)
{
	return sx_why_fail(-ENOTSUP, why, "this build of the engines alone reads no YAML");
}

int sx_calibration_xml(struct sx_calibration_raw *raw, const char *text, struct sx_why *why)
{
	return sx_calibration_yaml(raw, text, why);
}

int sx_calibration_between(struct sx_calibration_raw *raw, const double right[16], struct sx_why *why)
{
	return sx_calibration_yaml(raw, "", why);
}
