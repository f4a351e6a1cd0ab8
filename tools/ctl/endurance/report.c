/*
 * Prints the report of stixelctl endurance as a page of 80 columns or as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "tools/ctl/endurance/endurance.h"

#define COLUMNS 80
#define FIGURE_AT 44

static const char *const verdicts[] = {
	[ENDURANCE_GOOD] = "good", [ENDURANCE_BAD] = "BAD", [ENDURANCE_NOT_JUDGED] = "not judged"};

static int count_of(const struct endurance_row *rows, int count, enum endurance_verdict verdict)
{
	int n = 0;

	for (int i = 0; i < count; i++)
		n += rows[i].verdict == verdict;
	return n;
}

static bool ended_early(const struct endurance *e)
{
	return e->ended_ns - e->began_ns < e->planned_ns;
}

static double seconds(int64_t ns)
{
	return (double)ns / 1e9;
}

/* Prints the text after the columns of the table, wrapped to the width of the page. */
static void print_figure(const char *text)
{
	const int room = COLUMNS - FIGURE_AT;

	while (*text) {
		int n = (int)strlen(text);

		if (n > room) {
			for (n = room; n > 0 && text[n] != ' '; n--)
				;
			if (n == 0) /* the text begins with one long word */
				n = room;
		}
		printf("%.*s\n", n, text);
		text += n;
		text += *text == ' ';
		if (*text)
			printf("%*s", FIGURE_AT, "");
	}
}

static void report_text(const struct endurance *e, const struct endurance_row *rows, int count)
{
	const struct endurance_status *s = &e->status;
	const int bad = count_of(rows, count, ENDURANCE_BAD);

	printf("stixeld '%s', version %s, engine %s, source %s\n", e->c->instance, s->version, s->backend,
	       s->source);
	printf("%" PRIu64 " frames in %.1f s", e->frames.frames, seconds(e->ended_ns - e->began_ns));
	if (ended_early(e))
		printf(", ended early by a signal: %.1f s were asked for", seconds(e->planned_ns));
	printf("\n\n%-10s %-12s %-19s %s\n", "verdict", "check", "budget", "figure");
	for (int i = 0; i < count; i++) {
		printf("%-10s %-12s %-19s ", verdicts[rows[i].verdict], rows[i].check, rows[i].limit);
		print_figure(rows[i].figure);
	}
	printf("\n%s: %d good, %d bad, %d not judged\n", bad ? "FAILED" : "passed",
	       count_of(rows, count, ENDURANCE_GOOD), bad, count_of(rows, count, ENDURANCE_NOT_JUDGED));
}

/* Returns null for NAN, which JSON cannot express. */
static json_t *number_or_null(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *report_row(const struct endurance_row *r)
{
	static const char *const words[] = {
		[ENDURANCE_GOOD] = "good", [ENDURANCE_BAD] = "bad", [ENDURANCE_NOT_JUDGED] = "not judged"};

	return json_pack("{s:s, s:s, s:o, s:o, s:s, s:s, s:s}", "check", r->check, "verdict",
			 words[r->verdict], "value", number_or_null(r->value), "budget",
			 number_or_null(r->budget), "unit", r->unit, "figure", r->figure, "limit", r->limit);
}

static int report_json(const struct endurance *e, const struct endurance_row *rows, int count)
{
	const struct endurance_status *s = &e->status;
	json_t *checks = json_array(), *all;
	int r;

	for (int i = 0; i < count; i++)
		if (json_array_append_new(checks, report_row(&rows[i])) < 0)
			goto no_memory;
	all = json_pack(
		"{s:s, s:s, s:s, s:s, s:b, s:b, s:f, s:f, s:I, s:o, s:o}", "instance", e->c->instance,
		"version", s->version, "engine", s->backend, "source", s->source, "passed",
		count_of(rows, count, ENDURANCE_BAD) == 0, "ended_early", ended_early(e), "seconds",
		seconds(e->ended_ns - e->began_ns), "planned_seconds", seconds(e->planned_ns), "frames",
		(json_int_t)e->frames.frames, "interval_ms",
		number_or_null(e->frames.nominal_ns ? (double)e->frames.nominal_ns / 1e6 : (double)NAN),
		"checks", checks);
	if (!all)
		return -ENOMEM;
	r = json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	json_decref(all);
	return r < 0 || puts("") < 0 ? -EIO : 0;
no_memory:
	json_decref(checks);
	return -ENOMEM;
}

int endurance_report(const struct endurance *e, const struct endurance_row *rows, int count)
{
	int r = 0;

	if (e->c->json)
		r = report_json(e, rows, count);
	else
		report_text(e, rows, count);
	if (r == -ENOMEM)
		return ctl_fail(EX_SOFTWARE, "out of memory");
	if (fflush(stdout) != 0 || r < 0)
		return ctl_fail(EX_CANTCREAT, "cannot print: %s", strerror(errno));
	return count_of(rows, count, ENDURANCE_BAD) ? CTL_NOTHING : 0;
}
