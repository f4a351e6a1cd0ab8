/*
 * Checks of stixelctl doctor: shared memory, limits, clocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/read_at.h"
#include "ipc/frame.h"
#include "ipc/process.h"
#include "stixel.h"
#include "tools/ctl/doctor/doctor.h"

/* ---- shared memory ---- */

/*
 * Returns an upper bound for the size of the ring with images of this size, bytes. Uses the same layout as
 * the daemon.
 */
static size_t ring_bytes(const struct sx_settings *s, int width, int height)
{
	uint32_t columns = (uint32_t)(width / s->params.stixels.width);
	uint32_t most = (uint32_t)s->params.stixels.max_per_column;
	uint32_t per_column = most < (uint32_t)height ? most : (uint32_t)height;
	size_t images =
		sx_frame_image_bytes(sx_settings_images(s->output.planes), (uint32_t)width, (uint32_t)height);
	size_t frame = sx_frame_bytes_most(columns, columns * per_column, images);

	return STIXEL_RING_SLOTS_OFFSET +
	       (size_t)s->output.slots * (frame + 64 + sizeof(struct stixel_ring_slot));
}

/* Returns true if the process in the ring's header has ended. False also if this cannot be known. */
static bool owner_is_dead(const struct doctor *d, const struct stixel_ring_header *h)
{
	char path[DOCTOR_PATH_BYTES], below[64];

	if (!h->pid || (h->pid_namespace && h->pid_namespace != sx_process_namespace()))
		return false;
	snprintf(below, sizeof(below), "/proc/%u", h->pid);
	if (access(doctor_path(d, below, path, sizeof(path)), F_OK) < 0)
		return true;
	return !*d->root && h->pid_start_ticks && sx_process_start((pid_t)h->pid) != h->pid_start_ticks;
}

static void look_at_ring(struct doctor *d, const char *folder, const char *name)
{
	struct stixel_ring_header h;
	char path[DOCTOR_PATH_BYTES + 80];
	bool own = strcmp(name + strlen("stixeld."), d->instance) == 0;
	bool is_ring;
	int fd;

	/* look_for_rings() passes no longer names, which gcc 9 does not see */
	snprintf(path, sizeof(path), "%s/%.79s", folder, name);
	if (!own && d->named)
		return; /* a ring that another instance left shows nothing about this instance */
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		if (own && errno == EACCES)
			doctor_say(d, DOCTOR_WARNING, "shared memory",
				   "usermod -aG stixel YOU, then log in again", "%s is not accessible to you",
				   path);
		return;
	}
	is_ring = sx_read_whole_at(fd, &h, sizeof(h), 0) && h.magic == STIXEL_RING_MAGIC;
	close(fd);
	if (!is_ring)
		doctor_say(d, own ? DOCTOR_PROBLEM : DOCTOR_WARNING, "shared memory", "remove it",
			   "%s is no ring", path);
	else if (owner_is_dead(d, &h))
		doctor_say(d, DOCTOR_WARNING, "shared memory",
			   "the next start of that instance replaces it; or remove it",
			   "%s was left by process %u, which is gone", path, h.pid);
}

static void look_for_rings(struct doctor *d, const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (strncmp(e->d_name, "stixeld.", strlen("stixeld.")) == 0 && strlen(e->d_name) < 80)
			look_at_ring(d, folder, e->d_name);
	if (dir)
		closedir(dir);
}

void doctor_memory(struct doctor *d)
{
	const struct sx_source_params *p = &d->settings.source;
	int width = p->width ? p->width : 1920, height = p->height ? p->height : 1080;
	size_t wanted = d->settings.output.ring ? ring_bytes(&d->settings, width, height) : 0;
	char path[DOCTOR_PATH_BYTES];
	struct statvfs s;
	double room;

	doctor_path(d, "/dev/shm", path, sizeof(path));
	if (statvfs(path, &s) < 0) {
		doctor_say(d, DOCTOR_PROBLEM, "shared memory", "mount -t tmpfs tmpfs /dev/shm", "%s: %s",
			   path, strerror(errno));
		return;
	}
	room = (double)s.f_bavail * (double)s.f_frsize;
	if (room < (double)wanted)
		doctor_say(d, DOCTOR_PROBLEM, "shared memory",
			   "mount -o remount,size=512M /dev/shm, or lower output.slots",
			   "%s has room for %.1f MB, the ring of %dx%d needs up to %.1f", path, room / 1e6,
			   width, height, (double)wanted / 1e6);
	else
		doctor_say(d, DOCTOR_OK, "shared memory", NULL,
			   "%.1f MB are free, the ring of %dx%d needs up to %.1f", room / 1e6, width, height,
			   (double)wanted / 1e6);
	look_for_rings(d, path);
}

