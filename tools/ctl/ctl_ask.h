/*
 * Asks a status socket for JSON and reports why no JSON came.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_CTL_ASK_H
#define SX_TOOLS_CTL_CTL_ASK_H

#include <jansson.h>

#include "tools/common/ask.h"
#include "tools/ctl/ctl.h"

/* Longest time for an answer of a working daemon, ms. */
#define CTL_ANSWER_MS 3000

/*
 * Sends the question and returns the JSON object of a 200 answer, for json_decref(). On an error returns
 * NULL, and reply has the reason (-EBADMSG: the answer is not a JSON object). In both cases sx_reply_finish()
 * frees the reply.
 */
json_t *ctl_ask_object(const struct sx_question *q, struct sx_reply *reply);
/* Sends GET /status to an instance. Otherwise works as ctl_ask_object(). */
json_t *ctl_ask_status(const char *instance, int timeout_ms, struct sx_reply *reply);
/* Prints to stderr why the reply is not a 200. Returns the exit code. */
int ctl_ask_failed(const struct ctl *c, const struct sx_reply *reply);
/*
 * Returns a status made from the ring of an instance without a status socket, for json_decref(). NULL: no
 * live ring.
 */
json_t *ctl_ask_ring(const char *instance);

#endif
