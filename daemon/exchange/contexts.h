/*
 * The contexts of an engine that compute the frames of one configuration. A pipeline has one such set; for a
 * change of parameters another is made beside it, and the frame thread goes over to it between two frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_EXCHANGE_CONTEXTS_H
#define SX_DAEMON_EXCHANGE_CONTEXTS_H

#include <stddef.h>

#include "daemon/handover.h"
#include "stages/engine.h"

struct sx_contexts {
	const struct sx_backend *backend;
	struct sx_context *context[SX_CONTEXTS_MAX]; /* used in turn */
	int count;
	uint32_t column_width; /* of their frames, px */
	uint64_t first;	       /* their first frame: the frame thread's, until the old ones are back */
};

/* count of them. *ret only on success; the errors of context_create(), with why. */
int sx_contexts_create(struct sx_contexts **ret, const struct sx_backend *backend, struct sx_device *device,
		       const struct sx_context_config *config, int count, char *why, size_t why_bytes);
/* Accepts NULL. */
void sx_contexts_destroy(struct sx_contexts *s);

#endif
