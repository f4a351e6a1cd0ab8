/*
 * Chooses the engine that computes. The configuration's word is resolved once, at start. For every program
 * that computes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_ENGINES_SELECT_H
#define SX_ENGINES_SELECT_H

#include <stddef.h>

#include "base/why.h"
#include "stages/device_facts.h"
#include "stages/engine.h"

#define SX_ENGINE_BLOCKS_MAX 72 /* two cameras with 32 buffers each, and class scores */

struct sx_engine {
	const struct sx_backend *backend;
	struct sx_device *device;
	/* Why this engine was chosen, for log and status. */
	char reason[320];
	bool no_module;			    /* auto, and no CUDA engine is installed */
	void *pinned[SX_ENGINE_BLOCKS_MAX]; /* host memory that the device reads */
	int pinned_count;
};

/*
 * Opens the backend that p asks for. auto: cuda if its module exists and a device opens, else cpu. e->reason
 * tells which one and why. The module is loaded for cuda and auto only. The engine never falls back to
 * another one later. Negative errno with a sentence in why. -ENODEV: a GPU was requested and none is usable
 * (no module, no device, or no code for the device). -EINVAL: wrong configuration.
 */
int sx_engine_open(struct sx_engine *e, const struct sx_engine_params *p, struct sx_why *why);
/*
 * Unpins all memory and closes the engine. Call it after all contexts of the engine are gone. Accepts a
 * zeroed engine.
 */
void sx_engine_close(struct sx_engine *e);

/*
 * Pin and unpin the memory that pairs lie in. Call both while no frame is in flight, from the thread that
 * submits or while that thread does not run. pin: returns 0, also if the engine needs no pinning. Negative
 * errno: pairs in this memory cost one more copy. unpin_all: call it before the memory is freed.
 */
int sx_engine_pin(struct sx_engine *e, void *memory, size_t bytes);
void sx_engine_unpin_all(struct sx_engine *e);

/* Describes an error r < 0 of submit, wait or peek: the engine's own words, else the text of the errno. */
const char *sx_engine_failure(const struct sx_engine *e, int r);

/* Returns the transfers since open. path is "host" for engines that compute in host memory. */
void sx_engine_transfers(const struct sx_engine *e, struct sx_transfers *ret);

/* Returns the properties of the engine's GPU. False, and *ret zeroed: the engine uses no GPU. */
bool sx_engine_facts(const struct sx_engine *e, struct sx_device_facts *ret);

#endif
