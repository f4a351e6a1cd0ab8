/*
 * In which order what may run in any order does run, here: SX_EMULATE_ORDER = 0 or unset ascending, 1
 * descending, any other number a shuffle of that seed.
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
/* 0 .. n-1, n >= 1; 0 when ascending, n-1 when descending. */
unsigned sx_order_pick(struct sx_order *o, unsigned n);
/* turn[0..n-1] becomes a permutation. */
void sx_order_shuffle(struct sx_order *o, unsigned *turn, unsigned n);
/* The nth of blocks to run: a permutation without memory. */
uint64_t sx_order_block(const struct sx_order *o, uint64_t nth, uint64_t blocks);

#endif
