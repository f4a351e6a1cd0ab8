/*
 * Runs the CUDA engine on a slice: the default chain on the synthetic street, with the times of its stages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_LAB_TWIN_CHAIN_H
#define SX_TESTS_LAB_TWIN_CHAIN_H

#include "base/why.h"
#include "capture/slots.h"
#include "stages/engine.h"

#define TWIN_PAIRS 4 /* pairs used in turn, because pairs of a camera never stay in a cache */
#define TWIN_DISPARITIES 128

/* Pairs of one size, in host memory. */
struct twin_pairs {
	struct sx_slots slots;
	struct sx_pair pair[TWIN_PAIRS];
	struct sx_params params; /* default parameters, with the street's camera */
};

/*
 * Median times, ms. rest: all stages except sgm and winner. chain: from pair to record in host memory,
 * without time stamps.
 */
struct twin_times {
	int frames;
	double sgm, winner, rest, chain;
};

/*
 * An engine on a slice. timed, plain: contexts with and without time stamps of stages. cells: number in a
 * frame. traffic: bytes of a frame.
 */
struct twin_chain {
	struct sx_device *device;
	const struct twin_pairs *pairs;
	struct sx_context *timed, *plain;
	double cells;
	size_t traffic, memory;
};

/* Makes the pairs. Returns 0, -ENOMEM, or -EINVAL with a sentence in `why`. finish accepts zeroed pairs. */
int twin_pairs_init(struct twin_pairs *p, int width, int height, struct sx_why *why);
void twin_pairs_finish(struct twin_pairs *p);

/*
 * Opens the engine on sms multiprocessors. Its contexts are warmed up. Returns 0, or a negative errno with a
 * sentence in `why`.
 */
int twin_chain_open(struct twin_chain *c, const struct twin_pairs *pairs, int sms,
		    enum sx_volume_choice volume, struct sx_why *why);
void twin_chain_close(struct twin_chain *c);
/*
 * Time 5 to 40 frames for about `seconds`: _stages in the context `timed`, _whole in the context `plain`. On
 * failure print a line on stderr and return false.
 */
bool twin_chain_stages(struct twin_chain *c, double seconds, struct twin_times *ret);
bool twin_chain_whole(struct twin_chain *c, double seconds, struct twin_times *ret);

#endif
