/*
 * Reads the resources of a process from /proc, for stixelctl endurance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/ctl/endurance/endurance.h"

/* Opens "/proc/PID/NAME". */
static FILE *process_open(int64_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/%s", pid, name);
	return fopen(path, "re");
}

/* Reads fields 14, 15 and 22 of /proc/PID/stat. The fields follow the last bracket of the name. */
static bool read_times(struct endurance_process *p, int64_t pid)
{
	const double ticks = (double)sysconf(_SC_CLK_TCK);
	unsigned long long user, system, started;
	FILE *f = process_open(pid, "stat");
	char line[1024];
	const char *at;
	bool got;

	if (!f)
		return false;
	got = fgets(line, sizeof(line), f) && (at = strrchr(line, ')')) &&
	      sscanf(at + 1,
		     " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu",
		     &user, &system, &started) == 3;
	fclose(f);
	if (!got)
		return false;
	p->cpu_s = (double)(user + system) / ticks;
	p->started_ticks = started;
	return true;
}

static int64_t read_memory(int64_t pid)
{
	FILE *f = process_open(pid, "status");
	int64_t kib = -1;
	char line[256];

	while (f && kib < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %" SCNd64 " kB", &kib) != 1)
			kib = -1;
	if (f)
		fclose(f);
	return kib < 0 ? -1 : kib * 1024;
}

/* Counts the open descriptors. Only the process's own user and root may do so. */
static int count_descriptors(int64_t pid)
{
	char path[64];
	const struct dirent *entry;
	DIR *folder;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/fd", pid);
	folder = opendir(path);
	if (!folder)
		return -1;
	while ((entry = readdir(folder)) != NULL)
		n += entry->d_name[0] != '.';
	closedir(folder);
	return n;
}

int endurance_process_look(struct endurance_process *p, int64_t pid, struct sx_why *why)
{
	if (!read_times(p, pid))
		return sx_why_fail(-ENOENT, why, "process %" PRId64 " is not to be seen in /proc", pid);
	p->memory = read_memory(pid);
	p->descriptors = count_descriptors(pid);
	return 0;
}

void endurance_line_add(struct endurance_line *l, double x, double y)
{
	l->n++;
	l->x += x;
	l->y += y;
	l->xx += x * x;
	l->xy += x * y;
}

double endurance_line_slope(const struct endurance_line *l)
{
	const double n = (double)l->n, spread = n * l->xx - l->x * l->x;

	return l->n > 1 && spread > 0.0 ? (n * l->xy - l->x * l->y) / spread : 0.0;
}
