/*
 * Directions and heights from the camera and the road of a frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/contract.h"
#include "ipc/client/geometry.h"

#include <math.h>

/* pi / 2 as a sum of two parts. The first has so few bits that its small multiples are exact. */
#define HALF_PI_HIGH 0x1.921fb544p+0
#define HALF_PI_LOW 0x1.0b4611a626331p-34

/* Pitch and roll of a camera that sees a road are less than a right angle. */
#define ANGLE_MAX 1.57

/* Taylor series for |x| <= pi / 4. The omitted terms are below 1e-18. */
static double geometry_sine(double x)
{
	const double q = x * x;
	double sum = 1.0;

	for (int n = 16; n > 0; n -= 2)
		sum = 1.0 - q / (double)(n * (n + 1)) * sum;
	return x * sum;
}

static double geometry_cosine(double x)
{
	const double q = x * x;
	double sum = 1.0;

	for (int n = 17; n > 0; n -= 2)
		sum = 1.0 - q / (double)(n * (n + 1)) * sum;
	return sum;
}

void sx_sin_cos(double x, double *sine, double *cosine)
{
	const int quarters = (int)(x * (2.0 / SX_PI) + (x < 0.0 ? -0.5 : 0.5));
	const double r = (x - quarters * HALF_PI_HIGH) - quarters * HALF_PI_LOW;
	const double s = geometry_sine(r), c = geometry_cosine(r);

	*sine = quarters & 1 ? c : s;
	*cosine = quarters & 1 ? s : c;
	if (quarters & 2)
		*sine = -*sine;
	if ((quarters + 1) & 2)
		*cosine = -*cosine;
}

/* Arctangent for 0 <= t <= 1. The angle is halved twice, so that a short series is enough. */
static double geometry_arctangent(double t)
{
	double q, sum = 0.0;

	t = t / (1.0 + sqrt(1.0 + t * t));
	t = t / (1.0 + sqrt(1.0 + t * t));
	q = t * t;
	for (int n = 21; n > 0; n -= 2)
		sum = 1.0 / n - q * sum;
	return 4.0 * (t * sum);
}

double sx_atan2(double y, double x)
{
	const double ax = fabs(x), ay = fabs(y);
	double angle;

	if (ax == 0.0 && ay == 0.0)
		return 0.0;
	angle = ay > ax ? 0.5 * SX_PI - geometry_arctangent(ax / ay) : geometry_arctangent(ay / ax);
	if (x < 0.0)
		angle = SX_PI - angle;
	return y < 0.0 ? -angle : angle;
}

/*
 * Same as Road.turn() of python/src/stixel/_geometry.py: first the roll about the optical axis, then the
 * pitch.
 */
static void geometry_set_turn(struct sx_geometry *g, double pitch_rad, double roll_rad)
{
	double s, c, roll_sine, roll_cosine, pitch_tangent, length;

	sx_must_or(return, g->camera, ==, true);
	sx_sin_cos(roll_rad, &roll_sine, &roll_cosine);
	sx_sin_cos(pitch_rad, &s, &c);
	/* tangent of the pitch of the optical axis over the road plane */
	pitch_tangent = s / c * roll_cosine;
	length = sqrt(1.0 + pitch_tangent * pitch_tangent);
	s = pitch_tangent / length;
	c = 1.0 / length;
	g->turn[0][0] = -s * roll_sine;
	g->turn[0][1] = -s * roll_cosine;
	g->turn[0][2] = c;
	g->turn[1][0] = -roll_cosine;
	g->turn[1][1] = roll_sine;
	g->turn[2][0] = -c * roll_sine;
	g->turn[2][1] = -c * roll_cosine;
	g->turn[2][2] = -s;
}

static bool geometry_positive(double x)
{
	return x > 0.0 && x < HUGE_VAL;
}

struct sx_geometry sx_geometry_of(const struct stixel_frame_header *h)
{
	struct sx_geometry g = {.header = h, .ground = stixel_ground_of(h)};

	g.camera = geometry_positive(h->fx) && geometry_positive(h->fy) && geometry_positive(h->baseline_m) &&
		   isfinite(h->cx) && isfinite(h->cy);
	if (!g.camera)
		return g;
	g.focal_baseline = h->fx * h->baseline_m;
	g.road = h->road_origin != STIXEL_ROAD_NONE && isfinite(h->height_m) &&
		 fabs(h->pitch_rad) < ANGLE_MAX && fabs(g.ground.roll_rad) < ANGLE_MAX;
	if (g.road)
		geometry_set_turn(&g, h->pitch_rad, g.ground.roll_rad);
	return g;
}

double sx_geometry_middle(const struct sx_geometry *g, uint32_t column)
{
	const double width = g->header->column_width;

	sx_must_or(return 0.0, column, <, g->header->columns);
	return column * width + 0.5 * (width - 1.0);
}

struct sx_vector sx_geometry_ray(const struct sx_geometry *g, double x, double y)
{
	const struct stixel_frame_header *h = g->header;

	sx_must_or(return (struct sx_vector){0}, g->camera, ==, true);
	return (struct sx_vector){(x - h->cx) / h->fx, (y - h->cy) / h->fy, 1.0};
}

struct sx_vector sx_geometry_turn(const struct sx_geometry *g, struct sx_vector v)
{
	const double(*t)[3] = g->turn;

	sx_must_or(return v, g->road, ==, true);
	return (struct sx_vector){
		(t[0][0] * v.x + t[0][1] * v.y) + t[0][2] * v.z,
		(t[1][0] * v.x + t[1][1] * v.y) + t[1][2] * v.z,
		(t[2][0] * v.x + t[2][1] * v.y) + t[2][2] * v.z,
	};
}

double sx_geometry_horizon(const struct sx_geometry *g, double x)
{
	const double across = (x - g->header->cx) / g->header->fx;
	const double down = -(g->turn[2][0] * across + g->turn[2][2]) / g->turn[2][1];

	sx_must_or(return 0.0, g->road, ==, true);
	return g->header->cy + g->header->fy * down;
}

/*
 * The height over the plane is height_m * (1 - ground / d), so one row is height_m * slope / d metres. If a
 * bent road has the disparity d only beyond its bend, the foot lies beyond the bend. A row is still as high
 * as over the plane.
 */
struct sx_upright sx_geometry_upright(const struct sx_geometry *g, double x, double d)
{
	const struct stixel_ground *r = &g->ground;
	const double across = r->offset + r->cross * (x - r->axis);
	const double beyond = r->slope - r->bend;
	double foot = (d - across) / r->slope;

	sx_must_or(return (struct sx_upright){0}, g->road, ==, true);
	if (foot < r->bend_row && beyond > 0.0)
		foot = (d - across - r->bend * r->bend_row) / beyond;
	return (struct sx_upright){foot, g->header->height_m * r->slope / d};
}
