/*
 * Opens a source of any kind. Only this file knows the table of kinds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/contract.h"
#include "capture/source_kinds.h"

static const struct sx_source_ops *find_ops(enum sx_source_kind kind, char *why, size_t why_bytes)
{
	switch (kind) {
	case SX_SOURCE_FILES:
		return &sx_files_ops;
	case SX_SOURCE_SYNTHETIC:
		return &sx_synthetic_ops;
	case SX_SOURCE_V4L2:
		return &sx_v4l2_ops;
	}
	snprintf(why, why_bytes, "source kind %d is unknown", (int)kind);
	return NULL;
}

int sx_source_open(struct sx_source **ret, const struct sx_source_params *p, int slots, char *why,
		   size_t why_bytes)
{
	const struct sx_source_ops *ops = find_ops(p->kind, why, why_bytes);
	struct sx_source *s;
	int r;

	if (!ops)
		return -EINVAL;
	if (p->kind != SX_SOURCE_V4L2 && sx_layout_is_interleaved(p->layout)) {
		snprintf(why, why_bytes, "images that are interleaved come from cameras only (kind = v4l2)");
		return -EINVAL;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		snprintf(why, why_bytes, "no memory for the source");
		return -ENOMEM;
	}
	s->ops = ops;
	r = ops->open(s, p, slots, why, why_bytes);
	if (r < 0) {
		sx_source_close(s);
		return r;
	}
	sx_must(s->info.width, >, 0);
	*ret = s;
	return 0;
}

void sx_source_close(struct sx_source *s)
{
	if (!s)
		return;
	s->ops->close(s);
	free(s);
}
