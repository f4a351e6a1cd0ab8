/*
 * stixel_convert.h - frames as a laser scan or as points, for programs that do not know stixels.
 *
 * The library and the ABI are those of <stixel.h>. docs/use/convert.md has the reasons. All values are computed
 * in double by + - * / and square roots alone and rounded once to float, so that a frame gives the same bytes
 * on every machine.
 *
 *	struct stixel_scan_options options;
 *
 *	if (stixel_scan_defaults(frame, &options, sizeof(options)) == 1 && options.count <= room)
 *		stixel_scan(frame, &options, sizeof(options), ranges);
 *
 * Vehicle coordinates: the origin is the point of the road below the left camera. X points forward along the
 * road, Y to the left, Z up from the road, m (ISO 8855, ROS REP 103). They follow from pitch_rad, roll_rad
 * and height_m of the frame's own road. A bend of the road does not bend them. Camera coordinates: the origin
 * is the left camera. X points to the right, Y down, Z along the optical axis, m. Python's Road.to_vehicle()
 * and Camera.point() use the same coordinates.
 *
 * Frames must come from libstixel or have been checked by it. The functions keep no state, and any thread may
 * call them. The structs of options may grow: set the fields that you do not use to 0, and pass the sizeof of
 * your struct as bytes.
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

/* Effect of an object, or of something else in the picture, on a scan. */
enum stixel_scan_as {
	STIXEL_SCAN_AS_FREE = 0,     /* no effect: the scan sees through it to the surface behind */
	STIXEL_SCAN_AS_OBSTACLE = 1, /* an obstacle at the distance of the thing */
	STIXEL_SCAN_AS_UNSEEN = 2    /* the space behind the thing is unknown */
};

/*
 * Options of a scan. Angle i is angle_min + i * angle_increment, i < count. Angles turn about the vehicle's
 * Z, from X, counterclockwise.
 */
struct stixel_scan_options {
	float angle_min;       /* rad, -2 pi .. 2 pi */
	float angle_increment; /* rad, > 0; all angles lie within one turn */
	uint32_t count;
	float range_min; /* m, >= 0 */
	float range_max; /* m, >= range_min */
	/* m above the road: an object that reaches between both heights is an obstacle. */
	float height_min;
	float height_max; /* m above the road, >= height_min */
	uint32_t above;	  /* enum stixel_scan_as of objects that begin at height_max or higher */
	uint32_t below;	  /* enum stixel_scan_as of objects that end at height_min or lower, such as kerbs */
	uint32_t unknown; /* enum stixel_scan_as of stixels that were not measured (STIXEL_UNKNOWN) */
	/*
	 * Since 1.6: enum stixel_scan_as of the end of the ground before a drop. Older callers get an
	 * obstacle.
	 */
	uint32_t drop;
	/*
	 * Since 1.7: enum stixel_scan_as of objects with STIXEL_FLAG_FILLED. Such objects are never free: 0
	 * means an obstacle. So programs for older versions get an obstacle.
	 */
	uint32_t filled;
	/*
	 * Since 1.7: bits 1u << label of the classes of ground that count as free (stixel_labels_of()). 0:
	 * all ground, whatever its class is.
	 */
	uint32_t ground_labels;
	/*
	 * Since 1.7: enum stixel_scan_as of ground of other classes, if ground_labels is not 0. Such ground is
	 * never free: 0 means an obstacle.
	 */
	uint32_t other_ground;
};
STIXEL_AT(stixel_scan_options, range_max, 16);
STIXEL_AT(stixel_scan_options, unknown, 36);
STIXEL_AT(stixel_scan_options, drop, 40);
STIXEL_AT(stixel_scan_options, filled, 44);
STIXEL_AT(stixel_scan_options, ground_labels, 48);
STIXEL_AT(stixel_scan_options, other_ground, 52);
STIXEL_SIZE(stixel_scan_options, 56);

