/*
 * Lens models. plumb_bob is rational_polynomial with a denominator of 1.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/rectify/lens.h"

#include <math.h>
#include <stddef.h>

#define TANGENT_SQUARE_MAX 1e6
#define ANGLE_SQUARE_MAX (M_PI * M_PI)
#define STEPS_MAX 60
#define HALVINGS_MAX 40
#define INVERSE_TOLERANCE 1e-8 /* px of the raw image */

enum { K1, K2, P1, P2, K3, K4, K5, K6 };
enum { DEGREE = 6 };

/*
 * Distorted point of x, y at z = 1, with its derivatives. xy: derivative of x by y, which equals that of y by
 * x.
 */
struct distorted {
	double x, y, xx, xy, yy;
};

const char *sx_lens_name(enum sx_lens lens)
{
	switch (lens) {
	case SX_LENS_PLUMB_BOB:
		return "plumb_bob";
	case SX_LENS_RATIONAL:
		return "rational_polynomial";
	case SX_LENS_EQUIDISTANT:
		return "equidistant";
	}
	return NULL;
}

int sx_lens_coefficients(enum sx_lens lens)
{
	return lens == SX_LENS_PLUMB_BOB ? 5 : lens == SX_LENS_RATIONAL ? 8 : 4;
}

/*
 * Returns true if a polynomial is above 0 between 0 and 1. The polynomial is a mean of its Bernstein
 * coefficients and goes through the outer two. If all coefficients are above 0, the polynomial is above 0.
 * Otherwise the function tests both halves. If the polynomial touches 0, the result is false.
 */
static bool is_positive(const double bernstein[DEGREE + 1], int depth)
{
	double halves[2][DEGREE + 1], b[DEGREE + 1];
	bool all = true;

	if (!(bernstein[0] > 0 && bernstein[DEGREE] > 0))
		return false;
	for (int i = 0; i <= DEGREE; i++) {
		b[i] = bernstein[i];
		all = all && b[i] > 0;
	}
	if (all)
		return true;
	if (depth == 0)
		return false;
	for (int k = 0; k <= DEGREE; k++) {
		halves[0][k] = b[0];
		halves[1][DEGREE - k] = b[DEGREE - k];
		for (int i = 0; i < DEGREE - k; i++)
			b[i] = 0.5 * (b[i] + b[i + 1]);
	}
	return is_positive(halves[0], depth - 1) && is_positive(halves[1], depth - 1);
}

/* Returns true if the polynomial c[0] + c[1] s + ... is above 0 from 0 to s. */
static bool is_positive_up_to(const double c[DEGREE + 1], double s)
{
	static const double choose[DEGREE + 1] = {1, 6, 15, 20, 15, 6, 1};
	double b[DEGREE + 1], power = 1;

	/* Converts power coefficients to Bernstein coefficients: the inverse of forward differences. */
	for (int i = 0; i <= DEGREE; i++, power *= s)
		b[i] = c[i] * power / choose[i];
	for (int k = 1; k <= DEGREE; k++)
		for (int i = DEGREE; i >= k; i--)
			b[i] += b[i - 1];
	return is_positive(b, 30);
}

/*
 * Two polynomials of the squared angle or tangent. derivative has the sign of the derivative of the radius,
 * denominator is the denominator of the model. square_max: largest square.
 */
struct growth {
	double derivative[DEGREE + 1], denominator[DEGREE + 1];
	double square_max;
};

static struct growth growth_of(const struct sx_raw_camera *camera)
{
	const double *k = camera->distortion;
	struct growth g = {{1, 3 * k[0], 5 * k[1], 7 * k[2], 9 * k[3]}, {1}, ANGLE_SQUARE_MAX};
	const double n[4] = {1, k[K1], k[K2], k[K3]}, d[4] = {1, k[K4], k[K5], k[K6]};

