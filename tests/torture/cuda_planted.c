/*
 * Faults in the CUDA engine that the judge must find. Replaces the module in tests/torture/run --self-check.
 * $TORTURE_PLANTED selects the fault.
 *
 *	keeps	memory taken for a context that cannot be created is not released
 *	silent	a frame that fails does not report why
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/host/device.h"
#include "gpu/memory.h"

static bool planted_is(const char *name)
{
	const char *planted = getenv("TORTURE_PLANTED");

	return planted && strcmp(planted, name) == 0;
}

void __real_sx_cuda_memory_finish(struct sx_cuda_memory *m);
void __wrap_sx_cuda_memory_finish(struct sx_cuda_memory *m);
void __wrap_sx_cuda_memory_finish(struct sx_cuda_memory *m)
{
	if (!m->error || !planted_is("keeps"))
		__real_sx_cuda_memory_finish(m);
}

int __real_sx_cuda_fail(struct sx_device *d, cudaError_t e, const char *what);
int __wrap_sx_cuda_fail(struct sx_device *d, cudaError_t e, const char *what);
int __wrap_sx_cuda_fail(struct sx_device *d, cudaError_t e, const char *what)
{
	return planted_is("silent") ? -EIO : __real_sx_cuda_fail(d, e, what);
}
