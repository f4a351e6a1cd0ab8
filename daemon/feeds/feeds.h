/*
 * Everything that the pipeline exchanges with other processes for its pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_FEEDS_FEEDS_H
#define SX_DAEMON_FEEDS_FEEDS_H

#include "daemon/feeds/external.h"
#include "daemon/feeds/pair_publisher.h"
#include "daemon/feeds/semantics.h"

/*
 * Input that the next pair still waits for after it got its context: its map (and perhaps its scores), or its
 * scores alone.
 */
enum sx_waits { SX_WAITS_NOT, SX_WAITS_FOR_MAP, SX_WAITS_FOR_SCORES };

/* Memory with index i for maps and scores belongs to entry i of the frames in flight. */
struct sx_feeds {
	struct sx_external_maps external;
	struct sx_semantics semantics;
	struct sx_pair_publisher pair_publisher;
};

#endif
