/*
 * Work of the stages of the CUDA engine. Made by tests/gpu/count_work.py from tests/gpu/work; not to be
 * edited.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "predict/work.h"

const struct sx_work sx_work_table[] = {
	{SX_STAGE_CENSUS, SX_VOLUME_AUTO, 0, -1, .instructions = {0, 4.1149, 0, 0}, .counted = true,
	 .efficiency = 0.533, .floor_constant = 1.521e+04, .bytes = {0, 21.46},
	 .factor = {1.015, 1.012, 1.000, 0.976}, .off = {-9, 9}, .own = false},
	{SX_STAGE_SGM, SX_VOLUME_STORED, 128, -1, .instructions = {0.65916, 0, 0, 0}, .counted = true,
	 .efficiency = 0.706, .floor_column = 300.5, .bytes = {8.745, 0},
	 .factor = {1.486, 1.129, 1.000, 1.110}, .off = {-4, 6}, .own = false},
	{SX_STAGE_SGM, SX_VOLUME_STORED, 64, -1, .instructions = {0.80637, 0, 0, 0}, .counted = true,
	 .efficiency = 0.701, .floor_column = 248.6, .bytes = {9, 0}, .factor = {1.367, 1.106, 1.000, 1.161},
	 .off = {-2, 1}, .own = true},
	{SX_STAGE_SGM, SX_VOLUME_CHECKPOINT, 128, -1, .instructions = {0.72095, 0, 0, 0}, .counted = true,
	 .efficiency = 0.662, .floor_row = 1579, .bytes = {1.4, 0}, .factor = {1.688, 1.162, 1.000, 1.255},
	 .off = {-11, 8}, .own = false},
	{SX_STAGE_SGM, SX_VOLUME_CHECKPOINT, 64, -1, .instructions = {0.92869, 0, 0, 0}, .counted = true,
	 .efficiency = 0.698, .floor_row = 1016, .bytes = {1.875, 0}, .factor = {1.527, 1.126, 1.000, 1.154},
	 .off = {-11, 8}, .own = true},
	{SX_STAGE_WINNER, SX_VOLUME_STORED, 128, -1, .instructions = {0.19994, 0, 0, 0}, .counted = true,
	 .efficiency = 0.494, .floor_column = 99.66, .bytes = {4.024, 0},
	 .factor = {1.527, 1.055, 1.000, 1.067}, .off = {-7, 7}, .own = false},
	{SX_STAGE_WINNER, SX_VOLUME_STORED, 64, -1, .instructions = {0.2441, 0, 0, 0}, .counted = true,
	 .efficiency = 0.364, .floor_column = 98.03, .bytes = {4, 0}, .factor = {1.449, 1.021, 1.000, 1.091},
	 .off = {-1, 2}, .own = true},
	{SX_STAGE_WINNER, SX_VOLUME_CHECKPOINT, 128, -1, .instructions = {0.49989, 0, 0, 0}, .counted = true,
	 .efficiency = 0.609, .floor_column = 340.9, .bytes = {1.3, 0},
	 .factor = {1.560, 1.071, 1.000, 1.204}, .off = {-22, 16}, .own = false},
	{SX_STAGE_WINNER, SX_VOLUME_CHECKPOINT, 64, -1, .instructions = {0.73971, 0, 0, 0}, .counted = true,
	 .efficiency = 0.501, .floor_column = 196.4, .bytes = {3.25, 0},
	 .factor = {1.548, 1.074, 1.000, 1.163}, .off = {-6, 9}, .own = true},
	{SX_STAGE_MEDIAN, SX_VOLUME_AUTO, 0, 1, .instructions = {0, 10.516, 0, 0}, .counted = true,
	 .efficiency = 0.522, .floor_row = 248.7, .bytes = {0, 24.38}, .factor = {0.989, 0.864, 1.000, 1.080},
	 .off = {-12, 12}, .own = false},
	{SX_STAGE_MEDIAN, SX_VOLUME_AUTO, 0, 0, .instructions = {0, 3.1381, 0, 0}, .counted = false,
	 .efficiency = 1.000, .floor_row = 22.47, .bytes = {0, 8}, .factor = {0.989, 0.864, 1.000, 1.080},
	 .off = {-29, 21}, .own = false},
	{SX_STAGE_SMOOTH, SX_VOLUME_AUTO, 0, 1, .instructions = {0, 5.0368, 0, 0}, .counted = true,
	 .efficiency = 0.501, .floor_constant = 5.451e+04, .bytes = {0, 19.38},
	 .factor = {1.428, 0.992, 1.000, 1.142}, .off = {-7, 8}, .own = false},
	{SX_STAGE_SMOOTH, SX_VOLUME_AUTO, 0, 0, .instructions = {0, 3.0197, 0, 0}, .counted = true,
	 .efficiency = 0.558, .floor_constant = 1.37e+04, .bytes = {0, 9.156},
	 .factor = {1.723, 1.022, 1.000, 0.887}, .off = {-11, 15}, .own = false},
	{SX_STAGE_ROAD, SX_VOLUME_AUTO, 0, -1, .instructions = {0, 0, 0, 0}, .counted = true,
	 .efficiency = 1.000, .floor_constant = 1.588e+05, .bytes = {0, 0},
	 .factor = {1.046, 0.974, 1.000, 0.930}, .off = {-51, 11}, .own = false},
	{SX_STAGE_REDUCE, SX_VOLUME_AUTO, 0, -1, .instructions = {0, 2.0359, 0, 0}, .counted = true,
	 .efficiency = 0.479, .floor_constant = 4.83e+04, .bytes = {0, 13.74},
	 .factor = {1.029, 1.051, 1.000, 1.423}, .off = {-12, 33}, .own = false},
	{SX_STAGE_SEGMENT, SX_VOLUME_AUTO, 0, -1, .instructions = {0, 0, 267.31, 1.1404}, .counted = true,
	 .efficiency = 0.788, .floor_row = 307.8, .bytes = {0, 0}, .factor = {1.136, 1.020, 1.000, 0.922},
	 .off = {-11, 5}, .own = false},
	{SX_STAGE_COMPACT, SX_VOLUME_AUTO, 0, -1, .instructions = {0, 0, 0, 0}, .counted = true,
	 .efficiency = 1.000, .floor_constant = 1.067e+04, .bytes = {0, 0},
	 .factor = {1.008, 0.959, 1.000, 0.648}, .off = {-36, 11}, .own = false},
};
const int sx_work_count = sizeof(sx_work_table) / sizeof(sx_work_table[0]);

const struct sx_work_chain sx_work_chains[] = {
	{SX_VOLUME_CHECKPOINT, 64, {-2, 0}, true},
	{SX_VOLUME_CHECKPOINT, 128, {-9, 9}, false},
	{SX_VOLUME_STORED, 64, {-1, 1}, true},
	{SX_VOLUME_STORED, 128, {-3, 3}, false},
};
const int sx_work_chain_count = sizeof(sx_work_chains) / sizeof(sx_work_chains[0]);

const double sx_work_host_ms = 0.0089;
const double sx_work_copy_ms = 3.834e-08;
