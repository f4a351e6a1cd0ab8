/*
 * A calibration file as lines "name: numbers" or "name = numbers", inside or outside of sections "[name]".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CALIBRATION_LINES_H
#define SX_CONFIG_CALIBRATION_LINES_H

#include "base/why.h"
#include "config/calibration/calibration_priv.h"

/* A text that ends in 0, and the buffer for error messages. */
struct sx_lines {
	const char *text;
	struct sx_why *why;
};

/* A line of a file. numbers: start of the text after the name's colon; end: its end. */
struct sx_line {
	const char *section, *name, *numbers, *end;
	size_t section_length, name_length;
	int number;
};

/*
 * Moves on to the next line with a name. Zero `line` before the first call. False: there is no further line.
 */
bool sx_lines_next(const struct sx_lines *l, struct sx_line *line);

/*
 * Reads the `count` numbers of the line with this name in a section. section NULL: outside of sections, where
 * case is ignored. Returns 1: read; 0: no such line; -EINVAL with a message: there are two such lines, the
 * line has other numbers, or the text ends within it.
 */
int sx_lines_numbers(const struct sx_lines *l, const char *section, const char *name, double *ret, int count);
/*
 * Returns the number, from 1, of the line with this name outside of sections. 0: there is no such line, or
 * there are two.
 */
int sx_lines_number_of(const struct sx_lines *l, const char *name);
/* Reads a 3x3 matrix in brackets, rows separated by semicolons. Returns as sx_lines_numbers(). */
int sx_lines_matrix(const struct sx_lines *l, const char *name, double ret[9]);

/* Read a file of one format. 1: read into raw; 0: the text has another format; -EINVAL with a message. */
int sx_calibration_zed(struct sx_calibration_raw *raw, const struct sx_lines *l,
		       const struct sx_calibration_wish *wish);
int sx_calibration_middlebury(struct sx_calibration_raw *raw, const struct sx_lines *l);

#endif
