/*
 * stixel_convert.h - what a frame is to programs that do not know stixels: a laser scan, and points.
 *
 * Same library and ABI as <stixel.h>; docs/convert.md. All of it is computed in double by + - * / and
 * square roots alone and rounded once to float, so that a frame gives the same bytes on every machine.
 *
 *  *	struct stixel_scan_options options;
 *  *	float *ranges;
 *
 *  *	if (stixel_scan_defaults(frame, &options, sizeof(options)) == 1) {
 *  *		ranges = malloc(options.count * sizeof(*ranges));
 *  *		...
 *  *		stixel_scan(frame, &options, sizeof(options), ranges);
 *  *	}
 *
 * Vehicle coordinates, as frame.road.to_vehicle() of Python has them: the origin is the point of the road
 * below the left camera, X points forward along the road, Y to the left, Z up from the road, m (ROS REP
 * 103). They follow from pitch_rad, roll_rad and height_m of the frame's own road; a bend of the road does
 * not bend them. Camera coordinates: from the left camera X to the right, Y down, Z along the optical axis,
 * m.
 *
 * The frame is one that libstixel gave out or checked. No function keeps anything; all may be called from
 * any thread. Options are structs that may grow: zero what you do not set, and give bytes as sizeof of
 * yours.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STIXEL_CONVERT_H
#define STIXEL_CONVERT_H

#include <stixel.h>

#ifdef __cplusplus
extern "C" {
#endif
#define STIXEL_AT(type, field, bytes) STIXEL_ASSERT(offsetof(struct type, field) == (bytes), #type "." #field)
#define STIXEL_SIZE(type, bytes) STIXEL_ASSERT(sizeof(struct type) == (bytes), #type)

/* ---- since 1.5: a scan, as sensor_msgs/LaserScan has it ------------------------------------------------- */

/* What something counts as in a scan. */
enum stixel_scan_as {
	STIXEL_SCAN_AS_FREE = 0,     /* as nothing: what is seen beyond it counts */
	STIXEL_SCAN_AS_OBSTACLE = 1, /* as an obstacle, where it is */
	STIXEL_SCAN_AS_UNSEEN = 2    /* nothing is known from there on */
};

/* Angle i is angle_min + i * angle_increment, i < count: about Z of the vehicle, from X, counterclockwise. */
struct stixel_scan_options {
	float angle_min;	    /* rad, -2 pi .. 2 pi */
	float angle_increment;	    /* rad, > 0; all angles lie within one turn */
	uint32_t count;		    /* angles */
	float range_min, range_max; /* m, 0 <= min <= max */
	float height_min,
		height_max; /* m above the road, min <= max: what reaches in between is an obstacle */
	uint32_t above;	    /* objects that begin at height_max or higher: enum stixel_scan_as */
	uint32_t below;	    /* objects that end at height_min or lower, as kerbs do: likewise */
	uint32_t unknown;   /* what was not measured (STIXEL_UNKNOWN): likewise */
};
STIXEL_AT(stixel_scan_options, count, 8);
STIXEL_AT(stixel_scan_options, range_max, 16);
STIXEL_AT(stixel_scan_options, height_max, 24);
STIXEL_AT(stixel_scan_options, unknown, 36);
STIXEL_SIZE(stixel_scan_options, 40);

/*
 * The usual options for this frame's camera; bytes: sizeof(*options). Angles: the field of view of the
 * stixel columns, as if the camera looked level, so that they are the same for all frames of a camera; in
 * steps of the narrowest column, or less, so that each column has an angle (65536 at most). range_min:
 * where the largest disparity that is searched for is; range_max: where disparity is 4 px. Heights 0.15 and
 * 2 m; above and below count as free, unknown as unseen. 1; 0 without a camera model: angles and ranges are
 * 0, and count.
 */
STIXEL_API int stixel_scan_defaults(const struct stixel_frame *frame, struct stixel_scan_options *options,
				    size_t bytes);

