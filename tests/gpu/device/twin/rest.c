/*
 * As gpu/host/green_context.c, with the other part of the split.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/gpu/device/twin/rest.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#if CUDART_VERSION >= 12050
#include <cuda.h>

struct twin_rest {
	__typeof__(cuDeviceGet) *device_get;
	__typeof__(cuDeviceGetDevResource) *get_resource;
	__typeof__(cuDevSmResourceSplitByCount) *split;
	__typeof__(cuDevResourceGenerateDesc) *describe;
	__typeof__(cuGreenCtxCreate) *create;
	__typeof__(cuGreenCtxDestroy) *destroy;
	__typeof__(cuCtxFromGreenCtx) *context_of;
	__typeof__(cuCtxSetCurrent) *set_current;
	__typeof__(cuGreenCtxStreamCreate) *stream;
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

static bool find_all(struct twin_rest *r)
{
	return find("cuDeviceGet", &r->device_get) && find("cuDeviceGetDevResource", &r->get_resource) &&
	       find("cuDevSmResourceSplitByCount", &r->split) &&
	       find("cuDevResourceGenerateDesc", &r->describe) && find("cuGreenCtxCreate", &r->create) &&
	       find("cuGreenCtxDestroy", &r->destroy) && find("cuCtxFromGreenCtx", &r->context_of) &&
	       find("cuCtxSetCurrent", &r->set_current) && find("cuGreenCtxStreamCreate", &r->stream);
}

static CUresult create(struct twin_rest *r, int device, int slice, int *sms)
{
	CUdevResource all, part, rest;
	CUdevResourceDesc description;
	unsigned groups = 1;
	CUdevice handle;
	CUresult e;

	if ((e = r->device_get(&handle, device)) ||
	    (e = r->get_resource(handle, &all, CU_DEV_RESOURCE_TYPE_SM)) ||
	    (e = r->split(&part, &groups, &all, &rest, 0, (unsigned)slice)) ||
	    (e = r->describe(&description, &rest, 1)) ||
	    (e = r->create(&r->green, description, handle, CU_GREEN_CTX_DEFAULT_STREAM)) ||
	    (e = r->context_of(&r->context, r->green)))
		return e;
	*sms = (int)rest.sm.smCount;
	return CUDA_SUCCESS;
}

int twin_rest_create(struct twin_rest **ret, int device, int slice, int *sms, char *why, size_t why_bytes)
{
	struct twin_rest *r = calloc(1, sizeof(*r));
	CUresult e;

	if (!r) {
		snprintf(why, why_bytes, "out of memory");
		return -ENOMEM;
	}
	if (!find_all(r)) {
		snprintf(why, why_bytes, "the driver has no green contexts, which CUDA 12.5 brought");
		free(r);
		return -ENOTSUP;
	}
	e = create(r, device, slice, sms);
	if (e == CUDA_SUCCESS) {
		*ret = r;
		return 0;
	}
	snprintf(why, why_bytes, "no green context beside %d multiprocessors: error %d", slice, (int)e);
	twin_rest_destroy(r);
	return -EIO;
}

void twin_rest_destroy(struct twin_rest *r)
{
	if (!r)
		return;
	if (r->green) {
		r->set_current(NULL);
		r->destroy(r->green);
	}
	free(r);
}

cudaError_t twin_rest_enter(const struct twin_rest *r)
{
	return r->set_current(r->context) == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t twin_rest_stream(const struct twin_rest *r, cudaStream_t *ret)
{
	CUresult e = r->stream(ret, r->green, CU_STREAM_NON_BLOCKING, 0);

	return e == CUDA_SUCCESS ? cudaSuccess : (cudaError_t)e;
}

#else

int twin_rest_create(struct twin_rest **ret, int device, int slice, int *sms, char *why, size_t why_bytes)
{
	snprintf(why, why_bytes, "built without green contexts, which CUDA 12.5 brought");
	return -ENOTSUP;
}

void twin_rest_destroy(struct twin_rest *r)
{
}

cudaError_t twin_rest_enter(const struct twin_rest *r)
{
	return cudaErrorNotSupported;
}

cudaError_t twin_rest_stream(const struct twin_rest *r, cudaStream_t *ret)
{
	return cudaErrorNotSupported;
}

#endif
