/*
 * Asks the daemons for their instances and pages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/web/ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ipc/instance.h"
#include "tools/common/instances.h"

/*
 * Time limits. A settings request waits until the daemon has created its contexts. Its limit is shorter than
 * WEB_CLIENT_TIMEOUT_S, after which the server closes the connection.
 */
enum { TIMEOUT_MS = 2000, SETTINGS_TIMEOUT_MS = 8000 };

static const char *const targets[WEB_PAGES] = {
	[WEB_PAGE_STATUS] = "/status", [WEB_PAGE_METRICS] = "/metrics", [WEB_PAGE_SETTINGS] = "/settings"};

bool web_ask_may(const struct web_names *only, const char *name)
{
	for (size_t i = 0; i < only->count; i++)
		if (strcmp(only->name[i], name) == 0)
			return true;
	return only->count == 0;
}

/* Names found so far, and the wanted names (empty: all). */
struct search {
	struct web_names *names;
	const struct web_names *only;
};

static void ask_add_name(void *user, const char *name)
{
	const struct search *s = user;
	struct web_names *names = s->names;

	if (sx_instance_check(name, NULL) < 0 || !web_ask_may(s->only, name))
		return;
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->name[i], name) == 0)
			return;
	if (names->count < WEB_INSTANCES)
		snprintf(names->name[names->count++], WEB_NAME_BYTES, "%s", name);
	else
		names->beyond++;
}

static void ask_add_ring(void *user, const char *name, bool trusted)
{
	const struct search *s = user;

	if (trusted)
		ask_add_name(user, name);
	else if (web_ask_may(s->only, name))
		s->names->foreign++;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

void web_ask_instances(struct web_names *ret, const struct web_names *only)
{
	struct search s = {ret, only};

	memset(ret, 0, sizeof(*ret));
	sx_instances_find(ask_add_name, &s);
	sx_instances_find_rings(ask_add_ring, &s);
	qsort(ret->name, ret->count, WEB_NAME_BYTES, by_name);
}

void web_asks_init(struct web_asks *a)
{
	memset(a, 0, sizeof(*a));
	for (int page = 0; page < WEB_PAGES; page++)
		for (int i = 0; i < WEB_INSTANCES; i++)
			pthread_mutex_init(&a->answer[page][i].lock, NULL);
}

void web_asks_finish(struct web_asks *a)
{
	for (int page = 0; page < WEB_PAGES; page++)
		for (int i = 0; i < WEB_INSTANCES; i++) {
			sx_reply_finish(&a->answer[page][i].reply);
			pthread_mutex_destroy(&a->answer[page][i].lock);
		}
}

/*
 * Returns the index of an instance's answers. Two names with the same index only replace each other's
 * answers.
 */
static size_t place_of(const char *instance)
{
	uint32_t hash = 2166136261u;

	for (; *instance; instance++)
		hash = (hash ^ (uint8_t)*instance) * 16777619u;
	return hash % WEB_INSTANCES;
}

static bool is_fresh(const struct web_answer *w, const char *instance)
{
	return w->asked_ns && strcmp(w->instance, instance) == 0 &&
	       sx_now_ns() - w->asked_ns < WEB_ANSWER_AGE_MS * INT64_C(1000000);
}

static void renew(struct web_answer *w, const char *instance, enum web_page page)
{
	const struct sx_question q = {.name = instance, .target = targets[page], .timeout_ms = TIMEOUT_MS};

	sx_reply_finish(&w->reply);
	snprintf(w->instance, sizeof(w->instance), "%s", instance);
	sx_socket_ask(&q, &w->reply);
	w->asked_ns = sx_now_ns();
}

int web_ask(struct web_asks *a, const char *instance, enum web_page page, struct sx_reply *ret)
{
	struct web_answer *w = &a->answer[page][place_of(instance)];

	pthread_mutex_lock(&w->lock);
	if (!is_fresh(w, instance))
		renew(w, instance, page);
	*ret = w->reply;
	if (ret->body)
		ret->body = strdup(ret->body);
	pthread_mutex_unlock(&w->lock);
	if (ret->code >= 0 && !ret->body)
		*ret = (struct sx_reply){.code = -ENOMEM, .why = "out of memory"};
	return ret->code;
}

int web_ask_settings(struct web_asks *a, const char *instance, const char *request, struct sx_reply *ret)
{
	struct web_answer *w = &a->answer[WEB_PAGE_SETTINGS][place_of(instance)];
	const struct sx_question q = {.name = instance,
				      .target = targets[WEB_PAGE_SETTINGS],
				      .post = request,
				      .timeout_ms = SETTINGS_TIMEOUT_MS};
	const int code = sx_socket_ask(&q, ret);

	pthread_mutex_lock(&w->lock);
	w->asked_ns = 0;
	pthread_mutex_unlock(&w->lock);
	return code;
}
