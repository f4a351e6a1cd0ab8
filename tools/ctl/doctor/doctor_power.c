/*
 * stixelctl doctor: what measures power, and the power mode.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "power/board.h"
#include "power/sensor.h"
#include "tools/ctl/doctor/doctor.h"

#define COUNTED_NS INT64_C(700000000) /* counters of cards move ten times a second, or less often */

/* Watts just now, by two readings where it counts energy; NAN: it does not say. */
static double measure(struct sx_power_sensor *s, char *why, size_t why_bytes)
{
	const struct timespec pause = {.tv_nsec = COUNTED_NS};
	struct sx_power_reading first, second;
	int64_t began = sx_now_ns();

	if (sx_power_read(s, &first, why, why_bytes) < 0)
		return NAN;
	if (!isfinite(first.joules))
		return first.watts;
	nanosleep(&pause, NULL);
	if (sx_power_read(s, &second, why, why_bytes) < 0)
		return NAN;
	snprintf(why, why_bytes, "its energy counter stands still");
	return second.joules > first.joules
		       ? (second.joules - first.joules) * 1e9 / (double)(sx_now_ns() - began)
		       : (double)NAN;
}

static void say_sensor(struct doctor *d, struct sx_power_sensor *s)
{
	char why[DOCTOR_WHY_BYTES] = "";
	double watts = measure(s, why, sizeof(why));

	if (isfinite(watts))
		doctor_say(d, DOCTOR_OK, "power", NULL, "%.2f W: %s, by %s (%s)", watts, s->scope, s->source,
			   s->device);
	else
		doctor_say(d, DOCTOR_WARNING, "power", "set power.source = none, or one that works",
			   "%s by %s (%s): %s", s->scope, s->source, s->device, why);
}

static void say_none(struct doctor *d, int r, const char *why)
{
	bool asked = d->settings.power.source != SX_POWER_AUTO;

	if (r == -EACCES)
		doctor_say(d, DOCTOR_WARNING, "power",
			   "copy power.conf from /usr/share/doc/stixeld/examples to "
			   "/etc/systemd/system/stixeld@.service.d; by hand, run this as root",
			   "%s", why);
	else if (r == -ENODEV && !asked)
		doctor_say(d, DOCTOR_OK, "power", NULL, "nothing measures it here: %s", why);
	else
		doctor_say(d, DOCTOR_WARNING, "power", asked ? "set power.source = auto, or none" : NULL,
			   "it is not measured: %s", why);
}

/* What root may read the service may not, unless the drop-in gave it away. */
static void say_account(struct doctor *d, const struct sx_power_sensor *s)
{
	char path[DOCTOR_PATH_BYTES];
	struct stat st;

	if (strcmp(s->source, "rapl") != 0 || !*d->service.name || !d->unit.loaded)
		return;
	doctor_path(d, "/sys/class/powercap/intel-rapl:0/energy_uj", path, sizeof(path));
	if (stat(path, &st) == 0 && !doctor_may(&d->service, &st, 04))
		doctor_say(d, DOCTOR_WARNING, "power",
			   "copy power.conf from /usr/share/doc/stixeld/examples to "
			   "/etc/systemd/system/stixeld@.service.d, and restart the service",
			   "user %s, as the service, is not allowed to read the processor's energy counter",
			   d->service.name);
}

static void say_mode(struct doctor *d)
{
	struct sx_board b;

	sx_board_read(&b, d->root);
	if (b.mode_id >= 0)
		doctor_say(d, DOCTOR_OK, "power mode", NULL,
			   "nvpmodel %" PRId64 " (%s); nvpmodel -p --verbose lists the others", b.mode_id,
			   *b.mode ? b.mode : "without a name");
}

void doctor_power(struct doctor *d)
{
	struct sx_power_params p = d->settings.power;
	struct sx_power_engine engine = {.gpu = d->gpu};
	struct sx_power_sensor *s = NULL;
	char why[DOCTOR_WHY_BYTES] = "";
	int r;

	memcpy(engine.bus_id, d->gpu_bus_id, sizeof(engine.bus_id));
	if (!p.root)
		p.root = d->root;
	if (p.source == SX_POWER_NONE) {
		doctor_say(d, DOCTOR_OK, "power", NULL, "the configuration switches it off");
	} else {
		r = sx_power_open(&s, &p, &engine, why, sizeof(why));
		if (r < 0) {
			say_none(d, r, why);
		} else {
			say_sensor(d, s);
			say_account(d, s);
		}
		sx_power_close(s);
	}
	say_mode(d);
}
