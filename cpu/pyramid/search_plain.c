/*
 * The kernels of the pyramid search on vec_plain.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec_plain.h"

#include "cpu/pyramid/search_kernels.h"

const struct sx_search_kernels sx_search_kernels_plain = SX_SEARCH_KERNELS;
