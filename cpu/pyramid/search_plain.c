/*
 * The kernels of the pyramid search on vec_plain.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vec/vec_plain.h"

/* Without forced inlining gcc does not know the number of slots, and so not that a step reads filled ones only. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "cpu/pyramid/search_kernels.h"

const struct sx_search_kernels sx_search_kernels_plain = SX_SEARCH_KERNELS;
