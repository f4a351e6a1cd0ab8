/*
 * The kernels of the pyramid search on vec_plain.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec_plain.h"

/*
 * gcc knows the number of slots only where it inlines. So it does not see that a step reads filled slots alone.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "cpu/pyramid/search_kernels.h"

const struct sx_search_kernels sx_search_kernels_plain = SX_SEARCH_KERNELS;
