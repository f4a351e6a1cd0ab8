/*
 * Keeps the state of an instance for `stixelctl top`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/common/instances.h"
#include "tools/ctl/answer.h"
#include "tools/ctl/ctl_ask.h"
#include "tools/ctl/top/state.h"

enum { ASK_MS = 1000 };

void sx_top_choose(struct sx_top *t, const char *instance)
{
	const enum sx_top_window window = t->window;
	const struct sx_scale given = {.given_near_m = t->scale.given_near_m,
				       .given_far_m = t->scale.given_far_m};
	char name[SX_TOP_NAME_BYTES];

	snprintf(name, sizeof(name), "%s", instance); /* instance may point into t */
	sx_top_finish(t);
	snprintf(t->instance, sizeof(t->instance), "%s", name);
	t->window = window;
	t->scale = given;
}

void sx_top_finish(struct sx_top *t)
{
	json_decref(t->status);
	stixel_close(t->reader);
	memset(t, 0, sizeof(*t));
}

static void remember(struct sx_top_history *h, json_t *v)
{
	if (h->count == SX_TOP_HISTORY) {
		memmove(h->value, h->value + 1, sizeof(h->value) - sizeof(h->value[0]));
		h->count--;
	}
	h->value[h->count++] = json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static void remember_all(struct sx_top *t, json_t *j)
{
	json_t *p99 = sx_answer_find(j, "latency_1s_us.capture_to_publish.p99");

	remember(&t->fps, sx_answer_find(j, "fps.last_1s"));
	remember(&t->p99_ms, p99);
	if (json_is_number(p99))
		t->p99_ms.value[t->p99_ms.count - 1] /= 1e3;
	remember(&t->watts, sx_answer_find(j, "power.watts"));
}

void sx_top_ask(struct sx_top *t)
{
	struct sx_reply reply;
	json_t *j = ctl_ask_status(t->instance, ASK_MS, &reply);

	sx_reply_finish(&reply);
	t->live = j != NULL;
	remember_all(t, j);
	if (reply.code == -ENOENT && sx_ring_other_layout(t->instance, "stixelctl", t->layout)) {
		snprintf(t->why, sizeof(t->why), "instance '%s': %s", t->instance, t->layout);
		return;
	}
	if (!j) {
		snprintf(t->why, sizeof(t->why), "%s", reply.why);
		return;
	}
	json_decref(t->status);
	t->status = j;
	t->answered_ns = sx_now_ns();
}

bool sx_top_look(struct sx_top *t)
{
	struct stixel_status status;
	int r;

	if (!t->reader) {
		r = stixel_open(&t->reader, t->instance, STIXEL_OPEN_FOLLOW);
		*t->layout = 0;
		if (r == -EPROTONOSUPPORT)
			(void)sx_ring_other_layout(t->instance, "stixelctl", t->layout);
		if (r < 0) {
			t->reader = NULL;
			return false;
		}
	}
	/* a reader with STIXEL_OPEN_FOLLOW switches to a new daemon only when it waits */
	stixel_wait(t->reader, 0);
	r = stixel_latest(t->reader, &t->frame);
	if (r <= 0 &&
	    (stixel_status(t->reader, &status, sizeof(status)) < 0 ||
	     (status.publisher != STIXEL_PUBLISHER_ALIVE && status.publisher != STIXEL_PUBLISHER_STALLED)))
		t->frame = NULL;
	if (r > 0)
		sx_scale_frame(&t->scale, t->frame->header, t->frame->stixels);
	return r > 0;
}

/* Neighbours of an instance in the order of names. A name in two folders counts once. */
struct neighbours {
	const char *name;
	char next[SX_TOP_NAME_BYTES], before[SX_TOP_NAME_BYTES], first[SX_TOP_NAME_BYTES],
		last[SX_TOP_NAME_BYTES]; /* empty: none; first and last of all other instances */
};

static void neighbour_take(void *user, const char *name)
{
	struct neighbours *n = user;
	int order = strcmp(name, n->name);

	if (order == 0 || strlen(name) >= SX_TOP_NAME_BYTES)
		return;
	if (order > 0 && (!*n->next || strcmp(name, n->next) < 0))
		snprintf(n->next, sizeof(n->next), "%s", name);
	if (order < 0 && strcmp(name, n->before) > 0)
		snprintf(n->before, sizeof(n->before), "%s", name);
	if (!*n->first || strcmp(name, n->first) < 0)
		snprintf(n->first, sizeof(n->first), "%s", name);
	if (strcmp(name, n->last) > 0)
		snprintf(n->last, sizeof(n->last), "%s", name);
}

bool sx_top_neighbour(const struct sx_top *t, int step, char name[SX_TOP_NAME_BYTES])
{
	struct neighbours n = {.name = t->instance};
	const char *found;

	sx_instances_find(neighbour_take, &n);
	if (step > 0)
		found = *n.next ? n.next : n.first;
	else
		found = *n.before ? n.before : n.last;
	if (*found)
		snprintf(name, SX_TOP_NAME_BYTES, "%s", found);
	return *found;
}

json_t *sx_top_latencies(const struct sx_top *t)
{
	static const char *const keys[SX_TOP_WINDOWS] = {"latency_1s_us", "latency_10s_us", "latency_us"};

	return sx_answer_find(t->status, keys[t->window]);
}
