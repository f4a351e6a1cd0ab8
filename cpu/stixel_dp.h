/*
 * The stixel DP of the CPU engine: data of a column beside that in stages/stixels/stixel_dp.h. Lists, totals
 * and every cost equal the results of sx_dp_run().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_STIXEL_DP_H
#define SX_CPU_STIXEL_DP_H

#include "stages/stixels/stixel_dp.h"

/* Start rows are bounded and pruned in chunks of this size. */
#define SX_DP_CHUNK 8

/*
 * Tables of one context, in the layout of the kernels. All workers share them; they are read-only while a
 * frame runs.
 */
struct sx_dp_cpu_tables {
	const struct sx_dp_tables *t;
	int pitch;	     /* range, rounded up to a multiple of 8 */
	int32_t *object;     /* [D + 1][pitch]; entries beyond D repeat the last one */
	int32_t *object_min; /* [D + 1]: minimum over fn */
	int32_t *sky;	     /* [16 D + 1] by disparity in Q4, invalid last */
	bool small;	     /* sums and quotients of all columns are exact in float */
};

/*
 * Prior of the objects that start at a row, with the cost of the segment below. m is the mean of the new
 * object:
 *   on an object:          ILLEGAL + (m > HI ? MORE_HI : 0) + (m < LO ? MORE_LO : 0)
 *   on ground or sky:      ON (or ILLEGAL) + the same terms, with other thresholds
 * The arithmetic is modulo 2^32, because masks and sums are cheaper than selections.
 */
enum sx_dp_record {
	SX_DP_ORDER_HI,
	SX_DP_ORDER_LO,
	SX_DP_ORDER_MORE_HI,
	SX_DP_ORDER_MORE_LO,
	SX_DP_BASE_HI,
	SX_DP_BASE_LO,
	SX_DP_BASE_MORE_HI,
	SX_DP_BASE_MORE_LO,
	SX_DP_BASE_ON,
	SX_DP_RECORDS
};
#define SX_DP_ILLEGAL 0x50000000 /* above any cost, and below 2^31 with any data cost added */

/* Scratch of one worker. */
struct sx_dp_work {
	void *memory;
	int32_t *object;   /* [h + 1][pitch]: prefix sums of the rows of the object table */
	int32_t *cheapest; /* [h + 1]: prefix sums of object_min */
	int32_t *ground, *sky, *sum2, *valid; /* [h + 1 + 8]: sum2: sum of 2 d */
	int32_t *record[SX_DP_RECORDS];	      /* [h + 8] */
	int32_t *bound, *fresh, *prior;	      /* per chunk, see stixel_dp_kernel.h */
	int32_t *cost[3];		      /* [h] */
	uint16_t *from[3];		      /* [h]: start row */
	uint8_t *below[3];		      /* [h]: class of the segment below ground and sky */
	uint16_t *support;		      /* [h + 1] */
};

/* The road of columns of one shift, and the ground's parameters of each row. Each worker has one. */
struct sx_dp_cpu_place {
	struct sx_dp_place p;
	int32_t *base, *precision;
	int32_t shift_q4;
};

int sx_dp_cpu_tables_create(struct sx_dp_cpu_tables **ret, const struct sx_dp_tables *t);
void sx_dp_cpu_tables_destroy(struct sx_dp_cpu_tables *t);
size_t sx_dp_cpu_tables_bytes(const struct sx_dp_cpu_tables *t); /* bytes that create allocated */
int sx_dp_cpu_place_init(struct sx_dp_cpu_place *p, int height);
size_t sx_dp_cpu_place_bytes(int height); /* bytes that init allocates */
void sx_dp_cpu_place_finish(struct sx_dp_cpu_place *p);
void sx_dp_cpu_place_set(struct sx_dp_cpu_place *p, const struct sx_dp_tables *t, const struct sx_dp_frame *f,
			 int32_t shift_q4);
int sx_dp_work_init(struct sx_dp_work *w, const struct sx_dp_cpu_tables *t);
void sx_dp_work_finish(struct sx_dp_work *w);
/* Returns the bytes of one worker's scratch. */
size_t sx_dp_work_bytes(const struct sx_dp_cpu_tables *t);

/* Turns column u of h cells into a list. Returns the number of segments. */
typedef int sx_dp_column_fn(const struct sx_dp_cpu_tables *t, const struct sx_dp_cpu_place *p,
			    struct sx_dp_work *w, int u, const uint16_t *column, struct sx_segment *list,
			    int32_t *total);

#endif
