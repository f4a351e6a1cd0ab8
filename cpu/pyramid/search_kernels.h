/*
 * The kernels of the pyramid search, on the vectors whose header was included before. Each search_*.c includes
 * this file once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_PYRAMID_SEARCH_KERNELS_H
#define SX_CPU_PYRAMID_SEARCH_KERNELS_H

#include "cpu/kernel_sets.h"
#include "cpu/pyramid/cells_kernel.h"
#include "cpu/pyramid/columns_kernel.h"
#include "cpu/pyramid/groups_kernel.h"
#include "cpu/pyramid/rows_kernel.h"

#define SX_SEARCH_KERNELS                                                                             \
	{                                                                                             \
		.cost_row = cost_row, .search_costs = search_costs, .search_columns = search_columns, \
		.search_diagonal = search_diagonal, .search_rows = search_rows,                       \
		.search_groups = search_groups, .search_strip = search_strip,                         \
	}

#endif
