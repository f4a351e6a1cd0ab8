/*
 * Colours of distances and classes, in pictures and in messages for viewers.
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
 * The Turbo map (A. Mikhailov, Google 2019, in the polynomial form of R. Du): 0 dark blue .. 1 dark red.
 * t outside 0..1 and NaN are clamped.
 */
struct sx_rgb sx_palette_turbo(double t);

/*
 * Where disparity d stands between far (0) and near (1) on a logarithmic scale, as distances are perceived.
 */
struct sx_palette_range {
	double near_px, far_px; /* disparities of the ends, near_px > far_px > 0 */
};
/* Ends of a scale in metres, 4 m to 60 m. focal_baseline: fx * baseline_m, more than 0. */
struct sx_palette_range sx_palette_metres(double focal_baseline);
double sx_palette_place(const struct sx_palette_range *r, double disparity_px);

/* near red .. far blue: Turbo without its dark ends, so that every colour shows on a dark picture. */
struct sx_rgb sx_palette_distance(const struct sx_palette_range *r, double disparity_px);
/* The same for a place on the scale, 0 far .. 1 near. */
struct sx_rgb sx_palette_distance_at(double place);

/*
 * Colours of classes (enum stixel_kind; others are unknown): the road's violet of the driving data
 * sets, orange and a light blue. They differ in lightness too, so that they can be told apart with each
 * kind of colour blindness.
 */
struct sx_rgb sx_palette_class(unsigned kind);

/* under + (over - under) * alpha/256, alpha 0..256. */
struct sx_rgb sx_palette_mix(struct sx_rgb under, struct sx_rgb over, int alpha);

#endif
