/*
 * Shows bridges: where their frames go, how fast, and how many were dropped on the way; also where they take
 * pairs for daemons. Shows segmentation networks: how fast they are, and what went wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/ctl/bridges.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/runtime_dirs.h"
#include "ipc/instance.h"
#include "tools/common/instances.h"
#include "tools/ctl/answer.h"
#include "tools/ctl/ctl_ask.h"
#include "tools/ctl/settings.h"

enum { ASK_MS = 1000, WIDTH_LEAST = 8, WIDTH_MOST = 64 };

const struct ctl_program ctl_bridge = {SX_RUNTIME_DIR_BRIDGE, "bridge", "sinks"};
const struct ctl_program ctl_network = {SX_RUNTIME_DIR_SEGMENT, "network", "restarts"};

/* Inserts a name in sorted order. A name in two folders arrives twice and is kept once. */
static void take(void *user, const char *name)
{
	json_t *names = user;
	size_t i = 0;

	if (sx_instance_check(name, NULL) < 0)
		return;
	while (i < json_array_size(names) && strcmp(json_string_value(json_array_get(names, i)), name) < 0)
		i++;
	if (i == json_array_size(names) || strcmp(json_string_value(json_array_get(names, i)), name) != 0)
		json_array_insert_new(names, i, json_string(name));
}

static json_t *ask(const struct ctl_program *program, const char *name)
{
	const struct sx_question q = {
		.program = program->folder, .name = name, .target = "/status", .timeout_ms = ASK_MS};
	struct sx_reply reply;
	json_t *answer = ctl_ask_object(&q, &reply);

	if (!json_object_get(answer, program->sign) || json_is_null(json_object_get(answer, program->sign))) {
		json_decref(answer);
		answer = json_pack("{s:o}", "why",
				   reply.code == 200 || reply.code == -EBADMSG
					   ? json_sprintf("its status is none of a %s", program->key)
					   : json_string(reply.why));
	}
	/* use the name of the folder, whatever name the program reports */
	json_object_set_new(answer, program->key, json_string(name));
	sx_json_make_printable(answer);
	sx_reply_finish(&reply);
	return answer;
}

json_t *ctl_programs(const struct ctl_program *program)
{
	json_t *names = json_array(), *all = json_array();
	size_t i;
	json_t *name;

	if (names && all) {
		sx_programs_find(program->folder, take, names);
		json_array_foreach(names, i, name)
			json_array_append_new(all, ask(program, json_string_value(name)));
	}
	json_decref(names);
	return all;
}

static json_int_t dropped(const json_t *way)
{
	const json_t *reasons = json_object_get(way, "dropped");

	return (json_int_t)((uint64_t)json_integer_value(json_object_get(reasons, "busy")) +
			    (uint64_t)json_integer_value(json_object_get(reasons, "not_connected")));
}

static void put_way(const char *bridge, json_t *sink, json_t *way, int width)
{
	json_t *p99 = sx_answer_find(way, "latency_ms.p99");
	char latency[24] = "-";

	if (json_is_number(p99))
		snprintf(latency, sizeof(latency), "%.1f", json_number_value(p99));
	printf("%-*s  %-*s  %-9s  %-*s  %-10s  %6.1f  %8" JSON_INTEGER_FORMAT "  %8s\n", width, bridge, width,
	       sx_answer_text(sink, "sink"), sx_answer_text(sink, "kind"), width,
	       sx_answer_text(way, "instance"), sx_answer_text(sink, "state"),
	       json_number_value(json_object_get(way, "per_second")), dropped(way), latency);
}

/* Prints an input of pairs. dropped: pairs that the daemon did not get, for any reason. */
static void put_input(const char *bridge, json_t *input, int width)
{
	static const char *const reasons[] = {"why", "daemon_why"};
	uint64_t lost = 0;
	const char *reason;
	json_t *count;

	json_object_foreach(json_object_get(input, "dropped"), reason, count)
	{
		lost += (uint64_t)json_integer_value(count);
	}
	printf("%-*s  %-*s  %-9s  %-*s  %-10s  %8" JSON_INTEGER_FORMAT "  %8" PRIu64 "\n", width, bridge,
	       width, sx_answer_text(input, "pairs"), sx_answer_text(input, "kind"), width,
	       sx_answer_text(input, "instance"), sx_answer_text(input, "state"),
	       json_integer_value(json_object_get(input, "given")), lost);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		const char *why = json_string_value(json_object_get(input, reasons[i]));

		if (why && *why)
			printf("%-*s  %s\n", width, "", why);
	}
}

