/*
 * Helpers of stixelctl doctor: reporting findings, reading files below root, checking file modes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"
#include "tools/ctl/doctor/doctor.h"

const char *doctor_level_name(enum doctor_level level)
{
	static const char *const names[] = {"ok", "warning", "problem"};

	return names[level];
}

void doctor_say(struct doctor *d, enum doctor_level level, const char *check, const char *advice,
		const char *format, ...)
{
	char text[2048], what_to_do[1024] = "";
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sx_make_printable(text); /* the text may contain names from files and devices */
	if (advice)
		snprintf(what_to_do, sizeof(what_to_do), "%s", advice);
	sx_make_printable(what_to_do);
	d->warnings += level == DOCTOR_WARNING;
	d->problems += level == DOCTOR_PROBLEM;
	if (!d->json)
		printf("%-8s %-14s %s%s%s\n", doctor_level_name(level), check, text, *what_to_do ? "; " : "",
		       what_to_do);
	else
		json_array_append_new(d->checks, json_pack("{s:s, s:s, s:s, s:s*}", "check", check, "level",
							   doctor_level_name(level), "text", text, "advice",
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
