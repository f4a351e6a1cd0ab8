/*
 * Histogram of durations, for all values and over moving windows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/statistics/histogram.h"

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

/* Returns the middle of a bucket, ns, rounded down: the inverse of bucket_of(). */
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
 * Adds to a count. There is one writer, so load and store replace an atomic addition. Release: a reader that
 * sees the new count also sees that the part was reused (see part_merge).
 */
static void count_up(_Atomic uint64_t *count, uint64_t by)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + by,
			      memory_order_release);
}

static void max_up(_Atomic int64_t *max, int64_t ns)
{
	if (ns > atomic_load_explicit(max, memory_order_relaxed))
		atomic_store_explicit(max, ns, memory_order_release);
}

static void add_to_bucket(struct sx_histogram *h, unsigned bucket, int64_t ns)
{
	max_up(&h->max_ns, ns); /* first, so that a reader that sees a count also sees its maximum */
	count_up(&h->count[bucket], 1);
}

void sx_histogram_add(struct sx_histogram *h, int64_t ns)
{
	add_to_bucket(h, bucket_of(ns), ns);
}

/*
 * Computes quantiles in rising order from one pass over a copy of the counts. Returns the number of
 * additions.
 */
static uint64_t quantiles(const struct sx_histogram *h, const unsigned *permille, int64_t *ret, int n)
{
	uint64_t count[SX_HISTOGRAM_BUCKETS], total = 0, seen = 0;
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
 * Empties a part for a new half second, as a writer of a seqlock does: part 0 first, then the counts and
 * their range with release stores, then the new number. A reader that read a count or a range of the new half
 * second then also sees that the number changed, and skips the part. Only buckets in the range are zeroed:
 * half a second uses few of the 1152 buckets.
 */
static void part_reuse(struct sx_windows_part *p, int64_t part)
{
	const uint32_t first = atomic_load_explicit(&p->first, memory_order_relaxed),
		       end = atomic_load_explicit(&p->end, memory_order_relaxed);

	atomic_store_explicit(&p->part, 0, memory_order_relaxed);
	for (uint32_t b = first; b < end; b++)
		atomic_store_explicit(&p->count[b], 0, memory_order_release);
	atomic_store_explicit(&p->max_ns, 0, memory_order_release);
	atomic_store_explicit(&p->first, 0, memory_order_release);
	atomic_store_explicit(&p->end, 0, memory_order_release);
	atomic_store_explicit(&p->part, part, memory_order_release);
}

/*
 * Widens the range of used buckets. The caller does this before it counts: for a reader that does not see the
 * wider range yet, the addition comes later.
 */
static void part_widen(struct sx_windows_part *p, uint32_t bucket)
{
	const uint32_t end = atomic_load_explicit(&p->end, memory_order_relaxed);

	if (end == 0 || bucket < atomic_load_explicit(&p->first, memory_order_relaxed))
		atomic_store_explicit(&p->first, bucket, memory_order_release);
	if (bucket >= end)
		atomic_store_explicit(&p->end, bucket + 1, memory_order_release);
}

/* Adds to a bucket as add_to_bucket() does, with 32-bit counts, which suffice for half a second. */
static void part_add(struct sx_windows_part *p, unsigned bucket, int64_t ns)
{
	max_up(&p->max_ns, ns);
	atomic_store_explicit(&p->count[bucket],
			      atomic_load_explicit(&p->count[bucket], memory_order_relaxed) + 1,
			      memory_order_release);
}

void sx_windows_add(struct sx_windows *w, int64_t now_ns, int64_t ns)
{
	const int64_t part = now_ns / SX_WINDOW_PART_NS + 1;
	struct sx_windows_part *p = &w->parts[part % SX_WINDOW_PARTS];
	const unsigned bucket = bucket_of(ns);

	if (atomic_load_explicit(&p->part, memory_order_relaxed) != part)
		part_reuse(p, part);
	part_widen(p, bucket);
	part_add(p, bucket, ns);
	add_to_bucket(&w->start, bucket, ns);
}

/* Adds a part to a histogram, if the part still belongs to that half second after it has been read. */
static void part_merge(struct sx_histogram *into, const struct sx_windows_part *p, int64_t part)
{
	uint32_t count[SX_HISTOGRAM_BUCKETS], first, end;
	int64_t max;

	if (atomic_load_explicit(&p->part, memory_order_acquire) != part)
		return;
	first = atomic_load_explicit(&p->first, memory_order_acquire);
	end = atomic_load_explicit(&p->end, memory_order_acquire);
	for (uint32_t b = first; b < end; b++)
		count[b] = atomic_load_explicit(&p->count[b], memory_order_acquire);
	max = atomic_load_explicit(&p->max_ns, memory_order_acquire);
	if (atomic_load_explicit(&p->part, memory_order_relaxed) != part)
		return;
	for (uint32_t b = first; b < end; b++)
		if (count[b])
			count_up(&into->count[b], count[b]);
	max_up(&into->max_ns, max);
}

void sx_windows_read(const struct sx_windows *w, enum sx_window which, int64_t now_ns, struct sx_summary *ret)
{
	int64_t last = now_ns / SX_WINDOW_PART_NS + 1;
	int64_t first = last - (which == SX_WINDOW_1S ? 2 : 20);
	struct sx_histogram sum;

	if (which == SX_WINDOW_START) {
		sx_histogram_summary(&w->start, ret);
		return;
	}
	sx_histogram_init(&sum);
	for (int64_t part = first > 1 ? first : 1; part <= last; part++)
		part_merge(&sum, &w->parts[part % SX_WINDOW_PARTS], part);
	sx_histogram_summary(&sum, ret);
}
