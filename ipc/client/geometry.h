/*
 * From pixels and disparities of a frame to metres: directions and heights by its camera and its road. By
 * + - * / and square roots alone, so without libm, and with the same bits on all machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_CLIENT_GEOMETRY_H
#define SX_IPC_CLIENT_GEOMETRY_H

#include <stdbool.h>

#include "include/stixel.h"

#define SX_PI 3.14159265358979323846

/* Both within 3e-16, |x| up to 1000. */
void sx_sin_cos(double x, double *sine, double *cosine);
/* -pi .. pi, within 6e-16; 0 for 0, 0. */
double sx_atan2(double y, double x);

/* x to the right, y down, z along the optical axis; or vehicle coordinates. */
struct sx_vector {
	double x, y, z;
};

struct sx_geometry {
	const struct stixel_frame_header *header;
	struct stixel_ground ground;
	bool camera, road;     /* whether there is one; what follows is 0 without */
	double focal_baseline; /* px m */
	double turn[3][3];     /* from camera to vehicle coordinates */
};

struct sx_geometry sx_geometry_of(const struct stixel_frame_header *h);

/* Image column of the middle of a stixel column. */
double sx_geometry_middle(const struct sx_geometry *g, uint32_t column);

/* What pixel x, y sees at 1 m along the optical axis, in camera coordinates. */
struct sx_vector sx_geometry_ray(const struct sx_geometry *g, double x, double y);
/* Turns it into the axes of the vehicle, whose origin is height_m below. */
struct sx_vector sx_geometry_turn(const struct sx_geometry *g, struct sx_vector v);

/* Row in which image column x sees the horizon of the road's plane. */
double sx_geometry_horizon(const struct sx_geometry *g, double x);

/*
 * An upright thing at disparity d > 0 in image column x, over the measured road: at_row y its height is
 * (foot_row - y) * m_per_row.
 */
struct sx_upright {
	double foot_row, m_per_row;
};
struct sx_upright sx_geometry_upright(const struct sx_geometry *g, double x, double d);

#endif
