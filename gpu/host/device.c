/*
 * Opens a GPU, and describes it or the reason why it cannot be used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/host/engine_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/probe.h"
#include "stages/device_facts.h"

#ifdef SX_CUDA_CODE /* architectures of the build, such as "sm_75 sm_80" */
#define CODE_OF_BUILD " (it has " SX_CUDA_CODE ")"
#else
#define SX_CUDA_CODE ""
#define CODE_OF_BUILD ""
#endif

int sx_cuda_errno(cudaError_t e)
{
	switch (e) {
	case cudaSuccess:
		return 0;
	case cudaErrorMemoryAllocation:
		return -ENOMEM;
	case cudaErrorNoDevice:
	case cudaErrorInvalidDevice:
	case cudaErrorInsufficientDriver:
	case cudaErrorInitializationError:
	case cudaErrorSystemDriverMismatch:
	case cudaErrorSystemNotReady:
	case cudaErrorStubLibrary:
	case cudaErrorDevicesUnavailable:
	case cudaErrorNoKernelImageForDevice:
	case cudaErrorInvalidDeviceFunction:
	case cudaErrorUnsupportedPtxVersion:
		return -ENODEV;
	default:
		return -EIO;
	}
}

int sx_cuda_complain(struct sx_why *why, cudaError_t e, const char *what)
{
	sx_why_set(why, "engine cuda: %s: %s (%s)", what, cudaGetErrorString(e), cudaGetErrorName(e));
	return sx_cuda_errno(e);
}

int sx_cuda_fail(struct sx_device *d, cudaError_t e, const char *what)
{
	d->lost = e;
	sx_cuda_complain(&d->failure, e, what);
	return sx_cuda_errno(e) == -ENOMEM ? -ENOMEM : -EIO;
}

cudaError_t sx_cuda_enter(const struct sx_device *d)
{
	return d->green ? sx_green_enter(d->green) : cudaSetDevice(d->index);
}

cudaError_t sx_cuda_stream(const struct sx_device *d, cudaStream_t *ret)
{
	return d->green ? sx_green_stream(d->green, d->priority, ret)
			: cudaStreamCreateWithPriority(ret, cudaStreamNonBlocking, d->priority);
}

/*
 * Returns the memory that Linux can make available, bytes. On an integrated GPU this includes caches, while
 * CUDA counts only idle memory.
 */
static size_t available_memory(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	size_t kb = 0;
	char line[128];

	while (f && kb == 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %zu kB", &kb) != 1)
			kb = 0;
	if (f)
		fclose(f);
	return kb * 1024;
}

size_t sx_cuda_free_bytes(const struct sx_device *d)
{
	size_t idle, all, available = d->integrated ? available_memory() : 0;

	if (cudaMemGetInfo(&idle, &all)) {
		cudaGetLastError();
		return SIZE_MAX;
	}
	return idle > available ? idle : available;
}

static int refuse_driver(int driver, int runtime, struct sx_why *why)
{
	if (driver == 0)
		sx_why_set(why, "engine cuda: no NVIDIA driver is loaded");
	else
		sx_why_set(why, "engine cuda: the driver is for CUDA %d.%d, this build needs %d.%d",
			   driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
	return -ENODEV;
}

static int find_device(int index, struct sx_why *why)
{
	int driver = 0, runtime = 0, count = 0;
	cudaError_t e;

	if ((e = cudaDriverGetVersion(&driver)) || (e = cudaRuntimeGetVersion(&runtime)))
		return sx_cuda_complain(why, e, "asking for the driver");
	if (driver / 1000 < runtime / 1000)
		return refuse_driver(driver, runtime, why);
	e = cudaGetDeviceCount(&count);
	if (e)
		cudaGetLastError();
	if (e == cudaErrorInsufficientDriver)
		return refuse_driver(driver, runtime, why);
	if (e == cudaErrorNoDevice || (e == cudaSuccess && count == 0))
		return sx_why_fail(-ENODEV, why, "engine cuda: this machine has no CUDA device, or hides it");
	if (e) {
		sx_cuda_complain(why, e, "looking for devices");
		return -ENODEV;
	}
	if (index >= 0 && index < count)
		return 0;
	return sx_why_fail(-ENODEV, why, "engine cuda: there is no device %d, only 0 to %d", index,
			   count - 1);
}

static cudaError_t ask(struct sx_device *d)
{
	int major = 0, minor = 0, integrated = 0, map = 0, pin = 0, least;
	struct cudaDeviceProp properties;
	cudaError_t e;

	if ((e = cudaGetDeviceProperties(&properties, d->index)) ||
	    (e = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, d->index)) ||
	    (e = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, d->index)) ||
	    (e = cudaDeviceGetAttribute(&d->all_sms, cudaDevAttrMultiProcessorCount, d->index)) ||
	    (e = cudaDeviceGetAttribute(&integrated, cudaDevAttrIntegrated, d->index)) ||
	    (e = cudaDeviceGetAttribute(&map, cudaDevAttrCanMapHostMemory, d->index)) ||
	    (e = cudaDeviceGetAttribute(&pin, cudaDevAttrHostRegisterSupported, d->index)) ||
	    (e = cudaSetDevice(d->index)) || (e = cudaDeviceGetStreamPriorityRange(&least, &d->priority)))
		return e;
	snprintf(d->name, sizeof(d->name), "%.*s", (int)sizeof(d->name) - 1, properties.name);
	d->capability = 10 * major + minor;
	d->sms = d->all_sms;
	d->integrated = integrated != 0;
	d->can_map = map != 0;
	d->can_register = pin != 0;
	if (!d->integrated)
		snprintf(d->bus_id, sizeof(d->bus_id), "%04x:%02x:%02x.0",
			 (unsigned)properties.pciDomainID & 0xffffu, (unsigned)properties.pciBusID & 0xffu,
			 (unsigned)properties.pciDeviceID & 0xffu);
	e = sx_cuda_volume_ask(d);
	return e ? e : cudaFree(NULL); /* creates the device's primary context */
}

