/*
 * Which load leaves a slice the memory of a board: kinds and strengths in turn, and what comes nearest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_LAB_TWIN_SWEEP_H
#define SX_TESTS_LAB_TWIN_SWEEP_H

#include "tests/lab/twin/load.h"
#include "tests/lab/twin/probe.h"

/* One load and what it left. blocks 0: none. */
struct twin_setting {
	enum twin_kind kind;
	int blocks;
	struct twin_load_told load;
	struct twin_probe_told left;
};

/* Both of memory and of the cache alone, as enum twin_kind has them; missing: blocks 0. */
enum { TWIN_OF_MEMORY, TWIN_OF_CACHE, TWIN_BESTS };

/*
 * target: GB/s of a copy. end_ns: when to stop looking. quick: one strength of each kind. Prints a row for
 * each measurement. best: nearest to the target by copy; where none was slow enough, the slowest.
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
/* How far a copy is from the target, as a part of it; large where there is no such setting. */
double twin_sweep_distance(const struct twin_sweep *s, const struct twin_setting *v);
/* Starts a setting, keepers first, at most for seconds, and enters the slice; ends it. */
void twin_sweep_start(const struct twin_sweep *s, const struct twin_setting *v, double seconds);
void twin_sweep_stop(const struct twin_sweep *s, struct twin_load_told *ret);

#endif
