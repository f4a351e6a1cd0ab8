/*
 * The kernels of the pyramid search on vec_sse4.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec_sse4.h"

#include "cpu/pyramid/search_kernels.h"

const struct sx_search_kernels sx_search_kernels_sse4 = SX_SEARCH_KERNELS;
