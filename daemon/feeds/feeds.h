/*
 * All that goes between a pipeline and the other processes which give something for its pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_FEEDS_FEEDS_H
#define SX_DAEMON_FEEDS_FEEDS_H

#include "daemon/feeds/external.h"
#include "daemon/feeds/offer.h"
#include "daemon/feeds/semantics.h"

/* What the next pair, which has its flight already, waits for: for its map, perhaps also for its scores. */
enum sx_waits { SX_WAITS_NOT, SX_WAITS_FOR_MAP, SX_WAITS_FOR_SCORES };

/* Memory number i of maps and scores is that of flight i. */
struct sx_feeds {
	struct sx_external_maps external;
	struct sx_semantics semantics;
	struct sx_offer offer;
};

#endif
