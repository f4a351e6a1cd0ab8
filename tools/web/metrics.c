/*
 * Serves /metrics: the metrics of stixel-web itself, of all instances, bridges and segmentation networks, in
 * one OpenMetrics document.
 *
 * A document may contain each family once, so the documents of several daemons are merged. A family of the
 * first document takes the samples of all. Each sample gets the label instance, which also distinguishes the
 * samples of stixeld_info.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/runtime_dirs.h"
#include "ipc/instance.h"
#include "ipc/openmetrics.h"
#include "tools/common/instances.h"
#include "tools/web/certificate.h"
#include "tools/web/server.h"

static const char type[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";
static const char type_line[] = "# TYPE ";

enum { PROGRAMS = 8, PROGRAM_MS = 500 };

struct document {
	const char *instance; /* label for the samples; NULL: the document has its labels */
	char *text;
};

/* Returns the next line without its end, NULL after the last one. Advances *at. */
static const char *next_line(const char **at, size_t *length)
{
	const char *line = *at;

	if (!*line)
		return NULL;
	*length = strcspn(line, "\n");
	*at = line + *length + (line[*length] == '\n');
	return line;
}

/* Returns the length of the family's name if the line begins a family, else 0. */
static size_t family_of(const char *line, const char **name)
{
	if (strncmp(line, type_line, strlen(type_line)) != 0)
		return 0;
	*name = line + strlen(type_line);
	return strcspn(*name, " \n");
}

/*
 * Returns the lines of a family in a document, after its TYPE line. NULL: the document does not have the
 * family.
 */
static const char *find_family(const char *text, const char *name, size_t name_bytes)
{
	const char *line, *found;
	size_t length, n;

	while ((line = next_line(&text, &length))) {
		n = family_of(line, &found);
		if (n == name_bytes && n && strncmp(found, name, n) == 0)
			return text;
	}
	return NULL;
}

/* Writes a sample, "name{a="b"} 1" or "name 1". Adds the label unless the sample has it. */
static void put_sample(FILE *to, const char *line, size_t length, const char *instance)
{
	size_t name = strcspn(line, "{ \n");
	static const char label[] = "instance=\"";

	fwrite(line, 1, name, to);
	if (!instance)
		fwrite(line + name, 1, (size_t)(line[name] == '{'), to);
	else if (line[name] != '{')
		fprintf(to, "{%s%s\"}", label, instance);
	else if (strncmp(line + name + 1, label, strlen(label)) == 0)
		fputc('{', to);
	else
		fprintf(to, "{%s%s\",", label, instance);
	name += line[name] == '{';
	fwrite(line + name, 1, length - name, to);
	fputc('\n', to);
}

/* Writes the lines of one family up to the next family or the end of the document. */
static void put_family(FILE *to, const char *lines, const char *instance, bool comments)
{
	const char *line, *name;
	size_t length;

	while ((line = next_line(&lines, &length))) {
		if (family_of(line, &name) || strncmp(line, "# EOF", 5) == 0)
			return;
		if (line[0] != '#')
			put_sample(to, line, length, instance);
		else if (comments)
			fprintf(to, "%.*s\n", (int)length, line);
	}
}

static bool was_before(const struct document *documents, size_t count, const char *name, size_t bytes)
{
	for (size_t i = 0; i < count; i++)
		if (find_family(documents[i].text, name, bytes))
			return true;
	return false;
}

static void merge(FILE *to, const struct document *documents, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *at = documents[i].text, *line, *name;
		size_t length, n;

		while ((line = next_line(&at, &length))) {
			n = family_of(line, &name);
			if (!n || was_before(documents, i, name, n))
				continue;
			fprintf(to, "%.*s\n", (int)length, line);
			put_family(to, at, documents[i].instance, true);
			for (size_t k = i + 1; k < count; k++) {
				const char *more = find_family(documents[k].text, name, n);

				if (more)
					put_family(to, more, documents[k].instance, false);
			}
		}
	}
}

static void add_counter(struct sx_text *t, const char *name, const char *unit, const char *help,
			uint64_t value)
{
	sx_openmetrics_family(t, name, "counter", unit, help);
	sx_text_add(t, "%s_total %" PRIu64 "\n", name, value);
}

static void add_counts(struct sx_text *t, struct web_server *s)
{
	add_counter(t, "stixel_web_streams", NULL, "streams that were opened",
		    atomic_load(&s->counts.streams));
	add_counter(t, "stixel_web_frames_sent", NULL, "frames sent to viewers, all together",
		    atomic_load(&s->counts.frames_sent));
	add_counter(t, "stixel_web_frames_skipped", NULL, "frames that were due to slow viewers and not sent",
		    atomic_load(&s->counts.frames_skipped));
	add_counter(t, "stixel_web_sent_bytes", "bytes", "of streams", atomic_load(&s->counts.bytes_sent));
	add_counter(t, "stixel_web_requests", NULL, "requests, also refused ones",
		    atomic_load(&s->counts.requests));
	add_counter(t, "stixel_web_requests_refused", NULL,
		    "requests by a wrong name, method or with a body, from another site, without a password, "
		    "orders not allowed, and viewers too many",
		    atomic_load(&s->counts.refused));
	add_counter(t, "stixel_web_connections_refused", NULL,
		    "connections of addresses that had a quarter of all already",
		    atomic_load(&s->counts.connections_refused));
	add_counter(t, "stixel_web_logins_refused", NULL, "requests with a wrong user or password",
		    atomic_load(&s->counts.logins_refused));
}

