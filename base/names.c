/*
 * Names of the enum values in stixel.h, for libstixel and for all programs that print them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "include/stixel.h"

#define NAME(names, i) ((i) < sizeof(names) / sizeof((names)[0]) ? (names)[i] : "?")

const char *stixel_kind_name(unsigned kind)
{
	static const char *const names[] = {"ground", "object", "sky", "unknown"};

	return NAME(names, kind);
}

const char *stixel_state_name(unsigned state)
{
	static const char *const names[] = {"starting", "running", "no_camera", "degraded",
					    "stopping", "closed",  "replaced"};

	return NAME(names, state);
}

const char *stixel_publisher_name(unsigned publisher)
{
	static const char *const names[] = {"absent", "alive", "stalled", "ended", "died", "replaced"};

	return NAME(names, publisher);
}

const char *stixel_road_name(unsigned origin)
{
	static const char *const names[] = {"none", "measured", "previous", "calibration"};

	return NAME(names, origin);
}
