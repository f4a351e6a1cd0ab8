/*
 * Asks a status socket for JSON, and says why nothing came.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/ctl/ctl_ask.h"

#include <errno.h>
#include <stdio.h>
#include <sysexits.h>

#include "tools/ctl/ring_look.h"

json_t *ctl_ask_object(const struct sx_question *q, struct sx_reply *reply)
{
	json_error_t error = {0};
	json_t *j;

	if (sx_socket_ask(q, reply) != 200)
		return NULL;
	j = json_loads(reply->body, JSON_REJECT_DUPLICATES, &error);
	if (json_is_object(j))
		return j;
	json_decref(j);
	reply->code = -EBADMSG;
	snprintf(reply->why, sizeof(reply->why), "'%s' answered GET %s with what is no object of JSON%s%s",
		 q->name, q->target, *error.text ? ": " : "", error.text);
	return NULL;
}

json_t *ctl_ask_status(const char *instance, int timeout_ms, struct sx_reply *reply)
{
	const struct sx_question q = {.name = instance, .target = "/status", .timeout_ms = timeout_ms};

	return ctl_ask_object(&q, reply);
}

json_t *ctl_ask_ring(const char *instance)
{
	struct ctl_ring ring;

	return ctl_ring_look(&ring, instance) == 0 && ctl_ring_lives(&ring) ? ctl_ring_status(&ring) : NULL;
}

int ctl_ask_failed(const struct ctl *c, const struct sx_reply *reply)
{
	const int r = reply->code;
	json_t *j = r == -ENOENT ? ctl_ask_ring(c->instance) : NULL;
	int code = r >= 0 || r == -EPROTO || r == -EMSGSIZE || r == -EBADMSG ? EX_DATAERR : CTL_NOTHING;

	if (j && json_is_true(json_object_get(j, "replay")))
		code = ctl_fail(code, "instance '%s' is a replay, which has frames alone", c->instance);
	else if (r == -ENOENT && !j)
		code = ctl_absent(c);
	else
		code = ctl_fail(code, "%s", reply->why);
	json_decref(j);
	return code;
}
