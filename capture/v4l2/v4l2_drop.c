/*
 * Source "v4l2": counts images that do not become part of a pair, and returns their buffers to the driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/contract.h"
#include "capture/v4l2/v4l2_priv.h"

void sx_v4l2_count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

bool sx_v4l2_is_damage(enum sx_image_drop d)
{
	return d == SX_DROP_ERROR_FLAG || d == SX_DROP_SHORT || d == SX_DROP_BROKEN;
}

void sx_v4l2_drop(struct sx_source *s, int side, int index, enum sx_image_drop why_dropped, int *error,
		  struct sx_why *why)
{
	struct sx_v4l2 *v = s->own;

	sx_must_index(why_dropped, SX_DROP_COUNT);
	sx_must_index(side, v->count);
	sx_v4l2_count(&s->dropped[side][why_dropped], 1);
	if (sx_v4l2_is_damage(why_dropped))
		sx_v4l2_count(&s->corrupt, 1);
	if (why_dropped == SX_DROP_UNPAIRED)
		sx_v4l2_count(&s->unpaired, 1);
	if (*error == 0)
		*error = sx_v4l2_queue_put(&v->cameras[side].queue, index, why);
}
