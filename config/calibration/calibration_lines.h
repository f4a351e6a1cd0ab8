/*
 * A calibration file as lines "name: numbers" or "name = numbers", in sections "[name]" or in none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CALIBRATION_LINES_H
#define SX_CONFIG_CALIBRATION_LINES_H

#include "config/calibration/calibration_priv.h"

/* A text up to its 0, and where sentences go. */
struct sx_lines {
	const char *text;
	char *why;
	size_t why_bytes;
};

/* One line. numbers: what follows the name's colon, up to end. */
struct sx_line {
	const char *section, *name, *numbers, *end;
	size_t section_length, name_length;
	int number;
};

/* Goes on to the next line with a name; line is zeroed before the first. False: there is none. */
bool sx_lines_next(const struct sx_lines *l, struct sx_line *line);

/*
 * The count numbers of the line of this name, in a section (NULL: in none; there, case does not matter). 1:
 * read; 0: no such line; -EINVAL with a sentence: there are two, it has other numbers, or the text ends in
 * it.
 */
int sx_lines_numbers(const struct sx_lines *l, const char *section, const char *name, double *ret, int count);
/* Number of the line of this name in no section, from 1; 0: there is none, or there are two. */
int sx_lines_number_of(const struct sx_lines *l, const char *name);
/* Reads a matrix 3x3 in brackets, rows parted by semicolons. Returns what sx_lines_numbers() does. */
int sx_lines_matrix(const struct sx_lines *l, const char *name, double ret[9]);

/* Read a file of their format. 1: raw has it; 0: the text is of another format; -EINVAL with a sentence. */
int sx_calibration_zed(struct sx_calibration_raw *raw, const struct sx_lines *l,
		       const struct sx_calibration_wish *wish);
int sx_calibration_middlebury(struct sx_calibration_raw *raw, const struct sx_lines *l);

#endif
