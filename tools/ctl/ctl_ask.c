/*
 * Asks a status socket for JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/ctl/ctl_ask.h"

#include <errno.h>
#include <stdio.h>

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
