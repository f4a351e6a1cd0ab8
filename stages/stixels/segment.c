/*
 * Memory of the segment lists.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/segment.h"

#include <errno.h>
#include <stdlib.h>

int sx_segments_init(struct sx_segments *s, int columns, int height)
{
	struct sx_segments n = {
		.columns = columns, .capacity = height, .image_height = height, .cell_height = 1};

	if (columns < 1 || columns > 65535 || height < 1 || height > 65535)
		return -EINVAL;
	/* calloc: a column uses a few dozen of its entries, and Linux never gives memory to the others */
	n.list = calloc((size_t)columns * (size_t)height, sizeof(*n.list));
	n.count = calloc((size_t)columns, sizeof(*n.count));
	n.total = calloc((size_t)columns, sizeof(*n.total));
	if (!n.list || !n.count || !n.total) {
		sx_segments_finish(&n);
		return -ENOMEM;
	}
	*s = n;
	return 0;
}

void sx_segments_finish(struct sx_segments *s)
{
	if (!s)
		return;
	free(s->list);
	free(s->count);
	free(s->total);
	*s = (struct sx_segments){0};
}

size_t sx_segments_bytes(const struct sx_segments *s)
{
	return (size_t)s->columns *
	       ((size_t)s->capacity * sizeof(*s->list) + sizeof(*s->count) + sizeof(*s->total));
}
