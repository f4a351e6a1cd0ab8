/*
 * Internals of the search for a road, for engines that implement its parts themselves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_ROAD_ROAD_FINDER_H
#define SX_STAGES_ROAD_ROAD_FINDER_H

#include "stages/road/road_bend.h"
#include "stages/road/road_sigma.h"

struct sx_road_finder {
	struct sx_road_params params;
	struct sx_road_view view;
	struct sx_road calibrated;
	struct sx_road_plane plane; /* result of sx_road_measure() */
	struct sx_road_sums sums;   /* sums of the samples of the plane */
	int seen;		    /* number of samples among which the plane was searched */
	bool found;
	bool based; /* plane is valid: the one that was found, or a low camera's expected plane */
	struct sx_road_knee knee;	/* result of sx_road_choose_bend() */
	int32_t bend_score, step_score; /* INT32_MIN: none is possible */
	struct sx_road_view far;	/* view in which bends are judged */
	int samples;			/* number of samples of the frame in the corridor */
	/* column (to the right) and row (downwards) of each sample */
	int32_t x[SX_ROAD_SAMPLES], y[SX_ROAD_SAMPLES];
	int32_t d[SX_ROAD_SAMPLES]; /* disparity of each sample, Q4 */
};

/* Returns true if the road is searched: mode = plane, and there is a camera model. */
static inline bool sx_road_looks(const struct sx_road_finder *f)
{
	return f->params.mode == SX_ROAD_PLANE && f->calibrated.origin != SX_ROAD_NONE;
}

/* Takes the samples of a map. */
void sx_road_sample(struct sx_road_finder *f, const struct sx_image *disparity);

/*
 * Returns the score of a candidate: samples on its plane less samples below it, of every SX_ROAD_STRIDE-th
 * sample, plus the favour of the expected plane (sx_road_worth()). INT32_MIN: no road.
 */
int32_t sx_road_score(const struct sx_road_finder *f, int candidate);

/*
 * Refines the candidate with the highest of SX_ROAD_CANDIDATES scores, the first on ties. Stores the plane,
 * if any.
 */
void sx_road_measure(struct sx_road_finder *f, const int32_t *scores);

/* Takes the samples of the part of the map in which a bend is visible. Call it if `based`. */
void sx_road_sample_far(struct sx_road_finder *f, const struct sx_image *disparity);

/* Returns the score of a bend, like sx_road_score(). Rounds count from 0. */
int32_t sx_road_bend_score(const struct sx_road_finder *f, int round, int candidate);

/* Chooses the bend with the highest of SX_ROAD_BENDS scores of a round, the first on ties. */
void sx_road_choose_bend(struct sx_road_finder *f, int round, const int32_t *scores);

/* Returns the road: plane and bend, or the road that replaces them. */
void sx_road_finish(const struct sx_road_finder *f, const struct sx_road *previous, struct sx_road *road);

#endif
