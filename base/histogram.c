/*
 * Histogram of durations, and the same over moving windows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/histogram.h"

#define SUB (1 << SX_HISTOGRAM_BITS)

static unsigned bucket_of(int64_t ns)
{
	unsigned octave, bucket;

	if (ns < SUB)
		return ns < 0 ? 0 : (unsigned)ns;
	octave = 63u - (unsigned)__builtin_clzll((unsigned long long)ns) - SX_HISTOGRAM_BITS;
	bucket = (octave << SX_HISTOGRAM_BITS) + (unsigned)(ns >> octave);
	return bucket < SX_HISTOGRAM_BUCKETS ? bucket : SX_HISTOGRAM_BUCKETS - 1;
}

/* Middle of a bucket: the inverse of bucket_of(), rounded down. */
static int64_t bucket_middle(unsigned bucket)
{
	unsigned octave;

	if (bucket < 2 * SUB)
		return bucket;
	octave = (bucket >> SX_HISTOGRAM_BITS) - 1;
	return ((int64_t)(SUB + (bucket & (SUB - 1))) << octave) + ((INT64_C(1) << octave) >> 1);
}

void sx_histogram_init(struct sx_histogram *h)
{
	memset(h, 0, sizeof(*h));
}

/*
 * One writer: load and store instead of a locked addition. Release, so that a reader who sees the new count
 * also sees that its part was taken into use again (see sx_windows_read).
 */
static void count_up(_Atomic uint32_t *count, uint32_t by)
{
	uint32_t c = atomic_load_explicit(count, memory_order_relaxed);

	atomic_store_explicit(count, by > UINT32_MAX - c ? UINT32_MAX : c + by, memory_order_release);
}

static void max_up(_Atomic int64_t *max, int64_t ns)
{
	if (ns > atomic_load_explicit(max, memory_order_relaxed))
		atomic_store_explicit(max, ns, memory_order_release);
}

void sx_histogram_add(struct sx_histogram *h, int64_t ns)
{
	max_up(&h->max_ns, ns); /* first: no reader finds a count without its maximum */
	count_up(&h->count[bucket_of(ns)], 1);
}

void sx_histogram_merge(struct sx_histogram *into, const struct sx_histogram *from)
{
	for (unsigned i = 0; i < SX_HISTOGRAM_BUCKETS; i++) {
		uint32_t c = atomic_load_explicit(&from->count[i], memory_order_acquire);

		if (c)
			count_up(&into->count[i], c);
	}
	max_up(&into->max_ns, atomic_load_explicit(&from->max_ns, memory_order_acquire));
}

/* Quantiles in rising order from one pass over a copy of the counts. */
static uint64_t quantiles(const struct sx_histogram *h, const unsigned *permille, int64_t *ret, int n)
{
	uint32_t count[SX_HISTOGRAM_BUCKETS];
	uint64_t total = 0, seen = 0;
	int64_t max;
	int q = 0;

	for (unsigned i = 0; i < SX_HISTOGRAM_BUCKETS; i++)
		total += count[i] = atomic_load_explicit(&h->count[i], memory_order_acquire);
	max = atomic_load_explicit(&h->max_ns, memory_order_acquire);
	for (unsigned i = 0; i < SX_HISTOGRAM_BUCKETS && q < n; i++) {
		seen += count[i];
		while (q < n && total && seen > 0) {
			uint64_t rank = (total * permille[q] + 999) / 1000;

			if (seen < (rank ? rank : 1))
				break;
			ret[q] = bucket_middle(i) < max ? bucket_middle(i) : max;
			q++;
		}
	}
	while (q < n)
		ret[q++] = 0;
	return total;
}

int64_t sx_histogram_quantile(const struct sx_histogram *h, unsigned permille)
{
	int64_t ret;

	quantiles(h, &permille, &ret, 1);
	return ret;
}

uint64_t sx_histogram_below(const struct sx_histogram *h, int64_t ns)
{
	unsigned end = bucket_of(ns);
	uint64_t n = 0;

	for (unsigned i = 0; i < end; i++)
		n += atomic_load_explicit(&h->count[i], memory_order_acquire);
	return n;
}

void sx_histogram_summary(const struct sx_histogram *h, struct sx_summary *ret)
{
	static const unsigned permille[3] = {500, 900, 990};
	int64_t q[3];

	ret->n = quantiles(h, permille, q, 3);
	ret->p50_ns = q[0];
	ret->p90_ns = q[1];
	ret->p99_ns = q[2];
	ret->max_ns = ret->n ? atomic_load_explicit(&h->max_ns, memory_order_acquire) : 0;
}

/*
 * A part is emptied like a seqlock's object: part 0 first, the counts with release stores, then the
 * new number. A reader that caught a count of the new use therefore also finds the number changed,
 * and leaves the part out.
 */
static void part_reuse(struct sx_windows *w, unsigned i, int64_t part)
{
	struct sx_histogram *h = &w->parts[i].h;

	atomic_store_explicit(&w->parts[i].part, 0, memory_order_relaxed);
	for (unsigned b = 0; b < SX_HISTOGRAM_BUCKETS; b++)
		atomic_store_explicit(&h->count[b], 0, memory_order_release);
	atomic_store_explicit(&h->max_ns, 0, memory_order_release);
	atomic_store_explicit(&w->parts[i].part, part, memory_order_release);
}

void sx_windows_add(struct sx_windows *w, int64_t now_ns, int64_t ns)
{
	int64_t part = now_ns / SX_WINDOW_PART_NS + 1;
	unsigned i = (unsigned)(part % SX_WINDOW_PARTS);

	if (atomic_load_explicit(&w->parts[i].part, memory_order_relaxed) != part)
		part_reuse(w, i, part);
	sx_histogram_add(&w->parts[i].h, ns);
	sx_histogram_add(&w->start, ns);
}

void sx_windows_read(const struct sx_windows *w, enum sx_window which, int64_t now_ns, struct sx_summary *ret)
{
	int64_t last = now_ns / SX_WINDOW_PART_NS + 1;
	int64_t first = last - (which == SX_WINDOW_1S ? 2 : 20);
	struct sx_histogram sum, copy;

	if (which == SX_WINDOW_START) {
		sx_histogram_summary(&w->start, ret);
		return;
	}
	sx_histogram_init(&sum);
	for (int64_t part = first > 1 ? first : 1; part <= last; part++) {
		unsigned i = (unsigned)(part % SX_WINDOW_PARTS);

		if (atomic_load_explicit(&w->parts[i].part, memory_order_acquire) != part)
			continue;
		sx_histogram_init(&copy);
		sx_histogram_merge(&copy, &w->parts[i].h);
		if (atomic_load_explicit(&w->parts[i].part, memory_order_relaxed) == part)
			sx_histogram_merge(&sum, &copy);
	}
	sx_histogram_summary(&sum, ret);
}
