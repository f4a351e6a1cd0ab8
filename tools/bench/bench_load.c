/*
 * stixel-bench --report: runs an engine at its full rate for a while.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/bench/bench_load.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include "base/clock.h"

#define NS_PER_MS INT64_C(1000000)
#define LOOK_NS (250 * NS_PER_MS) /* time between two readings of the clocks */
#define SEARCH_MS 20000		  /* sensor timeout: a sleeping driver takes seconds */
#define SEARCH_STEP_MS 5

/* Static, because it must outlive a sampler thread that sx_sampler_stop() left behind. */
static _Atomic uint64_t load_frames;

static uint64_t load_count(const void *user)
{
	return atomic_load_explicit(&load_frames, memory_order_relaxed);
}

static void pause_ms(int ms)
{
	const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * NS_PER_MS};

	nanosleep(&t, NULL);
}

static void range_add(struct bench_range *r, int64_t value)
{
	if (value < 0)
		return;
	r->low = r->low < 0 || value < r->low ? value : r->low;
	r->high = value > r->high ? value : r->high;
}

/* Reads the clocks of CPU, GPU and memory. The clocks of a discrete GPU come from its sensor. */
static void look_at_clocks(struct bench_load *l, struct sx_sampler *s, const char *root)
{
	struct sx_sampler_look look;
	struct sx_board b;

	sx_board_read(&b, root);
	sx_sampler_look(s, sx_now_ns(), &look);
	range_add(&l->cpu_hz, b.cpu_hz);
	range_add(&l->gpu_hz, b.gpu_hz < 0 ? look.gpu_hz : b.gpu_hz);
	range_add(&l->memory_hz, b.memory_hz < 0 ? look.memory_hz : b.memory_hz);
}

/*
 * Runs a few frames first, so that the one-time work of a context's first frame does not count in the rate.
 */
static int warm_up(struct bench_run *b)
{
	const struct sx_backend *e = b->engine.backend;
	const int n = b->context_count, frames = b->options->warm_up > n ? b->options->warm_up : n;
	int r = 0;

	for (int i = 0; i < frames && r >= 0; i++) {
		r = bench_run_submit(b, i % n);
		if (r >= 0)
			r = e->wait(b->contexts[i % n], -1);
		if (r > 0)
			r = bench_run_copy(b, e->result(b->contexts[i % n]));
	}
	return r < 0 ? bench_fail(EX_SOFTWARE, "the engine failed", sx_engine_failure(&b->engine, r)) : 0;
}

static int run_busy(struct bench_load *l, struct bench_run *b, struct sx_sampler *s, int busy_ms)
{
	const struct sx_backend *e = b->engine.backend;
	const int n = b->context_count;
	const int64_t began_ns = sx_now_ns(), end_ns = began_ns + busy_ms * NS_PER_MS;
	const int64_t first_look_ns = began_ns + LOOK_NS / 4;
	int64_t now_ns = began_ns, look_ns = first_look_ns;
	int submitted = 0, collected = 0, r = 0;

	while (r >= 0 && (collected < submitted || now_ns < end_ns)) {
		if (now_ns < end_ns && submitted - collected < n) {
			r = bench_run_submit(b, submitted % n);
			submitted++;
			continue;
		}
		/* read the clocks while all contexts have work */
		if (now_ns >= look_ns && now_ns < end_ns) {
			look_at_clocks(l, s, b->settings.power.root);
			look_ns = now_ns + LOOK_NS;
		}
		r = e->wait(b->contexts[collected % n], -1);
		if (r > 0)
			r = bench_run_copy(b, e->result(b->contexts[collected % n]));
		collected++;
		atomic_fetch_add_explicit(&load_frames, 1, memory_order_relaxed);
		now_ns = sx_now_ns();
	}
	/* no reading so far, because one frame took all the time */
	if (look_ns == first_look_ns)
		look_at_clocks(l, s, b->settings.power.root);
	l->frames = collected;
	l->seconds = (double)(now_ns - began_ns) / 1e9;
	return r < 0 ? bench_fail(EX_SOFTWARE, "the engine failed", sx_engine_failure(&b->engine, r)) : 0;
}

