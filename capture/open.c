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

static const struct sx_source_ops *find_ops(enum sx_source_kind kind, struct sx_why *why)
{
	switch (kind) {
	case SX_SOURCE_FILES:
		return &sx_files_ops;
	case SX_SOURCE_SYNTHETIC:
		return &sx_synthetic_ops;
	case SX_SOURCE_V4L2:
		return &sx_v4l2_ops;
	case SX_SOURCE_SHARED:
		return &sx_shared_ops;
	}
	sx_why_set(why, "source kind %d is unknown", (int)kind);
	return NULL;
}

int sx_source_open(struct sx_source **ret, const struct sx_source_params *p, int slots, struct sx_why *why)
{
	const struct sx_source_ops *ops = find_ops(p->kind, why);
	struct sx_source *s;
	int r;

	if (!ops)
		return -EINVAL;
	if (p->kind != SX_SOURCE_V4L2 && sx_layout_is_interleaved(p->layout))
		return sx_why_fail(-EINVAL, why,
				   "images that are interleaved come from cameras only (kind = v4l2)");
	s = calloc(1, sizeof(*s));
	if (!s)
		return sx_why_fail(-ENOMEM, why, "no memory for the source");
	s->ops = ops;
	r = ops->open(s, p, slots, why);
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
