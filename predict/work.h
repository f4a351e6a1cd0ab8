/*
 * The work of each stage of the CUDA engine, counted on one device: what predictions are made of.
 *
 * The table is made by tests/lab/work/count_work.py, which says how it was counted and fitted. All of it is of
 * the default chain with the synthetic street: csct, 4 paths, 64 or 128 disparities, slanted stixels with
 * cells of 4x4 px.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_PREDICT_WORK_H
#define SX_PREDICT_WORK_H

#include <stdbool.h>

#include "stages/engine.h"

/* Architectures whose code was counted; others go by the nearest one below. */
enum sx_work_arch { SX_WORK_SM75, SX_WORK_SM87, SX_WORK_SM90, SX_WORK_SM110, SX_WORK_ARCHS };
/* Instructions are counted by cells of the volume, pixels, cells of stixels, pairs of them in a column. */
enum sx_work_unit { SX_WORK_CELL, SX_WORK_PIXEL, SX_WORK_STIXEL_CELL, SX_WORK_STIXEL_PAIR, SX_WORK_UNITS };

/*
 * One stage. volume: the way to keep path costs that it is of, auto: either. disparities 0, speckle -1: any
 * (speckle 1: with the filter, 0: without).
 */
struct sx_work {
	enum sx_stage stage;
	enum sx_volume_choice volume;
	int disparities, speckle;
	double instructions[SX_WORK_UNITS]; /* of warps, sm_90 */
	bool counted;			    /* else issue slots that were taken on slices, efficiency 1 */
	double efficiency; /* share of the issue slots that are used where the device is full */
	/* Cycles that pass however large the device is: by image rows, columns, and in all. */
	double floor_row, floor_column, floor_constant;
	double bytes[2];	      /* of memory, by cell and pixel */
	double factor[SX_WORK_ARCHS]; /* instructions beside those of sm_90, counted in compiled code */
	/*
	 * Percent that the formula is off on slices of the device, least and most; each size predicted
	 * without itself, or (own) not: it was timed in one size alone.
	 */
	int off[2];
	bool own;
};

/* The same of the whole chain. */
struct sx_work_chain {
	enum sx_volume_choice volume;
	int disparities;
	int off[2];
	bool own;
};

extern const struct sx_work sx_work_table[];
extern const int sx_work_count;
extern const struct sx_work_chain sx_work_chains[];
extern const int sx_work_chain_count;
/* Of the chain beside its stages: in all, and by pixel for the copy of a pair over a bus. */
extern const double sx_work_host_ms, sx_work_copy_ms;

/* Row of a stage; NULL: it was not counted. volume: stored or checkpoint. */
const struct sx_work *sx_work_find(enum sx_stage stage, enum sx_volume_choice volume, int disparities,
				   bool speckle);
const struct sx_work_chain *sx_work_chain_find(enum sx_volume_choice volume, int disparities);
/* Of a compute capability, 87 of sm_87. */
enum sx_work_arch sx_work_arch_of(int capability);

#endif
