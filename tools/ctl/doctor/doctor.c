/*
 * Runs the checks of stixelctl doctor and prints their findings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/ctl/doctor/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "tools/ctl/ctl.h"

static int doctor_finish(struct doctor *d)
{
	const char *result = doctor_level_name(d->problems   ? DOCTOR_PROBLEM
					       : d->warnings ? DOCTOR_WARNING
							     : DOCTOR_OK);
	json_t *all;

	if (!d->json) {
		if (d->problems || d->warnings)
			printf("%d problem%s, %d warning%s\n", d->problems, d->problems == 1 ? "" : "s",
			       d->warnings, d->warnings == 1 ? "" : "s");
		else
			puts("nothing is wrong");
	} else {
		all = json_pack("{s:s, s:s?, s:s, s:O}", "instance", d->instance, "file",
				*d->file ? d->file : NULL, "result", result, "checks", d->checks);
		if (!all || json_dumpf(all, stdout, JSON_INDENT(2)) < 0)
			return ctl_fail(EX_SOFTWARE, "out of memory");
		putchar('\n');
		json_decref(all);
	}
	if (fflush(stdout) != 0)
		return ctl_fail(EX_CANTCREAT, "cannot print: %s", strerror(errno));
	return d->problems ? CTL_NOTHING : 0;
}

int ctl_doctor(const struct ctl *c)
{
	static void (*const checks[])(struct doctor * d) = {
		doctor_configuration, doctor_service, doctor_instance, doctor_feeds, doctor_cameras,
		doctor_pictures,      doctor_motion,  doctor_engine,   doctor_speed, doctor_memory,
		doctor_limits,	      doctor_clocks,  doctor_power,
	};
	const char *root = getenv("STIXEL_DOCTOR_ROOT");
	struct doctor *d = calloc(1, sizeof(*d));
	int code;

	if (!d || sx_settings_init(&d->settings) < 0 || !(d->checks = json_array())) {
		free(d);
		return ctl_fail(EX_SOFTWARE, "out of memory");
	}
	d->instance = c->instance;
	d->named = c->named;
	d->root = root ? root : "";
	d->json = c->json;
	doctor_ask(d);
	if (c->config)
		snprintf(d->file, sizeof(d->file), "%s", c->config);
	else
		doctor_choose_file(d);
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]) && !ctl_stopped; i++) {
		checks[i](d);
		fflush(stdout); /* the next check may take seconds */
	}
	code = doctor_finish(d);
	json_decref(d->checks);
	json_decref(d->status);
	sx_settings_finish(&d->settings);
	free(d);
	return code;
}
