/*
 * Tests the rows of ipc/metrics.h. Every row is in the documents that it names. docs/use/metrics.md has
 * exactly the same families, in the same order. The test knows no row by name, so it covers each new row.
 *
 *	test_metrics docs/use/metrics.md
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ipc/report.h"

static const char *document;

/* Fills a report: everything is known, and every metric has a different number: 1000001, 1000002, ... */
static void fill(struct sx_report *r)
{
	sx_report_init(r);
	r->state = "running";
	r->engine.input = "copy";
	r->source.cameras = 2;
	r->motion.measured = true;
	snprintf(r->semantics.source, sizeof(r->semantics.source), "net");
	snprintf(r->external.source, sizeof(r->external.source), "net");
	snprintf(r->power.source, sizeof(r->power.source), "sensor");
	for (int i = 0; i < SX_METRIC_END; i++) {
		if (sx_metrics[i].kind == SX_METRIC_KIND_REAL)
			r->metric[i].real = 100001 + i;
		else
			r->metric[i].count = 100001 + i;
	}
	for (int side = 0; side < 2; side++) {
		r->source.camera[side].side = side ? "right" : "left";
		for (int i = 0; i < SX_CAMERA_END; i++)
			r->source.camera[side].count[i] = 200001 + 100 * side + i;
	}
}

static void write_text(const struct sx_report *r, void (*write)(const struct sx_report *, struct sx_text *),
		       char *data, size_t bytes)
{
	struct sx_text t;

	sx_text_init(&t, data, bytes);
	write(r, &t);
	assert_false(t.cut);
}

/* Returns how often a text contains a word. */
static int count_of(const char *text, const char *word)
{
	int n = 0;

	for (text = strstr(text, word); text; text = strstr(text + 1, word))
		n++;
	return n;
}

static void every_metric_is_in_the_status(void **state)
{
	char data[16384], want[128];
	struct sx_report r;

	fill(&r);
	write_text(&r, sx_report_json, data, sizeof(data));
	for (int i = 0; i < SX_METRIC_END; i++) {
		if (!sx_metrics[i].key)
			continue;
		snprintf(want, sizeof(want), "\"%s\":%d", sx_metrics[i].key, 100001 + i);
		if (count_of(data, want) != 1)
			fail_msg("%s.%s is not once in %s", sx_metrics[i].object, sx_metrics[i].key, data);
	}
	for (int i = 0; i < 2 * SX_CAMERA_END; i++) {
		snprintf(want, sizeof(want), "\"%s\":%d", sx_camera_metrics[i / 2].key,
			 200001 + 100 * (i % 2) + i / 2);
		assert_int_equal(count_of(data, want), 1);
	}
}

/* Each key is in the object that its row names. */
static void objects_are_where_the_rows_say(void **state)
{
	char data[16384], object[64], want[128];
	struct sx_report r;

	fill(&r);
	write_text(&r, sx_report_json, data, sizeof(data));
	for (int i = 0; i < SX_METRIC_END; i++) {
		const char *at = data, *value, *brace;
		int depth = 1;

		if (!sx_metrics[i].key)
			continue;
		snprintf(object, sizeof(object), "%s", sx_metrics[i].object);
		for (char *word = object, *end; *word; word = end) {
			end = word + strcspn(word, ".");
			snprintf(want, sizeof(want), "\"%.*s\":{", (int)(end - word), word);
			end += *end == '.';
			at = strstr(at, want);
			assert_non_null(at);
			at += strlen(want);
		}
		snprintf(want, sizeof(want), "\"%s\":%d", sx_metrics[i].key, 100001 + i);
		value = strstr(at, want);
		assert_non_null(value);
		/* braces between the one of its object and the value close only after they were opened */
		if (at == data)
			at++;
		for (brace = at; brace < value && depth > 0; brace++)
			depth += (*brace == '{') - (*brace == '}');
		if (depth != 1)
			fail_msg("%s is not in object '%s'", sx_metrics[i].key, sx_metrics[i].object);
	}
}

