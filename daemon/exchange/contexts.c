/*
 * A set of contexts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/exchange/contexts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int sx_contexts_create(struct sx_contexts **ret, const struct sx_backend *backend, struct sx_device *device,
		       const struct sx_context_config *config, int count, char *why, size_t why_bytes)
{
	struct sx_contexts *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s) {
		snprintf(why, why_bytes, "not enough memory for contexts");
		return -ENOMEM;
	}
	s->backend = backend;
	s->column_width = (uint32_t)config->params.stixels.width;
	for (; s->count < count && r == 0; s->count += r == 0)
		r = backend->context_create(&s->context[s->count], device, config, why, why_bytes);
	if (r < 0)
		sx_contexts_destroy(s);
	else
		*ret = s;
	return r < 0 ? r : 0;
}

void sx_contexts_destroy(struct sx_contexts *s)
{
	if (!s)
		return;
	for (int i = 0; i < s->count; i++)
		s->backend->context_destroy(s->context[i]);
	free(s);
}