/*
 * Sets the usual options for a frame. Angles: the field of view of its columns as if the camera looked level,
 * the same for all frames of a camera, in steps of the narrowest column or less (65536 angles at most).
 * Heights: those of the frame's vehicle (stixel_vehicle_of()). above and below are free, unknown is unseen, a
 * drop and a filled object are obstacles. All ground counts (ground_labels is 0); other_ground is an obstacle.
 *
 * The ranges are of this frame alone (since 1.6). range_min: for each column, take the distance at which it
 * first saw ground, and leave out columns that see it nearer than the usual begin (see stixel_scan()).
 * range_min is the least of the rest. If the nearest obstacle is nearer, range_min is the distance of that
 * obstacle, because otherwise the obstacle would not be a number in the scan. range_min is never less than
 * the distance of the largest disparity in the search range. range_max is the distance of disparity 4 px. If
 * the upper edge of the image sees the road at a nearer distance, range_max is that distance.
 * Returns 1; 0 without a valid camera model, with 0 for angles and ranges.
 */
STIXEL_API int stixel_scan_defaults(const struct stixel_frame *frame, struct stixel_scan_options *options,
				    size_t bytes);

/*
 * Computes a scan. For each angle, ranges[count] receives the distance of the nearest obstacle in the plane
 * of the road, from the origin of vehicle coordinates, m. REP 117 defines the special values:
 *
 *	a number	range_min .. range_max: the nearest obstacle;
 *	-INFINITY	there is an obstacle nearer than range_min;
 *	+INFINITY	the ground is free as far as range_max. It was first seen at about the distance at
 *			which the image's lowest row, or most columns, see it first;
 *	NAN		not seen: outside of the field of view, not measured, or hidden by a nearer thing.
 *			In a frame with STIXEL_FRAME_BLIND, every angle without an obstacle.
 *
 * An obstacle is an object stixel of which a part lies more than height_min and less than height_max above
 * the measured road, with its cross slope and its bend. The obstacle is taken as upright in the image: it is
 * the line from edge to edge of its column at its disparity, in its lowest row within the band of heights; or
 * where its lowest edge sees the road, if the ground reaches it and that place is clearly nearer. Ground is
 * free at any height.
 *
 * Other things end a column at the end of the ground below them, unless that end is farther than range_max or
 * an obstacle lies before it. These are: an unknown stixel that begins below the horizon (if unknown is
 * STIXEL_SCAN_AS_OBSTACLE, the obstacle stands there on the road); a drop, which is an object that begins
 * clearly below the road; and an object at an impossible place, for example one at infinity well below the
 * horizon. Objects at impossible places are always unseen, whatever the options are.
 *
 * A filled object was hardly measured (STIXEL_FLAG_FILLED). If filled is STIXEL_SCAN_AS_UNSEEN, the column is
 * unseen from the nearest filled object on: neither that object nor an obstacle behind it gives a range. In
 * rooms with plain walls that keeps walls from standing too near; on streets it loses cars with plain doors.
 *
 * With ground_labels, only ground with one of these labels is free, as stixel_free_space() defines it. Ground
 * of another class ends the column where it begins: with a range, or unseen, as other_ground says. Ground
 * without a known class is always unseen. Obstacles behind both keep their ranges. If other ground that is an
 * obstacle begins nearer than range_min, its range is range_min. The usual begin is that of all ground.
 *
 * If ground follows above it, an unknown stixel at the foot of a column only makes the blind zone longer. A
 * column is free only if its ground was first seen within 1.1 times the depth of the image's lowest row, or
 * within 1.25 times the usual begin, or within range_min. The usual begin is the median distance, along the
 * optical axis, at which columns first see ground (of two in the middle, the nearer one). Only columns that
 * see ground before anything else count. A mask over the bonnet hides the foot of all columns, a piece of
 * tape hides the foot of a few. stixel_scan_seen() returns the distance at which each angle begins. Obstacles
 * behind a space that was not seen stay, except those that may stand behind a drop: if the ground ended
 * unseen within four heights of the camera, or a floor below the road is seen first within that distance, an
 * obstacle more than twice as far leaves its angle unseen.
 *
 * An angle gets the nearest thing that its ray meets. If a column is so narrow that no ray meets it, it
 * counts for the angle nearest to its middle (of two, the left one), with the distance of its middle. An edge
 * belongs to both columns. If several things fall on one angle, an obstacle has priority over unseen, and
 * unseen over free.
 *
 * Returns 1. 0, and all ranges NAN: no camera, no road, or far too many objects on one angle. -EINVAL: bad
 * options; ranges are unchanged.
 */