static void put_bridge(json_t *bridge, int width)
{
	const char *name = sx_answer_text(bridge, "bridge"), *why = sx_answer_text(bridge, "why");
	size_t i, k;
	json_t *sink, *way;

	if (!json_object_get(bridge, "sinks"))
		printf("%-*s  %s\n", width, name, why);
	json_array_foreach(json_object_get(bridge, "sinks"), i, sink)
	{
		json_array_foreach(json_object_get(sink, "instances"), k, way)
			put_way(name, sink, way, width);
		why = json_string_value(json_object_get(sink, "why"));
		if (why && *why)
			printf("%-*s  %s\n", width, "", why);
	}
}

static void widen(int *width, json_t *j, const char *key)
{
	const int length = (int)strlen(sx_answer_text(j, key));

	if (length > *width)
		*width = length > WIDTH_MOST ? WIDTH_MOST : length;
}

/* Returns the width of the name columns: that of the longest name. */
static int name_width(const json_t *bridges)
{
	int width = WIDTH_LEAST;
	size_t i, k, n;
	json_t *bridge, *sink, *way;

	json_array_foreach(bridges, i, bridge)
	{
		widen(&width, bridge, "bridge");
		json_array_foreach(json_object_get(bridge, "sinks"), k, sink)
		{
			widen(&width, sink, "sink");
			json_array_foreach(json_object_get(sink, "instances"), n, way)
				widen(&width, way, "instance");
		}
		json_array_foreach(json_object_get(bridge, "pairs"), k, sink)
		{
			widen(&width, sink, "pairs");
			widen(&width, sink, "instance");
		}
	}
	return width;
}

void ctl_bridges_table(const json_t *bridges)
{
	const int width = name_width(bridges);
	size_t ways = 0, inputs = 0, i, k;
	json_t *bridge, *input;

	json_array_foreach(bridges, i, bridge)
	{
		const json_t *sinks = json_object_get(bridge, "sinks");

		/* a bridge without sinks has one line, which says why */
		ways += sinks ? json_array_size(sinks) : 1;
		inputs += json_array_size(json_object_get(bridge, "pairs"));
	}
	if (ways)
		printf("\n%-*s  %-*s  %-9s  %-*s  %-10s  %6s  %8s  %8s\n", width, "BRIDGE", width, "SINK",
		       "KIND", width, "INSTANCE", "STATE", "SENT/S", "DROPPED", "P99 MS");
	json_array_foreach(bridges, i, bridge) put_bridge(bridge, width);
	if (inputs)
		printf("\n%-*s  %-*s  %-9s  %-*s  %-10s  %8s  %8s\n", width, "BRIDGE", width, "PAIRS", "KIND",
		       width, "INSTANCE", "STATE", "GIVEN", "DROPPED");
	json_array_foreach(bridges, i, bridge)
	{
		json_array_foreach(json_object_get(bridge, "pairs"), k, input)
			put_input(sx_answer_text(bridge, "bridge"), input, width);
	}
}

static void put_network(json_t *network, int width)
{
	const char *name = sx_answer_text(network, "network"), *why = sx_answer_text(network, "why");
	json_t *p50 = sx_answer_find(network, "network_ms.p50");
	char latency[24] = "-";

	if (!json_object_get(network, "restarts")) {
		printf("%-*s  %s\n", width, name, why);
		return;
	}
	if (json_is_number(p50))
		snprintf(latency, sizeof(latency), "%.1f", json_number_value(p50));
	printf("%-*s  %-10s  %8.1f  %8" JSON_INTEGER_FORMAT "  %8" JSON_INTEGER_FORMAT
	       "  %8" JSON_INTEGER_FORMAT "  %8" JSON_INTEGER_FORMAT "  %8s\n",
	       width, name, sx_answer_text(network, "state"),
	       json_number_value(json_object_get(network, "per_second")),
	       json_integer_value(json_object_get(network, "skipped")),
	       json_integer_value(json_object_get(network, "bad")),
	       json_integer_value(sx_answer_find(network, "restarts.died")),
	       json_integer_value(sx_answer_find(network, "restarts.hung")), latency);
	if (*why)
		printf("%-*s  %s\n", width, "", why);
}

void ctl_networks_table(const json_t *networks)
{
	int width = WIDTH_LEAST;
	size_t i;
	json_t *network;

	json_array_foreach(networks, i, network) widen(&width, network, "network");
	if (json_array_size(networks))
		printf("\n%-*s  %-10s  %8s  %8s  %8s  %8s  %8s  %8s\n", width, "NETWORK", "STATE", "SCORES/S",
		       "SKIPPED", "BAD", "DIED", "HUNG", "P50 MS");
	json_array_foreach(networks, i, network) put_network(network, width);
}
