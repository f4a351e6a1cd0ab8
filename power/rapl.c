/*
 * RAPL: energy counters of Intel's and AMD's processors, in /sys/class/powercap.
 *
 * The sum has the packages, and the memory if it has its own counter. It does not have "psys", which some
 * firmware never calibrated, nor the parts of a package (core, uncore), which the package includes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power/files.h"
#include "power/sensor.h"

#define ZONES_MAX 32
#define FOLDERS 128

struct zone {
	char path[SX_FILE_PATH_BYTES];
	int64_t range_uj; /* the counter wraps to 0 after this value; 0: not known */
	int64_t last_uj;
	uint64_t sum_uj; /* energy counted since the first read */
};

struct rapl {
	struct sx_power_sensor head;
	int count, packages, memories;
	bool begun;
	struct zone zone[ZONES_MAX];
};

static int read_zone(const struct zone *z, int64_t *uj, struct sx_why *why)
{
	int r = sx_file_number(z->path, 0, INT64_MAX, uj, why);

	if (r == -EACCES)
		sx_why_set(
			why,
			"%s: only root may read it since Linux 5.10; the drop-in power.conf gives it to the "
			"service",
			z->path);
	return r;
}

/* Reads all zones or none: energy that is missing now is not added later. */
static int rapl_read(struct sx_power_sensor *sensor, struct sx_power_reading *r, struct sx_why *why)
{
	struct rapl *s = (struct rapl *)sensor;
	int64_t now[ZONES_MAX];
	uint64_t sum = 0;
	int error;

	for (int i = 0; i < s->count; i++) {
		error = read_zone(&s->zone[i], &now[i], why);
		if (error < 0)
			return error;
	}
	for (int i = 0; i < s->count; i++) {
		struct zone *z = &s->zone[i];

		/* If the range is not known, a counter that fell was reset: it starts again from here. */
		if (s->begun && now[i] >= z->last_uj)
			z->sum_uj += (uint64_t)(now[i] - z->last_uj);
		else if (s->begun && z->range_uj >= z->last_uj)
			z->sum_uj += (uint64_t)(z->range_uj - z->last_uj) + (uint64_t)now[i];
		z->last_uj = now[i];
		sum += z->sum_uj;
	}
	s->begun = true;
	r->joules = (double)sum / 1e6;
	return 0;
}

static void rapl_close(struct sx_power_sensor *sensor)
{
	free(sensor);
}

static const struct sx_power_kind kind = {.read = rapl_read, .close = rapl_close};

static bool rapl_add(struct rapl *s, const char *folder)
{
	struct zone *z = &s->zone[s->count];
	char path[SX_FILE_PATH_BYTES];
	struct sx_why why;

	if (s->count == ZONES_MAX || !sx_file_path(z->path, "%s/energy_uj", folder))
		return false;
	sx_file_path(path, "%s/max_energy_range_uj", folder);
	if (sx_file_number(path, 0, INT64_MAX, &z->range_uj, &why) < 0)
		z->range_uj = 0;
	s->count++;
	return true;
}

/*
 * Adds the zone of a folder. "intel-rapl:0" is a package, "intel-rapl:0:1" a part of it. AMD's zones have the
 * same names.
 */
static void look_at(struct rapl *s, const char *root, const char *folder_name)
{
	char folder[SX_FILE_PATH_BYTES], path[SX_FILE_PATH_BYTES], name[SX_FILE_NAME_BYTES];
	const char *first = strchr(folder_name, ':');
	bool part = first && strchr(first + 1, ':');

	if (!sx_file_path(folder, "%s/sys/class/powercap/%s", root, folder_name) ||
	    !sx_file_path(path, "%s/name", folder) || sx_file_text(path, name, sizeof(name)) < 0)
		return;
	if (!part && strncmp(name, "package", strlen("package")) == 0)
		s->packages += rapl_add(s, folder);
	else if (part && strcmp(name, "dram") == 0)
		s->memories += rapl_add(s, folder);
}

int sx_rapl_open(struct sx_power_sensor **ret, const struct sx_power_params *p, struct sx_why *why)
{
	const char *root = p->root ? p->root : "";
	char folder[SX_FILE_PATH_BYTES], names[FOLDERS][SX_FILE_NAME_BYTES];
	struct rapl *s = calloc(1, sizeof(*s));
	int count;

	if (!s)
		return sx_why_fail(-ENOMEM, why, "out of memory");
	sx_file_path(folder, "%s/sys/class/powercap", root);
	count = sx_file_names(folder, "intel-rapl:", names, FOLDERS);
	for (int i = 0; i < count; i++)
		look_at(s, root, names[i]);
	if (s->packages == 0) {
		sx_why_set(why, "the processor's energy counter (RAPL) is not in %s", folder);
		free(s);
		return -ENODEV;
	}
	s->head.kind = &kind;
	snprintf(s->head.source, sizeof(s->head.source), "rapl");
	if (s->packages == 1)
		snprintf(s->head.scope, sizeof(s->head.scope), "processor%s",
			 s->memories ? " and memory" : "");
	else
		snprintf(s->head.scope, sizeof(s->head.scope), "%d processors%s", s->packages,
			 s->memories ? " and memory" : "");
	snprintf(s->head.device, sizeof(s->head.device), "%d counter%s of powercap", s->count,
		 s->count == 1 ? "" : "s");
	*ret = &s->head;
	return 0;
}