STIXEL_API int stixel_scan(const struct stixel_frame *frame, const struct stixel_scan_options *options,
			   size_t bytes, float *ranges);
/*
 * (since 1.6) Computes a scan as stixel_scan() does. begins[count] also receives the distance from which each
 * angle was seen, up to its range: a planner may clear the space between both. If the space before an
 * obstacle was not seen, begins is the range itself. begins is NAN where the range is NAN or -INFINITY.
 */
STIXEL_API int stixel_scan_seen(const struct stixel_frame *frame, const struct stixel_scan_options *options,
				size_t bytes, float *ranges, float *begins);
/*
 * (since 1.8) Computes a scan as stixel_scan_seen() does. begins may be NULL. speeds[count] also receives the speed
 * over the ground of the obstacle that the range is of, along its ray in the plane of the road, m/s: positive away from
 * the vehicle. It is 0 or nearly so for what stands, whether the vehicle moves or not (stixel_ego_of() says how it
 * moves). It is NAN where the range is no number, where the state of the obstacle's stixel is unknown
 * (stixel_velocity()), and for drops and ground of other classes. If several obstacles have the same range, the speed
 * is that of the first one, by column, then by height.
 */
STIXEL_API int stixel_scan_speeds(const struct stixel_frame *frame, const struct stixel_scan_options *options,
				  size_t bytes, float *ranges, float *begins, float *speeds);

/* ---- since 1.5: points --------------------------------------------------------------------------------- */

enum stixel_points_of {
	STIXEL_POINTS_OF_OBSTACLES = 0, /* foot and top of each object */
	STIXEL_POINTS_OF_GROUND = 1	/* points along the rows of each ground stixel */
};
enum stixel_coordinates { STIXEL_COORDINATES_CAMERA = 0, STIXEL_COORDINATES_VEHICLE = 1 };
enum stixel_part {
	STIXEL_PART_FOOT = 0,
	STIXEL_PART_BETWEEN = 1,
	STIXEL_PART_TOP = 2,
	STIXEL_PART_GROUND = 3
};

/* A point of 20 bytes. sensor_msgs/PointCloud2 takes it as it is, with fields of these names. */
struct stixel_point {
	float x, y, z;	    /* m */
	uint8_t kind;	    /* enum stixel_kind of its stixel */
	uint8_t label;	    /* semantic class of its stixel; 255 none */
	uint8_t confidence; /* confidence of its stixel, 0..255 */
	uint8_t part;	    /* enum stixel_part */
	uint32_t id;	    /* index of its stixel in the frame: stixels[id] */
};
STIXEL_AT(stixel_point, kind, 12);
STIXEL_AT(stixel_point, part, 15);
STIXEL_AT(stixel_point, id, 16);
STIXEL_SIZE(stixel_point, 20);

struct stixel_points_options {
	uint32_t of;	      /* enum stixel_points_of */
	uint32_t coordinates; /* enum stixel_coordinates */
	/* m between points, >= 0.01. For obstacles 0 means no points between foot and top. */
	float step;
	/* m along the optical axis, at most 65536 steps. If step is 0, 0 means no limit. */
	float range_max;
};
STIXEL_AT(stixel_points_options, range_max, 12);
STIXEL_SIZE(stixel_points_options, 16);

