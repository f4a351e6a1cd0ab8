/*
 * Order of the emulated work, see order.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/gpu/emulate/order.h"

#include <stdlib.h>

static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

struct sx_order sx_order_begin(void)
{
	static uint64_t runs;
	const char *text = getenv("SX_EMULATE_ORDER");
	const uint64_t seed = text ? strtoull(text, NULL, 10) : 0;

	return {seed, seed * 1000003 + runs++};
}

unsigned sx_order_pick(struct sx_order *o, unsigned n)
{
	return o->seed == 0 ? 0 : o->seed == 1 ? n - 1 : (unsigned)(next(&o->state) % n);
}

void sx_order_shuffle(struct sx_order *o, unsigned *turn, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		turn[i] = o->seed == 1 ? n - 1 - i : i;
	if (o->seed < 2)
		return;
	for (unsigned i = n; i > 1; i--) {
		const unsigned j = (unsigned)(next(&o->state) % i), t = turn[i - 1];

		turn[i - 1] = turn[j];
		turn[j] = t;
	}
}

/* Steps by a number that shares no factor with the number of blocks, from a start given by the seed. */
uint64_t sx_order_block(const struct sx_order *o, uint64_t nth, uint64_t blocks)
{
	uint64_t step = 0x9e3779b1 % blocks | 1;

	if (o->seed < 2)
		return o->seed ? blocks - 1 - nth : nth;
	for (;; step += 2) {
		uint64_t a = step, b = blocks;

		while (b) {
			const uint64_t r = a % b;

			a = b;
			b = r;
		}
		if (a == 1)
			return (o->seed + nth % blocks * (step % blocks)) % blocks;
	}
}
