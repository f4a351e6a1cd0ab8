/*
 * Check of stixelctl doctor: the power sensor and the power mode.
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

#define ORIN_CAPABILITY 87
#define COUNTED_NS INT64_C(700000000) /* counters of discrete GPUs advance at most ten times a second */

/*
 * Returns the present power, W. Takes two readings if the sensor counts energy. NAN: the sensor reports no
 * value.
 */
static double measure(struct sx_power_sensor *s, struct sx_why *why)
{
	const struct timespec pause = {.tv_nsec = COUNTED_NS};
	struct sx_power_reading first, second;
	int64_t began = sx_now_ns();

	if (sx_power_read(s, &first, why) < 0)
		return NAN;
	if (!isfinite(first.joules))
		return first.watts;
	nanosleep(&pause, NULL);
	if (sx_power_read(s, &second, why) < 0)
		return NAN;
	sx_why_set(why, "its energy counter stands still");
	return second.joules > first.joules
		       ? (second.joules - first.joules) * 1e9 / (double)(sx_now_ns() - began)
		       : (double)NAN;
}

/* Returns true on an Orin, found by the device tree or by its GPU, which no other computer has. */
static bool is_orin(const struct doctor *d, const struct sx_board *b)
{
	return strstr(b->model, "Orin") || d->gpu_capability == ORIN_CAPABILITY;
}

static void say_sensor(struct doctor *d, struct sx_power_sensor *s)
{
	struct sx_why why = {""};
	double watts = measure(s, &why);

	if (isfinite(watts))
		doctor_say(d, DOCTOR_OK, "power", NULL, "%.2f W: %s, by %s (%s)", watts, s->scope, s->source,
			   s->device);
	else
		doctor_say(d, DOCTOR_WARNING, "power", "set power.source = none, or one that works",
			   "%s by %s (%s): %s", s->scope, s->source, s->device, why.text);
}

/*
 * Reports why an Orin has no power reading with NVML. NVML can be loaded there but answers little more than
 * the GPU's name. False: this is not the reason.
 */
static bool say_none_on_orin(struct doctor *d, const struct sx_power_params *p, const char *why)
{
	const struct sx_power_params monitors = {.source = SX_POWER_INA, .rails = p->rails, .root = p->root};
	const struct sx_power_engine engine = {0};
	struct sx_power_sensor *s = NULL;
	struct sx_why none;

	if (p->source == SX_POWER_NVML) {
		doctor_say(d, DOCTOR_WARNING, "power",
			   "set power.source = auto: it reads the board's INA3221 monitors",
			   "it is not measured: NVML has no power reading on an Orin (%s)", why);
		return true;
	}
	if (p->source != SX_POWER_AUTO || sx_power_open(&s, &monitors, &engine, &none) != -ENODEV) {
		sx_power_close(s);
		return false;
	}
	doctor_say(
		d, DOCTOR_WARNING, "power",
		"load the driver ina3221; in a container mount the host's /sys and say where by power.root",
		"it is not measured: an Orin has INA3221 monitors, and none is in /sys/class/hwmon; NVML has "
		"no power reading there (%s)",
		why);
	return true;
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

/*
 * Reports a counter that root can read and the service cannot, unless the drop-in gives the service access.
 */
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

static void say_mode(struct doctor *d, const struct sx_board *b)
{
	if (b->mode_id >= 0)
		doctor_say(d, DOCTOR_OK, "power mode", NULL,
			   "nvpmodel %" PRId64 " (%s); nvpmodel -p --verbose lists the others", b->mode_id,
			   *b->mode ? b->mode : "without a name");
}

static void look_for_sensor(struct doctor *d, const struct sx_power_params *p, bool orin)
{
	struct sx_power_engine engine = {.gpu = d->gpu};
	struct sx_power_sensor *s = NULL;
	struct sx_why why = {""};
	int r;

	memcpy(engine.bus_id, d->gpu_bus_id, sizeof(engine.bus_id));
	r = sx_power_open(&s, p, &engine, &why);
	if (r < 0) {
		if (!orin || !say_none_on_orin(d, p, why.text))
			say_none(d, r, why.text);
		return;
	}
	say_sensor(d, s);
	if (orin && strncmp(s->source, "ina", 3) == 0)
		doctor_say(d, DOCTOR_OK, "power", NULL,
			   "NVML has no power reading on an Orin: the board's %s is read, from hwmon",
			   s->source);
	say_account(d, s);
	sx_power_close(s);
}

void doctor_power(struct doctor *d)
{
	struct sx_power_params p = d->settings.power;
	struct sx_board b;

	sx_board_read(&b, d->root);
	if (!p.root)
		p.root = d->root;
	if (p.source == SX_POWER_NONE)
		doctor_say(d, DOCTOR_OK, "power", NULL, "the configuration switches it off");
	else
		look_for_sensor(d, &p, is_orin(d, &b));
	say_mode(d, &b);
}
