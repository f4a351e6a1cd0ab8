/*
 * NVML: power of a discrete NVIDIA card, as its driver reports it. The library belongs to the driver. It is
 * loaded when it is needed and never linked. The energy counter of the card (Volta and later) is preferred.
 * Older cards report watts only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "power/sensor.h"

#define LIBRARY "libnvidia-ml.so.1"
/* number of readings of energy for each query of clocks and processes, which are less urgent */
#define CLOCKS_EVERY 10
#define PROCESSES_MOST 64

/* Part of the library's interface that is used here. The values are its ABI. */
enum { NVML_SUCCESS = 0, NVML_ERROR_NOT_SUPPORTED = 3, NVML_ERROR_NO_PERMISSION = 4, NVML_ERROR_SIZE = 7 };
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };

/* Entry of nvmlDeviceGetComputeRunningProcesses_v3 for one process. */
struct process {
	unsigned pid;
	unsigned long long memory_bytes;
	unsigned gpu_instance, compute_instance;
};

struct library {
	int (*init)(void);
	int (*shutdown)(void);
	const char *(*error_string)(int result);
	int (*count)(unsigned *count);
	int (*by_index)(unsigned index, void **device);
	int (*by_bus_id)(const char *bus_id, void **device);
	int (*by_uuid)(const char *uuid, void **device);
	int (*name)(void *device, char *name, unsigned bytes);
	int (*energy)(void *device, unsigned long long *mj);
	int (*power)(void *device, unsigned *mw);
	int (*clock)(void *device, int domain, unsigned *mhz);
	int (*max_clock)(void *device, int domain, unsigned *mhz);
	int (*processes)(void *device, unsigned *count, struct process *ret); /* NULL: the driver is older */
};

struct nvml {
	struct sx_power_sensor head;
	struct library lib;
	bool started, counts;
	bool computes; /* this process computes on the measured card */
	int others;
	void *device;
	unsigned reads;
	int64_t gpu_hz, gpu_max_hz, memory_hz;
};

static int nvml_load(struct library *lib, struct sx_why *why)
{
	const struct {
		const char *name;
		/* address of a function pointer; a union of the functions' types would be no clearer */
		void *to;
	} wanted[] = {
		{"nvmlInit_v2", &lib->init},
		{"nvmlShutdown", &lib->shutdown},
		{"nvmlErrorString", &lib->error_string},
		{"nvmlDeviceGetCount_v2", &lib->count},
		{"nvmlDeviceGetHandleByIndex_v2", &lib->by_index},
		{"nvmlDeviceGetHandleByPciBusId_v2", &lib->by_bus_id},
		{"nvmlDeviceGetHandleByUUID", &lib->by_uuid},
		{"nvmlDeviceGetName", &lib->name},
		{"nvmlDeviceGetTotalEnergyConsumption", &lib->energy},
		{"nvmlDeviceGetPowerUsage", &lib->power},
		{"nvmlDeviceGetClockInfo", &lib->clock},
		{"nvmlDeviceGetMaxClockInfo", &lib->max_clock},
	};
	/*
	 * Never closed: a driver's library is not made for repeated loading, and a second dlopen() finds it
	 * loaded.
	 */
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		const char *error = dlerror();

		return sx_why_fail(-ENODEV, why, "NVML cannot be loaded: %s", error ? error : LIBRARY);
	}
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *symbol = dlsym(handle, wanted[i].name);

		if (!symbol)
			return sx_why_fail(-ENODEV, why, "%s has no %s: the driver is too old", LIBRARY,
					   wanted[i].name);
		memcpy(wanted[i].to, &symbol, sizeof(symbol));
	}
	void *processes = dlsym(handle, "nvmlDeviceGetComputeRunningProcesses_v3");

	memcpy(&lib->processes, &processes, sizeof(processes));
	return 0;
}

static int nvml_tell(const struct nvml *s, int result, const char *what, struct sx_why *why)
{
	sx_why_set(why, "NVML: %s: %s", what, s->lib.error_string(result));
	return result == NVML_ERROR_NO_PERMISSION ? -EACCES : -EIO;
}

/* Finds the card: the one of the configuration, else the engine's own, else the only one. */
static int find_device(struct nvml *s, const char *gpu, const char *bus_id, struct sx_why *why)
{
	unsigned count = 0, index;
	char *end;
	int result;

	if (gpu && strncmp(gpu, "GPU-", 4) == 0) {
		result = s->lib.by_uuid(gpu, &s->device);
	} else if (gpu && strchr(gpu, ':')) {
		result = s->lib.by_bus_id(gpu, &s->device);
	} else if (gpu) {
		index = (unsigned)strtoul(gpu, &end, 10);
		if (!isdigit((unsigned char)*gpu) || *end)
			return sx_why_fail(
				-EINVAL, why,
				"power.gpu: found '%s', allowed is an index, a UUID (GPU-...) or a PCI "
				"address (0000:1b:00.0)",
				gpu);
		result = s->lib.by_index(index, &s->device);
	} else if (*bus_id) {
		gpu = bus_id;
		result = s->lib.by_bus_id(bus_id, &s->device);
	} else {
		result = s->lib.count(&count);
		if (result == NVML_SUCCESS && count != 1) {
			sx_why_set(why, "NVML: %u GPUs: set power.gpu to choose one", count);
			return count ? -EINVAL : -ENODEV;
		}
		gpu = "the only one";
		if (result == NVML_SUCCESS)
			result = s->lib.by_index(0, &s->device);
	}
	if (result == NVML_SUCCESS)
		return 0;
	return sx_why_fail(-ENODEV, why, "NVML: GPU %s: %s", gpu, s->lib.error_string(result));
}

