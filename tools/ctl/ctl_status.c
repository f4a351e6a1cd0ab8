/*
 * Implements stixelctl status: shows the daemon's status (status.sock) as a page of 80x24 characters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/advice.h"
#include "tools/ctl/answer.h"
#include "tools/ctl/ctl_ask.h"

#define PAGE_COLUMNS 80
#define PAGE_ROWS 23 /* rows of the page; the 24th row says how to end a watch */
#define INDENT 10    /* columns left of the text, for the word that names it */
#define STAGES_LEAST 3
/* rows of the table at least: head, total, stages and the line on omitted stages */
#define TABLE_LEAST (STAGES_LEAST + 6)
#define SMALL 0.02 /* share of the whole latency; a stage with less may be omitted */

/*
 * Returns the escape sequence for green, yellow or red. Colours are used on a terminal unless NO_COLOR
 * forbids them.
 */
static const char *colour(const char *state, bool on)
{
	if (!on)
		return "";
	if (strcmp(state, "running") == 0)
		return "\033[32m";
	return strcmp(state, "starting") == 0 || strcmp(state, "degraded") == 0 ? "\033[33m" : "\033[31m";
}

static bool use_colour(void)
{
	const char *no = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && !(no && *no);
}

/* Number of lines of the page printed so far. */
static int lines;

/* Prints and counts lines. Only the format may contain line ends, never the arguments. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	for (const char *c = format; *c; c++)
		lines += *c == '\n';
}

/* Prints how many images were used or dropped, and why, for sources that report it. */
static void print_camera(json_t *camera)
{
	json_t *dropped = json_object_get(camera, "dropped"), *images;
	const char *reason;
	int said = 0;

	if (!dropped)
		return;
	say("  %-7s %s, %s, %s captured, %s lost by the driver", sx_answer_text(camera, "side"),
	    sx_answer_text(camera, "path"), sx_answer_text(camera, "format"),
	    sx_answer_number(camera, "captured", 1, 0), sx_answer_number(camera, "sequence_gaps", 1, 0));
	json_object_foreach(dropped, reason, images)
	{
		if (json_integer_value(images) > 0)
			say("%s %" JSON_INTEGER_FORMAT " %s", said++ ? "," : ", dropped",
			    json_integer_value(images), reason);
	}
	say("\n");
}

static void print_source(json_t *j)
{
	json_t *cameras = sx_answer_find(j, "source.cameras"), *camera = json_array_get(cameras, 0);
	const char *writer = json_string_value(sx_answer_find(j, "source.writer"));
	size_t i;

	say("source    %s, %s x %s, memory %s", sx_answer_text(j, "source.kind"),
	    sx_answer_number(camera, "width", 1, 0), sx_answer_number(camera, "height", 1, 0),
	    sx_answer_text(j, "source.memory"));
	if (json_array_size(cameras) > 1)
		say(", skew p99 %s us", sx_answer_number(j, "source.pair_skew_us.p99", 1, 0));
	say("\n");
	if (writer)
		say("          pairs by %.60s\n", writer);
	json_array_foreach(cameras, i, camera) print_camera(camera);
}

/* Prints the power. Prints nothing if nothing measures it, as on most computers. */
static void print_power(json_t *j)
{
	if (!json_is_string(sx_answer_find(j, "power.source")) &&
	    !json_is_true(sx_answer_find(j, "power.stale")))
		return;
	if (json_is_true(sx_answer_find(j, "power.stale")))
		say("power     unknown for %s s: %.50s\n", sx_answer_number(j, "power.age_ms", 1e-3, 0),
		    sx_answer_text(j, "power.reason"));
	else
		say("power     %s W (%s), %s J a frame, %s fps/W\n", sx_answer_number(j, "power.watts", 1, 1),
		    sx_answer_text(j, "power.scope"), sx_answer_number(j, "power.joules_per_frame", 1, 3),
		    sx_answer_number(j, "power.fps_per_watt", 1, 3));
}

/* Prints the state of external disparity maps if the configuration has such a source. */
static void print_external(json_t *j)
{
	const char *reason = json_string_value(sx_answer_find(j, "external.reason"));

	if (!json_is_string(sx_answer_find(j, "external.source")))
		return;
	say("maps      %s: %s; %s read, %s late; %s pairs without\n", sx_answer_text(j, "external.source"),
	    sx_answer_text(j, "external.state"), sx_answer_number(j, "external.maps.received", 1, 0),
	    sx_answer_number(j, "external.maps.late", 1, 0),
	    sx_answer_number(j, "frames.dropped.no_map", 1, 0));
	if (reason)
		say("          %s\n", reason);
}

