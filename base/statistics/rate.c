/*
 * Events per second.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/statistics/rate.h"

void sx_rate_add(struct sx_rate *r, int64_t now_ns)
{
	int64_t part = now_ns / SX_RATE_PART_NS + 1;
	unsigned i = (unsigned)(part % SX_RATE_PARTS);
	uint64_t offset = (uint64_t)(now_ns - (part - 1) * SX_RATE_PART_NS), last;

	/* Release stores follow part 0: a reader that sees any of them also sees that the part was reused. */
	if (atomic_load_explicit(&r->parts[i].part, memory_order_relaxed) != part) {
		atomic_store_explicit(&r->parts[i].part, 0, memory_order_relaxed);
		atomic_store_explicit(&r->parts[i].first_ns, now_ns, memory_order_release);
		atomic_store_explicit(&r->parts[i].last, UINT64_C(1) << 32 | offset, memory_order_release);
		atomic_store_explicit(&r->parts[i].part, part, memory_order_release);
		return;
	}
	last = atomic_load_explicit(&r->parts[i].last, memory_order_relaxed);
	atomic_store_explicit(&r->parts[i].last, ((last >> 32) + 1) << 32 | offset, memory_order_release);
}

double sx_rate_get(const struct sx_rate *r, int seconds, int64_t now_ns)
{
	int64_t end = now_ns / SX_RATE_PART_NS + 1, begin = end - seconds * (SX_NS_PER_S / SX_RATE_PART_NS);
	int64_t first_ns = 0, last_ns = 0, gap_ns;
	uint64_t n = 0;

	for (int64_t part = begin > 1 ? begin : 1; part <= end; part++) {
		unsigned i = (unsigned)(part % SX_RATE_PARTS);
		uint64_t last;
		int64_t a;

		if (atomic_load_explicit(&r->parts[i].part, memory_order_acquire) != part)
			continue;
		last = atomic_load_explicit(&r->parts[i].last, memory_order_acquire);
		a = atomic_load_explicit(&r->parts[i].first_ns, memory_order_acquire);
		if (atomic_load_explicit(&r->parts[i].part, memory_order_relaxed) != part)
			continue;
		if (!n)
			first_ns = a;
		last_ns = (part - 1) * SX_RATE_PART_NS + (int64_t)(last & UINT32_MAX);
		n += last >> 32;
	}
	if (n < 2 || last_ns <= first_ns)
		return (double)n / seconds;
	gap_ns = (last_ns - first_ns) / (int64_t)(n - 1);
	/* The events stopped or slowed down: let the rate sink. */
	if (now_ns - last_ns > 2 * gap_ns)
		last_ns = now_ns;
	return (double)(n - 1) * (double)SX_NS_PER_S / (double)(last_ns - first_ns);
}
