/*
 * Chooses the engine, and pins the host memory that it reads pairs from.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engines/select.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cpu/engine/engine.h"
#include "engines/load.h"

static int open_one(struct sx_engine *e, const struct sx_backend *backend, const struct sx_engine_params *p,
		    struct sx_why *why)
{
	struct sx_device *device = NULL;
	int r = backend->open(&device, p, why);

	if (r < 0)
		return r;
	*e = (struct sx_engine){.backend = backend, .device = device};
	snprintf(e->reason, sizeof(e->reason), "asked for by engine.backend");
	return 0;
}

static int open_cuda(struct sx_engine *e, const struct sx_engine_params *p, struct sx_why *why)
{
	const struct sx_backend *cuda;
	int r = sx_cuda_load(&cuda, why);

	if (r < 0)
		return -ENODEV;
	sx_why_clear(why);
	r = open_one(e, cuda, p, why);
	if (r < 0 && sx_why_is_empty(why))
		sx_why_set(why, "the CUDA device does not open (error %d)", -r);
	return r;
}

static int open_auto(struct sx_engine *e, const struct sx_engine_params *p, struct sx_why *why)
{
	struct sx_why lack;
	int r = open_cuda(e, p, &lack);

	if (r == 0) {
		snprintf(e->reason, sizeof(e->reason),
			 "engine.backend = auto: a CUDA device is usable; cuda");
		return 0;
	}
	r = open_one(e, &sx_backend_cpu, p, why);
	if (r < 0)
		return r;
	snprintf(e->reason, sizeof(e->reason), "engine.backend = auto: %.255s; %s", lack.text,
		 sx_backend_cpu.name);
	e->no_module = !sx_cuda_installed();
	return 0;
}

int sx_engine_open(struct sx_engine *e, const struct sx_engine_params *p, struct sx_why *why)
{
	struct sx_why lack;
	int r;

	*e = (struct sx_engine){0};
	switch (p->backend) {
	case SX_BACKEND_AUTO:
		return open_auto(e, p, why);
	case SX_BACKEND_CPU:
		return open_one(e, &sx_backend_cpu, p, why);
	case SX_BACKEND_REFERENCE:
		return open_one(e, &sx_backend_reference, p, why);
	case SX_BACKEND_CUDA:
		r = open_cuda(e, p, &lack);
		if (r < 0)
			sx_why_set(why, "engine.backend = cuda: %s%s", lack.text,
				   sx_cuda_installed() ? ""
						       : "; install package stixeld-cuda, or let it be auto");
		return r;
	}
	return sx_why_fail(-EINVAL, why, "engine.backend %d is unknown", (int)p->backend);
}

void sx_engine_close(struct sx_engine *e)
{
	sx_engine_unpin_all(e);
	if (e->device)
		e->backend->close(e->device);
	*e = (struct sx_engine){0};
}

int sx_engine_pin(struct sx_engine *e, void *memory, size_t bytes)
{
	int r;

	if (!e->backend->pin)
		return 0;
	if (e->pinned_count == SX_ENGINE_BLOCKS_MAX)
		return -ENOSPC;
	r = e->backend->pin(e->device, memory, bytes);
	if (r == 0)
		e->pinned[e->pinned_count++] = memory;
	return r;
}

void sx_engine_unpin_all(struct sx_engine *e)
{
	while (e->pinned_count > 0)
		e->backend->unpin(e->device, e->pinned[--e->pinned_count]);
}

const char *sx_engine_failure(const struct sx_engine *e, int r)
{
	const char *own = e->backend->failure ? e->backend->failure(e->device) : "";

	return *own ? own : strerror(-r);
}

void sx_engine_transfers(const struct sx_engine *e, struct sx_transfers *ret)
{
	*ret = (struct sx_transfers){.path = "host"};
	if (e->backend && e->backend->transfers)
		e->backend->transfers(e->device, ret);
}

bool sx_engine_facts(const struct sx_engine *e, struct sx_device_facts *ret)
{
	*ret = (struct sx_device_facts){0};
	if (!e->backend->facts)
		return false;
	e->backend->facts(e->device, ret);
	return true;
}
