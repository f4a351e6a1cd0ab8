/*
 * Implements stixelctl list.
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

#include "tools/ctl/bridges.h"
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
	for (size_t i = 0; i < count; i++)
		if (*all[i].layout)
			printf("instance '%s': %s\n", all[i].name, all[i].layout);
}

/* Adds the processes of a program with the keys of an instance. All that a process reports stands below its key. */
static void add_programs(json_t *list, const struct ctl_program *program, const json_t *all)
{
	json_t *one;
	size_t i;

	json_array_foreach(all, i, one)
	{
		const bool running = json_object_get(one, program->sign);

		json_array_append_new(list,
				      json_pack("{s:O, s:s, s:b, s:s, s:n, s:O?, s:O?, s:O}", "instance",
						json_object_get(one, program->key), "kind", program->key,
						"runs", running, "state", running ? "running" : "no answer",
						"fps", "pid", json_object_get(one, "pid"), "version",
						json_object_get(one, "version"), program->key, one));
	}
}

static int list_json(const struct ctl_found *all, size_t count, const json_t *bridges, const json_t *networks)
{
	const size_t total = count + json_array_size(bridges) + json_array_size(networks);
	json_t *list = json_array();
	size_t i;
	int r = 0;

	for (i = 0; i < count; i++) {
		const struct ctl_found *f = &all[i];

		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:b, s:s, s:o, s:o, s:s?, s:s*}", "instance", f->name, "kind",
				  ctl_found_kind_name(f->kind), "runs", f->running, "state", f->state, "fps",
				  isfinite(f->fps) ? json_real(f->fps) : json_null(), "pid",
				  f->pid > 0 ? json_integer(f->pid) : json_null(), "version",
				  *f->version ? f->version : NULL, "layout", *f->layout ? f->layout : NULL));
	}
	add_programs(list, &ctl_bridge, bridges);
	add_programs(list, &ctl_network, networks);
	if (json_array_size(list) != total || json_dumpf(list, stdout, JSON_INDENT(2)) < 0)
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
	json_t *bridges = ctl_programs(&ctl_bridge), *networks = ctl_programs(&ctl_network);
	int code = 0;

	if (c->json)
		code = list_json(all, count, bridges, networks);
	else if (count)
		list_table(all, count);
	else
		puts("no instance runs");
	if (!c->json) {
		ctl_bridges_table(bridges);
		ctl_networks_table(networks);
	}
	json_decref(bridges);
	json_decref(networks);
	free(all);
	if (!code && fflush(stdout) != 0)
		code = ctl_fail(EX_CANTCREAT, "cannot print: %s", strerror(errno));
	return code;
}