/* ---- limits ---- */

#define LOCKED_LEAST (1ull << 30) /* bytes; CUDA's mappings alone take hundreds of megabytes */

/*
 * Returns the limit of the unit if there is one, else of this process. A daemon started by hand would have
 * the limit of this process.
 */
static unsigned long long limit_of(const struct doctor *d, int resource, const char *of_unit)
{
	struct rlimit own;

	if (d->unit.loaded && *of_unit)
		return strcmp(of_unit, "infinity") == 0 ? ULLONG_MAX : strtoull(of_unit, NULL, 10);
	if (getrlimit(resource, &own) < 0 || own.rlim_cur == RLIM_INFINITY)
		return ULLONG_MAX;
	return own.rlim_cur;
}

void doctor_limits(struct doctor *d)
{
	const struct sx_realtime_params *r = &d->settings.realtime;
	unsigned long long priority = limit_of(d, RLIMIT_RTPRIO, d->unit.rtprio);
	unsigned long long locked = limit_of(d, RLIMIT_MEMLOCK, d->unit.memlock);
	bool root = !d->unit.loaded && geteuid() == 0;

	if (root || (r->priority <= 0 && !r->lock_memory)) {
		doctor_say(d, DOCTOR_OK, "limits", NULL,
			   root ? "you are root: none" : "the configuration asks for none");
		return;
	}
	if (r->priority > 0 && priority < (unsigned long long)r->priority)
		doctor_say(d, DOCTOR_PROBLEM, "limits", "the drop-in realtime.conf grants it to the service",
			   "realtime.priority = %d, but LimitRTPRIO is %llu", r->priority, priority);
	else if (r->priority > 0)
		doctor_say(d, DOCTOR_OK, "limits", NULL, "realtime.priority = %d is granted", r->priority);
	if (r->lock_memory && locked < LOCKED_LEAST)
		doctor_say(d, DOCTOR_PROBLEM, "limits", "the drop-in realtime.conf grants it to the service",
			   "realtime.lock_memory = yes, but LimitMEMLOCK is %llu bytes", locked);
	else if (r->lock_memory)
		doctor_say(d, DOCTOR_OK, "limits", NULL, "realtime.lock_memory is granted");
}

/* ---- clocks ---- */

#define CPUFREQ "/sys/devices/system/cpu/cpufreq"

static void say_governors(struct doctor *d)
{
	char path[DOCTOR_PATH_BYTES], below[DOCTOR_PATH_BYTES], governor[64], slow[64] = "";
	DIR *dir = opendir(doctor_path(d, CPUFREQ, path, sizeof(path)));
	const struct dirent *e;
	int count = 0;

	while (dir && (e = readdir(dir))) {
		snprintf(below, sizeof(below), CPUFREQ "/%.63s/scaling_governor", e->d_name);
		if (strncmp(e->d_name, "policy", 6) != 0 ||
		    !doctor_line(d, below, governor, sizeof(governor)))
			continue;
		count++;
		if (strcmp(governor, "performance") != 0)
			memcpy(slow, governor, sizeof(slow));
	}
	if (dir)
		closedir(dir);
	if (!count)
		doctor_say(d, DOCTOR_OK, "clocks", NULL, "this kernel does not change the processor's clock");
	else if (*slow)
		doctor_say(d, DOCTOR_WARNING, "clocks",
			   doctor_is_jetson(d) ? "jetson_clocks, for steady latency and for measurements"
					       : "cpupower frequency-set -g performance, for steady latency "
						 "and for measurements",
			   "the processor's clock is governed by '%s'", slow);
	else
		doctor_say(d, DOCTOR_OK, "clocks", NULL,
			   "the processor's clock is governed by 'performance'");
}

void doctor_clocks(struct doctor *d)
{
	say_governors(d);
}
