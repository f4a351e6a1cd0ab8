/*
 * stixel.h - the frames that stixeld publishes, and the library that reads them.
 *
 * The ABI is stable. A minor version only appends fields or takes reserved ones. Any other change raises the
 * major version. The language is C11, and C++11 programs may include this header. All numbers are little
 * endian. All times are CLOCK_MONOTONIC nanoseconds. docs/use/shm.md explains the layout for readers written in
 * other languages.
 *
 *	struct stixel_reader *reader;
 *	const struct stixel_frame *frame;
 *
 *	if (stixel_open(&reader, "front", STIXEL_OPEN_FOLLOW) < 0) ...
 *	while (stixel_wait(reader, 1000) >= 0)
 *		if (stixel_latest(reader, &frame) == 1)
 *			use(frame->header->number, frame->stixels, frame->header->stixel_count);
 *	stixel_close(reader);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STIXEL_H
#define STIXEL_H

#include <math.h> /* HUGE_VAL */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define STIXEL_ASSERT(condition, text) static_assert(condition, text)
extern "C" {
#else
#define STIXEL_ASSERT(condition, text) _Static_assert(condition, text)
#endif
/* The layout is part of the ABI: these assertions stop a compiler that lays a struct out differently. */
#define STIXEL_AT(type, field, bytes) STIXEL_ASSERT(offsetof(struct type, field) == (bytes), #type "." #field)
#define STIXEL_SIZE(type, bytes) STIXEL_ASSERT(sizeof(struct type) == (bytes), #type)

#define STIXEL_ABI_MAJOR 1
#define STIXEL_ABI_MINOR 8

/* ---- the record -------------------------------------------------------------------------------------- */

#define STIXEL_DISPARITY_UNKNOWN 0xffffu
#define STIXEL_LABEL_NONE 255u

/*
 * Class of a stixel. STIXEL_UNKNOWN: the disparity was not measured, so the stixel is neither free space nor
 * an obstacle.
 */
enum stixel_kind { STIXEL_GROUND = 0, STIXEL_OBJECT = 1, STIXEL_SKY = 2, STIXEL_UNKNOWN = 3 };

/* Bits of struct stixel.flags. */
/* The column had more stixels than fit. This stixel is the last one that was kept. */
#define STIXEL_FLAG_CUT 1u
/* No road was found in this frame. An older road or the calibrated one was used. */
#define STIXEL_FLAG_ROAD_FALLBACK 2u
#define STIXEL_FLAG_RDP 4u     /* the stixel comes from method RDP, not from dynamic programming */
#define STIXEL_FLAG_SLANTED 8u /* the stixel comes from the slanted model */
/*
 * Since 1.7, of ground and objects: less than two fifths of its cells were measured (support). The publisher
 * continued the surface beside them. Behind a bonnet or a door that is usually right; on plain walls and
 * floors the stixel is often too near. Never take it as free because of this flag.
 */
#define STIXEL_FLAG_FILLED 16u

/* A stixel: a piece of an image column. The stixels of a column are sorted from bottom to top. */
struct stixel {
	uint16_t column;       /* stixel column, from the left; covers image columns [column*width, +width) */
	uint16_t row_top;      /* upper image row, counted from the top, inclusive */
	uint16_t row_bottom;   /* lower image row, inclusive, >= row_top */
	uint16_t support;      /* number of valid disparity cells that it covers */
	uint16_t disparity_q7; /* disparity at row_bottom, 1/128 px; 0xffff unknown */
	int16_t slope_q14;     /* disparity change per row upwards, 1/16384 px; 0 for upright objects */
	uint8_t kind;	       /* enum stixel_kind */
	uint8_t label;	       /* semantic class, 255 none */
	uint8_t confidence;    /* 0..255, mean over its valid disparity cells */
	uint8_t flags;	       /* STIXEL_FLAG_* */
};
STIXEL_AT(stixel, row_top, 2);
STIXEL_AT(stixel, row_bottom, 4);
STIXEL_AT(stixel, support, 6);
STIXEL_AT(stixel, disparity_q7, 8);
STIXEL_AT(stixel, slope_q14, 10);
STIXEL_AT(stixel, kind, 12);
STIXEL_AT(stixel, label, 13);
STIXEL_AT(stixel, confidence, 14);
STIXEL_AT(stixel, flags, 15);
STIXEL_SIZE(stixel, 16);

/* ---- the frame: the same bytes in a ring slot, in a packet of frames.sock and in a recording --------- */

#define STIXEL_FRAME_MAGIC 0x46585453u	    /* "STXF" */
#define STIXEL_FRAME_BYTES_MAX (256u << 20) /* largest frame; a frame with a larger size is damaged */
#define STIXEL_HEADER_BYTES_LEAST 696u	    /* header_bytes of publishers of ABI 1.0 to 1.2 */
#define STIXEL_STAGES 16
/* Value of row_error_q4 if too few places in the image gave a measurement. */
#define STIXEL_ROW_ERROR_UNKNOWN (-32768)
#define STIXEL_STAGE_NAME_BYTES 16

enum stixel_clock { STIXEL_CLOCK_MONOTONIC = 0, STIXEL_CLOCK_REALTIME = 1, STIXEL_CLOCK_UNKNOWN = 2 };
enum stixel_stamp { STIXEL_STAMP_EXPOSURE_START = 0, STIXEL_STAMP_FRAME_END = 1, STIXEL_STAMP_SOFTWARE = 2 };
enum stixel_road {
	STIXEL_ROAD_NONE = 0,	    /* no camera model: road_slope and road_offset are 0 */
	STIXEL_ROAD_MEASURED = 1,   /* measured in this frame */
	STIXEL_ROAD_PREVIOUS = 2,   /* measured road_age frames ago */
	STIXEL_ROAD_CALIBRATION = 3 /* computed from camera height, pitch and roll */
};
enum stixel_plane {
	STIXEL_PLANE_NONE = 0,
	STIXEL_PLANE_DISPARITY = 1, /* uint16 disparity, 1/16 px, 0xffff invalid */
	/* uint8, left image as the matcher read it: rectified, or raw if no program rectified it */
	STIXEL_PLANE_LEFT = 2,
	STIXEL_PLANE_RIGHT = 3 /* since 1.4: uint8, right image as the matcher read it */
};

/* Bits of struct stixel_frame_header.flags. */
#define STIXEL_FRAME_PLANE_LEFT_OUT 1u	 /* the image planes did not fit into a packet; the ring has them */
#define STIXEL_FRAME_STIXELS_LEFT_OUT 2u /* the stixels did not fit either: stixel_count and columns are 0 */
/* Since 1.2. A publisher that takes no class scores (semantics.source) sets neither bit. */
#define STIXEL_FRAME_SCORES 4u	       /* class scores were present for this frame */
#define STIXEL_FRAME_SCORES_MISSING 8u /* class scores came too late: the frame was computed without them */
/* Since 1.4: the cameras are raw, and the publisher rectified their images (camera.rectify). */
#define STIXEL_FRAME_RECTIFIED 16u
/* Since 1.4: another process measured the disparities (stereo.matcher). */
#define STIXEL_FRAME_EXTERNAL 32u
/*
 * Since 1.6: the publisher knows that the images do not show the scene (covered, black, white, frozen, one
 * image twice). Nothing in this frame is free.
 */
#define STIXEL_FRAME_BLIND 64u
/*
 * Since 1.6: within the last 10 s the camera was changed while frames were published (camera.*, the
 * calibration). The same disparity now means another distance, and the reader's knowledge of earlier frames
 * may no longer fit.
 */
#define STIXEL_FRAME_CAMERA_CHANGED 128u

/*
 * Header of a frame. A frame consists of this header (header_bytes), uint32 offsets[columns + 1], the stixels
 * column by column, what is known of motion (objects_offset, motion_offset), and up to two image planes. The
 * publisher adds planes while a client asks for them (stixel_want_images()). The stixels of column u are
 * stixels[offsets[u] .. offsets[u+1]), from bottom to top. offsets[columns] == stixel_count.
 * checksum: CRC-32C (Castagnoli) of all bytes before the planes, or of the whole frame if it has no planes,
 * with this field taken as 0. The planes are not covered: they are for viewers, and at video size a checksum
 * would cost milliseconds.
 * published_ns is the last time that is stored in the frame itself. Packing, checksum and the copy into the
 * ring follow, and only then readers see the frame. "capture_to_publish" of the daemon's status ends at that
 * later moment.
 */
struct stixel_frame_header {
	uint32_t magic; /* STIXEL_FRAME_MAGIC */
	uint16_t abi_major, abi_minor;
	uint32_t header_bytes; /* size of the publisher's version of this struct; offsets begin here */
	uint32_t checksum;
	uint32_t frame_bytes;	 /* size of the frame with its planes; a multiple of 8 */
	uint32_t stixels_offset; /* offset of the stixels in the frame, bytes; a multiple of 8 */
	/* Random number of one run of the publisher. (epoch, number) identifies a frame for ever. */
	uint64_t epoch;
	uint64_t number; /* counts from 1 in each epoch, without gaps */
	int64_t capture_left_ns, capture_right_ns;
	int64_t submitted_ns; /* when the engine got the pair */
	int64_t published_ns; /* when the engine's result was taken, before packing */
	int64_t anchor_monotonic_ns, anchor_realtime_ns; /* the same moment on both clocks */
	uint8_t clock;	     /* enum stixel_clock: clock of the camera's stamps before conversion */
	uint8_t stamp;	     /* enum stixel_stamp: meaning of the capture times */
	uint8_t road_origin; /* enum stixel_road */
	uint8_t stage_count; /* stages in use, 0..16 */
	uint32_t flags;	     /* STIXEL_FRAME_* */
	uint32_t image_width, image_height; /* px */
	uint32_t columns;		    /* stixel columns */
	uint32_t column_width;		    /* px */
	uint32_t disparities;		    /* disparity search range, px */
	int32_t min_disparity;		    /* px */
	uint32_t stixel_count;
	uint32_t road_inliers; /* number of measurements on the road */
	double fx, fy, cx, cy; /* rectified left camera, px; fx 0: no camera model */
	double baseline_m;     /* distance between the cameras, m */
	/* Ground disparity of image row y at column road_axis: slope * y + offset, px. */
	double road_slope;
	double road_offset;
	double horizon_row; /* image row of the horizon at column road_axis, px */
	double pitch_rad;   /* positive: the camera looks down */
	double height_m;    /* height of the camera above the road */
	uint32_t road_age;  /* frames since the road was measured */
	/* Since 1.4, 0 before: share of the pixels that were measured, in 1/65535. */
	uint16_t measured;
	int16_t row_error_q4; /* since 1.4, 0 before; 1/16 px: see stixel_row_error_px() */
	/*
	 * Pairs captured since the start of the publisher. A pair without a disparity map counts here alone.
	 * The counters below have the same start.
	 */
	uint64_t captured;
	uint64_t published;	   /* frames published */
	uint64_t dropped_overload; /* pairs that newer ones replaced because the engine was busy */
	uint64_t dropped_unpaired;
	uint64_t dropped_corrupt;
	uint32_t plane_kind;		    /* enum stixel_plane; without a plane, all plane_* fields are 0 */
	uint32_t plane_width, plane_height; /* px */
	uint32_t plane_pitch;		    /* bytes from one row to the next */
	uint32_t plane_offset;		    /* offset of the plane in the frame, bytes; a multiple of 8 */
	uint32_t plane_bytes;		    /* plane_pitch * plane_height */
	int64_t stage_ns[STIXEL_STAGES]; /* duration, in the order of stage_name; 0: the stage did not run */
	char stage_name[STIXEL_STAGES][STIXEL_STAGE_NAME_BYTES]; /* "sgm", zero padded, last byte 0 */
	/*
	 * Since 1.1: a second plane behind the first one, of another kind. Its fields mean the same as the
	 * plane_* fields above.
	 */
	uint32_t plane2_kind, plane2_width, plane2_height, plane2_pitch, plane2_offset, plane2_bytes;
	/* Since 1.2: capture time of the image that the class scores belong to. 0 without scores. */
	int64_t scores_ns;
	/*
	 * Since 1.3, present if header_bytes includes these fields. stixel_ground_of() returns 0 for older
	 * publishers. Ground disparity of pixel x, y: slope * y + offset + cross * (x - axis). Rows above
	 * bend_row (y < bend_row) add bend * (bend_row - y). stixel_ground_disparity() computes it.
	 */
	double road_cross; /* px per column: sideways tilt of the road against the camera */
	double road_axis;  /* image column, px */
	/*
	 * px per row. Positive: the road climbs. Negative: it falls. 0: the road is a plane as far as it is
	 * visible.
	 */
	double road_bend;
	double road_bend_row; /* image row, px */
	/*
	 * Roll of the camera over the road. Positive: the road comes nearer to the camera towards the right.
	 */
	double roll_rad;
	/*
	 * Standard deviations of pitch_rad, roll_rad and height_m. 0: not known, for example for a road from
	 * the calibration. They grow with road_age if the road is older. They do not include errors that all
	 * measurements share, such as a wrong calibration or a road that is not a plane. See
	 * docs/develop/algorithm.md, road.
	 */
	double pitch_sigma_rad, roll_sigma_rad, height_sigma_m;
	/*
	 * Since 1.6, present if header_bytes includes these fields. stixel_vehicle_of() returns the heights
	 * for a frame of any version. They are heights over the road between which the vehicle passes (the
	 * publisher's section [vehicle]).
	 */
	double vehicle_low_m, vehicle_high_m;
	/*
	 * Since 1.7, present if header_bytes includes these fields. All are 0 if the publisher does not measure
	 * motion (motion.mode). stixel_ego_of() and stixel_velocity() read them for a frame of any version. This frame
	 * is measured against the frame before, which is about 0.1 s older. Axes belong to the left camera: x to the
	 * right, y down, z ahead. Time since the frame before, 0: there is none.
	 */
	int64_t motion_span_ns;
	/* Pose of this left camera in that of the frame before: rotation vector, and position. */
	float ego_turn_rad[3], ego_way_m[3];
	/* Standard deviations. All are 0 if the step is not known. */
	float ego_turn_sigma_rad[3], ego_way_sigma_m[3];
	/*
	 * Offset that is missing in the disparities of stixels and road, by the motion so far, and its standard
	 * deviation. range_applied_px is part of the disparities already. Both are 0 if the offset is not known.
	 */
	float range_offset_px, range_offset_sigma_px;
	uint32_t motion_features; /* features found in both frames */
	uint32_t motion_inliers;  /* features that agree on the step */
	/*
	 * Offset in the frame of a struct stixel_motion for each stixel, in the same order, bytes. 0: there are none, or
	 * they did not fit.
	 */
	uint32_t motion_offset;
	float range_applied_px; /* offset that the publisher added to the disparities of stixels and road */
	/*
	 * Since 1.8. The fields of objects count only if header_bytes includes all of them, to motion_reserved. Offset in
	 * the frame of the table of objects, bytes. The table has object_count records of object_bytes each, by growing
	 * id. A record begins with a struct stixel_object, behind which newer publishers may add fields. The offset is 0
	 * if the publisher does not follow objects (motion.mode), or if they did not fit. If the publisher follows
	 * objects but has found none, the offset is not 0, and object_count is 0. stixel_object_at() reads the table.
	 */
	uint32_t objects_offset;
	/*
	 * Offset in the frame of the numbers of objects, bytes: a byte for each stixel, in the same order. The byte is n
	 * if the stixel belongs to object n - 1 of the table, and 0 if it belongs to none. The offset is 0 if
	 * object_count is 0. stixel_object_of() reads the bytes.
	 */
	uint32_t object_of_offset;
	uint16_t object_count; /* 0..STIXEL_OBJECTS_MAX */
	uint16_t object_bytes; /* size of a record, a multiple of 8; 0 without a table */
	uint32_t motion_reserved;
};
STIXEL_AT(stixel_frame_header, abi_major, 4);
STIXEL_AT(stixel_frame_header, abi_minor, 6);
STIXEL_AT(stixel_frame_header, header_bytes, 8);
STIXEL_AT(stixel_frame_header, checksum, 12);
STIXEL_AT(stixel_frame_header, frame_bytes, 16);
STIXEL_AT(stixel_frame_header, stixels_offset, 20);
STIXEL_AT(stixel_frame_header, epoch, 24);
STIXEL_AT(stixel_frame_header, number, 32);
STIXEL_AT(stixel_frame_header, capture_left_ns, 40);
STIXEL_AT(stixel_frame_header, capture_right_ns, 48);
STIXEL_AT(stixel_frame_header, submitted_ns, 56);
STIXEL_AT(stixel_frame_header, published_ns, 64);
STIXEL_AT(stixel_frame_header, anchor_monotonic_ns, 72);
STIXEL_AT(stixel_frame_header, anchor_realtime_ns, 80);
STIXEL_AT(stixel_frame_header, clock, 88);
STIXEL_AT(stixel_frame_header, stamp, 89);
STIXEL_AT(stixel_frame_header, road_origin, 90);
STIXEL_AT(stixel_frame_header, stage_count, 91);
STIXEL_AT(stixel_frame_header, flags, 92);
STIXEL_AT(stixel_frame_header, image_width, 96);
STIXEL_AT(stixel_frame_header, image_height, 100);
STIXEL_AT(stixel_frame_header, columns, 104);
STIXEL_AT(stixel_frame_header, column_width, 108);
STIXEL_AT(stixel_frame_header, disparities, 112);
STIXEL_AT(stixel_frame_header, min_disparity, 116);
STIXEL_AT(stixel_frame_header, stixel_count, 120);
STIXEL_AT(stixel_frame_header, road_inliers, 124);
STIXEL_AT(stixel_frame_header, fx, 128);
STIXEL_AT(stixel_frame_header, fy, 136);
STIXEL_AT(stixel_frame_header, cx, 144);
STIXEL_AT(stixel_frame_header, cy, 152);
STIXEL_AT(stixel_frame_header, baseline_m, 160);
STIXEL_AT(stixel_frame_header, road_slope, 168);
STIXEL_AT(stixel_frame_header, road_offset, 176);
STIXEL_AT(stixel_frame_header, horizon_row, 184);
STIXEL_AT(stixel_frame_header, pitch_rad, 192);
STIXEL_AT(stixel_frame_header, height_m, 200);
STIXEL_AT(stixel_frame_header, road_age, 208);
STIXEL_AT(stixel_frame_header, measured, 212);
STIXEL_AT(stixel_frame_header, row_error_q4, 214);
STIXEL_AT(stixel_frame_header, captured, 216);
STIXEL_AT(stixel_frame_header, published, 224);
STIXEL_AT(stixel_frame_header, dropped_overload, 232);
STIXEL_AT(stixel_frame_header, dropped_unpaired, 240);
STIXEL_AT(stixel_frame_header, dropped_corrupt, 248);
STIXEL_AT(stixel_frame_header, plane_kind, 256);
STIXEL_AT(stixel_frame_header, plane_width, 260);
STIXEL_AT(stixel_frame_header, plane_height, 264);
STIXEL_AT(stixel_frame_header, plane_pitch, 268);
STIXEL_AT(stixel_frame_header, plane_offset, 272);
STIXEL_AT(stixel_frame_header, plane_bytes, 276);
STIXEL_AT(stixel_frame_header, stage_ns, 280);
STIXEL_AT(stixel_frame_header, stage_name, 408);
STIXEL_AT(stixel_frame_header, plane2_kind, 664);
STIXEL_AT(stixel_frame_header, plane2_offset, 680);
STIXEL_AT(stixel_frame_header, plane2_bytes, 684);
STIXEL_AT(stixel_frame_header, scores_ns, 688);
STIXEL_AT(stixel_frame_header, road_cross, 696);
STIXEL_AT(stixel_frame_header, road_axis, 704);
STIXEL_AT(stixel_frame_header, road_bend, 712);
STIXEL_AT(stixel_frame_header, road_bend_row, 720);
STIXEL_AT(stixel_frame_header, roll_rad, 728);
STIXEL_AT(stixel_frame_header, pitch_sigma_rad, 736);
STIXEL_AT(stixel_frame_header, roll_sigma_rad, 744);
STIXEL_AT(stixel_frame_header, height_sigma_m, 752);
STIXEL_AT(stixel_frame_header, vehicle_low_m, 760);
STIXEL_AT(stixel_frame_header, vehicle_high_m, 768);
STIXEL_AT(stixel_frame_header, motion_span_ns, 776);
STIXEL_AT(stixel_frame_header, ego_turn_rad, 784);
STIXEL_AT(stixel_frame_header, ego_way_m, 796);
STIXEL_AT(stixel_frame_header, ego_turn_sigma_rad, 808);
STIXEL_AT(stixel_frame_header, ego_way_sigma_m, 820);
STIXEL_AT(stixel_frame_header, range_offset_px, 832);
STIXEL_AT(stixel_frame_header, range_offset_sigma_px, 836);
STIXEL_AT(stixel_frame_header, motion_features, 840);
STIXEL_AT(stixel_frame_header, motion_inliers, 844);
STIXEL_AT(stixel_frame_header, motion_offset, 848);
STIXEL_AT(stixel_frame_header, range_applied_px, 852);
STIXEL_AT(stixel_frame_header, objects_offset, 856);
STIXEL_AT(stixel_frame_header, object_of_offset, 860);
STIXEL_AT(stixel_frame_header, object_count, 864);
STIXEL_AT(stixel_frame_header, object_bytes, 866);
STIXEL_SIZE(stixel_frame_header, 872);

/* (since 1.7) What a stixel does. Unknown is not standing. */
enum stixel_motion_state { STIXEL_MOTION_UNKNOWN = 0, STIXEL_MOTION_STANDS = 1, STIXEL_MOTION_MOVES = 2 };

/*
 * (since 1.7) Velocity of a stixel over the ground, along the axes of this frame's left camera. Not measured: both
 * sigmas are 0. A stixel whose state is unknown may have a measured velocity.
 */
struct stixel_motion {
	int16_t vx, vz;		  /* velocity to the right and ahead, cm/s */
	uint8_t sigma_x, sigma_z; /* standard deviations: stixel_sigma_m_s() */
	int8_t correlation;	  /* correlation of both errors, in 1/127 */
	uint8_t state;		  /* enum stixel_motion_state */
};
STIXEL_AT(stixel_motion, vz, 2);
STIXEL_AT(stixel_motion, sigma_x, 4);
STIXEL_AT(stixel_motion, sigma_z, 5);
STIXEL_AT(stixel_motion, correlation, 6);
STIXEL_AT(stixel_motion, state, 7);
STIXEL_SIZE(stixel_motion, 8);

#define STIXEL_OBJECTS_MAX 64 /* objects of a frame, at most */

/*
 * (since 1.8) A thing that moves, or that moved within the last 2 s. Its identity stays the same from frame to frame.
 * Lengths are in m. Velocities are in m/s over the ground. The axes are those of this frame's left camera: x to the
 * right, y down, z ahead. The distance is that of this frame's disparities, so that an object lies where its stixels
 * lie. All numbers are finite, z is greater than 0, and both covariances are positive definite.
 */
struct stixel_object {
	/* Identity, 1 or more. No other object of the epoch has it. Within a frame the objects have growing ids. */
	uint32_t id;
	uint8_t state; /* enum stixel_motion_state; newer publishers may have others, which mean unknown */
	/* Semantic class that the most rows of its stixels have; of equal ones the least. 255: none. */
	uint8_t label;
	uint16_t frames; /* number of frames in which the object was seen, at most 65535 */
	/* Place: x of the middle column, y of the lowest row, both at the distance z, the median of its stixels. */
	float x, y, z;
	float pxx, pxz, pzz; /* covariance of x and z, m^2 */
	float width, height; /* size that fills the extent in the image at distance z; 0 or more */
	float vx, vz; /* velocity to the right and ahead: one for the object, from all of its stixels */
	float sxx, sxz, szz; /* covariance of the velocity, (m/s)^2 */
	float age_s;	     /* time since the first frame with the object, s; 0: this is the first */
	float unseen_s;	     /* time since the last frame that saw the object, s; 0: this frame saw it */
	/*
	 * Extent in the image, px, all inclusive: left <= right < image_width, top <= bottom < image_height. An object
	 * that this frame does not see lies where its velocity and the step of the camera predict it.
	 */
	uint16_t left, right, top, bottom;
	uint16_t stixels; /* number of stixels of this frame that belong to the object */
	uint16_t reserved;
};
STIXEL_AT(stixel_object, state, 4);
STIXEL_AT(stixel_object, frames, 6);
STIXEL_AT(stixel_object, x, 8);
STIXEL_AT(stixel_object, pxx, 20);
STIXEL_AT(stixel_object, width, 32);
STIXEL_AT(stixel_object, vx, 40);
STIXEL_AT(stixel_object, sxx, 48);
STIXEL_AT(stixel_object, age_s, 60);
STIXEL_AT(stixel_object, left, 68);
STIXEL_AT(stixel_object, stixels, 76);
STIXEL_SIZE(stixel_object, 80);

/*
 * A frame whose sizes, order and checksum have been checked. The function that fills it defines the owner of
 * the memory.
 */
struct stixel_frame {
	const struct stixel_frame_header *header;
	const uint32_t *offsets;      /* columns + 1 entries */
	const struct stixel *stixels; /* stixel_count entries */
	const void *plane;	      /* first image plane, NULL without one; prefer stixel_image() */
	/* The whole frame of header->frame_bytes bytes. A recording can store these bytes. */
	const void *bytes;
	const void *reserved[3];
};

/* Returns the stixels of one column from bottom to top. If the column does not exist, *count is 0. */
static inline const struct stixel *stixel_column(const struct stixel_frame *frame, uint32_t column,
						 uint32_t *count)
{
	if (column >= frame->header->columns) {
		*count = 0;
		return NULL;
	}
	*count = frame->offsets[column + 1] - frame->offsets[column];
	return frame->stixels + frame->offsets[column];
}

#ifdef __cplusplus
#define STIXEL_BYTES(p) static_cast<const char *>(p)
#define STIXEL_REAL(n) static_cast<double>(n)
#else
#define STIXEL_BYTES(p) ((const char *)(p))
#define STIXEL_REAL(n) ((double)(n))
#endif

/* An image plane of a frame: rows of width pixels. pitch is the bytes from one row to the next. */
struct stixel_image {
	uint32_t kind; /* enum stixel_plane: defines the pixel format */
	uint32_t width, height, pitch;
	const void *data; /* valid as long as the frame */
};

/*
 * Finds the frame's image of a kind (enum stixel_plane). Returns 1 and sets *image, or 0 if the frame has
 * none.
 */
static inline int stixel_image(const struct stixel_frame *frame, unsigned kind, struct stixel_image *image)
{
	const struct stixel_frame_header *h = frame->header;
	const char *bytes = STIXEL_BYTES(frame->bytes);

	if (kind != STIXEL_PLANE_NONE && h->plane_kind == kind) {
		image->width = h->plane_width;
		image->height = h->plane_height;
		image->pitch = h->plane_pitch;
		image->data = bytes + h->plane_offset;
	} else if (kind != STIXEL_PLANE_NONE && h->plane2_kind == kind) {
		image->width = h->plane2_width;
		image->height = h->plane2_height;
		image->pitch = h->plane2_pitch;
		image->data = bytes + h->plane2_offset;
	} else {
		return 0;
	}
	image->kind = kind;
	return 1;
}

/* Returns whether a stixel was hardly measured (STIXEL_FLAG_FILLED). */
static inline int stixel_is_filled(const struct stixel *s)
{
	return (s->flags & STIXEL_FLAG_FILLED) != 0;
}

/* Returns the disparity at row_bottom, px. 0: unknown. */
static inline double stixel_disparity_px(const struct stixel *s)
{
	return s->disparity_q7 == STIXEL_DISPARITY_UNKNOWN ? 0.0 : s->disparity_q7 / 128.0;
}

/*
 * Returns the distance along the optical axis at row_bottom, m. 0: unknown, at infinity, or without a camera
 * model.
 */
static inline double stixel_depth_m(const struct stixel_frame_header *h, const struct stixel *s)
{
	double d = stixel_disparity_px(s);

	return d > 0.0 ? h->fx * h->baseline_m / d : 0.0;
}

/* (since 1.7) Motion of the camera since the frame before: the header's fields of these names. */
struct stixel_ego {
	double seconds; /* since the frame before; 0: nothing is known */
	double turn_rad[3], way_m[3], turn_sigma_rad[3], way_sigma_m[3];
};

/* (since 1.7) Computes the motion of the camera of a frame of any version. Returns 1; 0: it is not known. */
static inline int stixel_ego_of(const struct stixel_frame_header *h, struct stixel_ego *ego)
{
	const struct stixel_ego none = {
		0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};

	*ego = none;
	if (h->header_bytes < offsetof(struct stixel_frame_header, range_applied_px) + sizeof(float) ||
	    h->motion_span_ns <= 0 || !(h->ego_way_sigma_m[2] > 0.0f))
		return 0;
	ego->seconds = STIXEL_REAL(h->motion_span_ns) / 1e9;
	for (int i = 0; i < 3; i++) {
		ego->turn_rad[i] = h->ego_turn_rad[i];
		ego->way_m[i] = h->ego_way_m[i];
		ego->turn_sigma_rad[i] = h->ego_turn_sigma_rad[i];
		ego->way_sigma_m[i] = h->ego_way_sigma_m[i];
	}
	return 1;
}

/*
 * (since 1.7) Returns the records of motion of a frame, one for each stixel, in the same order; NULL: the frame has
 * none.
 */
static inline const struct stixel_motion *stixel_motion_of(const struct stixel_frame *frame)
{
	const struct stixel_frame_header *h = frame->header;

	if (h->header_bytes < offsetof(struct stixel_frame_header, range_applied_px) + sizeof(float) ||
	    h->motion_offset == 0)
		return NULL;
	{
		const void *table = STIXEL_BYTES(frame->bytes) + h->motion_offset;

#ifdef __cplusplus
		return static_cast<const struct stixel_motion *>(table);
#else
		return (const struct stixel_motion *)table;
#endif
	}
}

/* (since 1.7) Returns the standard deviation that a byte means, m/s, 1 cm/s to 635 m/s; 0: not measured. */
static inline double stixel_sigma_m_s(uint8_t code)
{
	return code ? ((16u + (code & 15u)) << (code >> 4)) / 1600.0 : 0.0;
}

/* (since 1.7) Velocity of a stixel over the ground with its covariance: m/s, (m/s)^2. */
struct stixel_velocity {
	double vx, vz;
	double sxx, sxz, szz;
	int state; /* enum stixel_motion_state */
};

/*
 * (since 1.7) Computes the velocity of stixel `index` of a frame of any version. Returns 1; 0: it was not measured,
 * and all fields but the state are 0.
 */
static inline int stixel_velocity(const struct stixel_frame *frame, uint32_t index, struct stixel_velocity *v)
{
	const struct stixel_motion *table = stixel_motion_of(frame), *m;
	const struct stixel_velocity none = {0.0, 0.0, 0.0, 0.0, 0.0, STIXEL_MOTION_UNKNOWN};
	double x, z;

	*v = none;
	if (!table || index >= frame->header->stixel_count)
		return 0;
	m = &table[index];
	if (m->state <= STIXEL_MOTION_MOVES)
		v->state = m->state;
	x = stixel_sigma_m_s(m->sigma_x);
	z = stixel_sigma_m_s(m->sigma_z);
	if (!(x > 0.0 && z > 0.0))
		return 0;
	v->vx = m->vx / 100.0;
	v->vz = m->vz / 100.0;
	v->sxx = x * x;
	v->sxz = m->correlation / 127.0 * x * z;
	v->szz = z * z;
	return 1;
}

/*
 * (since 1.8) Returns how many objects a frame of any version has, 0..STIXEL_OBJECTS_MAX; -1: its publisher does not
 * follow objects, or they did not fit.
 */
static inline int stixel_object_count(const struct stixel_frame *frame)
{
	const struct stixel_frame_header *h = frame->header;

	if (h->header_bytes < offsetof(struct stixel_frame_header, motion_reserved) + sizeof(uint32_t) ||
	    h->objects_offset == 0)
		return -1;
	return h->object_count;
}

/* (since 1.8) Returns object `index` of a frame, 0 to stixel_object_count() - 1; NULL: there is no such object. */
static inline const struct stixel_object *stixel_object_at(const struct stixel_frame *frame, int index)
{
	const struct stixel_frame_header *h = frame->header;
	const void *object;

	if (index < 0 || index >= stixel_object_count(frame))
		return NULL;
	object = STIXEL_BYTES(frame->bytes) + h->objects_offset + index * h->object_bytes;
#ifdef __cplusplus
	return static_cast<const struct stixel_object *>(object);
#else
	return (const struct stixel_object *)object;
#endif
}

/* (since 1.8) Returns the object that stixel `index` of a frame belongs to; NULL: none. */
static inline const struct stixel_object *stixel_object_of(const struct stixel_frame *frame, uint32_t index)
{
	const struct stixel_frame_header *h = frame->header;

	if (stixel_object_count(frame) <= 0 || index >= h->stixel_count)
		return NULL;
	return stixel_object_at(frame, (STIXEL_BYTES(frame->bytes)[h->object_of_offset + index] & 0xff) - 1);
}

/* (since 1.7) A place in the axes of a frame's left camera with its covariance: m, m^2. */
struct stixel_place {
	double x, z; /* distance to the right, and ahead */
	double sxx, sxz, szz;
};
STIXEL_SIZE(stixel_place, 40);

/*
 * (since 1.7) Returns the place of an image column, px, at a disparity, px, > 0. Standard deviations: 0.5 px of the
 * column, and 0.25 px with 1 % of the disparity.
 */
static inline struct stixel_place stixel_place_at(double fx, double cx, double baseline_m, double column,
						  double disparity)
{
	const double z = fx * baseline_m / disparity, ray = (column - cx) / fx, share = 0.01 * disparity;
	const double across = 0.5 / fx * z, slope = z / disparity;
	const double along = slope * slope * (0.25 * 0.25 + share * share);
	const struct stixel_place p = {ray * z, z, ray * ray * along + across * across, ray * along, along};

	return p;
}

/*
 * (since 1.7) Returns where a place with a velocity is after `seconds`, 0 or more, in the same axes: the way of the
 * camera is not in it. The velocity stays, but for an acceleration of 0 +- 3 m/s^2 in all directions.
 */
static inline struct stixel_place stixel_place_after(const struct stixel_place *p,
						     const struct stixel_velocity *v, double seconds)
{
	const double square = seconds * seconds, bent = 0.5 * 3.0 * square;
	const struct stixel_place after = {p->x + v->vx * seconds, p->z + v->vz * seconds,
					   (p->sxx + v->sxx * square) + bent * bent, p->sxz + v->sxz * square,
					   (p->szz + v->szz * square) + bent * bent};

	return after;
}

/* The road of a frame: the header's fields with these names. */
struct stixel_ground {
	double slope, offset;
	/* The fields below are 0 for publishers before 1.3. */
	double cross, axis, bend, bend_row, roll_rad;
	double pitch_sigma_rad, roll_sigma_rad, height_sigma_m;
};

/* (since 1.3) Returns the road of a frame of any version. All fields are 0 without a road. */
static inline struct stixel_ground stixel_ground_of(const struct stixel_frame_header *h)
{
	struct stixel_ground g = {h->road_slope, h->road_offset, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};

	if (h->header_bytes >= offsetof(struct stixel_frame_header, height_sigma_m) + sizeof(double)) {
		g.cross = h->road_cross;
		g.axis = h->road_axis;
		g.bend = h->road_bend;
		g.bend_row = h->road_bend_row;
		g.roll_rad = h->roll_rad;
		g.pitch_sigma_rad = h->pitch_sigma_rad;
		g.roll_sigma_rad = h->roll_sigma_rad;
		g.height_sigma_m = h->height_sigma_m;
	}
	return g;
}

/*
 * (since 1.3) Returns the ground disparity of pixel x, y, px. It is negative or 0 above the horizon, and 0
 * without a road.
 */
static inline double stixel_ground_disparity(const struct stixel_frame_header *h, double x, double y)
{
	struct stixel_ground g = stixel_ground_of(h);
	double d = g.slope * y + g.offset + g.cross * (x - g.axis);

	return y < g.bend_row ? d + g.bend * (g.bend_row - y) : d;
}

/*
 * (since 1.4) Returns in *px by how many rows a point is lower in the right image than in the left one. 1:
 * known; 0: unknown.
 */
static inline int stixel_row_error_px(const struct stixel_frame_header *h, double *px)
{
	*px = h->row_error_q4 / 16.0;
	return h->abi_minor >= 4 && h->row_error_q4 != STIXEL_ROW_ERROR_UNKNOWN;
}

/* Heights over the road between which a vehicle passes, m. */
struct stixel_vehicle {
	double low_m;  /* the vehicle drives over objects that end here or lower */
	double high_m; /* the vehicle passes below objects that begin here or higher */
};

/*
 * (since 1.6) Returns the heights for a vehicle of which only the camera height over the road is known, m.
 * They are the automatic values of the publisher's section [vehicle]. If camera_m is 0, negative or not
 * finite, returns a car's heights.
 */
static inline struct stixel_vehicle stixel_vehicle_usual(double camera_m)
{
	const double car_m = 1.65, height_m = camera_m > 0.0 && camera_m < HUGE_VAL ? camera_m : car_m;
	struct stixel_vehicle v = {0.15, 2.0};

	if (height_m < car_m)
		v.low_m = 0.15 * height_m / car_m;
	if (height_m + 0.35 > v.high_m)
		v.high_m = height_m + 0.35;
	return v;
}

/*
 * (since 1.6) Returns the vehicle of a frame of any version: the publisher's heights, else the usual ones for
 * its camera height.
 */
static inline struct stixel_vehicle stixel_vehicle_of(const struct stixel_frame_header *h)
{
	struct stixel_vehicle v;

	if (h->header_bytes >= offsetof(struct stixel_frame_header, vehicle_high_m) + sizeof(double) &&
	    h->vehicle_low_m > -HUGE_VAL && h->vehicle_low_m < h->vehicle_high_m &&
	    h->vehicle_high_m < HUGE_VAL) {
		v.low_m = h->vehicle_low_m;
		v.high_m = h->vehicle_high_m;
		return v;
	}
	return stixel_vehicle_usual(h->height_m);
}

/*
 * Returns the age of the frame's images, ns, from the older one of both capture times. now_ns:
 * CLOCK_MONOTONIC.
 */
static inline int64_t stixel_age_ns(const struct stixel_frame_header *h, int64_t now_ns)
{
	int64_t then = h->capture_left_ns < h->capture_right_ns ? h->capture_left_ns : h->capture_right_ns;

	/* The capture times of a damaged frame may have any value. */
	if (then < 0 ? now_ns > INT64_MAX + then : now_ns < INT64_MIN + then)
		return then < 0 ? INT64_MAX : INT64_MIN;
	return now_ns - then;
}

/* ---- the ring: /dev/shm/stixeld.INSTANCE, mapped read-only by readers -------------------------------- */

#define STIXEL_RING_MAGIC UINT64_C(0x474e495258495453) /* "STIXRING" */
#define STIXEL_ENDIAN 0x01020304u
#define STIXEL_INSTANCE_BYTES 72
#define STIXEL_RING_LIVE_OFFSET 1024
#define STIXEL_RING_SLOTS_OFFSET 4096

/* State that the publisher reports. */
enum stixel_state {
	STIXEL_STATE_STARTING = 0,
	STIXEL_STATE_RUNNING = 1,
	STIXEL_STATE_NO_CAMERA = 2,
	/* Running, but slower than configured or with less than configured. */
	STIXEL_STATE_DEGRADED = 3,
	STIXEL_STATE_STOPPING = 4,
	STIXEL_STATE_CLOSED = 5,  /* the publisher ended in order; this object gets no more frames */
	STIXEL_STATE_REPLACED = 6 /* a newer publisher has taken the name */
};

#define STIXEL_RING_REPLAY 1u /* bit of struct stixel_ring_header.flags: the frames come from a recording */

/*
 * Header of the ring. The publisher does not change it after the object has its name. Use the sizes and
 * offsets in it, not sizeof: a newer minor version may be larger.
 */
struct stixel_ring_header {
	uint64_t magic; /* STIXEL_RING_MAGIC */
	uint16_t abi_major, abi_minor;
	uint32_t header_bytes;
	uint64_t total_bytes;	    /* size of the object, bytes */
	uint32_t slot_count;	    /* power of two; frame n lies in slot n & (slot_count - 1) */
	uint32_t slot_stride;	    /* bytes from one slot to the next, a multiple of 64 */
	uint32_t slots_offset;	    /* offset of the first slot from the start of the object */
	uint32_t slot_header_bytes; /* offset of the frame in its slot */
	uint32_t frame_capacity;    /* size of the largest frame, bytes */
	uint32_t live_offset;	    /* offset of struct stixel_ring_live */
	uint32_t endian;	    /* STIXEL_ENDIAN */
	uint32_t pid;
	uint64_t epoch;
	uint64_t pid_namespace; /* inode of the publisher's /proc/self/ns/pid, 0 unknown */
	/* Field 22 of the publisher's /proc/self/stat, 0 unknown. Detects a recycled process id. */
	uint64_t pid_start_ticks;
	int64_t started_ns;
	int64_t anchor_monotonic_ns, anchor_realtime_ns; /* the same moment on both clocks */
	/* A publisher without a heartbeat for three of these periods hangs. */
	uint32_t heartbeat_period_ms;
	uint32_t flags; /* STIXEL_RING_* */
	char instance[STIXEL_INSTANCE_BYTES];
	char version[32];      /* version of the publisher, "0.1.0" */
	char stream_path[112]; /* path of the publisher's frames.sock; empty: it has none */
	uint64_t reserved[7];
};
STIXEL_AT(stixel_ring_header, abi_major, 8);
STIXEL_AT(stixel_ring_header, abi_minor, 10);
STIXEL_AT(stixel_ring_header, header_bytes, 12);
STIXEL_AT(stixel_ring_header, total_bytes, 16);
STIXEL_AT(stixel_ring_header, slot_count, 24);
STIXEL_AT(stixel_ring_header, slot_stride, 28);
STIXEL_AT(stixel_ring_header, slots_offset, 32);
STIXEL_AT(stixel_ring_header, slot_header_bytes, 36);
STIXEL_AT(stixel_ring_header, frame_capacity, 40);
STIXEL_AT(stixel_ring_header, live_offset, 44);
STIXEL_AT(stixel_ring_header, endian, 48);
STIXEL_AT(stixel_ring_header, pid, 52);
STIXEL_AT(stixel_ring_header, epoch, 56);
STIXEL_AT(stixel_ring_header, pid_namespace, 64);
STIXEL_AT(stixel_ring_header, pid_start_ticks, 72);
STIXEL_AT(stixel_ring_header, started_ns, 80);
STIXEL_AT(stixel_ring_header, anchor_monotonic_ns, 88);
STIXEL_AT(stixel_ring_header, anchor_realtime_ns, 96);
STIXEL_AT(stixel_ring_header, heartbeat_period_ms, 104);
STIXEL_AT(stixel_ring_header, flags, 108);
STIXEL_AT(stixel_ring_header, instance, 112);
STIXEL_AT(stixel_ring_header, version, 184);
STIXEL_AT(stixel_ring_header, stream_path, 216);
STIXEL_AT(stixel_ring_header, reserved, 328);
STIXEL_SIZE(stixel_ring_header, 384);

/*
 * Part of the ring that changes. Only the publisher writes it. Readers load each field once, atomically, with
 * acquire. It is 64-byte aligned.
 */
struct stixel_ring_live {
	uint64_t head;	/* number of the newest complete frame; 0: none yet */
	uint32_t bell;	/* futex word (shared); changes with every frame and every change of state */
	uint32_t state; /* enum stixel_state */
	int64_t heartbeat_ns;
	uint64_t reserved[5];
};
STIXEL_AT(stixel_ring_live, bell, 8);
STIXEL_AT(stixel_ring_live, state, 12);
STIXEL_AT(stixel_ring_live, heartbeat_ns, 16);
STIXEL_AT(stixel_ring_live, reserved, 24);
STIXEL_SIZE(stixel_ring_live, 64);

/* Start of a slot. sequence is 2n - 1 while the publisher writes frame n, and 2n when frame n is complete. */
struct stixel_ring_slot {
	uint64_t sequence;
	uint64_t frame_bytes;
	uint64_t reserved[6];
};
STIXEL_AT(stixel_ring_slot, frame_bytes, 8);
STIXEL_SIZE(stixel_ring_slot, 64);

/* ---- class scores (since 1.2): stixel-scores.NAME in /run/stixel-feed, of a perception process -------- */

/*
 * Class scores pass through a ring in the other direction: a process that runs a segmentation network writes
 * it, and stixeld reads it. The ring has the same header, live part and slots as the ring above, with this
 * magic. Each slot has a struct stixel_scores_header and, at data_offset, the planes. The score of class c at
 * row y, column x is the byte c * plane_bytes + y * pitch + x, a probability in 1/255. Image pixel (x, y) has
 * the scores of (x / scale, y / scale).
 */
#define STIXEL_SCORES_RING_MAGIC UINT64_C(0x524f435358495453) /* "STIXSCOR" */
#define STIXEL_SCORES_MAGIC 0x43585453u			      /* "STXC" */
#define STIXEL_CLASSES_MAX 32
#define STIXEL_SCORES_SCALE_MAX 32
#define STIXEL_SCORES_SLOTS_MAX 64

struct stixel_scores_header {
	uint32_t magic; /* STIXEL_SCORES_MAGIC */
	uint16_t abi_major, abi_minor;
	uint32_t header_bytes;	/* size of the writer's version of this struct */
	uint32_t data_offset;	/* offset of the planes from this header; multiple of 8, >= header_bytes */
	uint64_t frame_bytes;	/* data_offset + classes * plane_bytes; a multiple of 8 */
	uint64_t epoch, number; /* epoch of the ring and number of these scores; number counts from 1 */
	int64_t capture_ns;	/* capture time of the left image that was scored */
	int64_t committed_ns;	/* when the scores were complete */
	/* Frame that the scores belong to, if the writer knows it, else 0. */
	uint64_t frame_epoch, frame_number;
	uint32_t classes;		    /* 1..32 */
	uint32_t scale;			    /* image pixels per score in x and in y, 1..32 */
	uint32_t image_width, image_height; /* px */
	uint32_t width, height;		    /* size of a plane: image size / scale, rounded up */
	uint32_t pitch;			    /* width, rounded up to 16 */
	uint32_t reserved0;		    /* 0 */
	uint64_t plane_bytes;		    /* pitch * height */
	uint64_t reserved[2];		    /* 0 */
};
STIXEL_AT(stixel_scores_header, abi_major, 4);
STIXEL_AT(stixel_scores_header, header_bytes, 8);
STIXEL_AT(stixel_scores_header, data_offset, 12);
STIXEL_AT(stixel_scores_header, frame_bytes, 16);
STIXEL_AT(stixel_scores_header, epoch, 24);
STIXEL_AT(stixel_scores_header, capture_ns, 40);
STIXEL_AT(stixel_scores_header, frame_epoch, 56);
STIXEL_AT(stixel_scores_header, classes, 72);
STIXEL_AT(stixel_scores_header, image_width, 80);
STIXEL_AT(stixel_scores_header, width, 88);
STIXEL_AT(stixel_scores_header, pitch, 96);
STIXEL_AT(stixel_scores_header, plane_bytes, 104);
STIXEL_AT(stixel_scores_header, reserved, 112);
STIXEL_SIZE(stixel_scores_header, 128);

/* ---- frames.sock: SOCK_SEQPACKET -------------------------------------------------------------------- */

/*
 * A client that only connects gets frames, each as one packet. It may send a stixel_hello to choose, and
 * (since 1.1) further ones to choose again. Any other data from the client closes the connection. A slow
 * client misses frames, never delays them, and gets the newest frame next.
 */
#define STIXEL_HELLO_MAGIC 0x48585453u	/* "STXH" */
#define STIXEL_NOTICE_MAGIC 0x4e585453u /* "STXN" */
#define STIXEL_WANT_FRAMES 1u
#define STIXEL_WANT_NOTICES 2u /* a notice on hello, on every change of state, and as a heartbeat */
#define STIXEL_WANT_BELL 4u    /* also a notice per frame, for clients that poll() and read the ring */
/* Since 1.1: image planes in the frames of the ring for as long as this connection lasts. */
#define STIXEL_WANT_DISPARITY 8u
#define STIXEL_WANT_LEFT 16u
#define STIXEL_WANT_RIGHT 32u /* since 1.4 */

struct stixel_hello {
	uint32_t magic; /* STIXEL_HELLO_MAGIC */
	uint32_t want;	/* STIXEL_WANT_* */
};
STIXEL_AT(stixel_hello, want, 4);
STIXEL_SIZE(stixel_hello, 8);

struct stixel_notice {
	uint32_t magic; /* STIXEL_NOTICE_MAGIC */
	uint32_t bytes; /* size of the sender's version of this struct */
	uint64_t epoch;
	uint64_t head; /* number of the newest frame; 0: none */
	int64_t heartbeat_ns;
	uint32_t state; /* enum stixel_state */
	uint32_t pid;
	uint32_t heartbeat_period_ms;
	uint32_t reserved;
};
STIXEL_AT(stixel_notice, bytes, 4);
STIXEL_AT(stixel_notice, epoch, 8);
STIXEL_AT(stixel_notice, head, 16);
STIXEL_AT(stixel_notice, heartbeat_ns, 24);
STIXEL_AT(stixel_notice, state, 32);
STIXEL_AT(stixel_notice, pid, 36);
STIXEL_AT(stixel_notice, heartbeat_period_ms, 40);
STIXEL_SIZE(stixel_notice, 48);

/* ---- the library ------------------------------------------------------------------------------------- */

#if defined(__GNUC__)
#define STIXEL_API __attribute__((visibility("default")))
#else
#define STIXEL_API
#endif

/*
 * Threads: one thread at a time uses a reader. Different readers are independent. The library keeps no global
 * state, starts no thread and installs no signal handler. After fork() a child may use the library if it
 * opens its own reader.
 *
 * Errors: negative errno values, explained by stixel_strerror():
 *	-EINVAL		a bad instance name or argument
 *	-ENOENT		no publisher has that name
 *	-EACCES		you may not read the object: join its group
 *	-EPERM		the object belongs to a user that is neither you, nor root, nor the owner of
 *			/run/stixeld/INSTANCE (see STIXEL_OPEN_ANY_OWNER)
 *	-EPROTO		not a stixel ring, or a damaged one, or one that its owner has truncated
 *	-EPROTONOSUPPORT a ring of another major version or byte order
 *	-EBADMSG	a frame was damaged (sizes, order, checksum); it is skipped, and you may read on
 *	-ESTALE		a newer publisher took the name: call stixel_reopen()
 *	-EPIPE		the publisher ended or died, and all its frames were read
 *	-EINTR		a signal handler ran during stixel_wait()
 *	-ENOMEM, -EMFILE, ... errors of the system
 */
struct stixel_reader;

/* Bits of the argument flags of stixel_open(). */
/* A missing publisher is not an error: the reader waits for one, and follows each new one. */
#define STIXEL_OPEN_FOLLOW 1u
#define STIXEL_OPEN_STREAM 2u	/* reads frames.sock instead of shared memory */
#define STIXEL_OPEN_LEFTOVER 4u /* also reads what a dead publisher left behind, for inspection */
/* Accepts objects of any user and reads them by pread(). A truncated object is -EPROTO. */
#define STIXEL_OPEN_ANY_OWNER 8u

/*
 * Opens an instance ([A-Za-z0-9_.-], up to 64 characters, no leading dot). The newest frame in its ring
 * counts as new. *reader is set on success only. The library looks for sockets (STIXEL_OPEN_STREAM,
 * stixel_fd(), images) in /run/stixeld, then $XDG_RUNTIME_DIR/stixeld, then /run/user/UID/stixeld, and takes
 * the first one that answers.
 */
STIXEL_API int stixel_open(struct stixel_reader **reader, const char *instance, unsigned flags);
/* Opens a ring object, or (STIXEL_OPEN_STREAM) a socket, at another path. Otherwise as stixel_open(). */
STIXEL_API int stixel_open_path(struct stixel_reader **reader, const char *path, unsigned flags);
/* Closes a reader and invalidates its frames. Accepts NULL. */
STIXEL_API void stixel_close(struct stixel_reader *reader);
/*
 * Leaves the present publisher and opens the one that has the name now. Without FOLLOW, call it after -ESTALE
 * or -EPIPE.
 */
STIXEL_API int stixel_reopen(struct stixel_reader *reader);

/*
 * Waits for a frame that this reader has not taken yet. Returns 1 if there is one, 0 if none came within
 * timeout_ms (-1: no limit, 0: returns at once). If the publisher ended, died or was replaced, returns the
 * error. A sudden death (SIGKILL) is noticed within a quarter of a second.
 */
STIXEL_API int stixel_wait(struct stixel_reader *reader, int timeout_ms);
/*
 * Takes the newest frame and skips older ones. Returns 1 and sets *frame, or 0 if there is no new frame.
 * Never waits. *frame and the memory that it points to belong to the reader. They stay valid until the next
 * call of latest, next, reopen or close with this reader.
 */
STIXEL_API int stixel_latest(struct stixel_reader *reader, const struct stixel_frame **frame);
/*
 * Takes the frame after the last one taken. *lost (may be NULL) is the number of frames in between that were
 * overwritten, so that the caller notices every missing frame.
 */
STIXEL_API int stixel_next(struct stixel_reader *reader, const struct stixel_frame **frame, uint64_t *lost);
/*
 * Returns a descriptor for poll() (POLLIN). The first call creates it. When it is readable, call
 * stixel_latest() or stixel_next() until they return 0 or an error. The descriptor is the reader's connection
 * to frames.sock. -ENOTCONN: there is no publisher, or the publisher has no frames.sock; call again later.
 * Never read from the descriptor. It changes with the publisher, so call this function before each poll().
 * That costs nothing.
 */
STIXEL_API int stixel_fd(struct stixel_reader *reader);

/*
 * Asks the publisher for image planes. The publisher copies planes into the ring only while a client asks for
 * them, unless output.planes_when is always. output.planes names the planes that it has room for. kinds: bits
 * 1u << enum stixel_plane; 0 ends the request. The planes come with one of the next frames (stixel_image()),
 * until the reader is closed. With FOLLOW the reader asks each new publisher again, also one that starts
 * later. -ENOTSUP: the reader uses a stream. -ENOTCONN: there is no publisher, or it has no frames.sock. With
 * FOLLOW that returns 0, and the reader asks later.
 */
STIXEL_API int stixel_want_images(struct stixel_reader *reader, unsigned kinds);

enum stixel_publisher {
	STIXEL_PUBLISHER_ABSENT = 0, /* no publisher yet (with FOLLOW) */
	STIXEL_PUBLISHER_ALIVE = 1,
	STIXEL_PUBLISHER_STALLED = 2, /* the process exists, but sent no heartbeat for three periods */
	STIXEL_PUBLISHER_ENDED = 3,   /* the publisher ended in order */
	STIXEL_PUBLISHER_DIED = 4,
	STIXEL_PUBLISHER_REPLACED = 5
};

struct stixel_status {
	uint32_t publisher; /* enum stixel_publisher */
	uint32_t state;	    /* enum stixel_state */
	uint64_t epoch;
	uint64_t head; /* number of the newest frame */
	uint64_t pid;
	int64_t heartbeat_age_ns; /* age of the last heartbeat; INT64_MAX: unknown */
	/* Counters of this reader since it was opened. taken: frames that it took. */
	uint64_t taken;
	uint64_t lost;	  /* frames overwritten before stixel_next() took them */
	uint64_t skipped; /* frames skipped by stixel_latest() */
	/*
	 * Copies that were discarded because the publisher overwrote the slot. The reader then reads again.
	 */
	uint64_t overruns;
	uint64_t corrupt;  /* frames that failed the check */
	uint64_t restarts; /* number of changes of epoch */
	char version[32];  /* version of the publisher; empty on a stream */
};
/*
 * Describes the reader and its publisher. bytes: sizeof(*status), so that the struct may grow on both sides.
 */
STIXEL_API int stixel_status(struct stixel_reader *reader, struct stixel_status *status, size_t bytes);

/*
 * Checks a whole frame in memory (a recording, a packet) and sets *frame to point into it. The frame must be
 * 8-byte aligned. -EBADMSG: damaged. -EPROTONOSUPPORT: another major version.
 */
STIXEL_API int stixel_parse(struct stixel_frame *frame, const void *data, size_t bytes);
/*
 * (since 1.6) Renews the checksum of a frame after a program changed its header or its lists, for example to
 * remove images. The checksum does not cover images, so they need not be present. bytes: readable bytes at
 * frame. frame must be 8-byte aligned. The function checks nothing else; stixel_parse() does. 0; -EBADMSG:
 * the frame ends beyond bytes; -EINVAL. Any thread.
 */
STIXEL_API int stixel_seal(void *frame, size_t bytes);
/*
 * (since 1.6) Writes the folder in which a program of stixeld has its sockets. folder receives a string of at
 * most bytes, including its zero byte. place: 0, 1, ..., number of a folder in the order in which programs
 * look. program: "stixeld", whose instances each have a subfolder there, or "stixel-bridge". The folder need
 * not exist. 1: written. 0: this process has no folder of this number, because an environment variable is not
 * set or bytes is too small; try the next number. -ENOENT: there are no more folders. -EINVAL. Any thread,
 * while no thread changes the environment.
 */
STIXEL_API int stixel_place(unsigned place, const char *program, char *folder, size_t bytes);

/* ---- how far it is free -------------------------------------------------------------------------------- */

/* Reason why the free space of a column ends. */
enum stixel_free {
	STIXEL_FREE_UNSEEN = 0, /* the space there was not seen, so it is unknown */
	/* No obstacle: the ground continues as far as it is seen, most often to the horizon. */
	STIXEL_FREE_GROUND = 1,
	STIXEL_FREE_OBJECT = 2, /* an object within the heights of the vehicle, or a step up of the ground */
	/*
	 * Since 1.6: the ground ends, or steps down, and the surface that is seen behind it lies below the
	 * road.
	 */
	STIXEL_FREE_DROP = 3,
	/*
	 * Since 1.7, with ground_labels alone: the ground continues, but its class is known to be another
	 * one.
	 */
	STIXEL_FREE_OTHER = 4
};

/*
 * (since 1.6) Heights of the vehicle for stixel_free_space(). Later versions may add fields: set the rest to
 * 0.
 */
struct stixel_free_options {
	float height_min; /* m above the road: an object that reaches between both heights is an obstacle */
	float height_max; /* m above the road, >= height_min */
	/*
	 * Since 1.7: bits 1u << label of the classes of ground that count as free (stixel_labels_of()). 0:
	 * all ground, whatever its class is.
	 */
	uint32_t ground_labels;
	uint32_t reserved;
};
STIXEL_AT(stixel_free_options, ground_labels, 8);
STIXEL_SIZE(stixel_free_options, 16);

/*
 * (since 1.6) Free space of one column. Distances are along the optical axis, m. The column is free between
 * from_m and to_m.
 */
struct stixel_free_column {
	/* Distance at which the ground was first seen. Nearer is the blind zone. NAN: no ground was seen. */
	float from_m;
	/*
	 * Distance up to which the column is known to be free, the blind zone left aside. INFINITY: to the
	 * horizon.
	 */
	float to_m;
	uint32_t end; /* enum stixel_free: what ends the free space there */
	/*
	 * Index of the stixel that ends the free space. UINT32_MAX: none, for example if the ground
	 * continues.
	 */
	uint32_t stixel;
};
STIXEL_SIZE(stixel_free_column, 16);

/* (since 1.6) Sets options to the heights of the frame's vehicle (stixel_vehicle_of()). 0; -EINVAL. */
STIXEL_API int stixel_free_defaults(const struct stixel_frame *frame, struct stixel_free_options *options,
				    size_t bytes);
/*
 * (since 1.6) Computes how far each column is known to be free, by the rules of docs/use/convert.md.
 * stixel_scan() and stixel_points() use the same rules. The nearest object that reaches between the heights
 * ends the free space (OBJECT, at its distance, or at its foot if that is clearly nearer). If it is nearer,
 * the end of the ground ends the free space: UNSEEN if the space behind was not seen, DROP if it lies below
 * the road. Without ground below them, UNSEEN and DROP end it at 0. A column is also UNSEEN from 0 on if its
 * foot was not measured and its first ground lies behind the nearest object. The free space ends at 0
 * everywhere in a frame without a camera model or a road, and in a frame with STIXEL_FRAME_BLIND. options
 * NULL: the usual ones. Writes at most room columns and returns the number of columns of the frame. -EINVAL:
 * bad options.
 *
 * With ground_labels, only ground stixels with one of these labels are free. A ground stixel with another
 * label ends the free space at its lowest row: OTHER. A ground stixel without a label, or with a label from 32
 * on, is UNSEEN: at the foot of the column it makes the blind zone longer, elsewhere it ends the free space at
 * its lowest row. from_m is the distance of the first ground of these labels. An object that ends below
 * height_min says nothing about the class of the ground: the ground above it decides. Steps, drops and objects
 * end the free space as they do without ground_labels. So no column is free farther than without, and nothing
 * is free in a frame without labels (without STIXEL_FRAME_SCORES).
 */
STIXEL_API int64_t stixel_free_space(const struct stixel_frame *frame,
				     const struct stixel_free_options *options, size_t bytes,
				     struct stixel_free_column *columns, uint32_t room);

/*
 * (since 1.7) Computes where each stixel will be `seconds` after the capture of this frame, by stixel_place_after(),
 * along the axes of this frame's left camera. places: one for each stixel, in their order. All fields of a place are
 * NAN where it is not known: without a camera model, a disparity or a measured velocity, and if the state of the
 * stixel is unknown. Returns the number of known places; -EINVAL: seconds is negative or not finite, or room is less
 * than the number of stixels. Any thread.
 */
STIXEL_API int64_t stixel_ahead(const struct stixel_frame *frame, double seconds, struct stixel_place *places,
				uint32_t room);
/*
 * (since 1.8) Computes where each object will be `seconds` after the capture of this frame, as stixel_ahead() does for
 * stixels. places: one for each object, in their order. All fields of a place are NAN if the state of the object is
 * unknown. Returns the number of known places, 0 in a frame without objects; -EINVAL: seconds is negative or not
 * finite, or room is less than the number of objects. Any thread.
 */
STIXEL_API int64_t stixel_object_ahead(const struct stixel_frame *frame, double seconds,
				       struct stixel_place *places, uint32_t room);
/*
 * (since 1.3) Returns to_m of one column with the usual options. *end (enum stixel_free) is the reason.
 * HUGE_VAL: at infinity. Before 1.6 it was an inline function with other rules. Older programs keep those
 * rules until they are compiled again.
 */
STIXEL_API double stixel_free_space_m(const struct stixel_frame *frame, uint32_t column, int *end);

/* ---- writing class scores (since 1.2) ---- */

/*
 * Writer of class scores. One thread at a time uses a writer. It never waits for a reader, and stores nothing
 * about readers.
 */
struct stixel_scores;

/* Format of the class scores. Later versions may add fields: set the rest to 0. */
struct stixel_scores_format {
	/* Number of classes, 1..32: as many as semantics.classes names, in that order. */
	uint32_t classes;
	uint32_t image_width, image_height; /* size of the left image, px */
	uint32_t scale;			    /* image pixels per score in x and in y, 1..32 */
	uint32_t slots;			    /* scores kept in the ring: power of two, 2..64; 0: 8 */
	uint32_t reserved;
	/* Folder of the ring. NULL: /run/stixel-feed, or the first of the caller's own folders. */
	const char *folder;
};

/*
 * Planes for the next scores: data[c * plane_bytes + y * pitch + x]. They lie in shared memory and keep their
 * old content until the caller overwrites it.
 */
struct stixel_scores_planes {
	uint8_t *data;
	uint32_t classes, width, height, pitch;
	uint64_t plane_bytes;
};

/*
 * Creates the ring of a name. The daemons that read it have this name in semantics.source. Names follow the
 * rule of instance names. bytes: sizeof(*format). A ring that has the name already is replaced. If the old
 * ring still has a writer, that writer gets -ESTALE. If the caller is a member of group stixel-feed, the ring
 * belongs to that group. stixeld reads rings that belong to root, to its own user, or to that group.
 * -EINVAL: a name or number out of range, or more than 256 MB of scores. -EPERM: the name belongs to another
 * user. -ENOMEM, -ENOSPC, ...: errors of the system.
 */
STIXEL_API int stixel_scores_create(struct stixel_scores **scores, const char *name,
				    const struct stixel_scores_format *format, size_t bytes);
/*
 * Sets planes to the place of the next scores, directly in shared memory. The caller may call it again
 * without a commit. -ESTALE: another writer took the name.
 */
STIXEL_API int stixel_scores_begin(struct stixel_scores *scores, struct stixel_scores_planes *planes);
/*
 * Publishes the scores. capture_ns: capture time of the left image that was scored (capture_left_ns of its
 * frame). epoch, number: identify that frame, or 0. -EINVAL: without begin.
 */
STIXEL_API int stixel_scores_commit(struct stixel_scores *scores, int64_t capture_ns, uint64_t epoch,
				    uint64_t number);
/* Removes the ring. Accepts NULL. */
STIXEL_API void stixel_scores_close(struct stixel_scores *scores);

/*
 * Returns static text, never NULL: the text of an error of this library, or the name of an enum value ("?"
 * for an unknown value).
 */
STIXEL_API const char *stixel_strerror(int error);
STIXEL_API const char *stixel_kind_name(unsigned kind);
STIXEL_API const char *stixel_state_name(unsigned state);
STIXEL_API const char *stixel_publisher_name(unsigned publisher);
STIXEL_API const char *stixel_road_name(unsigned origin);
/*
 * (since 1.7) Writes the colour in which all programs of stixeld show a semantic class: red, green, blue. A
 * name of Cityscapes' classes has the colour that its authors chose (M. Cordts et al., "The Cityscapes
 * Dataset", CVPR 2016), any other name one of 14 colours, by label. "_" and "-" are the same in a name, as are
 * capital and small letters. name: NULL if it is not known. Any thread.
 */
STIXEL_API void stixel_class_colour(const char *name, uint32_t label, uint8_t rgb[3]);
/*
 * (since 1.7) Sets *labels to the bits 1u << label of classes that are given by their names, for
 * ground_labels. names: one or more names with spaces or commas between them. classes: the names of all
 * classes in the order of their labels, in the same form; a ":" and what follows it belongs to no name, so
 * that the value of the publisher's semantics.classes fits. Names are equal as in stixel_class_colour(). 0.
 * -ENOENT: a name is not among the classes. -EINVAL: no name, more than 32 classes, or NULL. Any thread.
 */
STIXEL_API int stixel_labels_of(const char *classes, const char *names, uint32_t *labels);
/* Returns the version of the library, "0.1.0". */
STIXEL_API const char *stixel_version(void);

#undef STIXEL_AT
#undef STIXEL_SIZE
#undef STIXEL_BYTES
#ifdef __cplusplus
}
#endif
#endif
