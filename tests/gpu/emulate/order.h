/*
 * Order of work that CUDA may run in any order. SX_EMULATE_ORDER = 0 or unset: ascending. 1: descending. Any
 * other number: a shuffle with that seed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_EMULATE_ORDER_H
#define SX_TESTS_GPU_EMULATE_ORDER_H

#include <stdint.h>

struct sx_order {
	uint64_t seed, state;
};
struct sx_order sx_order_begin(void);
/* Returns 0 .. n-1, n >= 1. Ascending order gives 0, descending order n-1. */
unsigned sx_order_pick(struct sx_order *o, unsigned n);
/* Makes turn[0..n-1] a permutation. */
void sx_order_shuffle(struct sx_order *o, unsigned *turn, unsigned n);
/* Returns the nth block to run: a permutation that needs no memory. */
uint64_t sx_order_block(const struct sx_order *o, uint64_t nth, uint64_t blocks);

#endif