/* Prints the state of class scores if the configuration has such a source. */
static void print_semantics(json_t *j)
{
	const char *reason = json_string_value(sx_answer_find(j, "semantics.reason"));

	if (!json_is_string(sx_answer_find(j, "semantics.source")))
		return;
	say("scores    %s: %s; frames %s matched, %s older, %s without; %s late\n",
	    sx_answer_text(j, "semantics.source"), sx_answer_text(j, "semantics.state"),
	    sx_answer_number(j, "semantics.frames.matched", 1, 0),
	    sx_answer_number(j, "semantics.frames.older", 1, 0),
	    sx_answer_number(j, "semantics.frames.missing", 1, 0),
	    sx_answer_number(j, "semantics.scores.late", 1, 0));
	if (reason)
		say("          %s\n", reason);
}

static void print_latency(const char *name, json_t *row, double whole_us)
{
	static const char full[] = "========================";
	double p50 = json_number_value(json_object_get(row, "p50"));
	int length = whole_us > 0.0 ? (int)(p50 / whole_us * 24.0 + 0.5) : 0;
	char words[19];

	length = length < 0 ? 0 : length > 24 ? 24 : length;
	snprintf(words, sizeof(words), "%s", name);
	for (char *c = words; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	say("%-18s %9s %9s %9s   %.*s\n", words, sx_answer_number(row, "p50", 1e-3, 3),
	    sx_answer_number(row, "p99", 1e-3, 3), sx_answer_number(row, "max", 1e-3, 3), length, full);
}

/* Returns true for a single stage. The total and its three parts ("... to ...") are always shown. */
static bool is_stage(const char *name)
{
	return !strstr(name, "_to_");
}

static double p50_of(const json_t *row)
{
	return json_number_value(json_object_get(row, "p50"));
}

/* Returns the number of stages that take longer, or that take as long and stand above. */
static int rank_of(json_t *table, const json_t *stage)
{
	const char *name;
	json_t *row;
	bool above = true;
	int rank = 0;

	json_object_foreach(table, name, row)
	{
		above = above && row != stage;
		if (is_stage(name) &&
		    (p50_of(row) > p50_of(stage) || (above && p50_of(row) >= p50_of(stage))))
			rank++;
	}
	return rank;
}

/* Returns how many stages fit on the page, at least STAGES_LEAST. */
static int room_for_stages(json_t *table)
{
	int room = PAGE_ROWS - lines - 2; /* rows above and below the stages do not count */
	const char *name;
	json_t *row;

	json_object_foreach(table, name, row) room -= !is_stage(name);
	return room > STAGES_LEAST ? room : STAGES_LEAST;
}

/* Prints the latency table without the stages that take almost no time. */
static void print_latencies(json_t *j)
{
	json_t *recent = sx_answer_find(j, "latency_10s_us"), *all = sx_answer_find(j, "latency_us"), *row;
	json_t *table = recent ? recent : all;
	const double whole = json_number_value(sx_answer_find(table, "capture_to_publish.p50"));
	const int room = room_for_stages(table);
	double longest = 0.0; /* longest p50 of the omitted stages */
	const char *name;
	int rest = 0;

	say("%-18s %9s %9s %9s   share\n", recent ? "last 10 s, ms" : "since start, ms", "p50", "p99", "max");
	json_object_foreach(table, name, row)
	{
		if (!is_stage(name) || (p50_of(row) >= whole * SMALL && rank_of(table, row) < room)) {
			print_latency(name, row, whole);
		} else {
			rest++;
			longest = fmax(longest, p50_of(row));
		}
	}
	if (rest > 0 && whole > 0.0)
		say("and %d stages below %.0f %%\n", rest, floor(100.0 * longest / whole) + 1.0);
	else if (rest > 0)
		say("and %d stages\n", rest);
}

/* Prints a text after the word that names it, wrapped to the width of the page. NULL: prints nothing. */
static void print_named(const char *name, const char *text)
{
	for (; text && *text; name = "") {
		int n = (int)strlen(text);

		if (n > PAGE_COLUMNS - INDENT) {
			for (n = PAGE_COLUMNS - INDENT; n > 0 && text[n] != ' '; n--)
				;
			if (n == 0) /* the text begins with one long word */
				n = PAGE_COLUMNS - INDENT;
		}
		say("%-*s%.*s\n", INDENT, name, n, text);
		text += n;
		text += *text == ' ';
	}
}

/* Prints a sentence below the line that it belongs to. */
static void print_sentence(const char *text)
{
	print_named("", text);
}

/* Prints the camera that all distances depend on, and the questions about it. */
static void print_camera_model(json_t *j)
{
	static const char prefix[] = "camera: "; /* begins the log's line */
	const char *text = json_string_value(sx_answer_find(j, "camera.text"));
	json_t *questions = sx_answer_find(j, "camera.questions"), *question;
	char line[256] = "";
	size_t i;

	if (text && strncmp(text, prefix, strlen(prefix)) == 0)
		text += strlen(prefix);
	if (text) /* the part behind the semicolon names the source of the values */
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, ";"), text);
	print_named("camera", line);
	json_array_foreach(questions, i, question)
		print_named(i ? "" : "question", json_string_value(question));
}

