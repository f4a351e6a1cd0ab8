/*
 * Stixels as text: the rows of NAME.stixels.csv and of stixelctl dump.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_DRAW_STIXEL_CSV_H
#define SX_TOOLS_DRAW_STIXEL_CSV_H

#include <stdio.h>

struct stixel;

/* "column,row_top,row_bottom,class,disparity,depth_m,slope,confidence,support,label" and a line end. */
void sx_csv_header(FILE *to);
/*
 * One row. disparity (px) and slope (px a row upwards) are the record's, exactly; depth_m is
 * focal_baseline / disparity. Fields that are unknown are empty: disparity and depth without a measurement,
 * depth at disparity 0 or with focal_baseline 0 (no camera), label when there is none.
 */
void sx_csv_stixel(FILE *to, const struct stixel *s, double focal_baseline);
/* The same as a JSON object; unknown fields are null. */
void sx_json_stixel(FILE *to, const struct stixel *s, double focal_baseline);

#endif
