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
	uint32_t drop; /* since 1.6: the end of the ground before a drop: likewise; older callers: obstacle */
};
STIXEL_AT(stixel_scan_options, range_max, 16);
STIXEL_AT(stixel_scan_options, unknown, 36);
STIXEL_AT(stixel_scan_options, drop, 40);
STIXEL_SIZE(stixel_scan_options, 44);

/*
 * The usual options for a frame. Angles: the field of view of its columns as if the camera looked level, the
 * same for all frames of a camera, in steps of the narrowest column or less (65536 angles at most). Heights:
 * those of the frame's vehicle (stixel_vehicle_of()); above and below are free, unknown is unseen, a drop is
 * an obstacle.
 *
 * The ranges are of this frame alone (since 1.6). range_min: where ground was first seen, of the columns that
 * see it no nearer than the usual begin (stixel_scan() below) the nearest, or the nearest obstacle if that is
 * nearer, as it has to keep its number; never less than where the largest disparity is that is searched for.
 * range_max: where disparity is 4 px, or where the image's upper edge sees the road, if that is nearer.
 * 1; 0 without a sound camera model: angles, ranges 0.
 */
STIXEL_API int stixel_scan_defaults(const struct stixel_frame *frame, struct stixel_scan_options *options,
				    size_t bytes);

/*
 * For each angle, in ranges[count], the distance of the nearest obstacle in the plane of the road, from the
 * origin of vehicle coordinates, m; as REP 117 has it:
 *
 *	a number	range_min .. range_max: the nearest obstacle;
 *	-INFINITY	there is one, nearer than range_min;
 *	+INFINITY	the ground was seen from about where the image's lowest row sees it, or most columns
 *			see it first, and it is free as far as range_max;
 *	NAN		not seen: outside of the field of view, unmeasured, hidden by what is nearer, and all
 *			of STIXEL_FRAME_BLIND that is no obstacle.
 *
 * An obstacle is an object stixel of which a part lies more than height_min and less than height_max above
 * the measured road, with its cross slope and its bend. It is taken as upright in the image: the line from
 * edge to edge of its column at its disparity, in its lowest row within the band. Ground is free, however
 * high.
 *
 * What ends a column otherwise, at the end of the ground below it unless that is farther than range_max or an
 * obstacle lies before: an unknown stixel that begins below the horizon (as an obstacle it stands there on
 * the road); a drop, which is an object that begins clearly below the road; what can be nowhere, as an object
 * at infinity well below the horizon, which is unseen whatever the options say. At the foot of a column an
 * unknown stixel only makes the blind zone longer, if ground follows above it: a column is free only if its
 * ground was first seen within 1.1 times the depth of the image's lowest row, or within 1.25 times the usual
 * begin, or within range_min. The usual begin is the median (of two in the middle the nearer) of where
 * columns first see ground, along the optical axis, of those that see it before anything else: a bonnet's
 * mask hides the foot of all columns, a tape that of a few. stixel_scan_seen() says where each angle begins.
 * Obstacles above what was not seen stay, but for those that may stand behind a drop: where the ground ended
 * unseen within four heights of the camera, an obstacle more than twice as far leaves its angle unseen.
 *
 * An angle has the nearest of all that its ray meets. A column that is so narrow that no ray meets it counts
 * for the angle nearest to its middle (of two the left one), with the distance of its middle. Edges belong to
 * both columns. Of what falls on one angle an obstacle counts before unseen, unseen before free.
 *
 * 1; 0, all NAN: no camera, no road, or far too many objects on one angle; -EINVAL: bad options, all as was.
 */
STIXEL_API int stixel_scan(const struct stixel_frame *frame, const struct stixel_scan_options *options,
			   size_t bytes, float *ranges);
/*
 * (since 1.6) The same, and in begins[count] from which distance on each angle was seen, up to its range:
 * what may be cleared lies between both. It is the range itself where what is before an obstacle was not
 * seen; NAN where the range is NAN or -INFINITY.
 */
STIXEL_API int stixel_scan_seen(const struct stixel_frame *frame, const struct stixel_scan_options *options,
				size_t bytes, float *ranges, float *begins);

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
 * its pixels (half a pixel beyond their centres), but of what lies above the road (since 1.6); none of what
 * can be nowhere (docs/convert.md). With a step, points at the multiples of step from the foot between them.
 * Ground: of each ground stixel, but of none of STIXEL_FRAME_BLIND (since 1.6), the places whose distance
 * along the optical axis is a multiple of step, up to range_max, by its own disparity and slope: rows of
 * points, as high as the ground is there. Points that are not finite are left out. Each stixel may have
 * range_max / step, 65536 of a hostile frame.
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
