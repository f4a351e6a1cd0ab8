/*
 * State of an instance for `stixelctl top`: its last /status, its newest frame, and the last minutes of a few
 * values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_TOP_STATE_H
#define SX_TOOLS_CTL_TOP_STATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "recording/messages/scale.h"
#include "stixel.h"
#include "tools/common/ring_layout.h"

#define SX_TOP_HISTORY 512
#define SX_TOP_NAME_BYTES 80

enum sx_top_window { SX_TOP_1S, SX_TOP_10S, SX_TOP_START, SX_TOP_WINDOWS };

struct sx_top_history {
	double value[SX_TOP_HISTORY]; /* the newest last; NaN: unknown at that time */
	int count;
};

struct sx_top {
	char instance[SX_TOP_NAME_BYTES];
	json_t *status;			   /* last answer; NULL: none yet */
	int64_t answered_ns;		   /* arrival time of the answer */
	bool live;			   /* the daemon answered the last question */
	char why[512];			   /* reason if live is false */
	char layout[SX_RING_LAYOUT_BYTES]; /* sx_ring_other_layout() of the instance's ring; else empty */
	struct stixel_reader *reader;	   /* NULL: not open yet */
	const struct stixel_frame *frame;  /* newest frame, owned by reader; NULL: none, or outdated */
	struct sx_scale scale;		   /* colours of the distances of frame */
	struct sx_top_history fps, p99_ms, watts;
	enum sx_top_window window;
};

/*
 * Selects another instance and clears the state of the old one, except window and given ends of the scale.
 * The caller has checked the name.
 */
void sx_top_choose(struct sx_top *t, const char *instance);
void sx_top_finish(struct sx_top *t);
/* Asks the daemon for its status. Waits for at most 1 s. */
void sx_top_ask(struct sx_top *t);
/* Looks for a newer frame without waiting. Returns true if there is one. */
bool sx_top_look(struct sx_top *t);
/*
 * Finds the running instance after (step 1) or before (step -1) this one in the order of names. False: there
 * is no other.
 */
bool sx_top_neighbour(const struct sx_top *t, int step, char name[SX_TOP_NAME_BYTES]);
/* Returns the latencies of the chosen window. NULL: the daemon has none. */
json_t *sx_top_latencies(const struct sx_top *t);

#endif
