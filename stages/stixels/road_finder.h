/*
 * The inside of the search for a road, for engines that do its parts in their own way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_ROAD_FINDER_H
#define SX_STAGES_STIXELS_ROAD_FINDER_H

#include "stages/stixels/road_sums.h"

struct sx_road_finder {
	struct sx_road_params params;
	struct sx_road_view view;
	struct sx_road calibrated;
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

/*
 * The rest: of SX_ROAD_CANDIDATES scores the candidate of the highest score, the first on ties, refined; or
 * what stands in.
 */
void sx_road_fit(const struct sx_road_finder *f, const int32_t *scores, const struct sx_road *previous,
		 struct sx_road *road);

#endif
