/*
 * A fake libnvidia-ml.so.1. If FAKE_NVML_WATTS is in the environment, the energy counter increases at that
 * rate, W.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/power/fake_nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define BUS_ID "0000:1b:00.0"
#define UUID "GPU-01234567-89ab-cdef-0123-456789abcdef"
enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int result);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetName(void *device, char *name, unsigned bytes);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj);
int nvmlDeviceGetPowerUsage(void *device, unsigned *mw);
int nvmlDeviceGetClockInfo(void *device, int domain, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(void *device, int domain, unsigned *mhz);

struct fake_process {
	unsigned pid;
	unsigned long long memory_bytes;
	unsigned gpu_instance, compute_instance;
};
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct fake_process *ret);

struct fake_nvml fake_nvml = {.count = 1, .sm_mhz = 1980, .sm_max_mhz = 1980, .memory_mhz = 3201};
static int the_card;

int nvmlInit_v2(void)
{
	if (fake_nvml.init)
		return fake_nvml.init;
	fake_nvml.starts++;
	return SUCCESS;
}

int nvmlShutdown(void)
{
	fake_nvml.stops++;
	return SUCCESS;
}

const char *nvmlErrorString(int result)
{
	static const char *const words[] = {[0] = "Success",	   [2] = "Invalid Argument",
					    [3] = "Not Supported", [4] = "Insufficient Permissions",
					    [6] = "Not Found",	   [9] = "Driver Not Loaded",
					    [15] = "GPU is lost"};

	return result >= 0 && result < 16 && words[result] ? words[result] : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = fake_nvml.count;
	return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	snprintf(fake_nvml.asked, sizeof(fake_nvml.asked), "index %u", index);
	if (index >= fake_nvml.count)
		return INVALID_ARGUMENT;
	*device = &the_card;
	return SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device)
{
	snprintf(fake_nvml.asked, sizeof(fake_nvml.asked), "bus %.50s", bus_id);
	*device = &the_card;
	return strcasecmp(bus_id, BUS_ID) == 0 ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	snprintf(fake_nvml.asked, sizeof(fake_nvml.asked), "uuid %.50s", uuid);
	*device = &the_card;
	return strcmp(uuid, UUID) == 0 ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetName(void *device, char *name, unsigned bytes)
{
	snprintf(name, bytes, "NVIDIA Played 9000");
	return device == &the_card ? fake_nvml.name : INVALID_ARGUMENT;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj)
{
	const char *watts = getenv("FAKE_NVML_WATTS");
	struct timespec now;

	*mj = atomic_load(&fake_nvml.mj);
	if (watts) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		*mj = (unsigned long long)(((double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6) *
					   strtod(watts, NULL));
	}
	return device == &the_card ? fake_nvml.energy : INVALID_ARGUMENT;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *mw)
{
	*mw = atomic_load(&fake_nvml.mw);
	return device == &the_card ? fake_nvml.power : INVALID_ARGUMENT;
}

int nvmlDeviceGetClockInfo(void *device, int domain, unsigned *mhz)
{
	*mhz = domain == 1 ? fake_nvml.sm_mhz : domain == 2 ? fake_nvml.memory_mhz : 0;
	return device == &the_card ? fake_nvml.clock : INVALID_ARGUMENT;
}

int nvmlDeviceGetMaxClockInfo(void *device, int domain, unsigned *mhz)
{
	*mhz = domain == 1 ? fake_nvml.sm_max_mhz : 0;
	return device == &the_card ? fake_nvml.clock : INVALID_ARGUMENT;
}

/* Returns FAKE_NVML_OTHERS processes that are not the caller, and the caller as the last one. */
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct fake_process *ret)
{
	const char *others = getenv("FAKE_NVML_OTHERS");
	const unsigned room = *count;

	*count = others ? (unsigned)strtoul(others, NULL, 10) + 1 : 0;
	if (*count > room)
		return INSUFFICIENT_SIZE;
	for (unsigned i = 0; i < *count; i++)
		ret[i] = (struct fake_process){.pid = i + 1 < *count ? i + 1 : (unsigned)getpid()};
	return device == &the_card ? SUCCESS : INVALID_ARGUMENT;
}
