/*
 * Searches the load that leaves a slice the memory bandwidth of a board: tries kinds and strengths in turn
 * and keeps the nearest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_LAB_TWIN_SWEEP_H
#define SX_TESTS_LAB_TWIN_SWEEP_H

#include "tests/lab/twin/load.h"
#include "tests/lab/twin/probe.h"

/* One load and the bandwidth that it left. blocks 0: no load. */
struct twin_setting {
	enum twin_kind kind;
	int blocks;
	struct twin_load_told load;
	struct twin_probe_told left;
};

/*
 * Index of the best load of memory, and of the best load of the cache alone (see enum twin_kind). blocks 0:
 * none was found.
 */
enum { TWIN_OF_MEMORY, TWIN_OF_CACHE, TWIN_BESTS };

/*
 * A search. target: copy rate, GB/s. end_ns: time to stop searching. quick: tries one strength of each kind.
 * Prints a row for each measurement. best: loads whose copy rate is nearest to the target; if no load was
 * slow enough, the slowest.
 */
struct twin_sweep {
	struct twin_load *load;
	struct twin_probe *probe;
	const struct sx_device *slice;
	double target;
	int64_t end_ns;
	bool quick;
	struct twin_setting none, best[TWIN_BESTS];
};

void twin_sweep_run(struct twin_sweep *s);
/* Returns the relative distance of a copy rate from the target. Large if the setting was not measured. */
double twin_sweep_distance(const struct twin_sweep *s, const struct twin_setting *v);
/* start runs a setting, keepers first, for at most `seconds`, and enters the slice. stop ends it. */
void twin_sweep_start(const struct twin_sweep *s, const struct twin_setting *v, double seconds);
void twin_sweep_stop(const struct twin_sweep *s, struct twin_load_told *ret);

#endif
