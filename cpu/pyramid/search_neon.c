/*
 * The kernels of the pyramid search on vec_neon.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec_neon.h"

#include "cpu/pyramid/search_kernels.h"

const struct sx_search_kernels sx_search_kernels_neon = SX_SEARCH_KERNELS;
