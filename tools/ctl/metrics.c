/*
 * Implements stixelctl metrics: prints the daemon's metrics unchanged, or writes a file for the node
 * exporter.
 *
 * The exporter's textfile collector reads the classic text format only. It refuses a file with a type of
 * OpenMetrics (info, stateset), knows no units, and requires that a family of counters has the name of its
 * samples. It merges all files, so that the samples of two instances need a label that distinguishes them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "tools/common/outfile.h"
#include "tools/ctl/ctl_ask.h"

/* A line without its end, split into words. */
struct metrics_line {
	const char *text;
	int length;
	char word[3][128]; /* "#", "TYPE", name; empty: fewer, or longer than any name */
	int rest;	   /* offset of the text after the words */
};

static void metrics_split(struct metrics_line *line)
{
	int at = 0;

	for (int i = 0; i < 3; i++) {
		int n = (int)strcspn(line->text + at, " \n");

		line->word[i][0] = '\0';
		if (at + n <= line->length && n < (int)sizeof(line->word[i]))
			snprintf(line->word[i], sizeof(line->word[i]), "%.*s", n, line->text + at);
		at += n;
		at += at < line->length;
	}
	line->rest = at;
}

/*
 * Returns the classic name of a type. *suffix: the text that samples of this type append to the family's
 * name.
 */
static const char *classic_type(const char *type, size_t length, const char **suffix)
{
	static const struct {
		const char *open, *classic, *suffix;
	} types[] = {{"info", "gauge", "_info"}, {"stateset", "gauge", ""}, {"counter", "counter", "_total"}};

	*suffix = "";
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].open) == length && strncmp(types[i].open, type, length) == 0) {
			*suffix = types[i].suffix;
			return types[i].classic;
		}
	return NULL;
}

/*
 * Writes TYPE and HELP under the name of the samples. *suffix belongs to the current family, which begins
 * with its TYPE line.
 */
static void put_comment(FILE *to, const struct metrics_line *line, const char **suffix)
{
	const char *rest = line->text + line->rest, *type;
	int length = line->length - line->rest;

	if (strcmp(line->word[1], "TYPE") == 0) {
		type = classic_type(rest, (size_t)length, suffix);
		fprintf(to, "# TYPE %s%s %.*s\n", line->word[2], *suffix, type ? (int)strlen(type) : length,
			type ? type : rest);
	} else if (strcmp(line->word[1], "HELP") == 0) {
		fprintf(to, "# HELP %s%s %.*s\n", line->word[2], *suffix, length, rest);
	}
}

/* Writes a sample with the label `instance` first, unless it has this label. */
static void put_sample(FILE *to, const struct metrics_line *line, const char *instance)
{
	static const char label[] = "instance=\"";
	int name = (int)strcspn(line->text, "{ \n");
	const char *rest = line->text + name;
	bool labels = *rest == '{';

	fprintf(to, "%.*s{", name, line->text);
	rest += labels;
	if (!labels)
		fprintf(to, "%s%s\"}", label, instance);
	else if (strncmp(rest, label, strlen(label)) != 0)
		fprintf(to, "%s%s\",", label, instance);
	fprintf(to, "%.*s\n", line->length - (int)(rest - line->text), rest);
}

static void put_classic(FILE *to, const char *text, const char *instance)
{
	struct metrics_line line;
	const char *suffix = "";

	for (; *text; text += line.length + (text[line.length] == '\n')) {
		line.text = text;
		line.length = (int)strcspn(text, "\n");
		metrics_split(&line);
		if (*text == '#')
			put_comment(to, &line, &suffix);
		else if (line.length)
			put_sample(to, &line, instance);
	}
}

/*
 * Writes the complete file or nothing. Every user may read the file, because the collector is another user.
 */
static int save_metrics(const struct ctl *c, const char *text)
{
	static struct sx_outfile file;
	int r;

	r = sx_outfile_open(&file, c->textfile);
	if (r == 0 && fchmod(fileno(file.f), 0644) < 0)
		r = -errno;
	if (r == 0) {
		put_classic(file.f, text, c->instance); /* the commit reports a failure */
		r = sx_outfile_commit(&file);
	}
	if (r == 0)
		return 0;
	sx_outfile_abort(&file);
	return ctl_fail(EX_CANTCREAT, "cannot write %s: %s", c->textfile, strerror(-r));
}

int ctl_metrics(const struct ctl *c)
{
	const struct sx_question q = {.name = c->instance, .target = "/metrics", .timeout_ms = CTL_ANSWER_MS};
	struct sx_reply reply;
	int code = 0;

	if (sx_socket_ask(&q, &reply) != 200)
		code = ctl_ask_failed(c, &reply);
	else if (c->textfile)
		code = save_metrics(c, reply.body);
	else if (fputs(reply.body, stdout) == EOF || fflush(stdout) != 0)
		code = ctl_fail(EX_CANTCREAT, "cannot print: %s", strerror(errno));
	sx_reply_finish(&reply);
	return code;
}
