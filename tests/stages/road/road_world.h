/*
 * A flat world below a camera, as a disparity map, and the road that is found in it.
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

/* A flat world below the camera: its plane n P = height, of camera coordinates right, down, ahead. */
struct world {
	struct sx_camera c;
	double n[3];
	double noise_px; /* as much to both sides */
	int outlier_percent, invalid_percent;
	int range; /* of disparities; beyond it nothing is seen */
};

/* How far off a road may be. */
struct limits {
	double angle_deg, height; /* of the height */
};

/* Below c, and leaning. */
struct world world_of(const struct sx_camera *c, double roll_deg);

/* The ray of a pixel, 1 ahead. */
void ray_of(const struct world *w, int x, int y, double ray[3]);

/* 1 / distance ahead, 0 where there is none. */
double plane_at(const struct world *w, const double ray[3]);

/* What a pixel of that 1 / distance reads. */
uint16_t pixel(const struct world *w, double near, struct check_rng *r);

void draw_plane(const struct world *w, struct sx_image *d, struct check_rng *r);

struct sx_params params(double height_m, double pitch_deg, double baseline_m);

struct sx_road find(const struct sx_params *p, const struct sx_image *d, const struct sx_road *previous);

void check_world(const struct world *w, const struct sx_road *got, const struct limits *most,
		 const char *what);

/* Through what it says of pixels: disparities of the plane itself, wherever in the image. */
void check_disparities(const struct world *w, const struct sx_road *got, double most_px);

/* The plane of p's camera with that roll is found. */
void check_plane(const struct sx_params *p, double roll_deg, uint64_t seed);

#endif
