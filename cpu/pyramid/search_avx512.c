/*
 * The kernels of the pyramid search on vec_avx512.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec_avx512.h"

#include "cpu/pyramid/search_kernels.h"

const struct sx_search_kernels sx_search_kernels_avx512 = SX_SEARCH_KERNELS;
