/*
 * Slanted stixels of the cpu engine: what a column needs besides stages/stixels/slanted.h. Lists and
 * totals equal sx_slanted_run().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_SLANTED_H
#define SX_CPU_SLANTED_H

#include "stages/stixels/slanted.h"

/* Prefix sums over the cells below a row, rows and disparities counted from 0: whole numbers below 2^53. */
enum sx_slanted_prefix {
	SX_PREFIX_X, /* as ground: rows, disparity less expected ground */
	SX_PREFIX_XX,
	SX_PREFIX_E,
	SX_PREFIX_XE,
	SX_PREFIX_EE,
	SX_PREFIX_D, /* as an object */
	SX_PREFIX_DD,
	SX_PREFIX_SKY,
	SX_PREFIXES
};

#define SX_SLANTED_IDLE 16

/*
 * A row as the lowest of a stixel, in the numbers that lanes calculate with. Sums are over the rows below it,
 * whole numbers, those in float below 2^24.
 */
struct sx_slanted_start {
	double d, w, g, ge;	       /* of its cell: disparity, weights, g times disparity less ground */
	double sum_e, sum_ee, sum_sky; /* prefixes */
	float sum_w, sum_g, sum_holes;
	float ground, lambda_offset, gravity;
	struct sx_slanted_below below; /* of the row below; below row 0 what makes that row's cuts come out */
	float object_cut, sky_cut;     /* costs on the object or sky there, with a cut */
	float sky;		       /* of sky that begins here */
	int32_t weight;		       /* g */
};

/* Scratch of one worker; arrays reach SX_SLANTED_IDLE entries beyond their last row: idle lanes read them. */
struct sx_slanted_work {
	void *memory;
	double *prefix[SX_PREFIXES];	/* [rows + 1] */
	int32_t *prefix_w, *prefix_g;	/* [rows + 1]: weights as an object, as ground */
	int32_t *prefix_holes;		/* [rows + 1]: cells without a weight */
	int32_t *w, *d, *origin;	/* [rows] */
	int32_t *at;			/* [rows]: disparity of the origin */
	int32_t *ground;		/* [rows]: expected in this column, 1/16 px */
	int32_t *score[SX_CLASSES_MAX]; /* [rows + 1]: prefix sums; of classes by kind, ground first */
	int32_t *sky_cells;		/* [rows + 1]: prefix sums of the exact model's sky */
	float *kw[3];			/* [rows]: weights times the exact model's factors */
	int32_t *from[3];		/* [rows]: start row of the last stixel */
	struct sx_slanted_start *start; /* [rows + 1] */
	struct sx_slanted_choice *list; /* [rows] */
};

/* The tables in the layout of the kernels; shared by all workers. */
struct sx_slanted_cpu {
	const struct sx_slanted_tables *t;
	uint8_t order[SX_CLASSES_MAX]; /* classes by kind, ground first, then by number */
	int first[4];		       /* of a kind in it; [3]: how many there are */
	int32_t *outlier[3];	       /* NULL without the exact model */
};

int sx_slanted_cpu_create(struct sx_slanted_cpu **ret, const struct sx_slanted_tables *t);
void sx_slanted_cpu_destroy(struct sx_slanted_cpu *c);
size_t sx_slanted_cpu_bytes(const struct sx_slanted_tables *t); /* what create takes */
int sx_slanted_work_init(struct sx_slanted_work *w, const struct sx_slanted_tables *t);
void sx_slanted_work_finish(struct sx_slanted_work *w);
/* Bytes of one worker's scratch. */
size_t sx_slanted_work_bytes(const struct sx_slanted_tables *t);

/*
 * One column of cells with their confidence (or NULL) and scores (or NULL) becomes a list; returns the count.
 */
typedef int sx_slanted_column_fn(const struct sx_slanted_cpu *c, const struct sx_slanted_frame *f,
				 struct sx_slanted_work *w, int u, const uint16_t *column,
				 const uint8_t *confidence, const uint8_t *scores, struct sx_segment *list,
				 int32_t *total);

#endif