static int64_t ask_hz(int (*clock)(void *, int, unsigned *), void *device, int domain)
{
	unsigned mhz = 0;

	return clock(device, domain, &mhz) == NVML_SUCCESS ? (int64_t)mhz * 1000000 : -1;
}

static void read_clocks(struct nvml *s)
{
	s->gpu_hz = ask_hz(s->lib.clock, s->device, NVML_CLOCK_SM);
	s->gpu_max_hz = ask_hz(s->lib.max_clock, s->device, NVML_CLOCK_SM);
	s->memory_hz = ask_hz(s->lib.clock, s->device, NVML_CLOCK_MEM);
}

/*
 * Returns how many other processes compute on the card. In a container the driver may report other process
 * ids than those seen here. So if this process computes on the card, one of the processes counts as this one
 * even if no id matches.
 */
static int count_others(const struct nvml *s)
{
	struct process found[PROCESSES_MOST];
	unsigned count = PROCESSES_MOST;
	bool own = s->computes;
	int result = s->lib.processes ? s->lib.processes(s->device, &count, found) : NVML_ERROR_NOT_SUPPORTED;

	if (result != NVML_SUCCESS && result != NVML_ERROR_SIZE)
		return -1;
	for (unsigned i = 0; result == NVML_SUCCESS && i < count; i++)
		own |= found[i].pid == (unsigned)getpid();
	return (int)count - (own && count > 0);
}

static int nvml_read(struct sx_power_sensor *sensor, struct sx_power_reading *r, struct sx_why *why)
{
	struct nvml *s = (struct nvml *)sensor;
	unsigned long long mj = 0;
	unsigned mw = 0;
	int result;

	if (s->counts) {
		result = s->lib.energy(s->device, &mj);
		if (result != NVML_SUCCESS)
			return nvml_tell(s, result, "energy", why);
		r->joules = (double)mj / 1e3;
	} else {
		result = s->lib.power(s->device, &mw);
		if (result != NVML_SUCCESS)
			return nvml_tell(s, result, "power", why);
		r->watts = (double)mw / 1e3;
	}
	if (s->reads++ % CLOCKS_EVERY == 0) {
		read_clocks(s);
		s->others = count_others(s);
	}
	r->others = s->others;
	r->gpu_hz = s->gpu_hz;
	r->gpu_max_hz = s->gpu_max_hz;
	r->memory_hz = s->memory_hz;
	return 0;
}

static void nvml_close(struct sx_power_sensor *sensor)
{
	struct nvml *s = (struct nvml *)sensor;

	if (s->started)
		s->lib.shutdown();
	free(s);
}

static const struct sx_power_kind kind = {.read = nvml_read, .close = nvml_close};

/* Checks whether the card has an energy counter or reports watts, and gets the card's name. */
static int look_at_device(struct nvml *s, const char *bus_id, struct sx_why *why)
{
	unsigned long long mj = 0;
	unsigned mw = 0;
	int result = s->lib.energy(s->device, &mj);
	char name[96];

	s->counts = result == NVML_SUCCESS;
	if (!s->counts && result != NVML_ERROR_NOT_SUPPORTED)
		return nvml_tell(s, result, "energy", why);
	if (!s->counts) {
		result = s->lib.power(s->device, &mw);
		if (result != NVML_SUCCESS)
			return nvml_tell(s, result, "power", why);
	}
	if (s->lib.name(s->device, name, sizeof(name)) != NVML_SUCCESS)
		snprintf(name, sizeof(name), "GPU");
	snprintf(s->head.device, sizeof(s->head.device), "%s%s%s, %s", name, *bus_id ? " at " : "", bus_id,
		 s->counts ? "energy counter" : "watts");
	return 0;
}

int sx_nvml_open(struct sx_power_sensor **ret, const struct sx_power_params *p,
		 const struct sx_power_engine *engine, struct sx_why *why)
{
	const char *bus_id = p->gpu ? "" : engine->bus_id;
	struct nvml *s = calloc(1, sizeof(*s));
	int r, result;

	if (!s)
		return sx_why_fail(-ENOMEM, why, "out of memory");
	s->head.kind = &kind;
	/* If power.gpu chose the card, it is not known whether this process computes on it. */
	s->computes = engine->gpu && !p->gpu;
	snprintf(s->head.source, sizeof(s->head.source), "nvml");
	snprintf(s->head.scope, sizeof(s->head.scope), "GPU board");
	r = nvml_load(&s->lib, why);
	if (r < 0)
		goto fail;
	result = s->lib.init();
	if (result != NVML_SUCCESS) {
		sx_why_set(why, "NVML cannot be started: %s", s->lib.error_string(result));
		r = -ENODEV;
		goto fail;
	}
	s->started = true;
	r = find_device(s, p->gpu, bus_id, why);
	if (r == 0)
		r = look_at_device(s, bus_id, why);
	if (r < 0)
		goto fail;
	*ret = &s->head;
	return 0;
fail:
	nvml_close(&s->head);
	return r;
}