/* Adds the number of instances in /dev/shm and in the socket folders that these pages do not show. */
static void add_left_out(struct sx_text *t, const struct web_names *names)
{
	static const char name[] = "stixel_web_instances_left_out";
	char help[160];

	snprintf(
		help, sizeof(help),
		"rings of users that are not trusted with their names (foreign), and instances beyond %d (beyond)",
		WEB_INSTANCES);
	sx_openmetrics_family(t, name, "gauge", NULL, help);
	sx_text_add(t, "%s{reason=\"foreign\"} %zu\n%s{reason=\"beyond\"} %zu\n", name, names->foreign, name,
		    names->beyond);
}

static void put_own(FILE *to, struct web_server *s, const struct web_names *names)
{
	static const char version[] = "stixel_web", uptime[] = "stixel_web_uptime_seconds",
			  viewers[] = "stixel_web_viewers",
			  expiry[] = "stixel_web_certificate_expiry_seconds";
	time_t begins, ends;
	char data[4096];
	struct sx_text t;

	sx_text_init(&t, data, sizeof(data));
	sx_openmetrics_family(&t, version, "info", NULL, "the dashboard");
	sx_text_add(&t, "%s_info{", version);
	sx_openmetrics_label(&t, "version", SX_VERSION);
	sx_text_add(&t, "} 1\n");
	sx_openmetrics_family(&t, uptime, "gauge", "seconds", "since the process started");
	sx_text_add(&t, "%s %.3f\n", uptime, (double)(sx_now_ns() - s->started_ns) / 1e9);
	sx_openmetrics_family(&t, viewers, "gauge", NULL, "streams that are open now");
	sx_text_add(&t, "%s %u\n", viewers, web_feeds_viewers(s->feeds));
	add_counts(&t, s);
	if (web_certificate_times(&begins, &ends)) {
		sx_openmetrics_family(&t, expiry, "gauge", "seconds", "when it expires, since 1970");
		sx_text_add(&t, "%s %lld\n", expiry, (long long)ends);
	}
	add_left_out(&t, names);
	sx_must_be(!t.cut);
	fputs(data, to);
}

/* Asks all instances and collects the documents of the answers. Returns their number. */
static size_t ask_all(struct web_server *s, const struct web_names *names, struct document *documents)
{
	size_t count = 0;

	for (size_t i = 0; i < names->count; i++) {
		struct sx_reply reply;

		if (web_ask(&s->asks, names->name[i], WEB_PAGE_METRICS, &reply) == 200)
			documents[count++] = (struct document){names->name[i], reply.body};
		else
			sx_reply_finish(&reply);
	}
	return count;
}

struct programs {
	char name[PROGRAMS][WEB_NAME_BYTES];
	size_t count;
};

/* Adds a process. Two runtime directories of a user may be the same folder, so a name may come twice. */
static void take_program(void *user, const char *name)
{
	struct programs *p = user;

	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->name[i], name) == 0)
			return;
	if (p->count < PROGRAMS && sx_instance_check(name, NULL) == 0)
		snprintf(p->name[p->count++], WEB_NAME_BYTES, "%s", name);
}

/*
 * Asks every process of another program that answers. A bridge serves several instances, so with -i none is
 * asked.
 */
static size_t ask_programs(const struct web_server *s, const char *program, struct document *documents)
{
	struct programs p = {.count = 0};
	size_t count = 0;

	if (s->only.count)
		return 0;
	sx_programs_find(program, take_program, &p);
	for (size_t i = 0; i < p.count; i++) {
		const struct sx_question q = {.program = program,
					      .name = p.name[i],
					      .target = "/metrics",
					      .timeout_ms = PROGRAM_MS};
		struct sx_reply reply;

		if (sx_socket_ask(&q, &reply) == 200)
			documents[count++] = (struct document){.text = reply.body};
		else
			sx_reply_finish(&reply);
	}
	return count;
}

/* Sends the document of one instance unchanged. */
static enum MHD_Result one_page(struct web_server *s, struct MHD_Connection *c, const char *instance)
{
	enum MHD_Result done;
	struct sx_reply reply;
	const int code = web_ask(&s->asks, instance, WEB_PAGE_METRICS, &reply);

	if (code < 0)
		return web_refuse_ask(c, &reply);
	done = web_reply(c, (unsigned)code, type, reply.body, strlen(reply.body));
	sx_reply_finish(&reply);
	return done;
}

enum MHD_Result web_metrics_page(struct web_server *s, struct MHD_Connection *c, const char *instance)
{
	struct document documents[WEB_INSTANCES + 2 * PROGRAMS];
	struct web_names names;
	enum MHD_Result done = MHD_NO;
	char *text = NULL;
	size_t bytes = 0, count;
	FILE *to;

	if (instance)
		return one_page(s, c, instance);
	to = open_memstream(&text, &bytes);
	if (!to)
		return web_refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
	web_ask_instances(&names, &s->only);
	count = ask_all(s, &names, documents);
	count += ask_programs(s, SX_RUNTIME_DIR_BRIDGE, documents + count);
	count += ask_programs(s, SX_RUNTIME_DIR_SEGMENT, documents + count);
	put_own(to, s, &names);
	merge(to, documents, count);
	fputs("# EOF\n", to);
	for (size_t i = 0; i < count; i++)
		free(documents[i].text);
	if (fclose(to) == 0)
		done = web_reply(c, MHD_HTTP_OK, type, text, bytes);
	free(text);
	return done;
}
