/*
 * What `stixelctl top` knows of an instance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/ctl/answer.h"
#include "tools/ctl/ctl.h"
#include "tools/ctl/top/state.h"

enum { ASK_MS = 1000 };

void sx_top_choose(struct sx_top *t, const char *instance)
{
	const enum sx_top_window window = t->window;
	char name[SX_TOP_NAME_BYTES];

	snprintf(name, sizeof(name), "%s", instance); /* may lie in t */
	sx_top_finish(t);
	snprintf(t->instance, sizeof(t->instance), "%s", name);
	t->window = window;
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
	json_error_t error;
	char *body = NULL;
	json_t *j;

	t->live = false;
	if (ctl_get(t->instance, "/status", ASK_MS, &body, t->why, sizeof(t->why)) != 200) {
		remember_all(t, NULL);
		free(body);
		return;
	}
	j = json_loads(body, JSON_REJECT_DUPLICATES, &error);
	free(body);
	if (!json_is_object(j)) {
		snprintf(t->why, sizeof(t->why), "its status is not JSON: %s", error.text);
		json_decref(j);
		remember_all(t, NULL);
		return;
	}
	json_decref(t->status);
	t->status = j;
	t->answered_ns = sx_now_ns();
	t->live = true;
	remember_all(t, j);
}

bool sx_top_look(struct sx_top *t)
{
	struct stixel_status status;
	int r;

	if (!t->reader && stixel_open(&t->reader, t->instance, STIXEL_OPEN_FOLLOW) < 0) {
		t->reader = NULL;
		return false;
	}
	/* a reader that follows goes over to a new daemon only when it is asked to wait */
	stixel_wait(t->reader, 0);
	r = stixel_latest(t->reader, &t->frame);
	if (r <= 0 &&
	    (stixel_status(t->reader, &status, sizeof(status)) < 0 ||
	     (status.publisher != STIXEL_PUBLISHER_ALIVE && status.publisher != STIXEL_PUBLISHER_STALLED)))
		t->frame = NULL;
	return r > 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ".../NAME/status.sock" becomes NAME, in place. */
static char *name_of(char *path)
{
	char *end = strrchr(path, '/'), *begin;

	*end = 0;
	begin = strrchr(path, '/');
	return begin ? begin + 1 : path;
}

bool sx_top_neighbour(const struct sx_top *t, int step, char name[SX_TOP_NAME_BYTES])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char own[256];
	glob_t found = {0};
	bool ok = false;
	int at = -1, count;

	if (runtime && *runtime)
		snprintf(own, sizeof(own), "%s/stixeld/*/status.sock", runtime);
	else
		snprintf(own, sizeof(own), "/run/user/%u/stixeld/*/status.sock", (unsigned)getuid());
	glob("/run/stixeld/*/status.sock", 0, NULL, &found);
	glob(own, GLOB_APPEND, NULL, &found);
	count = (int)found.gl_pathc;
	for (int i = 0; i < count; i++) {
		char *word = name_of(found.gl_pathv[i]);

		memmove(found.gl_pathv[i], word, strlen(word) + 1);
	}
	if (count)
		qsort(found.gl_pathv, (size_t)count, sizeof(char *), by_name);
	for (int i = 0; i < count; i++)
		if (strcmp(found.gl_pathv[i], t->instance) == 0)
			at = i;
	if (count > (at >= 0)) {
		at = at < 0 ? 0 : (at + step + count) % count;
		snprintf(name, SX_TOP_NAME_BYTES, "%s", found.gl_pathv[at]);
		ok = strcmp(name, t->instance) != 0;
	}
	globfree(&found);
	return ok;
}

json_t *sx_top_latencies(const struct sx_top *t)
{
	static const char *const keys[SX_TOP_WINDOWS] = {"latency_1s_us", "latency_10s_us", "latency_us"};

	return sx_answer_find(t->status, keys[t->window]);
}
