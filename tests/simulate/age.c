/*
 * Starts clocks and counters where they stand on a machine that has run for years, so that overflows and lost
 * digits show within minutes. Checks the sums that must hold then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/run_priv.h"
#include "tests/simulate/sim.h"
#include "tests/simulate/world.h"

#define SUMS_EVERY_NS (5 * SIM_S)
#define SUMS_EVERY_LASTING_NS (600 * SIM_S)
#define DURATIONS_FROM 20 /* first frames, whose durations are assumed for all earlier frames */

#define LIFE_NS (INT64_C(315576000) * SIM_S) /* ten years */

typedef unsigned long long ull;

/* ---- start values of clocks and counters ---- */

#define BIT(n) (INT64_C(1) << (n))

/* CLOCK_MONOTONIC: limits of types that code might use for it, up to the longest uptimes. */
static const int64_t clock_marks[] = {
	BIT(31) * 1000,	       /* microseconds in 31 bits: 36 minutes */
	BIT(32) * 1000,	       /* microseconds in 32 bits: 71 minutes */
	BIT(31) * SIM_MS,      /* milliseconds in 31 bits: 25 days */
	BIT(32) * SIM_MS,      /* milliseconds in 32 bits: 50 days */
	BIT(53),	       /* nanoseconds as double: 104 days */
	BIT(31) * 10 * SIM_MS, /* hundredths of a second in 31 bits: 249 days */
	BIT(32) * 10 * SIM_MS, /* hundredths of a second in 32 bits: 497 days */
	LIFE_NS,
};

/*
 * Frame numbers: the mantissa of a float; 31 and 32 bits: 2.3 and 4.5 years at 30 frames per second; ten
 * years.
 */
static const int64_t frame_marks[] = {BIT(24), BIT(31), BIT(32), INT64_C(9467280000)};

/* CLOCK_REALTIME: the start value of boards without a battery, and the end of 32 bits, in 2038. */
static const int64_t realtime_marks[] = {0, BIT(31) * SIM_S};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

void age_clocks(void)
{
	const int64_t early = sim_between(0, 300 * SIM_S);
	int64_t mark;

	if (sim->lasting) {
		sim->realtime_offset = 1900000000 * SIM_S; /* year 2030: a life of ten years passes 2038 */
		return;
	}
	if (sim_once_in(2))
		sim->begin = sim->now = clock_marks[sim_below(COUNT(clock_marks))] - early;
	if (!sim_once_in(4))
		return;
	mark = realtime_marks[sim_below(COUNT(realtime_marks))];
	sim->realtime_offset = (mark > early ? mark - early : SIM_S) - sim->now;
}

/* Returns the sequence number of a driver's first image: mostly 0, or a number soon before the overflow. */
uint32_t age_sequence(void)
{
	const uint32_t early = (uint32_t)sim_below(sim->lasting ? 100000 : 3000);

	if (!sim->lasting && !sim_once_in(3))
		return 0;
	return (sim_once_in(3) ? INT32_MAX : UINT32_MAX) - early;
}

/* Returns the number of earlier frames with which a life begins. */
uint64_t age_frames(void)
{
	const uint64_t early = sim_below(sim->lasting ? 100000 : 3000);

	if (!sim->lasting && !sim_once_in(3))
		return 0;
	return (uint64_t)frame_marks[sim->lasting ? 2 : sim_below(COUNT(frame_marks))] - early;
}

/* Marks empty slots as if the next frame of each were being written. */
static void age_slots(char *map, uint64_t head)
{
	struct stixel_ring_header h;

	memcpy(&h, map, sizeof(h));
	for (uint64_t n = head + 1; n <= head + h.slot_count; n++) {
		struct stixel_ring_slot *slot =
			(struct stixel_ring_slot *)(map + h.slots_offset +
						    (n & (h.slot_count - 1)) * h.slot_stride);

		slot->sequence = 2 * n - 1;
	}
}

/*
 * Sets the writer's frame count. The writer keeps map, bytes, live part, epoch and this count, in this order.
 */
static void age_ring(struct sx_ring *r, uint64_t epoch, uint64_t head)
{
	const size_t words = malloc_usable_size(r) / sizeof(uint64_t);
	uint64_t *at = (uint64_t *)r;

	for (size_t i = 3; i + 1 < words; i++)
		if (at[i] == epoch && at[i + 1] == 0 && at[i - 1] - at[i - 3] == STIXEL_RING_LIVE_OFFSET) {
			age_slots((char *)(uintptr_t)at[i - 3], head);
			at[i + 1] = head;
			return;
		}
	sim_fail("simulation: a ring has no count of its frames");
}

static void add(_Atomic uint64_t *count, uint64_t by)
{
	atomic_fetch_add_explicit(count, by, memory_order_relaxed);
}

/*
 * Ages a pipeline at the start of its frame thread: nothing is published yet, and world.aged frames count as
 * done.
 */
void age_pipeline(struct sx_pipeline *p)
{
	struct sx_telemetry *t = p->c.telemetry;
	const uint64_t n = world->aged;

	p->submitted = p->collected = n;
	if (p->ring && n > 0)
		age_ring(p->ring, p->epoch, n);
	if (world->counts_aged)
		return; /* the pipeline was created again and keeps its counts */
	world->counts_aged = true;
	add(&t->count[SX_METRIC_FRAMES_CAPTURED], n);
	add(&t->count[SX_METRIC_FRAMES_PUBLISHED], n);
	for (int side = 0; side < 2; side++)
		t->closed.captured[side] += n;
	world->published += n;
}

