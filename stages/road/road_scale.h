/*
 * What of the search for a road goes with the height of the camera. A car's camera, 1.65 m above a street,
 * and that of a small robot, at most 0.5 m above a floor, are what was measured (docs/algorithm.md, road);
 * between them all numbers are between theirs.
 *
 * Lengths of the scene shrink with the camera: a robot looks at a floor as wide, as far and as even for its
 * size as a street is for a car. A camera above a car's sees the same streets: nothing grows with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_ROAD_ROAD_SCALE_H
#define SX_STAGES_ROAD_ROAD_SCALE_H

#define SX_ROAD_CAR_M 1.65
#define SX_ROAD_ROBOT_M 0.5

/* Of a car; times sx_road_scale.length that of others. */
#define SX_ROAD_CORRIDOR_M 4.0	   /* what is looked at, to each side */
#define SX_ROAD_REACH_M 40.0	   /* and ahead */
#define SX_ROAD_BEND_BESIDE_M 15.0 /* for bends the corridor is looked at as wide as it is so far ahead */

struct sx_road_scale {
	double length;
	int last_rows;	     /* of the image, that are not looked at */
	double tolerance_m;  /* how far the road's surface lies from its plane, in height, */
	double tolerance_px; /* and in disparity at least */
	double closer;	     /* samples that a plane is fitted to lie closer, by that share of both */
	double share;	     /* a road needs one of `share` samples on its plane */
	double bend_first_m, bend_step_m; /* knees: the nearest, and from one to the next */
	double grades, falls;		  /* steps of grade to 100 %; how many of the 16 grades fall */
	double lower, higher;	   /* a road's height times these is camera.height_m at least, and at most */
	double rise_deg, fall_deg; /* how far the road before a camera as mounted climbs and falls at most */
	double ramp_m;		   /* see sx_road_view */
	double favour;		   /* of the expected plane, a share of what is judged: sx_road_worth() */
	double car;		   /* 1: a car's; 0: a small robot's */
};

static inline struct sx_road_scale sx_road_scale_of(double height_m)
{
	const double car = height_m >= SX_ROAD_CAR_M ? 1.0
			   : height_m <= SX_ROAD_ROBOT_M
				   ? 0.0
				   : (height_m - SX_ROAD_ROBOT_M) / (SX_ROAD_CAR_M - SX_ROAD_ROBOT_M);
	const double robot = 1.0 - car;
	const double length = height_m >= SX_ROAD_CAR_M ? 1.0 : height_m / SX_ROAD_CAR_M;

	return (struct sx_road_scale){
		.length = length,
		/* no descriptors there: the map repeats what is above, up to 1 px too far */
		.last_rows = car < 1.0 ? 3 : 0,
		/* indoor floors are evener for a robot's size than streets for a car's */
		.tolerance_m = (car * 0.06 + robot * 0.04) * length,
		.tolerance_px = car * 0.5 + robot * 0.4,
		.closer = robot * 0.5,
		.share = car * 4.0 + robot * 6.0,
		.bend_first_m = (car * 10.0 + robot * 4.0) * length,
		.bend_step_m = (car * 3.0 + robot * 1.3) * length,
		/* -6 to 10 %; 1 to 20 %: a floor that falls away before a robot may be a step */
		.grades = car * 100.0 + robot * 80.0,
		.falls = car * 6.0,
		/*
		 * A robot's camera is mounted within 15 % of its height (4 cm of 25) and 3 degrees. What lies
		 * before it climbs by a ramp of 10 degrees at most, or falls by 3: what falls more may be a
		 * step. A ramp that begins more than 2 heights ahead is a bend, for the floor before it is in
		 * view. Wider limits let the top of a kerb be the road, or the floor below a step.
		 */
		.lower = car * 0.55 + robot * (1.0 / 1.15),
		.higher = car * 3.3 + robot * (1.0 / 0.85),
		.rise_deg = car * 50.0 + robot * 13.0,
		.fall_deg = car * 50.0 + robot * 6.0,
		.ramp_m = robot * 2.0 * height_m,
		.favour = robot * 0.1,
		.car = car,
	};
}

#endif