static void wait_for_sensor(struct sx_sampler *s)
{
	struct sx_sampler_look look = {0};

	for (int i = 0; i < SEARCH_MS / SEARCH_STEP_MS && look.changes == 0; i++) {
		pause_ms(SEARCH_STEP_MS);
		sx_sampler_look(s, sx_now_ns(), &look);
	}
}

/* Computes the mean power between two readings, W. NAN without a sensor. */
static double mean_watts(const struct sx_sampler_look *from, const struct sx_sampler_look *to)
{
	const double seconds = to->readings.seconds - from->readings.seconds;

	return seconds > 0 ? (to->readings.joules - from->readings.joules) / seconds : (double)NAN;
}

int bench_load_run(struct bench_load *l, struct bench_run *b, const struct sx_power_engine *engine,
		   int idle_ms, int busy_ms)
{
	struct sx_sampler_look first, second;
	struct sx_sampler *s = NULL;
	int code;

	*l = (struct bench_load){.cpu_hz = {-1, -1}, .gpu_hz = {-1, -1}, .memory_hz = {-1, -1}};
	code = warm_up(b);
	if (code)
		return code;
	if (sx_sampler_start(&s, &b->settings.power, engine, load_count, NULL) < 0)
		return bench_fail(EX_SOFTWARE, "no thread for the power sensor", NULL);
	wait_for_sensor(s);
	sx_sampler_look(s, sx_now_ns(), &first);
	if (*first.source)
		pause_ms(idle_ms);
	sx_sampler_look(s, sx_now_ns(), &second);
	code = run_busy(l, b, s, busy_ms);
	sx_sampler_look(s, sx_now_ns(), &l->sensor);
	bench_zones_read(&l->zones, b->settings.power.root);
	sx_sampler_stop(s);
	l->idle_watts = mean_watts(&first, &second);
	l->watts = mean_watts(&second, &l->sensor);
	return code;
}

static void add_range(struct sx_text *t, const char *key, const struct bench_range *r)
{
	if (r->low < 0) {
		sx_json_text(t, key, NULL);
		return;
	}
	sx_json_open(t, key, '[');
	sx_json_count(t, NULL, r->low);
	sx_json_count(t, NULL, r->high);
	sx_json_close(t, ']');
}

/* Rounds a value to 1/steps for a human reader; further digits are noise. */
static double rounded(double value, double steps)
{
	return round(value * steps) / steps;
}

static void add_power(struct sx_text *t, const struct bench_load *l)
{
	if (!*l->sensor.source) {
		sx_json_text(t, "power", NULL);
		return;
	}
	sx_json_open(t, "power", '{');
	sx_json_text(t, "source", l->sensor.source);
	sx_json_text(t, "scope", l->sensor.scope);
	sx_json_text(t, "device", l->sensor.device);
	sx_json_real(t, "idle_watts", rounded(l->idle_watts, 1e3));
	sx_json_real(t, "watts", rounded(l->watts, 1e3));
	sx_json_real(t, "joules_per_frame", rounded(l->watts * l->seconds / l->frames, 1e5));
	sx_json_real(t, "fps_per_watt", rounded(l->frames / l->seconds / l->watts, 1e3));
	sx_json_close(t, '}');
}

void bench_load_add(struct sx_text *t, const struct bench_load *l)
{
	sx_json_open(t, "load", '{');
	sx_json_real(t, "seconds", rounded(l->seconds, 1e3));
	sx_json_count(t, "frames", l->frames);
	sx_json_real(t, "fps", rounded(l->frames / l->seconds, 1e2));
	add_range(t, "cpu_hz", &l->cpu_hz);
	add_range(t, "gpu_hz", &l->gpu_hz);
	add_range(t, "memory_hz", &l->memory_hz);
	add_power(t, l);
	sx_json_open(t, "temperatures_c", '[');
	for (int i = 0; i < l->zones.count; i++) {
		sx_json_open(t, NULL, '{');
		sx_json_text(t, "zone", l->zones.zone[i].type);
		sx_json_real(t, "end", l->zones.zone[i].celsius);
		sx_json_close(t, '}');
	}
	sx_json_close(t, ']');
	sx_json_close(t, '}');
}
