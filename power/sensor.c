/*
 * Chooses and opens a sensor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/sensor.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROOT_MOST 200 /* longest root in bytes; leaves room for the longest path below it */

int sx_power_read(struct sx_power_sensor *s, struct sx_power_reading *r, struct sx_why *why)
{
	*r = (struct sx_power_reading){
		.watts = NAN, .joules = NAN, .gpu_hz = -1, .gpu_max_hz = -1, .memory_hz = -1, .others = -1};
	return s->kind->read(s, r, why);
}

void sx_power_close(struct sx_power_sensor *s)
{
	if (s)
		s->kind->close(s);
}

static int open_auto(struct sx_power_sensor **ret, const struct sx_power_params *p,
		     const struct sx_power_engine *engine, struct sx_why *why)
{
	struct sx_why chip = {""};
	struct sx_why board = {""};
	int none = sx_ina_open(ret, p, &board), r;

	if (none == 0)
		return 0;
	if (engine->gpu)
		r = sx_nvml_open(ret, p, engine, &chip);
	else
		r = sx_rapl_open(ret, p, &chip);
	if (r == 0)
		return 0;
	/*
	 * The error of a sensor that exists but cannot be used is more useful than the error of a missing
	 * one.
	 */
	if (r == -ENODEV && none != -ENODEV)
		sx_why_set(why, "%s; %s", board.text, chip.text);
	else
		sx_why_set(why, "%s; %s", chip.text, board.text);
	return r == -ENODEV ? none : r;
}

/* Checks power.root. Without this check, a wrong path would look like a board without sensors. */
static int check_root(const char *root, struct sx_why *why)
{
	int r = 0;

	if (!root || !*root)
		return 0;
	if (strlen(root) > ROOT_MOST)
		r = -ENAMETOOLONG;
	else if (access(root, X_OK) < 0)
		r = -errno;
	if (r < 0)
		sx_why_set(why, "power.root: %.160s: %s", root, strerror(-r));
	return r < 0 ? -EINVAL : 0;
}

int sx_power_open(struct sx_power_sensor **ret, const struct sx_power_params *p,
		  const struct sx_power_engine *engine, struct sx_why *why)
{
	struct sx_power_sensor *s = NULL;
	struct sx_power_reading first;
	int r = check_root(p->root, why);

	if (r < 0)
		return r;
	switch (p->source) {
	case SX_POWER_AUTO:
		r = open_auto(&s, p, engine, why);
		break;
	case SX_POWER_INA:
		r = sx_ina_open(&s, p, why);
		break;
	case SX_POWER_NVML:
		r = sx_nvml_open(&s, p, engine, why);
		break;
	case SX_POWER_RAPL:
		r = sx_rapl_open(&s, p, why);
		break;
	default:
		return sx_why_fail(-ENODEV, why, "power.source = none");
	}
	if (r == 0)
		r = sx_power_read(s, &first, why);
	if (r < 0) {
		sx_power_close(s);
		return r;
	}
	*ret = s;
	return 0;
}
