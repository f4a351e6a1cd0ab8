/*
 * stixelctl list, and which instance is meant where none is named.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "tools/ctl/ctl.h"
#include "tools/ctl/found.h"

static void list_table(const struct ctl_found *all, size_t count)
{
	int width = (int)strlen("INSTANCE");

	for (size_t i = 0; i < count; i++)
		if ((int)strlen(all[i].name) > width)
			width = (int)strlen(all[i].name);
	printf("%-*s  %-9s  %-9s  %6s  %8s  %s\n", width, "INSTANCE", "KIND", "STATE", "FPS", "PID",
	       "VERSION");
	for (size_t i = 0; i < count; i++) {
		const struct ctl_found *f = &all[i];
		char fps[24] = "-", pid[24] = "-";

		if (isfinite(f->fps))
			snprintf(fps, sizeof(fps), "%.1f", f->fps);
		if (f->pid > 0)
			snprintf(pid, sizeof(pid), "%" PRId64, f->pid);
		printf("%-*s  %-9s  %-9s  %6s  %8s  %s\n", width, f->name, ctl_found_kind_name(f->kind),
		       f->state, fps, pid, *f->version ? f->version : "-");
	}
}

static int list_json(const struct ctl_found *all, size_t count)
{
	json_t *list = json_array();
	int r = 0;

	for (size_t i = 0; i < count; i++) {
		const struct ctl_found *f = &all[i];

		json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:s, s:o, s:o, s:s?}", "instance",
						      f->name, "kind", ctl_found_kind_name(f->kind), "runs",
						      f->runs, "state", f->state, "fps",
						      isfinite(f->fps) ? json_real(f->fps) : json_null(),
						      "pid", f->pid > 0 ? json_integer(f->pid) : json_null(),
						      "version", *f->version ? f->version : NULL));
	}
	if (json_array_size(list) != count || json_dumpf(list, stdout, JSON_INDENT(2)) < 0)
		r = ctl_fail(EX_SOFTWARE, "out of memory");
	else
		putchar('\n');
	json_decref(list);
	return r;
}

int ctl_list(const struct ctl *c)
{
	struct ctl_found *all = NULL;
	size_t count = ctl_find(&all);
	int code = 0;

	if (c->json)
		code = list_json(all, count);
	else if (count)
		list_table(all, count);
	else
		puts("no instance runs");
	free(all);
	if (!code && fflush(stdout) != 0)
		code = ctl_fail(EX_CANTCREAT, "cannot print: %s", strerror(errno));
	return code;
}

int ctl_absent(const struct ctl *c)
{
	struct ctl_found *all = NULL;
	size_t count = ctl_find(&all);
	char names[256];

	ctl_found_names(all, count, names, sizeof(names));
	free(all);
	return ctl_fail(CTL_NOTHING, "no stixeld runs as instance '%s'; running: %s", c->instance, names);
}

int ctl_choose(const struct ctl *c, bool *only, char *name, size_t bytes)
{
	struct ctl_found *all = NULL;
	size_t count = ctl_find(&all), running = 0;
	int code = 0;

	*only = false;
	snprintf(name, bytes, "%s", CTL_DEFAULT);
	for (size_t i = 0; i < count; i++) {
		running += all[i].runs;
		if (all[i].runs && strcmp(all[i].name, CTL_DEFAULT) == 0)
			goto done;
	}
	for (size_t i = 0; running == 1 && i < count; i++)
		if (all[i].runs)
			snprintf(name, bytes, "%s", all[i].name);
	*only = running == 1;
	if (running > 1)
		code = ctl_absent(c);
done:
	free(all);
	return code;
}
