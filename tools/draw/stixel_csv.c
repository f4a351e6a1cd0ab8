/*
 * Writes stixels as text. Four decimals of disparity (steps of 1/128 px) and six of slope (1/16384) identify
 * each value of the record.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>

#include "stixel.h"
#include "tools/draw/stixel_csv.h"

/* Fields that may be unknown, as text: empty or null. */
struct fields {
	char disparity[16], depth[24], label[8];
};

static struct fields fields_of(const struct stixel *s, double focal_baseline, const char *unknown)
{
	bool known = s->disparity_q7 != STIXEL_DISPARITY_UNKNOWN;
	double disparity = s->disparity_q7 / 128.0;
	struct fields f;

	snprintf(f.disparity, sizeof(f.disparity), "%s", unknown);
	snprintf(f.depth, sizeof(f.depth), "%s", unknown);
	snprintf(f.label, sizeof(f.label), "%s", unknown);
	if (known)
		snprintf(f.disparity, sizeof(f.disparity), "%.4f", disparity);
	if (known && disparity > 0.0 && focal_baseline > 0.0)
		snprintf(f.depth, sizeof(f.depth), "%.3f", focal_baseline / disparity);
	if (s->label != STIXEL_LABEL_NONE)
		snprintf(f.label, sizeof(f.label), "%d", s->label);
	return f;
}

/* Returns the name of a stixel's class. Kinds of a newer publisher count as unknown. */
static const char *class_name(unsigned kind)
{
	return stixel_kind_name(kind < STIXEL_UNKNOWN ? kind : STIXEL_UNKNOWN);
}

void sx_csv_header(FILE *to)
{
	fputs("column,row_top,row_bottom,class,disparity,depth_m,slope,confidence,support,label,filled\n",
	      to);
}

void sx_csv_stixel(FILE *to, const struct stixel *s, double focal_baseline)
{
	struct fields f = fields_of(s, focal_baseline, "");

	fprintf(to, "%u,%u,%u,%s,%s,%s,%.6f,%u,%u,%s,%d\n", s->column, s->row_top, s->row_bottom,
		class_name(s->kind), f.disparity, f.depth, s->slope_q14 / 16384.0, s->confidence, s->support,
		f.label, stixel_is_filled(s));
}

void sx_json_stixel(FILE *to, const struct stixel *s, double focal_baseline)
{
	struct fields f = fields_of(s, focal_baseline, "null");

	fprintf(to,
		"{\"column\":%u,\"row_top\":%u,\"row_bottom\":%u,\"class\":\"%s\",\"disparity\":%s,"
		"\"depth_m\":%s,\"slope\":%.6f,\"confidence\":%u,\"support\":%u,\"label\":%s,\"filled\":%s}",
		s->column, s->row_top, s->row_bottom, class_name(s->kind), f.disparity, f.depth,
		s->slope_q14 / 16384.0, s->confidence, s->support, f.label,
		stixel_is_filled(s) ? "true" : "false");
}
