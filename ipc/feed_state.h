/*
 * States of an input from another process (class scores, disparity maps), with their words in status and
 * metrics.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_FEED_STATE_H
#define SX_IPC_FEED_STATE_H

#include "base/contract.h"

enum sx_feed_state {
	SX_FEED_ABSENT,	 /* there is no ring */
	SX_FEED_REFUSED, /* the ring must not be read, or its content does not fit: see the reason */
	SX_FEED_SILENT,	 /* the ring has had no new data for 1 s, or for three periods if they are longer */
	SX_FEED_READING,
	SX_FEED_STATES
};

/* Returns "absent", "refused", "silent" or "reading". */
static inline const char *sx_feed_state_name(enum sx_feed_state state)
{
	static const char *const names[SX_FEED_STATES] = {"absent", "refused", "silent", "reading"};

	sx_must_index(state, SX_FEED_STATES);
	return names[state];
}

#endif
