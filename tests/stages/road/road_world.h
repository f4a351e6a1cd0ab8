/*
 * A flat world below a camera, rendered as a disparity map, and the road that is found in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_STAGES_ROAD_ROAD_WORLD_H
#define SX_TESTS_STAGES_ROAD_ROAD_WORLD_H

#include <math.h>

#include "stages/road/road.h"
#include "tests/stixel_case.h"

enum { W = 320, H = 240, RANGE = 128 };

#define RADIANS (acos(-1) / 180)

/* Flat world below the camera. Its plane is n P = height, in camera coordinates right, down, ahead. */
struct world {
	struct sx_camera c;
	double n[3];
	double noise_px; /* noise amplitude to both sides, px */
	int outlier_percent, invalid_percent;
	int range; /* range of disparities, px; pixels beyond it are invalid */
};

/* Allowed errors of a road. */
struct limits {
	double angle_deg, height; /* share of the height */
};

/* Returns the world below camera c, with roll. */
struct world world_of(const struct sx_camera *c, double roll_deg);

/* Computes the ray of a pixel, with 1 ahead. */
void ray_of(const struct world *w, int x, int y, double ray[3]);

/* Returns 1 / distance ahead of the plane on the ray, or 0 if the ray misses the plane. */
double plane_at(const struct world *w, const double ray[3]);

/* Returns the disparity of a pixel at that 1 / distance. */
uint16_t pixel(const struct world *w, double near, struct check_rng *r);

void draw_plane(const struct world *w, struct sx_image *d, struct check_rng *r);

struct sx_params params(double height_m, double pitch_deg, double baseline_m);

struct sx_road find(const struct sx_params *p, const struct sx_image *d, const struct sx_road *previous);

void check_world(const struct world *w, const struct sx_road *got, const struct limits *most,
		 const char *what);

/* Compares the disparities of the found road with those of the true plane at pixels all over the image. */
void check_disparities(const struct world *w, const struct sx_road *got, double most_px);

/* Checks that the plane of p's camera with that roll is found. */
void check_plane(const struct sx_params *p, double roll_deg, uint64_t seed);

#endif
