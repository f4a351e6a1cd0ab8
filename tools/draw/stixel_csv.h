/*
 * Writes stixels as text: the rows of NAME.stixels.csv and of stixelctl dump.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_DRAW_STIXEL_CSV_H
#define SX_TOOLS_DRAW_STIXEL_CSV_H

#include <stdio.h>

struct stixel;

/*
 * Writes "column,row_top,row_bottom,class,disparity,depth_m,slope,confidence,support,label,filled" and a line
 * end.
 */
void sx_csv_header(FILE *to);
/*
 * Writes one row. disparity (px) and slope (px per row upwards) have exactly the record's values. depth_m is
 * focal_baseline / disparity. Unknown fields are empty: disparity and depth without a measurement, depth at
 * disparity 0 or with focal_baseline 0 (no camera), label if there is none.
 */
void sx_csv_stixel(FILE *to, const struct stixel *s, double focal_baseline);
/* Writes the stixel as a JSON object. Unknown fields are null. */
void sx_json_stixel(FILE *to, const struct stixel *s, double focal_baseline);

#endif
