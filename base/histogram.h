/*
 * Histogram of durations: log-linear buckets, fixed memory, no allocation.
 *
 * Method: as HdrHistogram (G. Tene): values below 32 ns have a bucket each, every octave above is cut into 32
 * equal buckets, so that a quantile is within 1.6 % of a value that was added. Values beyond 2^40 ns (18 min)
 * share the last bucket; max stays exact.
 *
 * Thread: one thread adds, any other may read at the same time and sees each addition whole or not
 * at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_HISTOGRAM_H
#define SX_BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#define SX_HISTOGRAM_BITS 5	/* 32 buckets an octave */
#define SX_HISTOGRAM_OCTAVES 35 /* above the first 32 ns */
#define SX_HISTOGRAM_BUCKETS ((SX_HISTOGRAM_OCTAVES + 1) << SX_HISTOGRAM_BITS)

struct sx_histogram {
	_Atomic uint64_t count[SX_HISTOGRAM_BUCKETS]; /* 32 bits are 4.5 years of frames */
	_Atomic int64_t max_ns;
};

struct sx_summary {
	uint64_t n; /* additions; all others are 0 when n is 0 */
	int64_t p50_ns, p90_ns, p99_ns, max_ns;
};

/* Zeroes it; a zeroed structure is an empty histogram. Not while another thread adds. */
void sx_histogram_init(struct sx_histogram *h);
/* Real-time safe. Negative durations count as 0. */
void sx_histogram_add(struct sx_histogram *h, int64_t ns);
/*
 * The value of rank ceil(n * permille / 1000), at least rank 1: middle of its bucket, never above max.
 * 0 if empty.
 */
int64_t sx_histogram_quantile(const struct sx_histogram *h, unsigned permille);
/* Additions below ns; exact when ns is a power of two. */
uint64_t sx_histogram_below(const struct sx_histogram *h, int64_t ns);
/* All figures from one pass over the counts: n and the quantiles belong together. */
void sx_histogram_summary(const struct sx_histogram *h, struct sx_summary *ret);

/*
 * The same over time: the last second, the last ten seconds and since start, by half-second parts that are
 * reused in turn. "Last 1 s" is the running half second and the two before it, so it spans 1.0 to 1.5 s.
 */
#define SX_WINDOW_PART_NS INT64_C(500000000)
#define SX_WINDOW_PARTS 24 /* 21 are read, the rest is slack while a part is being emptied */

enum sx_window { SX_WINDOW_1S, SX_WINDOW_10S, SX_WINDOW_START };

/* Half a second. */
struct sx_windows_part {
	_Atomic int64_t part;	     /* time / SX_WINDOW_PART_NS + 1; 0 while empty or being emptied */
	_Atomic uint32_t first, end; /* the buckets before and behind are 0 */
	_Atomic uint32_t count[SX_HISTOGRAM_BUCKETS];
	_Atomic int64_t max_ns;
};

/* About 120 kB: keep it on the heap. Ready when zeroed. */
struct sx_windows {
	struct sx_windows_part parts[SX_WINDOW_PARTS];
	struct sx_histogram start;
};

/* Thread: the one that adds. now_ns: CLOCK_MONOTONIC, not falling. */
void sx_windows_add(struct sx_windows *w, int64_t now_ns, int64_t ns);
/* Any thread. */
void sx_windows_read(const struct sx_windows *w, enum sx_window which, int64_t now_ns,
		     struct sx_summary *ret);

#endif
