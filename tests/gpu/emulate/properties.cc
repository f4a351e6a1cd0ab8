/*
 * Queries about the device, the driver and the machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "tests/gpu/emulate/device.h"

static bool exists(int device)
{
	return device >= 0 && device < sx_emulate_property("devices");
}

cudaError_t cudaDriverGetVersion(int *version)
{
	SX_ENTER;
	*version = (int)sx_emulate_property("driver");
	return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	SX_ENTER;
	*version = CUDART_VERSION;
	return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
	SX_ENTER;
	*count = (int)sx_emulate_property("devices");
	if (sx_emulate_property("driver") < CUDART_VERSION)
		return sx_emulate_error(cudaErrorInsufficientDriver);
	return *count ? cudaSuccess : sx_emulate_error(cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int device)
{
	SX_ENTER;
	return exists(device) ? cudaSuccess : sx_emulate_error(cudaErrorInvalidDevice);
}

cudaError_t cudaGetDevice(int *device)
{
	SX_ENTER;
	*device = 0;
	return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
	SX_ENTER;
	(void)flags;
	return cudaSuccess;
}

cudaError_t cudaDeviceReset(void)
{
	return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	SX_ENTER;
	*least = 0;
	*greatest = -5;
	return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int bytes, int device)
{
	SX_ENTER;
	if (!exists(device) || bytes < 13)
		return sx_emulate_error(cudaErrorInvalidValue);
	snprintf(id, (size_t)bytes, "0000:%02x:00.0", (unsigned)device & 0xff);
	return cudaSuccess;
}

size_t sx_emulate_shared_max(void)
{
	static const struct {
		int cc, kib;
	} limits[] = {{72, 96}, {75, 64}, {80, 163}, {87, 163}, {86, 99}, {89, 99}, {120, 99}};
	const long long cc = sx_emulate_property("cc");

	for (const auto &l : limits)
		if (l.cc == cc)
			return (size_t)l.kib << 10;
	return (size_t)227 << 10;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
	const struct {
		enum cudaDeviceAttr attr;
		long long value;
	} known[] = {
		{cudaDevAttrMaxThreadsPerBlock, 1024},
		{cudaDevAttrMaxSharedMemoryPerBlock, 48 << 10},
		{cudaDevAttrWarpSize, 32},
		{cudaDevAttrClockRate, sx_emulate_property("clock")},
		{cudaDevAttrMultiProcessorCount, sx_emulate_property("sms")},
		{cudaDevAttrIntegrated, sx_emulate_property("integrated")},
		{cudaDevAttrCanMapHostMemory, sx_emulate_property("map")},
		{cudaDevAttrComputeMode, 0},
		{cudaDevAttrMemoryClockRate, sx_emulate_property("memory_clock")},
		{cudaDevAttrGlobalMemoryBusWidth, sx_emulate_property("bus")},
		{cudaDevAttrL2CacheSize, sx_emulate_property("l2")},
		{cudaDevAttrMaxThreadsPerMultiProcessor, 1024},
		{cudaDevAttrAsyncEngineCount, 2},
		{cudaDevAttrUnifiedAddressing, 1},
		{cudaDevAttrComputeCapabilityMajor, sx_emulate_property("cc") / 10},
		{cudaDevAttrComputeCapabilityMinor, sx_emulate_property("cc") % 10},
		{cudaDevAttrMaxSharedMemoryPerMultiprocessor, (long long)sx_emulate_shared_max() + 1024},
		{cudaDevAttrPageableMemoryAccess, 0},
		{cudaDevAttrConcurrentManagedAccess, 0},
		{cudaDevAttrCanUseHostPointerForRegisteredMem, sx_emulate_property("map")},
		{cudaDevAttrMaxSharedMemoryPerBlockOptin, (long long)sx_emulate_shared_max()},
		{cudaDevAttrHostRegisterSupported, sx_emulate_property("register")},
		{cudaDevAttrMaxPersistingL2CacheSize, 0},
	};

	SX_ENTER;
	if (!exists(device))
		return sx_emulate_error(cudaErrorInvalidDevice);
	for (const auto &k : known) {
		if (k.attr == attr) {
			*value = (int)k.value;
			return cudaSuccess;
		}
	}
	return sx_emulate_error(cudaErrorInvalidValue);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
	SX_ENTER;
	if (!exists(device))
		return sx_emulate_error(cudaErrorInvalidDevice);
	*p = {};
	snprintf(p->name, sizeof(p->name), "emulated");
	p->totalGlobalMem = (size_t)sx_emulate_property("memory");
	p->sharedMemPerBlock = 48 << 10;
	p->regsPerBlock = 65536;
	p->warpSize = 32;
	p->maxThreadsPerBlock = p->maxThreadsPerMultiProcessor = 1024;
	p->major = (int)sx_emulate_property("cc") / 10;
	p->minor = (int)sx_emulate_property("cc") % 10;
	p->multiProcessorCount = (int)sx_emulate_property("sms");
	p->integrated = (int)sx_emulate_property("integrated");
	p->canMapHostMemory = (int)sx_emulate_property("map");
	if (!p->integrated) {
		p->pciDomainID = 0xa;
		p->pciBusID = 0x1b;
	}
	p->concurrentKernels = p->unifiedAddressing = 1;
	p->asyncEngineCount = 2;
	p->memoryBusWidth = 256;
	p->l2CacheSize = (int)sx_emulate_property("l2");
	p->sharedMemPerMultiprocessor = sx_emulate_shared_max() + 1024;
	p->sharedMemPerBlockOptin = sx_emulate_shared_max();
	p->canUseHostPointerForRegisteredMem = p->canMapHostMemory;
	p->hostRegisterSupported = (int)sx_emulate_property("register");
	p->maxBlocksPerMultiProcessor = 16;
	return cudaSuccess;
}