static void every_metric_is_in_the_metrics(void **state)
{
	char data[16384], want[256];
	struct sx_report r;

	fill(&r);
	write_text(&r, sx_report_metrics, data, sizeof(data));
	for (int i = 0; i < SX_METRIC_END; i++) {
		const struct sx_metric_row *f = &sx_metrics[i];
		const struct sx_family_row *family;
		int n;

		if (f->family == SX_FAMILY_NONE) {
			snprintf(want, sizeof(want), " %d\n", 100001 + i);
			assert_int_equal(count_of(data, want), 0);
			continue;
		}
		family = &sx_families[f->family];
		n = snprintf(want, sizeof(want), "\n%s%s", family->name,
			     family->type == SX_FAMILY_TYPE_COUNTER ? "_total" : "");
		if (f->label)
			n += snprintf(want + n, sizeof(want) - (size_t)n, "{%s=\"%s\"}", family->labels,
				      f->label);
		/* values in milliseconds are exported in seconds */
		if (f->key && strstr(f->key, "_ms"))
			snprintf(want + n, sizeof(want) - (size_t)n, " %.9g\n", (100001 + i) / 1e3);
		else
			snprintf(want + n, sizeof(want) - (size_t)n, " %d\n", 100001 + i);
		if (count_of(data, want) != 1)
			fail_msg("not once: %s in %s", want, data);
	}
	for (int i = 0; i < 2 * SX_CAMERA_END; i++) {
		snprintf(want, sizeof(want), "\n%s_total{side=\"%s\"} %d\n",
			 sx_families[sx_camera_metrics[i / 2].family].name, i % 2 ? "right" : "left",
			 200001 + 100 * (i % 2) + i / 2);
		assert_int_equal(count_of(data, want), 1);
	}
}

/*
 * All rows of a family have a label, or the family is one row. Labels, keys, names and units have the form
 * that the format requires.
 */
static void rows_are_sound(void **state)
{
	for (int i = 0; i < SX_METRIC_END; i++)
		for (int k = 0; k < i; k++) {
			const struct sx_metric_row *a = &sx_metrics[i], *b = &sx_metrics[k];

			if (a->key && b->key && strcmp(a->object, b->object) == 0)
				assert_string_not_equal(a->key, b->key);
			if (a->family == SX_FAMILY_NONE || a->family != b->family)
				continue;
			assert_non_null(a->label);
			assert_non_null(b->label);
			assert_string_not_equal(a->label, b->label);
		}
	for (int i = 0; i < SX_FAMILY_END; i++) {
		const struct sx_family_row *f = &sx_families[i];
		size_t n = strlen(f->name), u = f->unit ? strlen(f->unit) : 0;

		assert_int_equal(strncmp(f->name, "stixeld", 7), 0);
		assert_null(strstr(f->name, "_total"));
		if (f->unit)
			assert_true(n > u && f->name[n - u - 1] == '_' &&
				    strcmp(f->name + n - u, f->unit) == 0);
		assert_int_equal(f->help[strlen(f->help) - 1], '.');
		for (int k = 0; k < i; k++)
			assert_string_not_equal(f->name, sx_families[k].name);
	}
}

/*
 * Returns the next cell of a row of a Markdown table, without the spaces and marks around it. Moves *at
 * behind the cell.
 */
static const char *cell(char **at)
{
	char *begin = *at, *end = strchr(begin, '|');

	assert_non_null(end);
	*at = end + 1;
	while (*begin == ' ' || *begin == '`')
		begin++;
	while (end > begin && (end[-1] == ' ' || end[-1] == '`'))
		end--;
	*end = 0;
	return begin;
}

static void the_documented_table_is_that_of_the_rows(void **state)
{
	FILE *f = fopen(document, "r");
	char line[2048];
	int i = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *at = line + 1;

		assert_non_null(strchr(line, '\n'));
		if (strncmp(line, "| `stixeld", 10) != 0)
			continue;
		assert_true(i < SX_FAMILY_END);
		assert_string_equal(cell(&at), sx_families[i].name);
		assert_string_equal(cell(&at), sx_family_type_name(sx_families[i].type));
		assert_string_equal(cell(&at), sx_families[i].labels);
		assert_true(strlen(cell(&at)) > 5);
		i++;
	}
	fclose(f);
	if (i != SX_FAMILY_END)
		fail_msg("%s ends before %s", document, sx_families[i].name);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_metric_is_in_the_status),
		cmocka_unit_test(objects_are_where_the_rows_say),
		cmocka_unit_test(every_metric_is_in_the_metrics),
		cmocka_unit_test(rows_are_sound),
		cmocka_unit_test(the_documented_table_is_that_of_the_rows),
	};

	if (argc != 2)
		return 64;
	document = argv[1];
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
