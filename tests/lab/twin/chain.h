/*
 * The CUDA engine on a slice: the default chain on the synthetic street, and how long its stages take.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_LAB_TWIN_CHAIN_H
#define SX_TESTS_LAB_TWIN_CHAIN_H

#include "capture/slots.h"
#include "stages/engine.h"

#define TWIN_PAIRS 4 /* taken in turn, as a camera's never stay in a cache */
#define TWIN_DISPARITIES 128

/* Pairs of one size in host memory. */
struct twin_pairs {
	struct sx_slots slots;
	struct sx_pair pair[TWIN_PAIRS];
	struct sx_params params; /* the default ones, with the street's camera */
};

/* Medians, ms. rest: all stages but these two. chain: from pair to record in host memory, without stamps. */
struct twin_times {
	int frames;
	double sgm, winner, rest, chain;
};

/* timed, plain: contexts with and without stamps of stages. cells, traffic: of a frame, bytes. */
struct twin_chain {
	struct sx_device *device;
	const struct twin_pairs *pairs;
	struct sx_context *timed, *plain;
	double cells;
	size_t traffic, memory;
};

/* -ENOMEM, -EINVAL with a sentence in why. finish accepts a zeroed one. */
int twin_pairs_init(struct twin_pairs *p, int width, int height, char *why, size_t why_bytes);
void twin_pairs_finish(struct twin_pairs *p);

/* On sms multiprocessors, contexts made and warm. Negative errno with a sentence in why. */
int twin_chain_open(struct twin_chain *c, const struct twin_pairs *pairs, int sms,
		    enum sx_volume_choice volume, char *why, size_t why_bytes);
void twin_chain_close(struct twin_chain *c);
/* Frames of both contexts for about seconds each, 5 to 40 of them. False after a line on stderr. */
bool twin_chain_stages(struct twin_chain *c, double seconds, struct twin_times *ret);
bool twin_chain_whole(struct twin_chain *c, double seconds, struct twin_times *ret);

#endif
