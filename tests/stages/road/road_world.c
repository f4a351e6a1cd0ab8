/*
 * A flat world below a camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/stages/road/road_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct world world_of(const struct sx_camera *c, double roll_deg)
{
	const double r = tan(roll_deg * RADIANS), t = tan(c->pitch_deg * RADIANS);
	const double length = sqrt(1 + t * t + r * r);

	return (struct world){*c, {r / length, 1 / length, t / length}, 0.5, 30, 10, RANGE};
}

void ray_of(const struct world *w, int x, int y, double ray[3])
{
	ray[0] = (x - w->c.cx) / w->c.fx;
	ray[1] = (y - w->c.cy) / w->c.fy;
	ray[2] = 1;
}

double plane_at(const struct world *w, const double ray[3])
{
	const double k = (w->n[0] * ray[0] + w->n[1] * ray[1] + w->n[2] * ray[2]) / w->c.height_m;

	return k > 0 ? k : 0;
}

uint16_t pixel(const struct world *w, double near, struct check_rng *r)
{
	const double noise = w->noise_px * (check_below(r, 2001) - 1000) / 1000;
	const double q4 = floor(16 * (w->c.fx * w->c.baseline_m * near + noise) + 0.5);

	if (check_below(r, 100) < w->invalid_percent)
		return SX_DISPARITY_INVALID;
	if (check_below(r, 100) < w->outlier_percent)
		return (uint16_t)check_below(r, 16 * w->range);
	return q4 >= 16 * w->range ? (uint16_t)SX_DISPARITY_INVALID : (uint16_t)(q4 < 0 ? 0 : q4);
}

void draw_plane(const struct world *w, struct sx_image *d, struct check_rng *r)
{
	for (int y = 0; y < d->height; y++)
		for (int x = 0; x < d->width; x++) {
			double ray[3];

			ray_of(w, x, y, ray);
			((uint16_t *)sx_image_row(d, y))[x] = pixel(w, plane_at(w, ray), r);
		}
}

struct sx_params params(double height_m, double pitch_deg, double baseline_m)
{
	struct sx_params p = stixel_case_params(H);

	p.camera.fx = p.camera.fy = 300;
	p.camera.cx = W / 2.0;
	p.camera.cy = H / 2.0;
	p.camera.baseline_m = baseline_m;
	p.camera.height_m = height_m;
	p.camera.pitch_deg = pitch_deg;
	return p;
}

struct sx_road find(const struct sx_params *p, const struct sx_image *d, const struct sx_road *previous)
{
	struct sx_road_finder *f;
	struct sx_road road;

	assert_int_equal(sx_road_finder_create(&f, p, d->width, d->height, RANGE), 0);
	sx_road_find(f, d, previous, &road);
	sx_road_finder_destroy(f);
	return road;
}

void check_world(const struct world *w, const struct sx_road *got, const struct limits *most,
		 const char *what)
{
	const double pitch = atan(w->n[2] / w->n[1]) / RADIANS, roll = atan(w->n[0] / w->n[1]) / RADIANS;

	if (got->origin != SX_ROAD_MEASURED || fabs(got->pitch_rad / RADIANS - pitch) > most->angle_deg ||
	    fabs(got->roll_rad / RADIANS - roll) > most->angle_deg ||
	    fabs(got->height_m / w->c.height_m - 1) > most->height)
		fail_msg(
			"%s, height %g, pitch %g, roll %g: origin %d, height %g, pitch %g, roll %g, %u on it",
			what, w->c.height_m, pitch, roll, got->origin, got->height_m,
			got->pitch_rad / RADIANS, got->roll_rad / RADIANS, got->inliers);
	assert_int_equal(got->age, 0);
	assert_true(got->axis == w->c.cx);
	assert_true(fabs(got->horizon_row + got->offset / got->slope) < 1e-9);
}

void check_disparities(const struct world *w, const struct sx_road *got, double most_px)
{
	for (int y = H / 2; y < H; y += 17)
		for (int x = 0; x < W; x += 13) {
			const double d = got->slope * y + got->offset + got->cross * (x - got->axis);
			double ray[3];

			ray_of(w, x, y, ray);
			if (plane_at(w, ray) > 0)
				assert_true(fabs(d - w->c.fx * w->c.baseline_m * plane_at(w, ray)) < most_px);
		}
}

void check_plane(const struct sx_params *p, double roll_deg, uint64_t seed)
{
	static const struct limits most = {0.2, 0.015};
	const struct world w = world_of(&p->camera, roll_deg);
	struct check_rng r = check_rng_seed(seed);
	struct sx_road got;
	struct sx_image d;

	assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, W, H), 0);
	draw_plane(&w, &d, &r);
	got = find(p, &d, NULL);
	check_world(&w, &got, &most, "plane");
	check_disparities(&w, &got, 0.5);
	sx_image_finish(&d);
}
