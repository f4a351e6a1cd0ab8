/*
 * The inside of the search for a road, for engines that do its parts in their own way.
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
	struct sx_road_plane plane; /* sx_road_measure()'s, where found, */
	struct sx_road_sums sums;   /* of the samples that it is made of */
	int seen;		    /* number of samples that it was looked for among */
	bool found;
	struct sx_road_knee knee; /* sx_road_choose_bend()'s */
	int32_t bend_score;
	int samples;					/* of the frame, in the corridor */
	int32_t x[SX_ROAD_SAMPLES], y[SX_ROAD_SAMPLES]; /* of each: column, row, */
	int32_t d[SX_ROAD_SAMPLES]; /* and disparity, Q4; rows downwards, columns to the right */
};

/* Not with mode = calibrated, nor without a camera model. */
static inline bool sx_road_looks(const struct sx_road_finder *f)
{
	return f->params.mode == SX_ROAD_PLANE && f->calibrated.origin != SX_ROAD_NONE;
}

/* The samples of a map. */
void sx_road_sample(struct sx_road_finder *f, const struct sx_image *disparity);

/*
 * What a candidate is worth: samples on it less those below, of every SX_ROAD_STRIDE-th; INT32_MIN: no
 * road.
 */
int32_t sx_road_score(const struct sx_road_finder *f, int candidate);

/* Of SX_ROAD_CANDIDATES scores that of the highest, the first on ties, refined: the plane, if any. */
void sx_road_measure(struct sx_road_finder *f, const int32_t *scores);

/* Where it was found: samples of where a bend of it shows. */
void sx_road_sample_far(struct sx_road_finder *f, const struct sx_image *disparity);

/* As sx_road_score(), of a bend; rounds from 0. */
int32_t sx_road_bend_score(const struct sx_road_finder *f, int round, int candidate);

/* Of SX_ROAD_BENDS scores of a round that of the highest, the first on ties. */
void sx_road_choose_bend(struct sx_road_finder *f, int round, const int32_t *scores);

/* The road: plane and bend, or what stands in for them. */
void sx_road_finish(const struct sx_road_finder *f, const struct sx_road *previous, struct sx_road *road);

#endif
