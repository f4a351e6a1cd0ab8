/*
 * stixelctl doctor: goes through the checks and prints what they find.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/ctl/doctor/doctor.h"

#include <errno.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/printable.h"
#include "tools/ctl/ctl.h"

static const char *const level_names[] = {"ok", "warning", "problem"};

void doctor_say(struct doctor *d, enum doctor_level level, const char *check, const char *advice,
		const char *format, ...)
{
	char text[2048], what_to_do[1024] = "";
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sx_make_printable(text); /* what a file or a device calls itself */
	if (advice)
		snprintf(what_to_do, sizeof(what_to_do), "%s", advice);
	sx_make_printable(what_to_do);
	d->warnings += level == DOCTOR_WARNING;
	d->problems += level == DOCTOR_PROBLEM;
	if (!d->json)
		printf("%-8s %-14s %s%s%s\n", level_names[level], check, text, *what_to_do ? "; " : "",
		       what_to_do);
	else
		json_array_append_new(d->checks, json_pack("{s:s, s:s, s:s, s:s*}", "check", check, "level",
							   level_names[level], "text", text, "advice",
							   *what_to_do ? what_to_do : NULL));
}

const char *doctor_path(const struct doctor *d, const char *path, char *to, size_t bytes)
{
	if ((size_t)snprintf(to, bytes, "%s%s", d->root, path) >= bytes)
		*to = '\0';
	return to;
}

bool doctor_line(const struct doctor *d, const char *path, char *to, size_t bytes)
{
	char whole[DOCTOR_PATH_BYTES];
	FILE *f = fopen(doctor_path(d, path, whole, sizeof(whole)), "re");
	bool got = f && fgets(to, (int)bytes, f);

	if (got)
		to[strcspn(to, "\n")] = '\0';
	if (f)
		fclose(f);
	return got;
}

bool doctor_may(const struct doctor_account *who, const struct stat *st, unsigned wanted)
{
	if (who->uid == 0)
		return true;
	if (st->st_uid == who->uid)
		return (st->st_mode >> 6 & wanted) == wanted;
	for (int i = 0; i < who->count; i++)
		if (st->st_gid == who->groups[i])
			return (st->st_mode >> 3 & wanted) == wanted;
	return (st->st_mode & wanted) == wanted;
}

const char *doctor_group(gid_t gid)
{
	static char number[16];
	const struct group *g = getgrgid(gid);

	if (g)
		return g->gr_name;
	snprintf(number, sizeof(number), "%u", (unsigned)gid);
	return number;
}

bool doctor_is_jetson(const struct doctor *d)
{
	char path[DOCTOR_PATH_BYTES];

	return access(doctor_path(d, "/etc/nv_tegra_release", path, sizeof(path)), F_OK) == 0;
}

static int doctor_finish(struct doctor *d)
{
	const char *result = level_names[d->problems   ? DOCTOR_PROBLEM
					 : d->warnings ? DOCTOR_WARNING
						       : DOCTOR_OK];
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
		doctor_configuration, doctor_service,  doctor_instance, doctor_feeds,
		doctor_cameras,	      doctor_pictures, doctor_engine,	doctor_speed,
		doctor_memory,	      doctor_limits,   doctor_clocks,	doctor_power,
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
		fflush(stdout); /* the next one may take seconds */
	}
	code = doctor_finish(d);
	json_decref(d->checks);
	json_decref(d->status);
	sx_settings_finish(&d->settings);
	free(d);
	return code;
}