/*
 * Computes the points of a frame, in the order of its stixels, from bottom to top within each stixel, in the
 * middle of their columns. Writes at most room points and returns the number that the frame has. With room 0
 * (points may be NULL) it only counts them. Returns 0 without a camera model, and for vehicle coordinates
 * without a road. -EINVAL: options out of range.
 *
 * Obstacles: the foot and the top of each object stixel with a known disparity. These are the lower and the
 * upper edge of its pixels, half a pixel beyond their centres. Since 1.6 only the part above the road counts,
 * and objects at impossible places (docs/use/convert.md) have no points. With a step, there are also points
 * between foot and top, at multiples of step from the foot.
 * Ground: rows of points at the height of the ground. For each ground stixel, they lie where the distance
 * along the optical axis is a multiple of step, up to range_max, by the stixel's own disparity and slope.
 * Since 1.6 a frame with STIXEL_FRAME_BLIND has none.
 * Points that are not finite are left out. Each stixel may have range_max / step points, so a hostile frame
 * can have 65536 per stixel.
 */
STIXEL_API int64_t stixel_points(const struct stixel_frame *frame,
				 const struct stixel_points_options *options, size_t bytes,
				 struct stixel_point *points, uint64_t room);

/* ---- since 1.7: obstacles as boxes --------------------------------------------------------------------- */

/* Options of boxes. Set fields that you do not use to 0. */
struct stixel_boxes_options {
	/* m above the road: an object that reaches between both heights is an obstacle. */
	float height_min;
	float height_max; /* m above the road, >= height_min */
	/*
	 * Largest difference between the distances of neighbours in a box, m, >= 0. The library adds the
	 * difference that corresponds to one pixel of disparity at their distance.
	 */
	float gap;
	uint32_t columns; /* least number of columns of a box: narrower ones are left out as noise */
	uint32_t reserved[4];
};
STIXEL_SIZE(stixel_boxes_options, 32);

/* An obstacle as a box in vehicle coordinates, m. Its width is y_max - y_min, its height z_max - z_min. */
struct stixel_box {
	float x_min, x_max; /* distance of its nearest and of its farthest stixel; its far side is not seen */
	float y_min, y_max; /* right and left edge of its columns */
	float z_min, z_max; /* foot and top of its stixels above the road */
	uint32_t column_first, column_last; /* stixel columns */
	uint32_t row_top, row_bottom;	    /* image rows, inclusive */
	uint32_t stixels;		    /* number of stixels in it */
	uint32_t reserved;		    /* 0 */
};
STIXEL_AT(stixel_box, column_first, 24);
STIXEL_AT(stixel_box, stixels, 40);
STIXEL_SIZE(stixel_box, 48);

/*
 * Sets the usual options: the heights of the frame's vehicle (stixel_vehicle_of()), a gap of 0.3 m, at least
 * 2 columns. Returns 0 or -EINVAL.
 */
STIXEL_API int stixel_boxes_defaults(const struct stixel_frame *frame, struct stixel_boxes_options *options,
				     size_t bytes);
/*
 * Groups the obstacles of a frame into boxes. Obstacles are the stixels that stixel_points() returns as
 * obstacles and that reach between height_min and height_max. Two obstacles belong to the same box if they
 * are in the same column or in neighbouring columns, and if their distances along the road differ by at most
 * gap plus one pixel of disparity. A box groups obstacles by distance alone and is not an object of a class.
 * So two people side by side may be one box, and a thing behind a pole may be two boxes.
 *
 * Writes at most room boxes, the nearest first. Returns the number of boxes that the frame has; 0 if it has
 * no camera model or no road; -EINVAL for bad options; -E2BIG for a frame with far too many obstacles in one
 * column; -ENOMEM. options NULL: the usual options. Filled objects (STIXEL_FLAG_FILLED) are obstacles here.
 */
STIXEL_API int64_t stixel_boxes(const struct stixel_frame *frame, const struct stixel_boxes_options *options,
				size_t bytes, struct stixel_box *boxes, uint64_t room);

#undef STIXEL_AT
#undef STIXEL_SIZE
#ifdef __cplusplus
}
#endif
#endif
