/*
 * Motion of a sequence by an engine: drawn pairs in, every output of motion kept, for comparison of engines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_CHAIN_CASE_H
#define SX_TESTS_CHAIN_CASE_H

#include "stages/engine.h"

#define CHAIN_FRAMES 9

/* A sequence of a scene with things that move. */
struct chain_case {
	const char *scene;
	unsigned seed;
	int width, height, fps;
	int repeated; /* number of a frame that repeats the picture before; 0: none */
	int missing;  /* number of a frame that is not there; 0: none */
	int back;     /* number of a frame whose time is before that of the others; 0: none */
	struct sx_params params;
};

/* Draws a case. */
struct chain_case chain_case_draw(unsigned seed);

/* Results of a sequence. */
struct chain_record {
	int frames;
	struct {
		struct sx_image features, flows; /* copies */
		struct sx_motion_ego *ego;
		struct sx_motion_velocity *velocities;
		struct sx_motion_objects *objects;
		uint32_t *object_of;
		uint32_t stixels;
		int64_t span_ns;
	} frame[CHAIN_FRAMES];
};

/*
 * Computes a sequence with `contexts` frames in flight. Two contexts are replaced after half of the sequence, if
 * `again` is set; the chain stays. Aborts if the engine fails. Call chain_record_finish().
 */
void chain_case_run(const struct chain_case *t, const struct sx_backend *backend, struct sx_device *device,
		    int contexts, bool again, struct chain_record *ret);
void chain_record_finish(struct chain_record *r);
/* Returns whether both are equal, byte by byte. Prints what differs. */
bool chain_record_same(const char *what, const struct chain_record *want, const struct chain_record *got);

#endif