/*
 * Runs one kernel from start to end. Tests that there is code for this device, a working stream, and memory
 * that both sides see.
 */
static cudaError_t probe(const struct sx_device *d)
{
	struct sx_cuda_memory m = {0};
	void *device;
	uint32_t *word = sx_cuda_take_pinned(&m, sizeof(*word), &device);
	cudaStream_t stream = NULL;
	cudaError_t e = m.error;

	if (!e)
		e = sx_cuda_stream(d, &stream);
	if (!e)
		e = sx_probe_cuda_run(device, stream);
	if (!e)
		e = cudaStreamSynchronize(stream);
	if (!e && *(volatile uint32_t *)word != SX_PROBE_WORD)
		e = cudaErrorLaunchFailure;
	if (stream)
		cudaStreamDestroy(stream);
	sx_cuda_memory_finish(&m);
	cudaGetLastError();
	return e;
}

static int refuse_probe(const struct sx_device *d, cudaError_t e, struct sx_why *why)
{
	char what[160];

	if (e == cudaErrorNoKernelImageForDevice || e == cudaErrorInvalidDeviceFunction ||
	    e == cudaErrorUnsupportedPtxVersion)
		return sx_why_fail(-ENODEV, why,
				   "engine cuda: this build has no code for %s, sm_%d" CODE_OF_BUILD, d->name,
				   d->capability);
	snprintf(what, sizeof(what), "%s does not run a kernel", d->name);
	sx_cuda_complain(why, e, what);
	return -ENODEV;
}

static int choose(struct sx_device *d, const struct sx_engine_params *p, struct sx_why *why)
{
	if (!d->can_map)
		return sx_why_fail(-ENODEV, why, "engine cuda: %s cannot write to the host's memory",
				   d->name);
	d->mapped = p->input == SX_INPUT_AUTO ? d->integrated : p->input == SX_INPUT_MAPPED;
	d->spin_us = p->spin_us;
	d->volume = p->volume;
	if (p->sms == 0)
		return 0;
	if (p->sms < 0 || p->sms > d->all_sms)
		return sx_why_fail(-EINVAL, why, "engine cuda: %d multiprocessors: %s has %d", p->sms,
				   d->name, d->all_sms);
	return sx_green_create(&d->green, d->index, p->sms, false, &d->sms, why);
}

static void device_describe(struct sx_device *d)
{
	char sms[32];

	if (d->green)
		snprintf(sms, sizeof(sms), "%d of %d SMs", d->sms, d->all_sms);
	else
		snprintf(sms, sizeof(sms), "%d SMs", d->all_sms);
	snprintf(d->description, sizeof(d->description), "%s, sm_%d, %s, input %s", d->name, d->capability,
		 sms, d->mapped ? "mapped" : "by copy");
}

void sx_cuda_facts(const struct sx_device *d, struct sx_device_facts *f)
{
	struct cudaDeviceProp properties;
	int khz = 0;

	*f = (struct sx_device_facts){
		.code = SX_CUDA_CODE,
		.capability = d->capability,
		.sms = d->all_sms,
		.integrated = d->integrated,
		.bytes_per_s = d->integrated ? 0.0 : d->figures.bytes_per_s,
	};
	memcpy(f->name, d->name, sizeof(f->name));
	if (cudaGetDeviceProperties(&properties, d->index) == cudaSuccess)
		f->memory_bytes = properties.totalGlobalMem;
	if (cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, d->index) == cudaSuccess)
		f->clock_hz = khz * 1e3;
	if (cudaRuntimeGetVersion(&f->runtime) != cudaSuccess)
		f->runtime = 0;
	if (cudaDriverGetVersion(&f->driver) != cudaSuccess)
		f->driver = 0;
	/* clear the error of a query that has no answer, so that no later call reports it */
	cudaGetLastError();
}

void sx_cuda_close(struct sx_device *d)
{
	if (!d)
		return;
	sx_cuda_enter(d);
	for (int i = 0; i < d->ranges; i++)
		cudaHostUnregister((void *)(uintptr_t)d->range[i].host);
	sx_green_destroy(d->green);
	free(d);
}

int sx_cuda_open(struct sx_device **ret, const struct sx_engine_params *p, struct sx_why *why)
{
	int r = find_device(p->device, why);
	struct sx_device *d;
	cudaError_t e;

	if (r < 0)
		return r;
	d = calloc(1, sizeof(*d));
	if (!d)
		return sx_why_fail(-ENOMEM, why, "engine cuda: out of memory");
	d->index = p->device;
	d->contexts = p->contexts;
	e = ask(d);
	if (e) {
		cudaGetLastError();
		sx_cuda_complain(why, e, "the device cannot be used");
		r = -ENODEV;
		goto fail;
	}
	r = choose(d, p, why);
	if (r < 0)
		goto fail;
	e = sx_cuda_enter(d);
	if (!e)
		e = probe(d);
	if (e) {
		r = refuse_probe(d, e, why);
		goto fail;
	}
	device_describe(d);
	*ret = d;
	return 0;
fail:
	sx_cuda_close(d);
	return r;
}