	if (camera->lens == SX_LENS_EQUIDISTANT)
		return g;
	/* derivative of r n / d: (n + 2 s n') d - n 2 s d', over d d */
	g = (struct growth){.square_max = TANGENT_SQUARE_MAX};
	for (int i = 0; i < 4; i++) {
		g.denominator[i] = d[i];
		for (int j = 0; j < 4; j++)
			g.derivative[i + j] += (1 + 2 * i - 2 * j) * n[i] * d[j];
	}
	return g;
}

static bool grows_up_to(const struct growth *g, double square)
{
	return square <= g->square_max && is_positive_up_to(g->derivative, square) &&
	       is_positive_up_to(g->denominator, square);
}

double sx_lens_reach(const struct sx_raw_camera *camera)
{
	struct growth g = growth_of(camera);
	double low = 0, high = g.square_max;

	if (grows_up_to(&g, high))
		return high;
	for (int i = 0; i < STEPS_MAX; i++) {
		double middle = 0.5 * (low + high);

		if (grows_up_to(&g, middle))
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Computes the radius of an equidistant lens at an angle, and its derivative. */
static double bent_angle(const double *k, double angle, double *derivative)
{
	double s = angle * angle;

	*derivative = 1 + s * (3 * k[0] + s * (5 * k[1] + s * (7 * k[2] + s * 9 * k[3])));
	return angle * (1 + s * (k[0] + s * (k[1] + s * (k[2] + s * k[3]))));
}

static struct distorted distort(const double *k, double x, double y)
{
	double s = x * x + y * y;
	double n = 1 + s * (k[K1] + s * (k[K2] + s * k[K3])), d = 1 + s * (k[K4] + s * (k[K5] + s * k[K6]));
	double dn = k[K1] + s * (2 * k[K2] + s * 3 * k[K3]), dd = k[K4] + s * (2 * k[K5] + s * 3 * k[K6]);
	double g = n / d, slope = 2 * (dn - g * dd) / d;

	return (struct distorted){
		.x = x * g + 2 * k[P1] * x * y + k[P2] * (s + 2 * x * x),
		.y = y * g + k[P1] * (s + 2 * y * y) + 2 * k[P2] * x * y,
		.xx = g + x * x * slope + 2 * k[P1] * y + 6 * k[P2] * x,
		.xy = x * y * slope + 2 * k[P1] * x + 2 * k[P2] * y,
		.yy = g + y * y * slope + 6 * k[P1] * y + 2 * k[P2] * x,
	};
}

static bool project_equidistant(const struct sx_raw_camera *camera, double reach, const double ray[3],
				double *x, double *y)
{
	double across = sqrt(ray[0] * ray[0] + ray[1] * ray[1]), angle = atan2(across, ray[2]), scale = 1,
	       ignored;

	if (!(angle * angle <= reach))
		return false;
	if (across > 0)
		scale = bent_angle(camera->distortion, angle, &ignored) / across;
	*x = camera->fx * ray[0] * scale + camera->cx;
	*y = camera->fy * ray[1] * scale + camera->cy;
	return true;
}

bool sx_lens_project(const struct sx_raw_camera *camera, double reach, const double ray[3], double *x,
		     double *y)
{
	struct distorted d;
	double u, v;

	if (camera->lens == SX_LENS_EQUIDISTANT)
		return project_equidistant(camera, reach, ray, x, y);
	if (!(ray[2] > 0))
		return false;
	u = ray[0] / ray[2];
	v = ray[1] / ray[2];
	if (!(u * u + v * v <= reach))
		return false;
	d = distort(camera->distortion, u, v);
	if (!(d.xx * d.yy - d.xy * d.xy > 0)) /* tangential distortion turns the image back here */
		return false;
	*x = camera->fx * d.x + camera->cx;
	*y = camera->fy * d.y + camera->cy;
	return true;
}

/*
 * Solves for the angle at a radius, by Newton's method. Each step is halved until it stays where the model
 * grows and comes nearer. If the growth of the lens slows down outwards, the steps approach the solution from
 * inside, otherwise from outside. They overshoot in neither case.
 */
static bool unbend_angle(const struct sx_raw_camera *camera, double radius, double *ret)
{
	struct growth g = growth_of(camera);
	double angle = radius, derivative, off;

	for (int i = 0; i < HALVINGS_MAX && !grows_up_to(&g, angle * angle); i++)
		angle *= 0.5;
	if (!grows_up_to(&g, angle * angle))
		return false;
	off = radius - bent_angle(camera->distortion, angle, &derivative);
	for (int i = 0; i < STEPS_MAX && fabs(off) > 1e-15 * radius; i++) {
		double step = off / derivative, next = 0, slope = 0, left = INFINITY;

		for (int k = 0; k < HALVINGS_MAX && !(fabs(left) < fabs(off)); k++, step *= 0.5) {
			next = angle + step;
			if (next >= 0 && grows_up_to(&g, next * next))
				left = radius - bent_angle(camera->distortion, next, &slope);
		}
		if (!(fabs(left) < fabs(off)))
			break;
		angle = next;
		derivative = slope;
		off = left;
	}
	*ret = angle;
	return fabs(off) * fmax(camera->fx, camera->fy) <= INVERSE_TOLERANCE;
}

static bool unproject_equidistant(const struct sx_raw_camera *camera, double u, double v, double ray[3])
{
	double radius = sqrt(u * u + v * v), angle, scale = 1;

	if (!isfinite(radius) || !unbend_angle(camera, radius, &angle))
		return false;
	if (radius > 0)
		scale = sin(angle) / radius;
	ray[0] = u * scale;
	ray[1] = v * scale;
	ray[2] = cos(angle);
	return true;
}

static double miss(const struct distorted *d, double u, double v)
{
	return hypot(u - d->x, v - d->y);
}

/* Makes one step of the method of unbend_angle() in two dimensions. False: no step comes nearer. */
static bool step_nearer(const struct sx_raw_camera *camera, const struct growth *g, double u, double v,
			double at[2], struct distorted *d)
{
	double det = d->xx * d->yy - d->xy * d->xy, off = miss(d, u, v);
	double dx = ((u - d->x) * d->yy - (v - d->y) * d->xy) / det;
	double dy = ((v - d->y) * d->xx - (u - d->x) * d->xy) / det;

	for (int k = 0; k < HALVINGS_MAX; k++, dx *= 0.5, dy *= 0.5) {
		double x = at[0] + dx, y = at[1] + dy;
		struct distorted next;

		if (!grows_up_to(g, x * x + y * y))
			continue;
		next = distort(camera->distortion, x, y);
		if (miss(&next, u, v) < off && next.xx * next.yy - next.xy * next.xy > 0) {
			at[0] = x;
			at[1] = y;
			*d = next;
			return true;
		}
	}
	return false;
}

bool sx_lens_unproject(const struct sx_raw_camera *camera, double x, double y, double ray[3])
{
	double u = (x - camera->cx) / camera->fx, v = (y - camera->cy) / camera->fy, at[2] = {u, v};
	struct growth g = growth_of(camera);
	struct distorted d;

	if (camera->lens == SX_LENS_EQUIDISTANT)
		return unproject_equidistant(camera, u, v, ray);
	for (int i = 0; i < HALVINGS_MAX; i++) {
		d = distort(camera->distortion, at[0], at[1]);
		if (grows_up_to(&g, at[0] * at[0] + at[1] * at[1]) && d.xx * d.yy - d.xy * d.xy > 0)
			break;
		at[0] *= 0.5;
		at[1] *= 0.5;
	}
	if (!(d.xx * d.yy - d.xy * d.xy > 0))
		return false;
	for (int i = 0; i < STEPS_MAX && miss(&d, u, v) > 1e-15 * (1 + hypot(u, v)); i++)
		if (!step_nearer(camera, &g, u, v, at, &d))
			break;
	ray[0] = at[0];
	ray[1] = at[1];
	ray[2] = 1;
	return miss(&d, u, v) * fmax(camera->fx, camera->fy) <= INVERSE_TOLERANCE;
}