static void print_road(json_t *j)
{
	say("road      %s, horizon %s, camera %s m high,\n"
	    "          pitch %s deg, roll %s deg\n",
	    sx_answer_text(j, "road.origin"), sx_answer_number(j, "road.horizon_row", 1, 1),
	    sx_answer_estimate(j, "road.height_m", "road.height_sigma_m", 2),
	    sx_answer_estimate(j, "road.pitch_deg", "road.pitch_sigma_deg", 2),
	    sx_answer_estimate(j, "road.roll_deg", "road.roll_sigma_deg", 2));
}

/* Prints the motion of the camera if it is measured, and what it says about distances. */
static void print_motion(json_t *j)
{
	const char *state = json_string_value(sx_answer_find(j, "motion.state"));
	char line[128];

	if (!json_is_string(sx_answer_find(j, "motion.mode")) || !state)
		return;
	if (json_is_number(sx_answer_find(j, "motion.speed_m_s")))
		snprintf(line, sizeof(line), "%s m/s, turns by %s deg/s; %s frames known, %s unknown",
			 sx_answer_number(j, "motion.speed_m_s", 1, 2),
			 sx_answer_number(j, "motion.yaw_rate_deg_s", 1, 1),
			 sx_answer_number(j, "motion.frames.known", 1, 0),
			 sx_answer_number(j, "motion.frames.unknown", 1, 0));
	else
		snprintf(line, sizeof(line), "unknown: %s", state);
	print_named("motion", line);
	print_named("range", sx_answer_range(j));
}

static void print_engine(json_t *j)
{
	const char *volume = json_string_value(sx_answer_find(j, "engine.volume"));
	char line[512];

	snprintf(line, sizeof(line), "%s: %s%s%s", sx_answer_text(j, "engine.backend"),
		 sx_answer_text(j, "engine.device"), volume && *volume ? "; " : "", volume ? volume : "");
	print_named("engine", line);
}

static void print_images(json_t *j)
{
	const char *rows = sx_answer_rows(j);

	say("pictures  %s\n", sx_answer_images(j));
	if (rows)
		say("rows      %s\n", rows);
}

static void print_page(json_t *j)
{
	bool colours = use_colour();
	const char *state = sx_answer_text(j, "state");
	const char *reason = json_string_value(sx_answer_find(j, "reason"));

	lines = 0;
	say("stixeld '%s'  %s%s%s, up %s, version %s, pid %s\n", sx_answer_text(j, "instance"),
	    colour(state, colours), state, colours ? "\033[0m" : "",
	    sx_answer_span(json_number_value(sx_answer_find(j, "uptime_s"))), sx_answer_text(j, "version"),
	    sx_answer_number(j, "pid", 1, 0));
	print_sentence(reason);
	print_sentence(reason ? sx_advice_on_reason(reason) : NULL);
	print_engine(j);
	print_source(j);
	print_camera_model(j);
	say("frames    %s a second (last 10 s: %s), %s published of %s captured\n",
	    sx_answer_number(j, "fps.last_1s", 1, 1), sx_answer_number(j, "fps.last_10s", 1, 1),
	    sx_answer_number(j, "frames.published", 1, 0), sx_answer_number(j, "frames.captured", 1, 0));
	say("dropped   %s overload, %s unpaired, %s corrupt\n",
	    sx_answer_number(j, "frames.dropped.overload", 1, 0),
	    sx_answer_number(j, "frames.dropped.unpaired", 1, 0),
	    sx_answer_number(j, "frames.dropped.corrupt", 1, 0));
	print_images(j);
	print_road(j);
	print_motion(j);
	say("stixels   %s a frame, %s pixels each; stream: %s clients\n",
	    sx_answer_number(j, "stixels.per_frame", 1, 0),
	    sx_answer_number(j, "stixels.pixels_per_stixel", 1, 0),
	    sx_answer_number(j, "stream.clients", 1, 0));
	print_external(j);
	print_semantics(j);
	print_power(j);
	if (lines + TABLE_LEAST < PAGE_ROWS)
		say("\n");
	print_latencies(j);
}

