/*
 * Work of each stage of the CUDA engine, counted on one device. Predictions are made from it.
 *
 * tests/lab/work/count_work.py makes the table and explains how the work was counted and fitted. All of it is
 * for the default chain with the synthetic street: csct, 4 paths, 64 or 128 disparities, slanted stixels with
 * cells of 4x4 px.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_PREDICT_WORK_H
#define SX_PREDICT_WORK_H

#include <stdbool.h>

#include "stages/engine.h"

/* Architectures whose code was counted. Other architectures use the nearest one below. */
enum sx_work_arch { SX_WORK_SM75, SX_WORK_SM87, SX_WORK_SM90, SX_WORK_SM110, SX_WORK_ARCHS };
/*
 * Units of the instruction counts: per cell of the cost volume, per pixel, per cell of stixels, per pair of
 * such cells in a column.
 */
enum sx_work_unit { SX_WORK_CELL, SX_WORK_PIXEL, SX_WORK_STIXEL_CELL, SX_WORK_STIXEL_PAIR, SX_WORK_UNITS };

/*
 * Work of one stage. volume: the way to keep path costs that the row is for; auto: any. disparities 0: any
 * number. speckle 1: with the filter, 0: without, -1: both.
 */
struct sx_work {
	enum sx_stage stage;
	enum sx_volume_choice volume;
	int disparities, speckle;
	double instructions[SX_WORK_UNITS]; /* warp instructions on sm_90 */
	/*
	 * True: instructions were counted. False: they are issue slots with efficiency 1, derived from times
	 * that were measured on slices of the device (some of its multiprocessors).
	 */
	bool counted;
	double efficiency; /* share of the issue slots that a full device uses */
	/* Cycles that do not depend on the size of the device: per image row, per column, and constant. */
	double floor_row, floor_column, floor_constant;
	double bytes[2]; /* bytes of memory: per cell, per pixel */
	/* Instructions relative to sm_90, counted in compiled code. */
	double factor[SX_WORK_ARCHS];
	/*
	 * Error of the formula on slices of the device in percent, least and most. Each size of a slice was
	 * predicted without its own measurement. If own is true, the prediction includes this measurement,
	 * because the stage was timed in one size only.
	 */
	int off[2];
	bool own;
};

/* Error of the formula for the whole chain, as in struct sx_work. */
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
/* Time of the chain outside of its stages: constant, and per pixel for the copy of a pair over a bus. */
extern const double sx_work_host_ms, sx_work_copy_ms;

/* Finds the row of a stage. NULL: its work was not counted. volume: stored or checkpoint. */
const struct sx_work *sx_work_find(enum sx_stage stage, enum sx_volume_choice volume, int disparities,
				   bool speckle);
const struct sx_work_chain *sx_work_chain_find(enum sx_volume_choice volume, int disparities);
/* Returns the architecture of a compute capability (87 for sm_87). */
enum sx_work_arch sx_work_arch_of(int capability);

#endif
