/*
 * stixel-bench --report: runs an engine at its full rate for a while, to measure watts, clocks and
 * temperatures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_BENCH_BENCH_LOAD_H
#define SX_TOOLS_BENCH_BENCH_LOAD_H

#include "power/sampler.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_machine.h"

/* Lowest and highest reading of a clock, Hz. Both negative: unknown. */
struct bench_range {
	int64_t low, high;
};

struct bench_load {
	int frames;
	double seconds;
	struct bench_range cpu_hz, gpu_hz, memory_hz;
	struct bench_zones zones; /* temperatures at the end of the load */
	/* state of the power sensor; empty `source`: no sensor, and `reason` says why */
	struct sx_sampler_look sensor;
	/* mean power, W: with the engine open but idle, and under load. NAN without a sensor */
	double idle_watts, watts;
};

/*
 * Reads the power sensor for idle_ms, then keeps every context of b busy for busy_ms. engine: the engine
 * whose power is measured. Returns 0, or an exit code after printing a sentence.
 */
int bench_load_run(struct bench_load *l, struct bench_run *b, const struct sx_power_engine *engine,
		   int idle_ms, int busy_ms);
/* Adds the object "load". */
void bench_load_add(struct sx_text *t, const struct bench_load *l);

#endif
