/*
 * Slanted stixels of the CPU engine: data of a column beside that in stages/stixels/slanted.h. Lists and
 * totals equal the results of sx_slanted_run().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_SLANTED_H
#define SX_CPU_SLANTED_H

#include "stages/stixels/slanted.h"

/*
 * Prefix sums over the cells below a row. Rows and disparities count from 0; all sums are integers below
 * 2^53.
 */
enum sx_slanted_prefix {
	SX_PREFIX_X, /* sums as ground: rows, and disparity minus expected ground */
	SX_PREFIX_XX,
	SX_PREFIX_E,
	SX_PREFIX_XE,
	SX_PREFIX_EE,
	SX_PREFIX_D, /* sums as an object */
	SX_PREFIX_DD,
	SX_PREFIX_SKY,
	SX_PREFIXES
};

#define SX_SLANTED_IDLE 16

/*
 * Values of a row as the lowest row of a stixel, in the types that lanes calculate with. Sums are over the
 * rows below it. They are integers; those in float are below 2^24.
 */
struct sx_slanted_start {
	/* values of its cell: disparity, weights, and g times (disparity minus ground) */
	double d, w, g, ge;
	double sum_e, sum_ee, sum_sky; /* prefix sums */
	float sum_w, sum_g, sum_holes;
	float ground, lambda_offset, gravity;
	/* costs of the row below; for row 0, values that yield that row's cuts */
	struct sx_slanted_below below;
	float object_cut, sky_cut; /* costs on the object or sky there, with a cut */
	float sky;		   /* cost of sky that begins here */
	int32_t weight;		   /* g */
};

/*
 * Scratch of one worker. Arrays have SX_SLANTED_IDLE more entries after their last row, because idle lanes
 * read them.
 */
struct sx_slanted_work {
	void *memory;
	double *prefix[SX_PREFIXES];	/* [rows + 1] */
	int32_t *prefix_w, *prefix_g;	/* [rows + 1]: weights as an object, as ground */
	int32_t *prefix_holes;		/* [rows + 1]: cells without a weight */
	int32_t *w, *d, *origin;	/* [rows] */
	int32_t *at;			/* [rows]: disparity of the origin */
	int32_t *ground;		/* [rows]: expected disparity of the ground in this column, 1/16 px */
	int32_t *score[SX_CLASSES_MAX]; /* [rows + 1]: prefix sums; classes sorted by kind, ground first */
	int32_t *sky_cells;		/* [rows + 1]: prefix sums of the exact model's sky */
	float *kw[3];			/* [rows]: weights times the exact model's factors */
	int32_t *from[3];		/* [rows]: start row of the last stixel */
	struct sx_slanted_start *start; /* [rows + 1] */
	struct sx_slanted_choice *list; /* [rows] */
};

/* Tables in the layout of the kernels; shared by all workers. */
struct sx_slanted_cpu {
	const struct sx_slanted_tables *t;
	uint8_t order[SX_CLASSES_MAX]; /* classes sorted by kind, ground first, then by number */
	/* index in order of the first class of a kind; [3]: number of classes */
	int first[4];
	int32_t *outlier[3]; /* NULL without the exact model */
};

int sx_slanted_cpu_create(struct sx_slanted_cpu **ret, const struct sx_slanted_tables *t);
void sx_slanted_cpu_destroy(struct sx_slanted_cpu *c);
size_t sx_slanted_cpu_bytes(const struct sx_slanted_tables *t); /* bytes that create allocates */
int sx_slanted_work_init(struct sx_slanted_work *w, const struct sx_slanted_tables *t);
void sx_slanted_work_finish(struct sx_slanted_work *w);
/* Returns the bytes of one worker's scratch. */
size_t sx_slanted_work_bytes(const struct sx_slanted_tables *t);

/*
 * Turns one column of cells, with their confidence (or NULL) and scores (or NULL), into a list. Returns the
 * number of segments.
 */
typedef int sx_slanted_column_fn(const struct sx_slanted_cpu *c, const struct sx_slanted_frame *f,
				 struct sx_slanted_work *w, int u, const uint16_t *column,
				 const uint8_t *confidence, const uint8_t *scores, struct sx_segment *list,
				 int32_t *total);

#endif
