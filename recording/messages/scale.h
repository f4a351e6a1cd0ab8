/*
 * The ends of the colour scale of distances: from the scene, or given.
 *
 * The scene's ends are the distances below which 2 % and 98 % of the area of the measured objects lie,
 * rounded outwards to the steps 1, 1.5, 2, 3, 4, 5, 6, 8, 10, ... The far end is at most that of a disparity
 * of 4 px. In a video an end stays until the scene leaves the scale by more than a tenth, and then moves a
 * step farther than the scene; or until the scene leaves at least two steps unused in SX_SCALE_PATIENCE
 * frames in a row. So colours do not flicker.
 *
 * Ends are in metres, or in pixels of disparity if there is no camera model.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_MESSAGES_SCALE_H
#define SX_RECORDING_MESSAGES_SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/stixel.h"
#include "recording/messages/palette.h"

enum { SX_SCALE_PATIENCE = 90, SX_SCALE_TICKS = 24 };

/* A scale. All zero: it follows the scene. Copy it to keep it. */
struct sx_scale {
	double given_near_m, given_far_m; /* ends that do not follow the scene; 0: not given */
	struct sx_palette_range range;	  /* ends, px of disparity; 0 before the first frame */
	double focal_baseline; /* fx * baseline_m of the last frame, px m; 0: no camera, ends in px */
	int low, high;	       /* steps of the scene's ends, sx_scale_follow() */
	unsigned unused_low, unused_high; /* frames in a row that left steps unused at this end */
};

/*
 * Sets the ends for the next frame of a video, or for a single one. disparities: search range, px, for a
 * scene without objects. focal_baseline: fx * baseline_m, px m; 0: no camera model. Any values are safe.
 */
void sx_scale_follow(struct sx_scale *s, const struct stixel *stixels, uint32_t count, int disparities,
		     double focal_baseline);
/* The same for a frame. A blind frame shows nothing, so the ends of the previous frame stay. */
void sx_scale_frame(struct sx_scale *s, const struct stixel_frame_header *h, const struct stixel *stixels);

/* Gives ends, 0: the scene's. They hold at once and for further frames. */
void sx_scale_give(struct sx_scale *s, double near_m, double far_m);

/* Returns the near and the far end, m; px without a camera model. */
double sx_scale_near(const struct sx_scale *s);
double sx_scale_far(const struct sx_scale *s);

/* A mark of the scale. */
struct sx_scale_tick {
	double place;  /* 0 far .. 1 near */
	char text[12]; /* number without its unit */
};
/* Fills in the marks from near to far, the ends first and last. Returns their number, 2 to SX_SCALE_TICKS. */
int sx_scale_ticks(const struct sx_scale *s, struct sx_scale_tick ticks[SX_SCALE_TICKS]);
/* Returns "m" or "px". */
const char *sx_scale_unit(const struct sx_scale *s);

/* Limits of given ends, m. */
#define SX_SCALE_LEAST_M 0.01
#define SX_SCALE_MOST_M 10000.0
/*
 * Checks given ends that are within the limits; 0: not given. Returns NULL if both can be used together,
 * otherwise a sentence for the user.
 */
const char *sx_scale_wrong(double near_m, double far_m);

#endif
