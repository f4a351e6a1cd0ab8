/*
 * Check of the unit of the baseline, by the road.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/camera/road_unit.h"

#include <math.h>
#include <stdio.h>

#define ODD 4.0	 /* a bad measurement may change a height by this factor */
#define NEAR 0.2 /* largest relative difference of rounds that agree, and of a ratio from a unit's factor */
#define ROUNDS 3 /* rounds that must agree */
#define IN_VAIN 100
#define OFTEN 4	  /* frames without a road between two checks */
#define SELDOM 30 /* the same after IN_VAIN rounds without a result */

static const struct {
	double factor;
	const char *unit; /* unit that was confused with metres; NULL: unknown */
} units[SX_ROAD_UNITS] = {
	{100, "centimetres"},
	{1000, "millimetres"},
	{10, "decimetres"},
	{39.37, "inches"},
	{25.4, "squares of the board, or inches"},
	{0.1, NULL},
	{0.01, NULL},
	{0.001, NULL},
	{1 / 25.4, NULL},
};

static bool is_near(double a, double b)
{
	return fabs(a - b) <= NEAR * fabs(b);
}

int sx_road_unit_init(struct sx_road_unit *ret, const struct sx_params *p, int width, int height)
{
	const struct sx_camera *c = &p->camera;
	struct sx_params other = *p;
	int r = 0;

	*ret = (struct sx_road_unit){.params = *p};
	if (!(c->fx > 0 && c->fy > 0 && c->baseline_m > 0 && c->height_m > 0) ||
	    p->road.mode != SX_ROAD_PLANE)
		return 0;
	other.road.min_height_m = other.road.max_height_m = 0;
	for (int i = 0; i < SX_ROAD_UNITS && r == 0; i++) {
		other.camera.baseline_m = c->baseline_m / units[i].factor;
		r = sx_road_finder_create(&ret->finder[i], &other, width, height,
					  sx_disparity_range(&p->stereo));
	}
	if (r < 0)
		sx_road_unit_finish(ret);
	return r;
}

void sx_road_unit_finish(struct sx_road_unit *u)
{
	for (int i = 0; i < SX_ROAD_UNITS; i++)
		sx_road_finder_destroy(u->finder[i]);
	*u = (struct sx_road_unit){0};
}

/*
 * Returns the camera's height over the road in the map with factor i, divided by camera.height_m; 0: no road.
 */
static double height_with(struct sx_road_unit *u, int i, const struct sx_image *disparity)
{
	struct sx_road road;

	sx_road_find(u->finder[i], disparity, NULL, &road);
	return road.origin == SX_ROAD_MEASURED ? units[i].factor * road.height_m / u->params.camera.height_m
					       : 0;
}

/* Returns the ratio of two heights, 1 or more. */
static double apart(double a, double b)
{
	return a > b ? a / b : b / a;
}

static void end_round(struct sx_road_unit *u)
{
	const double found = u->round;

	u->agreed = !found ? 0 : is_near(found, u->last) ? u->agreed + 1 : 1;
	u->empty = found > 0 ? 0 : u->empty + 1;
	u->last = found;
	u->round = 0;
	u->next = 0;
	if (u->agreed >= ROUNDS)
		u->ratio = found;
}

/*
 * Takes a measured road. If its height is within a factor of ODD, the unit is right. Other heights are
 * measured only if the limits in the configuration allow them; they give the ratio.
 */
static void take_measured(struct sx_road_unit *u, double height)
{
	const double found = height / u->params.camera.height_m;

	u->ratio = found > ODD || found < 1 / ODD ? found : 0;
	u->next = u->agreed = u->empty = 0;
	u->round = u->last = 0;
}

bool sx_road_unit_see(struct sx_road_unit *u, const struct sx_road *road)
{
	if (!u->finder[0])
		return false;
	if (road->origin == SX_ROAD_MEASURED)
		take_measured(u, road->height_m);
	else if (!(u->ratio > 0))
		return ++u->without % (u->empty >= IN_VAIN ? SELDOM : OFTEN) == 0;
	return false;
}

void sx_road_unit_try(struct sx_road_unit *u, const struct sx_image *disparity)
{
	const double found = height_with(u, u->next, disparity);

	/* Several factors show a road. Take the one whose height is nearest to the configured height. */
	if (found > 0 &&
	    (!(u->round > 0) || apart(found, units[u->next].factor) < apart(u->round, units[u->next].factor)))
		u->round = found;
	if (++u->next == SX_ROAD_UNITS)
		end_round(u);
}

void sx_road_unit_tell(double ratio, const struct sx_camera *c, char *text, size_t bytes)
{
	const char *unit = NULL;

	for (int i = 0; i < SX_ROAD_UNITS && !unit; i++)
		if (is_near(ratio, units[i].factor))
			unit = units[i].unit;
	snprintf(text, bytes,
		 "the road lies %.3g m below the camera, %.3g times camera.height_m (%.4g m): is the "
		 "baseline of %.4g m in %s? Distances are wrong then; else correct height_m",
		 ratio * c->height_m, ratio, c->height_m, c->baseline_m, unit ? unit : "metres");
}
