/*
 * stixel-bench --report: an engine at its full rate for a while, to see watts, clocks and temperatures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_BENCH_BENCH_LOAD_H
#define SX_TOOLS_BENCH_BENCH_LOAD_H

#include "power/sampler.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_machine.h"

/* Of some moments; both negative: nothing says so. */
struct bench_range {
	int64_t low, high;
};

struct bench_load {
	int frames;
	double seconds;
	struct bench_range cpu_hz, gpu_hz, memory_hz;
	struct bench_zones zones;      /* at its end */
	struct sx_sampler_look sensor; /* source empty: there is none, for its reason */
	double idle_watts, watts; /* means: with the engine open but idle; under load. NAN without a sensor */
};

/*
 * Keeps every context of b busy for busy_ms; before that the sensor is read for idle_ms. engine: whose power.
 * 0, or an exit code after a sentence.
 */
int bench_load_run(struct bench_load *l, struct bench_run *b, const struct sx_power_engine *engine,
		   int idle_ms, int busy_ms);
/* Object "load". */
void bench_load_add(struct sx_text *t, const struct bench_load *l);

#endif
