/*
 * Check of stixelctl doctor: which engine would compute, and whether a GPU is left unused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "engines/select.h"
#include "tools/ctl/doctor/doctor.h"

/* Reads the version text of the driver. False: there is no driver. */
static bool driver(const struct doctor *d, char *to, size_t bytes)
{
	if (doctor_line(d, "/proc/driver/nvidia/version", to, bytes))
		return true;
	return doctor_is_jetson(d) && doctor_line(d, "/etc/nv_tegra_release", to, bytes);
}

/*
 * Reports a device policy that hides the GPU from the service. This program may be able to open the GPU even
 * then.
 */
static void say_policy(struct doctor *d)
{
	if (!d->unit.loaded || d->unit.gpu)
		return;
	doctor_say(d, d->settings.engine.backend == SX_BACKEND_CUDA ? DOCTOR_PROBLEM : DOCTOR_WARNING,
		   "engine",
		   doctor_is_jetson(d) ? "copy jetson.conf from /usr/share/doc/stixeld/examples to "
					 "/etc/systemd/system/stixeld@.service.d"
				       : "remove the drop-in that takes it away (cpu.conf does)",
		   "the device policy of the service hides the GPU");
}

/* Checks that the service can open the device nodes that CUDA opens. */
static void say_nodes(struct doctor *d)
{
	static const char *const nodes[] = {"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm",
					    "/dev/nvmap"};
	char path[DOCTOR_PATH_BYTES];
	struct stat st;

	if (!*d->service.name || !d->unit.loaded)
		return;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		if (stat(doctor_path(d, nodes[i], path, sizeof(path)), &st) == 0 &&
		    !doctor_may(&d->service, &st, 06))
			doctor_say(
				d, DOCTOR_PROBLEM, "engine",
				"a udev rule has to give it to group video or render",
				"%s belongs to group %s, mode %03o: user %s, as the service, cannot open it",
				nodes[i], doctor_group(st.st_gid), (unsigned)st.st_mode & 0777,
				d->service.name);
}

void doctor_engine(struct doctor *d)
{
	const struct sx_engine_params *p = &d->settings.engine;
	char version[128];
	struct sx_why why = {""};
	bool has_driver = driver(d, version, sizeof(version));
	struct sx_device_facts facts;
	const char *bus_id;
	struct sx_engine e;

	if (has_driver && p->backend != SX_BACKEND_CPU && p->backend != SX_BACKEND_REFERENCE)
		doctor_say(d, DOCTOR_OK, "GPU driver", NULL, "%s", version);
	if (sx_engine_open(&e, p, &why) < 0) {
		doctor_say(d, DOCTOR_PROBLEM, "engine",
			   has_driver
				   ? "install stixel-cuda.so of this version, or set engine.backend = auto"
				   : "no NVIDIA driver is loaded: install one, or set engine.backend = auto",
			   "%s", why.text);
		return;
	}
	if (p->backend == SX_BACKEND_AUTO && has_driver && strcmp(e.backend->name, "cuda") != 0)
		doctor_say(d, DOCTOR_WARNING, "engine",
			   "there is a GPU driver: set engine.backend = cuda to make that an error",
			   "%s (%s): %s", e.backend->name, e.backend->describe(e.device), e.reason);
	else
		doctor_say(d, DOCTOR_OK, "engine", NULL, "%s (%s): %s", e.backend->name,
			   e.backend->describe(e.device), e.reason);
	d->gpu = strcmp(e.backend->name, "cuda") == 0;
	if (d->gpu) {
		(void)sx_engine_facts(&e, &facts);
		d->gpu_sms = facts.sms;
		d->gpu_capability = facts.capability;
		bus_id = e.backend->bus_id ? e.backend->bus_id(e.device) : NULL;
		snprintf(d->gpu_bus_id, sizeof(d->gpu_bus_id), "%s", bus_id ? bus_id : "");
		say_nodes(d);
	}
	if (has_driver && (p->backend == SX_BACKEND_AUTO || p->backend == SX_BACKEND_CUDA))
		say_policy(d);
	sx_engine_close(&e);
}