/*
 * ranges, count floats: for each angle the distance of the nearest obstacle, m, as REP 117 has it. It is
 * measured in the plane of the road, from the origin of vehicle coordinates: height does not count.
 *
 *  *	a number	range_min .. range_max: the nearest obstacle
 *  *	-INFINITY	there is one, nearer than range_min
 *  *	+INFINITY	seen, and free as far as range_max
 *  *	NAN		not seen: outside of the field of view; unmeasured; hidden by what is nearer. All
 *  *			angles of a frame without a camera model or a road
 *
 * An obstacle is an object stixel of which a part lies more than height_min and less than height_max above
 * the measured road, with its cross slope and its bend. It is taken as upright in the image, at its
 * disparity: the line between both edges of its column, at the row where the part within the band is
 * nearest. Ground is free, whatever its height. An unknown stixel that no obstacle of its column lies below
 * ends what is seen there, unless the road is further than range_max where it begins; as an obstacle it
 * stands at that place of the road.
 *
 * An angle has the nearest of what its ray meets. A column that is so narrow that no ray meets it counts
 * for the angle that is nearest to its middle (of two the left one), with the distance of its middle. Edges
 * belong to both columns. Where an obstacle and something unseen fall on one angle, the obstacle counts;
 * where free and unseen do, the unseen. 1; 0: no camera model or no road, all is NAN; -EINVAL: options out
 * of their limits.
 */
STIXEL_API int stixel_scan(const struct stixel_frame *frame, const struct stixel_scan_options *options,
			   size_t bytes, float *ranges);

/* ---- since 1.5: points ----------------------------------------------------------------------------------- */

enum stixel_points_of {
	STIXEL_POINTS_OF_OBSTACLES = 0, /* of each object its foot and its top */
	STIXEL_POINTS_OF_GROUND = 1	/* along the rows of each ground stixel */
};
enum stixel_coordinates { STIXEL_COORDINATES_CAMERA = 0, STIXEL_COORDINATES_VEHICLE = 1 };
enum stixel_part {
	STIXEL_PART_FOOT = 0,
	STIXEL_PART_BETWEEN = 1,
	STIXEL_PART_TOP = 2,
	STIXEL_PART_GROUND = 3
};

/*
 * A point: what sensor_msgs/PointCloud2 takes as it lies, with point_step 20 and fields of these names and
 * offsets, x, y, z FLOAT32, the next four UINT8, id UINT32; is_bigendian false.
 */
struct stixel_point {
	float x, y, z;	    /* m */
	uint8_t kind;	    /* of its stixel: enum stixel_kind */
	uint8_t label;	    /* likewise: semantic class, 255 none */
	uint8_t confidence; /* likewise */
	uint8_t part;	    /* enum stixel_part */
	uint32_t id;	    /* number of the stixel in its frame: stixels[id] */
};
STIXEL_AT(stixel_point, kind, 12);
STIXEL_AT(stixel_point, label, 13);
STIXEL_AT(stixel_point, confidence, 14);
STIXEL_AT(stixel_point, part, 15);
STIXEL_AT(stixel_point, id, 16);
STIXEL_SIZE(stixel_point, 20);

/* A camera at 30 m has points up to 30 m along its optical axis, whatever the coordinates. */
struct stixel_points_options {
	uint32_t of;	      /* enum stixel_points_of */
	uint32_t coordinates; /* enum stixel_coordinates */
	float step;	      /* m between points, 0.01 or more; obstacles: 0 for none between foot and top */
	float range_max;      /* m along the optical axis, at most 65536 steps; without a step 0: no limit */
};
STIXEL_AT(stixel_points_options, range_max, 12);
STIXEL_SIZE(stixel_points_options, 16);

/*
 * Writes points of a frame, at most room of them, in the order of its stixels, each from bottom to top. All
 * lie in the middle of their column. Returns how many there are: more than room means that as many more did
 * not fit (room 0, points NULL: only count). 0 without a camera model, or for vehicle coordinates without a
 * road; -EINVAL: options out of their limits.
 *
 * Obstacles: of each object stixel of known disparity foot and top, the lower and the upper edge of its
 * pixels, half a pixel beyond their centres; and with a step, points between them, at the multiples of step
 * from the foot. Ground: of each ground stixel the points whose distance along the optical axis is a
 * multiple of step, up to range_max (both > 0), where its own disparity has them: in rows across the image,
 * at its own height.
 */
STIXEL_API int64_t stixel_points(const struct stixel_frame *frame,
				 const struct stixel_points_options *options, size_t bytes,
				 struct stixel_point *points, uint64_t room);

#undef STIXEL_AT
#undef STIXEL_SIZE
#ifdef __cplusplus
}
#endif
#endif
