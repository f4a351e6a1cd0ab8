/*
 * Lines "name: numbers" of a calibration file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "config/calibration/calibration_lines.h"
#include "config/text/number.h"

static bool take_section(struct sx_line *line, const char *begin, const char *end)
{
	const char *close = memchr(begin, ']', (size_t)(end - begin));

	if (*begin != '[' || !close)
		return false;
	line->section = begin + 1;
	line->section_length = (size_t)(close - begin - 1);
	return true;
}

bool sx_lines_next(const struct sx_lines *l, struct sx_line *line)
{
	const char *at = line->end ? line->end + (*line->end != 0) : l->text;

	for (; *at; at = *line->end ? line->end + 1 : line->end) {
		line->end = at + strcspn(at, "\n");
		line->number++;
		line->name = at + strspn(at, " \t");
		if (take_section(line, line->name, line->end))
			continue;
		line->name_length = strcspn(line->name, ":= \t\r\n#");
		at = line->name + line->name_length;
		at += strspn(at, " \t");
		if (line->name_length && (*at == ':' || *at == '=')) {
			line->numbers = at + 1;
			return true;
		}
	}
	return false;
}

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && !strncasecmp(text, word, length);
}

/* Finds the only line of this name. Returns 1; 0: no such line; -EINVAL: there are two. */
static int find_line(const struct sx_lines *l, const char *section, const char *name, struct sx_line *ret)
{
	struct sx_line line = {0};
	int found = 0;

	while (sx_lines_next(l, &line)) {
		if (!is_word(line.name, line.name_length, name) ||
		    (section ? !line.section || !is_word(line.section, line.section_length, section)
			     : line.section != NULL || strncmp(line.name, name, line.name_length) != 0))
			continue;
		if (found++)
			return sx_calibration_refuse(
				l->why,
				"'%s'%s%s%s occurs twice, in line %d and in line %d: which one is "
				"meant?",
				name, section ? " of [" : "", section ? section : "", section ? "]" : "",
				ret->number, line.number);
		*ret = line;
	}
	return found;
}

/*
 * Checks that the line has an end. An incomplete copy of the file may end in a number that lost its last
 * digits.
 */
static int check_whole(const struct sx_lines *l, const struct sx_line *line)
{
	if (*line->end)
		return 0;
	return sx_calibration_refuse(
		l->why,
		"the file ends within line %d, '%.40s': was it cut short? If it is whole, end "
		"the line",
		line->number, line->name);
}

/*
 * Reads numbers up to end, separated by blanks and the characters of skip. True: there are exactly `count`.
 */
static bool read_numbers(const char *text, const char *end, const char *skip, double *ret, int count)
{
	int n = 0;

	for (text += strspn(text, skip); text < end; text += strspn(text, skip)) {
		const char *rest;

		if (n == count || sx_number_real(text, &ret[n], &rest) < 0 ||
		    !(*rest == 0 || *rest == '\n' || strchr(skip, *rest)))
			return false;
		n++;
		text = rest;
	}
	return n == count;
}

/* Returns true for a decimal comma as in "700,5". A comma between two numbers is followed by a blank. */
static bool has_decimal_comma(const struct sx_line *line)
{
	for (const char *at = line->numbers + 1; at + 1 < line->end; at++)
		if (*at == ',' && at[-1] >= '0' && at[-1] <= '9' && at[1] >= '0' && at[1] <= '9')
			return true;
	return false;
}

int sx_lines_numbers(const struct sx_lines *l, const char *section, const char *name, double *ret, int count)
{
	struct sx_line line = {0};
	int r = find_line(l, section, name, &line);

	if (r <= 0)
		return r;
	if (!read_numbers(line.numbers, line.end, " \t\r", ret, count))
		return sx_calibration_refuse(
			l->why, "line %d: '%.*s' has too few or too many numbers%s", line.number,
			(int)(line.end - line.name < 80 ? line.end - line.name : 80), line.name,
			has_decimal_comma(&line) ? ": decimals stand behind a point, as in 700.5, not a comma"
						 : "");
	return check_whole(l, &line) < 0 ? -EINVAL : 1;
}

int sx_lines_number_of(const struct sx_lines *l, const char *name)
{
	struct sx_line line = {0};

	return find_line(l, NULL, name, &line) > 0 ? line.number : 0;
}

int sx_lines_matrix(const struct sx_lines *l, const char *name, double ret[9])
{
	struct sx_line line;
	int r = find_line(l, NULL, name, &line);
	const char *open, *close;

	if (r <= 0)
		return r;
	open = memchr(line.numbers, '[', (size_t)(line.end - line.numbers));
	close = memchr(line.numbers, ']', (size_t)(line.end - line.numbers));
	if (!open || !close || open > close || !read_numbers(open + 1, close, " \t\r;,]", ret, 9))
		return sx_calibration_refuse(
			l->why, "line %d: '%s' is not a matrix of 3 x 3 numbers, [fx 0 cx; 0 fy cy; 0 0 1]",
			line.number, name);
	return 1;
}
