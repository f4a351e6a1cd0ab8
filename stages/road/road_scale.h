/*
 * Numbers of the search for a road that depend on the height of the camera. They were measured for a car's
 * camera, 1.65 m above a street, and for a small robot's camera, at most 0.5 m above a floor
 * (docs/develop/algorithm.md, road). Between these heights all numbers are interpolated.
 *
 * Lengths of the scene shrink with the camera: relative to its size, a robot looks at a floor as wide, as far
 * and as even as a street is for a car. A camera above a car's camera sees the same streets, so its numbers
 * do not grow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_ROAD_ROAD_SCALE_H
#define SX_STAGES_ROAD_ROAD_SCALE_H

#define SX_ROAD_CAR_M 1.65
#define SX_ROAD_ROBOT_M 0.5

/* Lengths for a car. Other cameras multiply them by sx_road_scale.length. */
#define SX_ROAD_CORRIDOR_M 4.0 /* width of the searched corridor to each side */
#define SX_ROAD_REACH_M 40.0   /* length of the searched corridor ahead */
/* distance ahead at which the corridor's width in the image is taken, for all rows of a search for bends */
#define SX_ROAD_BEND_BESIDE_M 15.0

struct sx_road_scale {
	double length;
	int last_rows;	     /* rows at the bottom of the image that are ignored */
	double tolerance_m;  /* largest distance of the road's surface from its plane, in height, ... */
	double tolerance_px; /* ... and lower limit of this tolerance in disparity */
	/* share by which tolerance_m and tolerance_px are smaller for samples that a plane is fitted to */
	double closer;
	double share;			  /* a road needs one of `share` samples on its plane */
	double bend_first_m, bend_step_m; /* knees: nearest distance, and step to the next */
	double grades, falls;		  /* steps of grade up to 100 %; number of the 16 grades that fall */
	double bend_gain, bend_on;	  /* shares of samples that a bend needs, see sx_road_view */
	double bend_px;			  /* tolerance_px of the samples by which bends are judged */
	/* the camera's height over the road is from camera.height_m / higher to camera.height_m / lower */
	double lower, higher;
	double rise_deg, fall_deg; /* greatest climb and fall of the road, from the mounted pitch */
	double ramp_m;		   /* see sx_road_view */
	double favour; /* favour of the expected plane, as a share of the judged samples: sx_road_worth() */
	double car;    /* 1: a car's; 0: a small robot's */
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
		/* rows without descriptors: the map repeats the rows above, up to 1 px too far */
		.last_rows = car < 1.0 ? 3 : 0,
		/* for a robot's size, indoor floors are more even than streets for a car's */
		.tolerance_m = (car * 0.06 + robot * 0.04) * length,
		.tolerance_px = car * 0.5 + robot * 0.4,
		.closer = robot * 0.5,
		.share = car * 4.0 + robot * 6.0,
		.bend_first_m = (car * 10.0 + robot * 4.0) * length,
		.bend_step_m = (car * 3.0 + robot * 1.3) * length,
		/* car: -6 to 10 %; robot: 1 to 18 %: a floor that falls before a robot may be a step */
		.grades = car * 100.0 + robot * 90.0,
		.falls = car * 6.0,
		/*
		 * A robot sees less of a ramp: floors of rooms have little texture, and most samples belong to
		 * walls. Its bends compete with steps, so that kerbs do not become ramps.
		 * tests/lab/lab-accuracy.md, rooms, has the measurement.
		 */
		.bend_px = car * 0.5 + robot * 0.6,
		.bend_gain = car * 44.0 + robot * 60.0,
		.bend_on = car * 9.0 + robot * 40.0,
		/*
		 * A robot's camera is mounted with an accuracy of 15 % of its height (4 cm of 25) and 3
		 * degrees. The floor before it climbs by a ramp of 10 degrees at most, or falls by 3: a
		 * steeper fall may be a step. A ramp that begins more than 2 heights ahead is a bend, because
		 * the floor before it is in view. Wider limits would accept the top of a kerb, or the floor
		 * below a step, as the road.
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
