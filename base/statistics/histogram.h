/*
 * Histogram of durations: log-linear buckets, fixed memory, no allocation.
 *
 * Method: as HdrHistogram (G. Tene). Each value below 32 ns has its own bucket. Each octave above is divided
 * into 32 equal buckets, so that a quantile is within 1.6 % of a value that was added. Values beyond 2^40 ns
 * (18 min) share the last bucket. The maximum stays exact.
 *
 * Thread: one thread adds. Any other thread may read at the same time, and sees each addition completely or
 * not at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_STATISTICS_HISTOGRAM_H
#define SX_BASE_STATISTICS_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#define SX_HISTOGRAM_BITS 5	/* 32 buckets per octave */
#define SX_HISTOGRAM_OCTAVES 35 /* octaves above the first 32 ns */
#define SX_HISTOGRAM_BUCKETS ((SX_HISTOGRAM_OCTAVES + 1) << SX_HISTOGRAM_BITS)

struct sx_histogram {
	_Atomic uint64_t count[SX_HISTOGRAM_BUCKETS]; /* 32 bits would last 4.5 years of frames */
	_Atomic int64_t max_ns;
};

struct sx_summary {
	uint64_t n; /* number of additions; if 0, all other fields are 0 */
	int64_t p50_ns, p90_ns, p99_ns, max_ns;
};

/* Zeroes a histogram. A zeroed structure is an empty histogram. Call it while no other thread adds. */
void sx_histogram_init(struct sx_histogram *h);
/* Adds a duration. Real-time safe. A negative duration counts as 0. */
void sx_histogram_add(struct sx_histogram *h, int64_t ns);
/*
 * Returns a quantile, ns: the value of rank ceil(n * permille / 1000), at least rank 1. It is the middle of
 * the value's bucket, never above the maximum. 0 if the histogram is empty.
 */
int64_t sx_histogram_quantile(const struct sx_histogram *h, unsigned permille);
/* Returns the number of durations below ns. It is exact if ns is a power of two. */
uint64_t sx_histogram_below(const struct sx_histogram *h, int64_t ns);
/* Computes all values of a summary from one pass over the counts, so that n and the quantiles match. */
void sx_histogram_summary(const struct sx_histogram *h, struct sx_summary *ret);

/*
 * Histograms over time: the last second, the last ten seconds, and since start. They consist of half-second
 * parts that are reused in turn. "Last 1 s" is the running half second and the two before it, so it spans 1.0
 * to 1.5 s.
 */
#define SX_WINDOW_PART_NS INT64_C(500000000)
#define SX_WINDOW_PARTS 24 /* 21 parts are read; the others are a reserve while a part is being emptied */

enum sx_window { SX_WINDOW_1S, SX_WINDOW_10S, SX_WINDOW_START };

/* Histogram of half a second. */
struct sx_windows_part {
	_Atomic int64_t part;	     /* time / SX_WINDOW_PART_NS + 1; 0 while empty or being emptied */
	_Atomic uint32_t first, end; /* range of used buckets: first..end - 1; all others are 0 */
	_Atomic uint32_t count[SX_HISTOGRAM_BUCKETS];
	_Atomic int64_t max_ns;
};

/* Histograms over time. Size about 120 kB: keep it on the heap. A zeroed structure is ready. */
struct sx_windows {
	struct sx_windows_part parts[SX_WINDOW_PARTS];
	struct sx_histogram start;
};

/* Adds a duration. now_ns: CLOCK_MONOTONIC, never falling. Thread: always the same one. */
void sx_windows_add(struct sx_windows *w, int64_t now_ns, int64_t ns);
/* Reads one window. Any thread. */
void sx_windows_read(const struct sx_windows *w, enum sx_window which, int64_t now_ns,
		     struct sx_summary *ret);

#endif
