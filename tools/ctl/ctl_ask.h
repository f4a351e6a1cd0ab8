/*
 * Asks a status socket for JSON, and says why nothing came.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_CTL_ASK_H
#define SX_TOOLS_CTL_CTL_ASK_H

#include <jansson.h>

#include "tools/common/ask.h"
#include "tools/ctl/ctl.h"

/* Longest time for an answer of a working daemon. */
#define CTL_ANSWER_MS 3000

/*
 * Asks, and returns the object that came with 200, for json_decref(). NULL: reply says why, and has -EBADMSG
 * for an answer that is no object of JSON. sx_reply_finish() frees the reply either way.
 */
json_t *ctl_ask_object(const struct sx_question *q, struct sx_reply *reply);
/* The same for GET /status of an instance. */
json_t *ctl_ask_status(const char *instance, int timeout_ms, struct sx_reply *reply);
/* Says on stderr why the reply has no 200. Returns the exit code. */
int ctl_ask_failed(const struct ctl *c, const struct sx_reply *reply);
/* Returns a status made from the ring of an instance without a status socket, for json_decref(); NULL: no live ring. */
json_t *ctl_ask_ring(const char *instance);

#endif
