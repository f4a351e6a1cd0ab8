/*
 * Work of the stages of the CUDA engine. Made by tests/lab/work/count_work.py from tests/lab/work; not to be
 * edited.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "predict/work.h"

const struct sx_work sx_work_table[] = {
	{SX_STAGE_CENSUS, SX_VOLUME_AUTO, 0, -1, .instructions = {0, 4.1149, 0, 0}, .counted = true,
	 .efficiency = 0.524, .floor_constant = 1.519e+04, .bytes = {0, 21.52},
	 .factor = {1.015, 1.012, 1.000, 0.976}, .off = {-10, 11}, .own = false},
	{SX_STAGE_AGGREGATE, SX_VOLUME_STORED, 128, -1, .instructions = {0.65916, 0, 0, 0}, .counted = true,
	 .efficiency = 0.707, .floor_column = 302.3, .bytes = {8.747, 0},
	 .factor = {1.486, 1.129, 1.000, 1.110}, .off = {-4, 6}, .own = false},
	{SX_STAGE_AGGREGATE, SX_VOLUME_STORED, 64, -1, .instructions = {0.80637, 0, 0, 0}, .counted = true,
	 .efficiency = 0.703, .floor_column = 250.8, .bytes = {9, 0}, .factor = {1.367, 1.106, 1.000, 1.161},
	 .off = {-2, 1}, .own = true},
	{SX_STAGE_AGGREGATE, SX_VOLUME_CHECKPOINT, 128, -1, .instructions = {0.72095, 0, 0, 0},
	 .counted = true, .efficiency = 0.665, .floor_row = 1567, .bytes = {1.4, 0},
	 .factor = {1.688, 1.162, 1.000, 1.255}, .off = {-11, 7}, .own = false},
	{SX_STAGE_AGGREGATE, SX_VOLUME_CHECKPOINT, 64, -1, .instructions = {0.92869, 0, 0, 0},
	 .counted = true, .efficiency = 0.704, .floor_row = 1005, .bytes = {1.875, 0},
	 .factor = {1.527, 1.126, 1.000, 1.154}, .off = {-11, 8}, .own = true},
	{SX_STAGE_WINNER, SX_VOLUME_STORED, 128, -1, .instructions = {0.19994, 0, 0, 0}, .counted = true,
	 .efficiency = 0.490, .floor_column = 99.57, .bytes = {4.025, 0},
	 .factor = {1.527, 1.055, 1.000, 1.067}, .off = {-7, 7}, .own = false},
	{SX_STAGE_WINNER, SX_VOLUME_STORED, 64, -1, .instructions = {0.2441, 0, 0, 0}, .counted = true,
	 .efficiency = 0.361, .floor_column = 97.88, .bytes = {4, 0}, .factor = {1.449, 1.021, 1.000, 1.091},
	 .off = {-1, 2}, .own = true},
	{SX_STAGE_WINNER, SX_VOLUME_CHECKPOINT, 128, -1, .instructions = {0.49989, 0, 0, 0}, .counted = true,
	 .efficiency = 0.613, .floor_column = 337.6, .bytes = {1.3, 0},
	 .factor = {1.560, 1.071, 1.000, 1.204}, .off = {-22, 15}, .own = false},
	{SX_STAGE_WINNER, SX_VOLUME_CHECKPOINT, 64, -1, .instructions = {0.73971, 0, 0, 0}, .counted = true,
	 .efficiency = 0.503, .floor_column = 196.6, .bytes = {3.25, 0},
	 .factor = {1.548, 1.074, 1.000, 1.163}, .off = {-6, 9}, .own = true},
	{SX_STAGE_MEDIAN, SX_VOLUME_AUTO, 0, 1, .instructions = {0, 10.516, 0, 0}, .counted = true,
	 .efficiency = 0.520, .floor_row = 248, .bytes = {0, 24.41}, .factor = {0.989, 0.864, 1.000, 1.080},
	 .off = {-12, 12}, .own = false},
	{SX_STAGE_MEDIAN, SX_VOLUME_AUTO, 0, 0, .instructions = {0, 3.1381, 0, 0}, .counted = false,
	 .efficiency = 1.000, .floor_row = 22.47, .bytes = {0, 8}, .factor = {0.989, 0.864, 1.000, 1.080},
	 .off = {-29, 21}, .own = false},
	{SX_STAGE_SMOOTH, SX_VOLUME_AUTO, 0, 1, .instructions = {0, 5.0376, 0, 0}, .counted = true,
	 .efficiency = 0.505, .floor_constant = 5.591e+04, .bytes = {0, 19.4},
	 .factor = {1.428, 0.992, 1.000, 1.141}, .off = {-11, 11}, .own = false},
	{SX_STAGE_SMOOTH, SX_VOLUME_AUTO, 0, 0, .instructions = {0, 3.0197, 0, 0}, .counted = true,
	 .efficiency = 0.578, .floor_constant = 1.525e+04, .bytes = {0, 9.17},
	 .factor = {1.723, 1.022, 1.000, 0.887}, .off = {-9, 16}, .own = false},
	{SX_STAGE_ROAD, SX_VOLUME_AUTO, 0, -1, .instructions = {0, 0, 0, 0}, .counted = true,
	 .efficiency = 1.000, .floor_constant = 1.481e+05, .bytes = {0, 0},
	 .factor = {1.050, 1.006, 1.000, 0.872}, .off = {-76, 46}, .own = false},
	{SX_STAGE_REDUCE, SX_VOLUME_AUTO, 0, -1, .instructions = {0, 2.0359, 0, 0}, .counted = true,
	 .efficiency = 0.430, .floor_constant = 5.019e+04, .bytes = {0, 13.74},
	 .factor = {1.029, 1.051, 1.000, 1.423}, .off = {-14, 44}, .own = false},
	{SX_STAGE_SEGMENT, SX_VOLUME_AUTO, 0, -1, .instructions = {0, 0, 267.31, 1.1404}, .counted = true,
	 .efficiency = 0.786, .floor_row = 307, .bytes = {0, 0}, .factor = {1.136, 1.020, 1.000, 0.922},
	 .off = {-10, 5}, .own = false},
	{SX_STAGE_COMPACT, SX_VOLUME_AUTO, 0, -1, .instructions = {0, 0, 0, 0}, .counted = true,
	 .efficiency = 1.000, .floor_constant = 1.072e+04, .bytes = {0, 0},
	 .factor = {1.008, 0.959, 1.000, 0.648}, .off = {-36, 11}, .own = false},
};
const int sx_work_count = sizeof(sx_work_table) / sizeof(sx_work_table[0]);

const struct sx_work_chain sx_work_chains[] = {
	{SX_VOLUME_CHECKPOINT, 64, {-2, 0}, true},
	{SX_VOLUME_CHECKPOINT, 128, {-6, 10}, false},
	{SX_VOLUME_STORED, 64, {-3, 1}, true},
	{SX_VOLUME_STORED, 128, {-3, 5}, false},
};
const int sx_work_chain_count = sizeof(sx_work_chains) / sizeof(sx_work_chains[0]);

const double sx_work_host_ms = 0.0124;
const double sx_work_copy_ms = 3.667e-08;