/*
 * Adds the durations of the earlier frames: the most frequent duration of the first frames that were
 * measured.
 */
static void age_durations(struct sx_telemetry *t)
{
	for (int s = 0; s < SX_SPAN_COUNT; s++) {
		struct sx_histogram *h = &t->spans[s].windows.start;
		const int64_t sum = atomic_load_explicit(&t->spans[s].sum_ns, memory_order_relaxed);
		const uint64_t n = sx_histogram_below(h, INT64_MAX);
		unsigned most = 0;
		int64_t more;

		if (n == 0)
			continue;
		for (unsigned i = 0; i < SX_HISTOGRAM_BUCKETS; i++)
			if (atomic_load_explicit(&h->count[i], memory_order_relaxed) >
			    atomic_load_explicit(&h->count[most], memory_order_relaxed))
				most = i;
		atomic_fetch_add_explicit(&h->count[most], world->aged, memory_order_relaxed);
		/* at a low frame rate, limits the sum to the time that has passed */
		more = (int64_t)world->aged * ((int64_t)world->aged < LIFE_NS / (sum / (int64_t)n + 1)
						       ? sum / (int64_t)n
						       : LIFE_NS / (int64_t)world->aged);
		atomic_fetch_add_explicit(&t->spans[s].sum_ns, more, memory_order_relaxed);
		if (s == SX_SPAN_ENGINE)
			world->engine_sum_ns += more;
	}
	world->durations_aged = true;
}

/* ---- invariants at any age ---- */

/* Prints each year of a ten-year life, because such a life takes minutes. */
void age_tick(void)
{
	const int64_t years = (sim->now - sim->begin) / (LIFE_NS / 10);

	if (!sim->lasting || years <= world->years)
		return;
	world->years = years;
	printf("after %lld years: %llu frames, %llu read, %llu dropped, %llu phases\n", (long long)years,
	       (ull)world->frames_in_all, (ull)world->read_in_all, (ull)world->dropped_in_all,
	       (ull)world->phases);
	fflush(stdout);
}

static uint64_t published_of(const struct sx_telemetry *t)
{
	return atomic_load_explicit(&t->count[SX_METRIC_FRAMES_PUBLISHED], memory_order_relaxed);
}

/* Returns the number of frames whose durations are known. */
static uint64_t measured_of(const struct sx_telemetry *t)
{
	return published_of(t) - (world->durations_aged ? 0 : world->aged);
}

/* Checks while all threads sleep: totals must equal the sums over all frames. */
void age_check_sums(void)
{
	struct sx_telemetry *t = world->run->core.telemetry;
	const struct sx_duration *engine = &t->spans[SX_SPAN_ENGINE];
	struct sx_summary start;
	int64_t sum;

	if (sim->now < world->at.sums || !world->counts_aged)
		return;
	world->at.sums = sim->now + (sim->lasting ? SUMS_EVERY_LASTING_NS : SUMS_EVERY_NS);
	if (!world->durations_aged && measured_of(t) >= DURATIONS_FROM)
		age_durations(t);
	sx_windows_read(&engine->windows, SX_WINDOW_START, sim->now, &start);
	sum = atomic_load_explicit(&engine->sum_ns, memory_order_relaxed);
	SIM_MUST(start.n == measured_of(t), "%llu frames are measured, and durations are of %llu",
		 (ull)measured_of(t), (ull)start.n);
	SIM_MUST(sum == world->engine_sum_ns, "the engine had %lld ns in all, and the sum says %lld",
		 (long long)world->engine_sum_ns, (long long)sum);
}

/* Returns the number after a text in a page, or a negative number if the text is missing. */
static double number_behind(const char *page, const char *text)
{
	const char *at = strstr(page, text);

	return at ? strtod(at + strlen(text), NULL) : -1;
}

void age_page_begins(struct age_page *a)
{
	const struct sx_run *run = world->run; /* NULL: main's loop has not begun */

	*a = (struct age_page){.asked_ns = sim->now, .known = run && world->counts_aged};
	if (a->known) {
		a->published = published_of(run->core.telemetry);
		a->measured = measured_of(run->core.telemetry);
	}
}

/* Checks a page: each of its values must have been true at some time since the request. */
void age_check_page(const struct age_page *a, const char *page)
{
	const struct sx_telemetry *t = a->known ? world->run->core.telemetry : NULL;
	const double up = number_behind(page, "\"uptime_s\":"),
		     frames = number_behind(page, "stixeld_frames_published_total "),
		     measured = number_behind(
			     page, "stixeld_latency_part_seconds_count{part=\"engine_to_result\"} ");
	const double least = (double)(a->asked_ns - world->at.ready) / 1e9 - 1,
		     most = (double)(sim->now - world->at.began) / 1e9 + 1;

	if (!t || !world->at.ready)
		return;
	SIM_MUST(up < 0 || (up >= least && up <= most), "the status says that it is up for %.0f s of %.0f",
		 up, most - 1);
	SIM_MUST(frames < 0 || (frames >= (double)a->published && frames <= (double)published_of(t)),
		 "the metrics say that %.0f frames were published of %llu", frames, (ull)published_of(t));
	/* a frame's durations are recorded just before the frame is counted */
	SIM_MUST(measured < 0 || (measured >= (double)a->measured && measured <= (double)measured_of(t) + 1),
		 "the metrics have the durations of %.0f frames of %llu", measured, (ull)measured_of(t));
}
