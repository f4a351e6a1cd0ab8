/*
 * What the daemons say of themselves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/web/ask.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/instance.h"
#include "tools/common/http_get.h"

enum { TIMEOUT_MS = 2000, PLACES = 2 };

static const char ring_prefix[] = "stixeld.";
static const char *const targets[WEB_PAGES] = {
	[WEB_PAGE_STATUS] = "/status", [WEB_PAGE_METRICS] = "/metrics"};

/* Where the folders of instances may lie: the system's daemons, then the user's own. */
static void place(int which, char *path, size_t bytes)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (which == 0)
		snprintf(path, bytes, "/run/stixeld");
	else if (runtime && *runtime)
		snprintf(path, bytes, "%s/stixeld", runtime);
	else
		snprintf(path, bytes, "/run/user/%u/stixeld", (unsigned)getuid());
}

bool web_ask_may(const struct web_names *only, const char *name)
{
	for (size_t i = 0; i < only->count; i++)
		if (strcmp(only->name[i], name) == 0)
			return true;
	return only->count == 0;
}

static void add_name(struct web_names *names, const char *name, const struct web_names *only)
{
	if (sx_instance_check(name, NULL, 0) < 0 || !web_ask_may(only, name) || names->count == WEB_INSTANCES)
		return;
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->name[i], name) == 0)
			return;
	snprintf(names->name[names->count++], WEB_NAME_BYTES, "%s", name);
}

static bool has_status(const char *folder, const char *name)
{
	char path[4096];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s/%s/status.sock", folder, name);

	return n > 0 && (size_t)n < sizeof(path) && stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

static void scan(struct web_names *names, const char *folder, bool rings, const struct web_names *only)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		const char *name = e->d_name;

		if (rings && strncmp(name, ring_prefix, strlen(ring_prefix)) == 0)
			add_name(names, name + strlen(ring_prefix), only);
		else if (!rings && name[0] != '.' && has_status(folder, name))
			add_name(names, name, only);
	}
	if (d)
		closedir(d);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

void web_ask_instances(struct web_names *ret, const struct web_names *only)
{
	char folder[4000];

	memset(ret, 0, sizeof(*ret));
	scan(ret, "/dev/shm", true, only);
	for (int i = 0; i < PLACES; i++) {
		place(i, folder, sizeof(folder));
		scan(ret, folder, false, only);
	}
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
			free(a->answer[page][i].body);
			pthread_mutex_destroy(&a->answer[page][i].lock);
		}
}

static int fetch(const char *instance, const char *target, char **body, char *why, size_t why_bytes)
{
	char folder[4000], path[4200];
	int r = -ENOENT;

	for (int i = 0; i < PLACES && (r == -ENOENT || r == -ECONNREFUSED); i++) {
		place(i, folder, sizeof(folder));
		snprintf(path, sizeof(path), "%s/%s/status.sock", folder, instance);
		r = sx_http_get(path, target, TIMEOUT_MS, body, why, why_bytes);
	}
	if (r == -ENOENT || r == -ECONNREFUSED) {
		snprintf(why, why_bytes, "no stixeld runs as instance '%s'", instance);
		return -ENOENT;
	}
	return r;
}

/* Two names at one place only forget each other's answers. */
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
	free(w->body);
	w->body = NULL;
	w->why[0] = '\0';
	snprintf(w->instance, sizeof(w->instance), "%s", instance);
	w->code = fetch(instance, targets[page], &w->body, w->why, sizeof(w->why));
	w->asked_ns = sx_now_ns();
}

int web_ask(struct web_asks *a, const char *instance, enum web_page page, char **body, char *why,
	    size_t why_bytes)
{
	struct web_answer *w = &a->answer[page][place_of(instance)];
	int code;

	pthread_mutex_lock(&w->lock);
	if (!is_fresh(w, instance))
		renew(w, instance, page);
	code = w->code;
	snprintf(why, why_bytes, "%s", w->why);
	if (code >= 0) {
		*body = strdup(w->body);
		if (!*body) {
			snprintf(why, why_bytes, "out of memory");
			code = -ENOMEM;
		}
	}
	pthread_mutex_unlock(&w->lock);
	return code;
}
