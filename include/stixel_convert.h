/*
 * stixel_convert.h - frames for programs that do not know stixels: as a laser scan, as points.
 *
 * Same library and ABI as <stixel.h>; docs/convert.md has the reasons. All is computed in double by + - * /
 * and square roots alone and rounded once to float, so that a frame gives the same bytes on every machine.
 *
 *	struct stixel_scan_options options;
 *
 *	if (stixel_scan_defaults(frame, &options, sizeof(options)) == 1 && options.count <= room)
 *		stixel_scan(frame, &options, sizeof(options), ranges);
 *
 * Vehicle coordinates: the origin is the point of the road below the left camera, X points forward along the
 * road, Y to the left, Z up from it, m (ISO 8855, ROS REP 103). They follow from pitch_rad, roll_rad and
 * height_m of the frame's own road; a bend of the road does not bend them. Camera coordinates: from the left
 * camera X to the right, Y down, Z along the optical axis, m. As Python's Road.to_vehicle() and
 * Camera.point() have them.
 *
 * Frames are those that libstixel gave out or checked. Nothing is kept; any thread may call. Structs of
 * options may grow: zero what you do not set, and give bytes as sizeof of yours.
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

/* ---- since 1.5: a scan, as sensor_msgs/LaserScan has it ------------------------------------------------ */

/* What something counts as in a scan. */
enum stixel_scan_as {
	STIXEL_SCAN_AS_FREE = 0,     /* as nothing: what is seen beyond it counts */
	STIXEL_SCAN_AS_OBSTACLE = 1, /* as an obstacle, where it is */
	STIXEL_SCAN_AS_UNSEEN = 2    /* nothing is known from there on */
};

/* Angle i is angle_min + i * angle_increment, i < count: about the vehicle's Z, from X, counterclockwise. */
struct stixel_scan_options {
	float angle_min;       /* rad, -2 pi .. 2 pi */
	float angle_increment; /* rad, > 0; all angles lie within one turn */
	uint32_t count;
	float range_min;  /* m, 0 or more */
	float range_max;  /* m, range_min or more */
	float height_min; /* m above the road: what reaches between both is an obstacle */
	float height_max; /* m, height_min or more */
	uint32_t above;	  /* objects that begin at height_max or higher: enum stixel_scan_as */
	uint32_t below;	  /* objects that end at height_min or lower, as kerbs do: likewise */
	uint32_t unknown; /* what was not measured (STIXEL_UNKNOWN): likewise */
};
STIXEL_AT(stixel_scan_options, range_max, 16);
STIXEL_AT(stixel_scan_options, unknown, 36);
STIXEL_SIZE(stixel_scan_options, 40);

/*
 * The usual options for the camera of a frame. Angles: the field of view of its columns as if the camera
 * looked level, the same for all its frames, in steps of the narrowest column or less (65536 angles at most).
 * range_min: where the largest disparity is that is searched for; range_max: where it is 4 px. Heights 0.15
 * and 2 m; above and below are free, unknown is unseen. 1; 0 without a sound camera model: angles, ranges 0.
 */
STIXEL_API int stixel_scan_defaults(const struct stixel_frame *frame, struct stixel_scan_options *options,
				    size_t bytes);

/*
 * For each angle, in ranges[count], the distance of the nearest obstacle in the plane of the road, from the
 * origin of vehicle coordinates, m; as REP 117 has it:
 *
 *	a number	range_min .. range_max: the nearest obstacle;
 *	-INFINITY	there is one, nearer than range_min;
 *	+INFINITY	seen, and free as far as range_max;
 *	NAN		not seen: outside of the field of view, unmeasured, hidden by what is nearer.
 *
 * An obstacle is an object stixel of which a part lies more than height_min and less than height_max above
 * the measured road, with its cross slope and its bend. It is taken as upright in the image: the line from
 * edge to edge of its column at its disparity, in its lowest row within the band. Ground is free, however
 * high. An unknown stixel ends what is seen of its column, unless an obstacle lies below it or the road is
 * farther than range_max where it begins; as an obstacle it stands there on the road.
 *
 * An angle has the nearest of all that its ray meets. A column that is so narrow that no ray meets it counts
 * for the angle nearest to its middle (of two the left one), with the distance of its middle. Edges belong to
 * both columns. Of what falls on one angle an obstacle counts before unseen, unseen before free.
 *
 * 1; 0, all NAN: no camera, no road, or far too many objects on one angle; -EINVAL: bad options, all as was.
 */
STIXEL_API int stixel_scan(const struct stixel_frame *frame, const struct stixel_scan_options *options,
			   size_t bytes, float *ranges);

/* ---- since 1.5: points --------------------------------------------------------------------------------- */

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

/* A point: what sensor_msgs/PointCloud2 takes as it lies, 20 bytes each, with fields of these names. */
struct stixel_point {
	float x, y, z;	    /* m */
	uint8_t kind;	    /* of its stixel: enum stixel_kind */
	uint8_t label;	    /* likewise: semantic class, 255 none */
	uint8_t confidence; /* likewise */
	uint8_t part;	    /* enum stixel_part */
	uint32_t id;	    /* number of the stixel in its frame: stixels[id] */
};
STIXEL_AT(stixel_point, kind, 12);
STIXEL_AT(stixel_point, part, 15);
STIXEL_AT(stixel_point, id, 16);
STIXEL_SIZE(stixel_point, 20);

struct stixel_points_options {
	uint32_t of;	      /* enum stixel_points_of */
	uint32_t coordinates; /* enum stixel_coordinates */
	float step;	      /* m between points, 0.01 or more; obstacles: 0 for none between foot and top */
	float range_max;      /* m along the optical axis, at most 65536 steps; without a step 0: no limit */
};
STIXEL_AT(stixel_points_options, range_max, 12);
STIXEL_SIZE(stixel_points_options, 16);

/*
 * Points of a frame, in the order of its stixels, each from bottom to top, in the middle of their columns.
 * Writes room of them at most and returns how many there are, so that room 0 (points may be NULL) counts
 * them. 0 without a camera model, and in vehicle coordinates without a road; -EINVAL: options out of limits.
 *
 * Obstacles: of each object stixel of known disparity its foot and its top, the lower and the upper edge of
 * its pixels (half a pixel beyond their centres); with a step, points at the multiples of step from the foot
 * between them. Ground: of each ground stixel the places whose distance along the optical axis is a multiple
 * of step, up to range_max, by its own disparity and slope: rows of points, as high as the ground is there.
 * Points that are not finite are left out. Each stixel may have range_max / step, 65536 of a hostile frame.
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
