/*
 * Which engine computes: the configuration's word, resolved once at start. For every program that computes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_ENGINES_SELECT_H
#define SX_ENGINES_SELECT_H

#include <stddef.h>

#include "stages/device_facts.h"
#include "stages/engine.h"

#define SX_ENGINE_BLOCKS_MAX 72 /* two cameras of 32 buffers each, and scores */

struct sx_engine {
	const struct sx_backend *backend;
	struct sx_device *device;
	char reason[320];		    /* why this one: for log and status */
	bool no_module;			    /* auto, and no CUDA engine lies where packages install it */
	void *pinned[SX_ENGINE_BLOCKS_MAX]; /* host memory that the device reads */
	int pinned_count;
};

/*
 * Opens the backend that p asks for. auto: cuda if its module is there and a device opens, else cpu; the
 * reason says which and why. The module is loaded for cuda and auto only. Nothing falls back later.
 * Negative errno with a sentence in why; -ENODEV: a GPU was asked for and none is usable (no module, no
 * device, no code for it); -EINVAL: wrong configuration.
 */
int sx_engine_open(struct sx_engine *e, const struct sx_engine_params *p, char *why, size_t why_bytes);
/* Accepts a zeroed one. After all of its contexts are gone; what is still pinned is unpinned. */
void sx_engine_close(struct sx_engine *e);

/*
 * Memory that pairs will lie in. Both while no frame is in flight, by the thread that submits or with it at
 * rest. pin: 0, also where the engine needs no pinning; negative errno: pairs in it cost one more copy.
 * unpin_all: before the memory goes away.
 */
int sx_engine_pin(struct sx_engine *e, void *memory, size_t bytes);
void sx_engine_unpin_all(struct sx_engine *e);

/* What submit, wait or peek answered with r < 0: the engine's own words, else those of the number. */
const char *sx_engine_failure(const struct sx_engine *e, int r);

/* Counted since open; path "host" for engines that compute in host memory. */
void sx_engine_transfers(const struct sx_engine *e, struct sx_transfers *ret);

/* What its GPU says of itself. False, and zeroed: it computes on none. */
bool sx_engine_facts(const struct sx_engine *e, struct sx_device_facts *ret);

#endif
