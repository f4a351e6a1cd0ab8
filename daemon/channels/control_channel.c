/*
 * Control channel between main and the threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/channels/control_channel.h"

#include <stddef.h>

#include "base/contract.h"

void sx_control_channel_finish(struct sx_control_channel *x)
{
	sx_contexts_destroy(atomic_exchange(&x->next, NULL));
	sx_contexts_destroy(atomic_exchange(&x->retired, NULL));
}

/* Stores with release, so that the thread that takes the pointer sees the complete contexts. */
void sx_control_channel_give_contexts(struct sx_control_channel *x, struct sx_contexts *contexts)
{
	sx_must_be(!atomic_load_explicit(&x->next, memory_order_relaxed));
	atomic_store_explicit(&x->next, contexts, memory_order_release);
}

struct sx_contexts *sx_control_channel_take_retired(struct sx_control_channel *x)
{
	return atomic_exchange_explicit(&x->retired, NULL, memory_order_acquire);
}

/* Takes new contexts. The frame thread calls it for every frame. It usually costs one atomic load. */
struct sx_contexts *sx_control_channel_take_contexts(struct sx_control_channel *x)
{
	if (!atomic_load_explicit(&x->next, memory_order_relaxed))
		return NULL;
	return atomic_exchange_explicit(&x->next, NULL, memory_order_acquire);
}

void sx_control_channel_retire(struct sx_control_channel *x, struct sx_contexts *contexts)
{
	sx_must_be(!atomic_load_explicit(&x->retired, memory_order_relaxed));
	atomic_store_explicit(&x->retired, contexts, memory_order_release);
}

void sx_control_channel_give_controls(struct sx_control_channel *x, struct sx_camera_controls *controls)
{
	sx_must_be(!atomic_load_explicit(&x->controls, memory_order_relaxed));
	atomic_store_explicit(&x->controls, controls, memory_order_release);
}

bool sx_control_channel_take_returned_controls(struct sx_control_channel *x, bool ended)
{
	if (atomic_exchange_explicit(&x->returned_controls, NULL, memory_order_acquire))
		return true;
	return ended && atomic_exchange_explicit(&x->controls, NULL, memory_order_acquire);
}

struct sx_camera_controls *sx_control_channel_take_controls(struct sx_control_channel *x)
{
	if (!atomic_load_explicit(&x->controls, memory_order_relaxed))
		return NULL;
	return atomic_exchange_explicit(&x->controls, NULL, memory_order_acquire);
}

void sx_control_channel_return_controls(struct sx_control_channel *x, struct sx_camera_controls *controls)
{
	sx_must_be(!atomic_load_explicit(&x->returned_controls, memory_order_relaxed));
	atomic_store_explicit(&x->returned_controls, controls, memory_order_release);
}
