/*
 * Colours of distances and classes, for images and for messages to viewers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_MESSAGES_PALETTE_H
#define SX_RECORDING_MESSAGES_PALETTE_H

#include <stdint.h>

struct sx_rgb {
	uint8_t r, g, b;
};

/*
 * Returns a colour of the Turbo map (A. Mikhailov, Google 2019, in the polynomial form of R. Du): 0 dark blue
 * .. 1 dark red. t outside 0..1 and NaN are clamped.
 */
struct sx_rgb sx_palette_turbo(double t);

/*
 * A logarithmic scale of disparities from far (0) to near (1). It is logarithmic because distances are
 * perceived so.
 */
struct sx_palette_range {
	double near_px, far_px; /* disparities of both ends of the scale, near_px > far_px > 0 */
};
/* Returns a scale in metres, from 4 m to 60 m. focal_baseline: fx * baseline_m, more than 0. */
struct sx_palette_range sx_palette_metres(double focal_baseline);
double sx_palette_place(const struct sx_palette_range *r, double disparity_px);

/*
 * Returns a colour from near red to far blue: Turbo without its dark ends, so that every colour is visible on
 * a dark image.
 */
struct sx_rgb sx_palette_distance(const struct sx_palette_range *r, double disparity_px);
/* Returns the same colour for a place on the scale, 0 far .. 1 near. */
struct sx_rgb sx_palette_distance_at(double place);

/*
 * Returns the colour of a class (enum stixel_kind; other values count as unknown): violet for the road as in
 * driving data sets, orange, and light blue. The colours also differ in lightness, so that people with any
 * kind of colour blindness can distinguish them.
 */
struct sx_rgb sx_palette_class(unsigned kind);

/* Returns under + (over - under) * alpha/256, alpha 0..256. */
struct sx_rgb sx_palette_mix(struct sx_rgb under, struct sx_rgb over, int alpha);

#endif
