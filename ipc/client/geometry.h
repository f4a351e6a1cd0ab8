/*
 * Converts pixels and disparities of a frame to metres: directions and heights from its camera and its road.
 * The code uses only + - * / and square roots. So it needs no libm, and results have the same bits on all
 * machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_CLIENT_GEOMETRY_H
#define SX_IPC_CLIENT_GEOMETRY_H

#include <stdbool.h>

#include "include/stixel.h"

#define SX_PI 3.14159265358979323846

/* Computes sine and cosine, both within 3e-16, for |x| up to 1000 rad. */
void sx_sin_cos(double x, double *sine, double *cosine);
/* Returns the angle from -pi to pi, within 6e-16. Returns 0 for 0, 0. */
double sx_atan2(double y, double x);

/*
 * A vector in camera coordinates (x to the right, y down, z along the optical axis) or in vehicle
 * coordinates.
 */
struct sx_vector {
	double x, y, z;
};

struct sx_geometry {
	const struct stixel_frame_header *header;
	struct stixel_ground ground;
	bool camera, road;     /* whether the frame has them; without one the fields below are 0 */
	double focal_baseline; /* focal length times baseline, px m */
	double turn[3][3];     /* rotation from camera to vehicle coordinates */
};

struct sx_geometry sx_geometry_of(const struct stixel_frame_header *h);

/* Returns the image column of the middle of a stixel column, px. */
double sx_geometry_middle(const struct sx_geometry *g, uint32_t column);

/* Returns the point that pixel x, y sees at 1 m along the optical axis, in camera coordinates. */
struct sx_vector sx_geometry_ray(const struct sx_geometry *g, double x, double y);
/* Rotates a vector into the axes of the vehicle, whose origin is height_m below the camera. */
struct sx_vector sx_geometry_turn(const struct sx_geometry *g, struct sx_vector v);

/* Returns the image row in which image column x sees the horizon of the road plane. */
double sx_geometry_horizon(const struct sx_geometry *g, double x);

/*
 * An upright object at disparity d > 0 in image column x, over the measured road. At row y its height is
 * (foot_row - y) * m_per_row.
 */
struct sx_upright {
	double foot_row, m_per_row;
};
struct sx_upright sx_geometry_upright(const struct sx_geometry *g, double x, double d);

#endif