/* Prints one line per refresh, for logs and pipes. */
static void print_line(json_t *j)
{
	char now[16];
	time_t t = time(NULL);
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(now, sizeof(now), "%H:%M:%S", &tm);
	printf("%s %s  %s fps  latency p50 %s p99 %s ms  ", now, sx_answer_text(j, "state"),
	       sx_answer_number(j, "fps.last_1s", 1, 1),
	       sx_answer_number(j, "latency_10s_us.capture_to_publish.p50", 1e-3, 1),
	       sx_answer_number(j, "latency_10s_us.capture_to_publish.p99", 1e-3, 1));
	printf("published %s  dropped %s  stixels %s  road %s\n",
	       sx_answer_number(j, "frames.published", 1, 0),
	       sx_answer_number(j, "frames.dropped.overload", 1, 0),
	       sx_answer_number(j, "stixels.per_frame", 1, 0), sx_answer_text(j, "road.origin"));
}

/* Prints the page from a ring alone: of a replay, or of a daemon whose socket cannot be seen from here. */
static void print_ring_page(json_t *j)
{
	bool colours = use_colour(), replay = json_is_true(json_object_get(j, "replay"));
	const char *state = sx_answer_text(j, "state");

	lines = 0;
	say("%s '%s'  %s%s%s, up %s, version %s, pid %s\n", replay ? "replay" : "stixeld",
	    sx_answer_text(j, "instance"), colour(state, colours), state, colours ? "\033[0m" : "",
	    sx_answer_span(json_number_value(sx_answer_find(j, "uptime_s"))), sx_answer_text(j, "version"),
	    sx_answer_number(j, "pid", 1, 0));
	print_sentence(
		replay ? "A recording is published again, without a status socket: this is what its ring "
			 "says."
		       : "Its status socket is not to be found here: this is what its ring says.");
	say("frames    %s a second, %s published, the newest %s ms old\n",
	    sx_answer_number(j, "fps.last_1s", 1, 1), sx_answer_number(j, "frames.published", 1, 0),
	    sx_answer_number(j, "newest.age_ms", 1, 1));
	say("images    %s x %s\n", sx_answer_number(j, "newest.width", 1, 0),
	    sx_answer_number(j, "newest.height", 1, 0));
	print_road(j);
	say("stixels   %s a frame, %s pixels each, %s columns\n",
	    sx_answer_number(j, "stixels.per_frame", 1, 0),
	    sx_answer_number(j, "stixels.pixels_per_stixel", 1, 0),
	    sx_answer_number(j, "newest.columns", 1, 0));
	say("ring      %s, %s frames\n", sx_answer_text(j, "ring.path"),
	    sx_answer_number(j, "ring.slots", 1, 0));
}

static void print_any_page(json_t *j)
{
	(json_object_get(j, "replay") ? print_ring_page : print_page)(j);
}

/*
 * Returns the status of the instance. reply->body is the daemon's text, NULL if the status comes from a ring.
 * On an error sets the exit code and returns NULL.
 */
static json_t *status_of(const struct ctl *c, struct sx_reply *reply, int *code)
{
	json_t *j = ctl_ask_status(c->instance, CTL_ANSWER_MS, reply);

	if (!j && reply->code == -ENOENT)
		j = ctl_ask_ring(c->instance);
	if (!j)
		*code = ctl_ask_failed(c, reply);
	return j;
}

/* Asks once and prints the answer with show. With --json prints the daemon's text unchanged. */
static int show_status(const struct ctl *c, void (*show)(json_t *j))
{
	struct sx_reply reply;
	int code = 0;
	json_t *j = status_of(c, &reply, &code);

	if (!code && c->json && reply.body)
		fputs(reply.body, stdout);
	else if (!code && c->json)
		code = json_dumpf(j, stdout, JSON_COMPACT) < 0 || puts("") < 0 ? EX_CANTCREAT : 0;
	else if (!code)
		show(j);
	json_decref(j);
	sx_reply_finish(&reply);
	if (!code && fflush(stdout) != 0)
		code = ctl_fail(EX_CANTCREAT, "cannot print: %s", strerror(errno));
	return code;
}

static void redraw(json_t *j)
{
	fputs("\033[H\033[J", stdout); /* cursor home and clear from there: no flicker, unlike a full clear */
	print_any_page(j);
	fputs("Ctrl-C ends", stdout);
}

int ctl_status(const struct ctl *c)
{
	struct timespec pause = {.tv_sec = c->interval_ms / 1000,
				 .tv_nsec = c->interval_ms % 1000 * 1000000L};
	bool terminal = isatty(STDOUT_FILENO) && !c->json;
	int code = 0;

	if (!c->watch)
		return show_status(c, print_any_page);
	if (terminal)
		fputs("\033[2J", stdout);
	for (int done = 0; !code && !ctl_stopped && (c->frames <= 0 || done < c->frames); done++) {
		if (done)
			nanosleep(&pause, NULL);
		if (!ctl_stopped)
			code = show_status(c, terminal ? redraw : print_line);
	}
	if (terminal)
		putchar('\n');
	return code;
}
