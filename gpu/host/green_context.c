/*
 * Green contexts. The code looks up the driver's functions at run time, so it does not link to the driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/host/green_context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* CUDA 12.4 has green contexts, but neither streams for them nor lookup of driver functions by version. */
#if !defined(SX_EMULATE) && CUDART_VERSION >= 12050
#include <cuda.h>

struct driver {
	__typeof__(cuDeviceGet) *device_get;
	__typeof__(cuDeviceGetDevResource) *get_resource;
	__typeof__(cuDevSmResourceSplitByCount) *split;
	__typeof__(cuDevResourceGenerateDesc) *describe;
	__typeof__(cuGreenCtxCreate) *create;
	__typeof__(cuGreenCtxDestroy) *destroy;
	__typeof__(cuCtxFromGreenCtx) *context;
	__typeof__(cuCtxSetCurrent) *set_current;
	__typeof__(cuGreenCtxStreamCreate) *stream;
};

struct sx_green {
	struct driver driver;
	CUgreenCtx green;
	CUcontext context;
};

static bool find(const char *name, void *function)
{
	enum cudaDriverEntryPointQueryResult found;
	void *address = NULL;
	cudaError_t e =
		cudaGetDriverEntryPointByVersion(name, &address, CUDA_VERSION, cudaEnableDefault, &found);

	if (e || found != cudaDriverEntryPointSuccess || !address) {
		cudaGetLastError();
		return false;
	}
	*(void **)function = address;
	return true;
}

static bool find_all(struct driver *d)
{
	return find("cuDeviceGet", &d->device_get) && find("cuDeviceGetDevResource", &d->get_resource) &&
	       find("cuDevSmResourceSplitByCount", &d->split) &&
	       find("cuDevResourceGenerateDesc", &d->describe) && find("cuGreenCtxCreate", &d->create) &&
	       find("cuGreenCtxDestroy", &d->destroy) && find("cuCtxFromGreenCtx", &d->context) &&
	       find("cuCtxSetCurrent", &d->set_current) && find("cuGreenCtxStreamCreate", &d->stream);
}

static CUresult create(struct sx_green *g, int device, int sms, bool rest, int *granted, int *all_sms)
{
	const struct driver *d = &g->driver;
	CUdevResource all, part, others;
	CUdevResource *const mine = rest ? &others : &part;
	CUdevResourceDesc description;
	unsigned groups = 1;
	CUdevice handle;
	CUresult r;

	if ((r = d->device_get(&handle, device)) ||
	    (r = d->get_resource(handle, &all, CU_DEV_RESOURCE_TYPE_SM)))
		return r;
	*all_sms = (int)all.sm.smCount;
	if ((r = d->split(&part, &groups, &all, &others, 0, (unsigned)sms)) ||
	    (r = d->describe(&description, mine, 1)) ||
	    (r = d->create(&g->green, description, handle, CU_GREEN_CTX_DEFAULT_STREAM)) ||
	    (r = d->context(&g->context, g->green)))
		return r;
	*granted = (int)mine->sm.smCount;
	return CUDA_SUCCESS;
}

int sx_green_create(struct sx_green **ret, int device, int sms, bool rest, int *granted, struct sx_why *why)
{
	struct sx_green *g = calloc(1, sizeof(*g));
	int all = 0;
	CUresult r;

	if (!g)
		return sx_why_fail(-ENOMEM, why, "engine cuda: out of memory");
	if (!find_all(&g->driver)) {
		sx_why_set(why,
			   "engine cuda: the driver cannot limit multiprocessors, which CUDA 12.5 brought");
		free(g);
		return -ENOTSUP;
	}
	r = create(g, device, sms, rest, granted, &all);
	if (r == CUDA_SUCCESS) {
		*ret = g;
		return 0;
	}
	sx_why_set(why, "engine cuda: %d multiprocessors cannot be split off the device's %d: error %d", sms,
		   all, (int)r);
	sx_green_destroy(g);
	return sms > all ? -EINVAL : -EIO;
}

void sx_green_destroy(struct sx_green *g)
{
	if (!g)
		return;
	if (g->green) {
		g->driver.set_current(NULL);
		g->driver.destroy(g->green);
	}
	free(g);
}

cudaError_t sx_green_enter(const struct sx_green *g)
{
	return g->driver.set_current(g->context) == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t sx_green_stream(const struct sx_green *g, int priority, cudaStream_t *ret)
{
	CUresult r = g->driver.stream(ret, g->green, CU_STREAM_NON_BLOCKING, priority);

	return r == CUDA_SUCCESS ? cudaSuccess : (cudaError_t)r;
}

#else

int sx_green_create(struct sx_green **ret, int device, int sms, bool rest, int *granted, struct sx_why *why)
{
	return sx_why_fail(
		-ENOTSUP, why,
		"engine cuda: multiprocessors can be limited in builds with CUDA 12.5 or newer only");
}

void sx_green_destroy(struct sx_green *g)
{
}

cudaError_t sx_green_enter(const struct sx_green *g)
{
	return cudaErrorNotSupported;
}

cudaError_t sx_green_stream(const struct sx_green *g, int priority, cudaStream_t *ret)
{
	return cudaErrorNotSupported;
}

#endif
