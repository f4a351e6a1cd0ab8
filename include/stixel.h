/*
 * stixel.h - the frames that stixeld publishes and the library that reads them.
 *
 * Stable ABI: fields are only ever appended or taken from reserved ones (minor), anything else raises the
 * major number. C11, usable from C++11. All numbers are little endian; all times are CLOCK_MONOTONIC
 * nanoseconds. docs/shm.md explains the layout for readers written in other languages.
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
/* Layout is ABI: a compiler that lays a struct out differently must not get past this header. */
#define STIXEL_AT(type, field, bytes) STIXEL_ASSERT(offsetof(struct type, field) == (bytes), #type "." #field)
#define STIXEL_SIZE(type, bytes) STIXEL_ASSERT(sizeof(struct type) == (bytes), #type)

#define STIXEL_ABI_MAJOR 1
#define STIXEL_ABI_MINOR 6

/* ---- the record -------------------------------------------------------------------------------------- */

#define STIXEL_DISPARITY_UNKNOWN 0xffffu
#define STIXEL_LABEL_NONE 255u

/* unknown: not measured, so neither free nor a wall */
enum stixel_kind { STIXEL_GROUND = 0, STIXEL_OBJECT = 1, STIXEL_SKY = 2, STIXEL_UNKNOWN = 3 };

/* bits of struct stixel.flags */
#define STIXEL_FLAG_CUT 1u	     /* the column had more stixels than fit; this is the last kept */
#define STIXEL_FLAG_ROAD_FALLBACK 2u /* no road was found in this frame: older or calibrated one */
#define STIXEL_FLAG_RDP 4u	     /* made by RDP, not by dynamic programming */
#define STIXEL_FLAG_SLANTED 8u	     /* made by the slanted model */

/* One stixel: a piece of an image column. A column's stixels lie in order from bottom to top. */
struct stixel {
	uint16_t column;       /* stixel column, left to right; image columns [column*width, +width) */
	uint16_t row_top;      /* image row, from the top, inclusive */
	uint16_t row_bottom;   /* image row, inclusive, >= row_top */
	uint16_t support;      /* valid disparity cells it covers */
	uint16_t disparity_q7; /* 1/128 px, at row_bottom; 0xffff unknown */
	int16_t slope_q14;     /* disparity per row upwards, 1/16384 px; 0 for upright objects */
	uint8_t kind;	       /* enum stixel_kind */
	uint8_t label;	       /* semantic class, 255 none */
	uint8_t confidence;    /* 0..255, mean over its valid cells */
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
#define STIXEL_FRAME_BYTES_MAX (256u << 20) /* whatever says it is larger is damaged */
#define STIXEL_HEADER_BYTES_LEAST 696u	    /* header_bytes of publishers up to 1.2 */
#define STIXEL_STAGES 16
#define STIXEL_ROW_ERROR_UNKNOWN (-32768) /* too few places said anything */
#define STIXEL_STAGE_NAME_BYTES 16

enum stixel_clock { STIXEL_CLOCK_MONOTONIC = 0, STIXEL_CLOCK_REALTIME = 1, STIXEL_CLOCK_UNKNOWN = 2 };
enum stixel_stamp { STIXEL_STAMP_EXPOSURE_START = 0, STIXEL_STAMP_FRAME_END = 1, STIXEL_STAMP_SOFTWARE = 2 };
enum stixel_road {
	STIXEL_ROAD_NONE = 0,	    /* no camera model: slope and offset are 0 */
	STIXEL_ROAD_MEASURED = 1,   /* found in this frame */
	STIXEL_ROAD_PREVIOUS = 2,   /* found road_age frames ago */
	STIXEL_ROAD_CALIBRATION = 3 /* from camera height, pitch and roll */
};
enum stixel_plane {
	STIXEL_PLANE_NONE = 0,
	STIXEL_PLANE_DISPARITY = 1, /* uint16, 1/16 px, 0xffff invalid */
	STIXEL_PLANE_LEFT = 2, /* uint8, left image as it was matched: rectified, or raw if nobody did so */
	STIXEL_PLANE_RIGHT = 3 /* since 1.4: the right image likewise */
};

/* bits of struct stixel_frame_header.flags */
#define STIXEL_FRAME_PLANE_LEFT_OUT 1u	 /* the image planes did not fit into a packet; the ring has them */
#define STIXEL_FRAME_STIXELS_LEFT_OUT 2u /* nor did the stixels: stixel_count and columns are 0 */
/* since 1.2; neither is set by a publisher that takes no class scores (semantics.source) */
#define STIXEL_FRAME_SCORES 4u	       /* class scores were there for this frame */
#define STIXEL_FRAME_SCORES_MISSING 8u /* they did not come in time: it was done without */
#define STIXEL_FRAME_RECTIFIED 16u /* since 1.4: cameras are raw, the publisher rectified (camera.rectify) */
#define STIXEL_FRAME_EXTERNAL 32u  /* since 1.4: another process measured the disparities (stereo.matcher) */
/*
 * since 1.6: the publisher knows that these pictures show nothing of what is there (covered, black, white,
 * frozen, one picture twice): nothing in this frame is free
 */
#define STIXEL_FRAME_BLIND 64u
/*
 * since 1.6: within the last 10 s somebody changed the camera while frames went on (camera.*, the
 * calibration): the same disparity is another distance than before, and what a reader knows of earlier
 * frames may no longer fit
 */
#define STIXEL_FRAME_CAMERA_CHANGED 128u

/*
 * A frame lies as: this header (header_bytes); uint32 offsets[columns + 1]; stixels, column by column; up to
 * two image planes, published for those who ask (stixel_want_images()). Stixels of column u are
 * stixels[offsets[u] .. offsets[u+1]), bottom to top; offsets[columns] == stixel_count.
 * checksum: CRC-32C (Castagnoli) of everything before the planes (of all when there is none), with this field
 * taken as 0. They are not covered: they are for viewers, and at video size the sum would cost milliseconds.
 * published_ns is the last time that lies in the frame itself: packing, checksum and the copy into the
 * ring come after it, and only then do readers see the frame. "capture_to_publish" of the daemon's status
 * ends at that later moment.
 */
struct stixel_frame_header {
	uint32_t magic; /* STIXEL_FRAME_MAGIC */
	uint16_t abi_major, abi_minor;
	uint32_t header_bytes; /* of the publisher's version of this struct: offsets begin here */
	uint32_t checksum;
	uint32_t frame_bytes;	 /* all of it, with the plane; a multiple of 8 */
	uint32_t stixels_offset; /* from the start of the frame; a multiple of 8 */
	uint64_t epoch;	 /* one life of the publisher, random; (epoch, number) names a frame for ever */
	uint64_t number; /* from 1 in each epoch, without gaps */
	int64_t capture_left_ns, capture_right_ns;
	int64_t submitted_ns;				 /* handed to the engine */
	int64_t published_ns;				 /* result taken from the engine, not packed yet */
	int64_t anchor_monotonic_ns, anchor_realtime_ns; /* the same moment on both clocks */
	uint8_t clock;	     /* enum stixel_clock: what the camera stamped with, before conversion */
	uint8_t stamp;	     /* enum stixel_stamp: what the capture times stand for */
	uint8_t road_origin; /* enum stixel_road */
	uint8_t stage_count; /* stages in use, 0..16 */
	uint32_t flags;	     /* STIXEL_FRAME_* */
	uint32_t image_width, image_height; /* px */
	uint32_t columns;		    /* stixel columns */
	uint32_t column_width;		    /* px */
	uint32_t disparities;		    /* search range, px */
	int32_t min_disparity;		    /* px */
	uint32_t stixel_count;
	uint32_t road_inliers; /* measurements on the road */
	double fx, fy, cx, cy; /* px; rectified left camera; fx 0 = no camera model */
	double baseline_m;     /* m */
	double road_slope; /* ground disparity of image row y at column road_axis: slope * y + offset, px */
	double road_offset;
	double horizon_row;	   /* image row, px; at column road_axis */
	double pitch_rad;	   /* camera looks down: positive */
	double height_m;	   /* camera above the road */
	uint32_t road_age;	   /* frames since the road was measured */
	uint16_t measured;	   /* since 1.4, 0 before: share of the pixels that were measured, 1/65535 */
	int16_t row_error_q4;	   /* likewise; 1/16 px: see stixel_row_error_px() */
	uint64_t captured;	   /* pairs since the start, likewise below; without a map: in no other */
	uint64_t published;	   /* frames */
	uint64_t dropped_overload; /* pairs replaced by newer ones: engine was busy */
	uint64_t dropped_unpaired;
	uint64_t dropped_corrupt;
	uint32_t plane_kind;		    /* enum stixel_plane; all of plane_* are 0 without one */
	uint32_t plane_width, plane_height; /* px */
	uint32_t plane_pitch;		    /* bytes from row to row */
	uint32_t plane_offset;		    /* from the start of the frame, multiple of 8 */
	uint32_t plane_bytes;		    /* plane_pitch * plane_height */
	int64_t stage_ns[STIXEL_STAGES];    /* duration, in the order of stage_name; 0 did not run */
	char stage_name[STIXEL_STAGES][STIXEL_STAGE_NAME_BYTES]; /* "sgm", zero padded, last byte 0 */
	/* since 1.1: a second plane behind the first, of another kind; as plane_* above */
	uint32_t plane2_kind, plane2_width, plane2_height, plane2_pitch, plane2_offset, plane2_bytes;
	int64_t scores_ns; /* since 1.2: capture time of the class scores' picture; 0 without scores */
	/*
	 * since 1.3, where header_bytes reaches so far: stixel_ground_of() has 0 for older publishers. Ground
	 * disparity of pixel x, y: slope * y + offset + cross * (x - axis), and in rows above bend_row
	 * (y < bend_row) + bend * (bend_row - y), as stixel_ground_disparity() has it
	 */
	double road_cross; /* px a column: the road leans against the camera */
	double road_axis;  /* image column, px */
	double road_bend;  /* px a row: the road climbs (> 0) or falls; 0: it is a plane as far as one sees */
	double road_bend_row; /* image row, px */
	double roll_rad;      /* of the camera over the road; it comes nearer to the right: positive */
	/*
	 * Standard deviations of pitch_rad, roll_rad and height_m. 0: not known, as of a road from the
	 * calibration. Of an older road they grow with road_age. What measurements have in common (a wrong
	 * calibration, a road that is no plane) is not in them: see docs/algorithm.md, road
	 */
	double pitch_sigma_rad, roll_sigma_rad, height_sigma_m;
	/*
	 * since 1.6, where header_bytes reaches so far: stixel_vehicle_of() has them of every frame. Heights
	 * over the road between which the vehicle passes (the publisher's section [vehicle])
	 */
	double vehicle_low_m, vehicle_high_m;
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
STIXEL_SIZE(stixel_frame_header, 776);

/*
 * A frame that has been checked: sizes, order, checksum.
 * Who owns the memory says the function that filled it.
 */
struct stixel_frame {
	const struct stixel_frame_header *header;
	const uint32_t *offsets;      /* columns + 1 */
	const struct stixel *stixels; /* stixel_count */
	const void *plane;	      /* the first, NULL without one; better: stixel_image() */
	const void *bytes;	      /* the whole frame, header->frame_bytes of it: fit for a recording */
	const void *reserved[3];
};

/* Stixels of one column, bottom to top; *count 0 for a column that is not there. */
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
#else
#define STIXEL_BYTES(p) ((const char *)(p))
#endif

/* An image that came with a frame: rows of width pixels, pitch bytes from row to row. */
struct stixel_image {
	uint32_t kind; /* enum stixel_plane: says what a pixel is */
	uint32_t width, height, pitch;
	const void *data; /* lives as long as the frame */
};

/* The frame's image of this kind (enum stixel_plane). 1: *image is set; 0: it has none. */
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

/* Disparity at row_bottom, px; 0 when unknown. */
static inline double stixel_disparity_px(const struct stixel *s)
{
	return s->disparity_q7 == STIXEL_DISPARITY_UNKNOWN ? 0.0 : s->disparity_q7 / 128.0;
}

/* Distance along the optical axis at row_bottom, m; 0 unknown, infinitely far, or without a camera. */
static inline double stixel_depth_m(const struct stixel_frame_header *h, const struct stixel *s)
{
	double d = stixel_disparity_px(s);

	return d > 0.0 ? h->fx * h->baseline_m / d : 0.0;
}

/* The whole road of a frame: the header's fields of these names. */
struct stixel_ground {
	double slope, offset;
	double cross, axis, bend, bend_row, roll_rad;		/* 0 for publishers before 1.3, */
	double pitch_sigma_rad, roll_sigma_rad, height_sigma_m; /* likewise */
};

/* (since 1.3) The road of a frame of any version; all 0 without one. */
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

/* (since 1.3) Ground disparity of pixel x, y, px: negative or 0 above the horizon, 0 without a road. */
static inline double stixel_ground_disparity(const struct stixel_frame_header *h, double x, double y)
{
	struct stixel_ground g = stixel_ground_of(h);
	double d = g.slope * y + g.offset + g.cross * (x - g.axis);

	return y < g.bend_row ? d + g.bend * (g.bend_row - y) : d;
}

/* (since 1.4) Rows by which what the left image shows is lower in the right. 1: *px is that; 0: unknown. */
static inline int stixel_row_error_px(const struct stixel_frame_header *h, double *px)
{
	*px = h->row_error_q4 / 16.0;
	return h->abi_minor >= 4 && h->row_error_q4 != STIXEL_ROW_ERROR_UNKNOWN;
}

/* Heights over the road between which a vehicle passes, m. */
struct stixel_vehicle {
	double low_m;  /* it drives over what ends here or lower */
	double high_m; /* it passes below what begins here or higher */
};

/*
 * (since 1.6) Of a vehicle of which nothing is known but the height of its camera over the road, m: the
 * automatic values of the publisher's section [vehicle]. 0 or less, or no number: as a car's.
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

/* (since 1.6) That of a frame of any version: what its publisher says, else the usual one for its camera. */
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

/* Age of the frame's picture now, ns: from the older of both captures; now_ns: CLOCK_MONOTONIC. */
static inline int64_t stixel_age_ns(const struct stixel_frame_header *h, int64_t now_ns)
{
	int64_t then = h->capture_left_ns < h->capture_right_ns ? h->capture_left_ns : h->capture_right_ns;

	if (then < 0 ? now_ns > INT64_MAX + then : now_ns < INT64_MIN + then) /* a frame may say anything */
		return then < 0 ? INT64_MAX : INT64_MIN;
	return now_ns - then;
}

/* ---- the ring: /dev/shm/stixeld.INSTANCE, mapped read-only by readers -------------------------------- */

#define STIXEL_RING_MAGIC UINT64_C(0x474e495258495453) /* "STIXRING" */
#define STIXEL_ENDIAN 0x01020304u
#define STIXEL_INSTANCE_BYTES 72
#define STIXEL_RING_LIVE_OFFSET 1024
#define STIXEL_RING_SLOTS_OFFSET 4096

/* What the publisher says of itself. */
enum stixel_state {
	STIXEL_STATE_STARTING = 0,
	STIXEL_STATE_RUNNING = 1,
	STIXEL_STATE_NO_CAMERA = 2,
	STIXEL_STATE_DEGRADED = 3, /* running, but slower or with less than configured */
	STIXEL_STATE_STOPPING = 4,
	STIXEL_STATE_CLOSED = 5,  /* ended in order; no more frames in this object */
	STIXEL_STATE_REPLACED = 6 /* a newer publisher has taken the name */
};

#define STIXEL_RING_REPLAY 1u /* of struct stixel_ring_header.flags: frames come from a recording */

/* Immutable once named. Sizes and offsets count, not sizeof: a newer minor may be larger. */
struct stixel_ring_header {
	uint64_t magic; /* STIXEL_RING_MAGIC */
	uint16_t abi_major, abi_minor;
	uint32_t header_bytes;
	uint64_t total_bytes;	    /* of the object */
	uint32_t slot_count;	    /* power of two; frame n lies in slot n & (slot_count - 1) */
	uint32_t slot_stride;	    /* bytes from slot to slot, a multiple of 64 */
	uint32_t slots_offset;	    /* first slot, from the start of the object */
	uint32_t slot_header_bytes; /* frame bytes begin here in a slot */
	uint32_t frame_capacity;    /* bytes of the largest frame */
	uint32_t live_offset;	    /* struct stixel_ring_live */
	uint32_t endian;	    /* STIXEL_ENDIAN */
	uint32_t pid;
	uint64_t epoch;
	uint64_t pid_namespace;	  /* inode of the publisher's /proc/self/ns/pid, 0 unknown */
	uint64_t pid_start_ticks; /* field 22 of its /proc/self/stat, 0 unknown: tells a recycled pid */
	int64_t started_ns;
	int64_t anchor_monotonic_ns, anchor_realtime_ns; /* the same moment on both clocks */
	uint32_t heartbeat_period_ms; /* without a beat for three of these, the publisher hangs */
	uint32_t flags;		      /* STIXEL_RING_* */
	char instance[STIXEL_INSTANCE_BYTES];
	char version[32];      /* of the publisher, "0.1.0" */
	char stream_path[112]; /* its frames.sock, empty without */
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

/* Written by the publisher only. Atomic: load each field once, with acquire. 64-byte aligned. */
struct stixel_ring_live {
	uint64_t head;	/* number of the newest complete frame, 0 none yet */
	uint32_t bell;	/* futex word (shared): changes with every frame and every change of state */
	uint32_t state; /* enum stixel_state */
	int64_t heartbeat_ns;
	uint64_t reserved[5];
};
STIXEL_AT(stixel_ring_live, bell, 8);
STIXEL_AT(stixel_ring_live, state, 12);
STIXEL_AT(stixel_ring_live, heartbeat_ns, 16);
STIXEL_AT(stixel_ring_live, reserved, 24);
STIXEL_SIZE(stixel_ring_live, 64);

/* Start of a slot. sequence: 2n - 1 while frame n is being written, 2n when it is complete. */
struct stixel_ring_slot {
	uint64_t sequence;
	uint64_t frame_bytes;
	uint64_t reserved[6];
};
STIXEL_AT(stixel_ring_slot, frame_bytes, 8);
STIXEL_SIZE(stixel_ring_slot, 64);

/* ---- class scores (since 1.2): stixel-scores.NAME in /run/stixel-feed, of a perception process -------- */

/*
 * The ring above the other way round: a process that runs a segmentation network writes, stixeld reads. Same
 * header, live part and slots, with this magic; in each slot struct stixel_scores_header and, at data_offset,
 * the planes: the score of class c at row y, column x is byte c * plane_bytes + y * pitch + x, a probability
 * in 1/255. Image pixel (x, y) has the scores of (x / scale, y / scale).
 */
#define STIXEL_SCORES_RING_MAGIC UINT64_C(0x524f435358495453) /* "STIXSCOR" */
#define STIXEL_SCORES_MAGIC 0x43585453u			      /* "STXC" */
#define STIXEL_CLASSES_MAX 32
#define STIXEL_SCORES_SCALE_MAX 32
#define STIXEL_SCORES_SLOTS_MAX 64

struct stixel_scores_header {
	uint32_t magic; /* STIXEL_SCORES_MAGIC */
	uint16_t abi_major, abi_minor;
	uint32_t header_bytes;	/* of the writer's version of this struct */
	uint32_t data_offset;	/* from the start of this header; a multiple of 8, >= header_bytes */
	uint64_t frame_bytes;	/* data_offset + classes * plane_bytes; a multiple of 8 */
	uint64_t epoch, number; /* of these scores: epoch of the ring, number from 1 */
	int64_t capture_ns;	/* of the left image that they are of */
	int64_t committed_ns;	/* when they were complete */
	uint64_t frame_epoch, frame_number; /* the frame that they are of, where it is known; 0 */
	uint32_t classes;		    /* 1..32 */
	uint32_t scale;			    /* image pixels a score, each way, 1..32 */
	uint32_t image_width, image_height; /* px */
	uint32_t width, height;		    /* image size / scale, rounded up */
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
 * Who only connects gets frames, one packet each. A client may send a stixel_hello to choose, and (since 1.1)
 * more of them to choose anew; whatever else it sends closes the connection. A slow client misses frames,
 * never delays them, and next gets the newest.
 */
#define STIXEL_HELLO_MAGIC 0x48585453u	/* "STXH" */
#define STIXEL_NOTICE_MAGIC 0x4e585453u /* "STXN" */
#define STIXEL_WANT_FRAMES 1u
#define STIXEL_WANT_NOTICES 2u /* a notice on hello, on every change of state, and as a heartbeat */
#define STIXEL_WANT_BELL 4u    /* a notice per frame too: to poll() beside the ring */
/* since 1.1: image planes in the ring's frames for as long as this connection lives */
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
	uint32_t bytes; /* of the sender's version of this struct */
	uint64_t epoch;
	uint64_t head; /* number of the newest frame, 0 none */
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
 * Threads: a reader belongs to one thread at a time; different readers are independent. The library keeps no
 * global state, starts no thread, installs no signal handler, and is safe to use after fork() only by a child
 * that opens its own reader.
 *
 * Errors: negative errno values, explained by stixel_strerror():
 *	-EINVAL		a bad instance name or argument
 *	-ENOENT		no publisher of that name
 *	-EACCES		not allowed to read it: join its group
 *	-EPERM		the object belongs to a user that is neither you, nor root, nor the owner of
 *			/run/stixeld/INSTANCE (see STIXEL_OPEN_ANY_OWNER)
 *	-EPROTO		not a stixel ring, or a damaged one, or one that its owner has cut short
 *	-EPROTONOSUPPORT a ring of another major version or byte order
 *	-EBADMSG	a frame was damaged (sizes, order, checksum); it is skipped, reading may go on
 *	-ESTALE		a newer publisher took the name: stixel_reopen()
 *	-EPIPE		the publisher ended or died, and all its frames were read
 *	-EINTR		a signal handler ran during stixel_wait()
 *	-ENOMEM, -EMFILE, ... as the system says
 */
struct stixel_reader;

/* bits of flags of stixel_open() */
#define STIXEL_OPEN_FOLLOW 1u	 /* no publisher is no error: wait for one, and go over to each new one */
#define STIXEL_OPEN_STREAM 2u	 /* through frames.sock instead of shared memory */
#define STIXEL_OPEN_LEFTOVER 4u	 /* also read what a publisher left behind that is dead (to look into it) */
#define STIXEL_OPEN_ANY_OWNER 8u /* objects of any user, read by pread(): cut short they are -EPROTO */

/*
 * Opens an instance ([A-Za-z0-9_.-], up to 64 characters, no leading dot). The newest frame that lies there
 * counts as new. *reader is set on success only. Sockets (STIXEL_OPEN_STREAM, stixel_fd(), images)
 * are looked for in /run/stixeld, then $XDG_RUNTIME_DIR/stixeld, then /run/user/UID/stixeld; the
 * first that answers is taken.
 */
STIXEL_API int stixel_open(struct stixel_reader **reader, const char *instance, unsigned flags);
/* The same for a ring object or (STIXEL_OPEN_STREAM) a socket that lies elsewhere. */
STIXEL_API int stixel_open_path(struct stixel_reader **reader, const char *path, unsigned flags);
/* Accepts NULL. Frames of this reader are gone. */
STIXEL_API void stixel_close(struct stixel_reader *reader);
/*
 * Leaves the present publisher and opens the one that has the name now.
 * Without FOLLOW: after -ESTALE, -EPIPE.
 */
STIXEL_API int stixel_reopen(struct stixel_reader *reader);

/*
 * Waits for a frame that was not taken yet. 1: there is one; 0: none within timeout_ms (-1: no limit, 0: only
 * look). Also returns when the publisher ended, died or was replaced, then with the error. Death without a
 * word (SIGKILL) is noticed within a quarter of a second.
 */
STIXEL_API int stixel_wait(struct stixel_reader *reader, int timeout_ms);
/*
 * Takes the newest frame, skipping older ones. 1: *frame is set; 0: nothing new. Never waits. *frame and what
 * it points to belong to the reader and stay until its next latest, next, reopen or close.
 */
STIXEL_API int stixel_latest(struct stixel_reader *reader, const struct stixel_frame **frame);
/*
 * Takes the frame after the last one taken. *lost (may be NULL): frames that were overwritten in between, so
 * that none is left out unnoticed.
 */
STIXEL_API int stixel_next(struct stixel_reader *reader, const struct stixel_frame **frame, uint64_t *lost);
/*
 * A descriptor for poll() beside others (POLLIN), made at the first call: readable when it is time to call
 * stixel_latest() or stixel_next() until they return 0 (or an error). It is the reader's connection to
 * frames.sock: -ENOTCONN when the publisher has none or there is no publisher (ask again by and by). Never
 * read from it. It changes when the publisher does, so ask before each poll(): that costs nothing.
 */
STIXEL_API int stixel_fd(struct stixel_reader *reader);

/*
 * Asks the publisher for image planes: it copies them into the ring only while somebody asks (output.planes
 * says which it has room for, output.planes_when). kinds: bits 1u << enum stixel_plane, 0 to ask no more.
 * They come with one of the next frames (stixel_image()), until the reader is closed; with FOLLOW each new
 * publisher is asked again, also one that comes later. -ENOTSUP on a stream, -ENOTCONN when there is no
 * publisher or it has no frames.sock (with FOLLOW that is 0: asked by and by).
 */
STIXEL_API int stixel_want_images(struct stixel_reader *reader, unsigned kinds);

enum stixel_publisher {
	STIXEL_PUBLISHER_ABSENT = 0, /* FOLLOW: none yet */
	STIXEL_PUBLISHER_ALIVE = 1,
	STIXEL_PUBLISHER_STALLED = 2, /* process is there, no heartbeat for three periods */
	STIXEL_PUBLISHER_ENDED = 3,   /* in order */
	STIXEL_PUBLISHER_DIED = 4,
	STIXEL_PUBLISHER_REPLACED = 5
};

struct stixel_status {
	uint32_t publisher; /* enum stixel_publisher */
	uint32_t state;	    /* enum stixel_state */
	uint64_t epoch;
	uint64_t head; /* newest frame's number */
	uint64_t pid;
	int64_t heartbeat_age_ns; /* INT64_MAX unknown */
	uint64_t taken;		  /* frames, by this reader since it was opened; likewise below */
	uint64_t lost;		  /* overwritten before they were taken by stixel_next() */
	uint64_t skipped;	  /* passed over by stixel_latest() */
	uint64_t overruns;	  /* copies thrown away because the publisher came round: read again */
	uint64_t corrupt;	  /* frames that failed the check */
	uint64_t restarts;	  /* changes of epoch */
	char version[32];	  /* of the publisher; empty on a stream */
};
/* bytes: sizeof(*status), so that both sides may grow. */
STIXEL_API int stixel_status(struct stixel_reader *reader, struct stixel_status *status, size_t bytes);

/*
 * Checks a whole frame in memory (a recording, a packet) and points *frame into it. bytes: 8-byte aligned.
 * -EBADMSG damaged, -EPROTONOSUPPORT another major.
 */
STIXEL_API int stixel_parse(struct stixel_frame *frame, const void *data, size_t bytes);
/*
 * (since 1.6) Renews the checksum of a frame whose header or lists a program has changed, as one that leaves
 * images out. Images are not in the sum, so they need not be there. bytes: readable at frame, which is 8-byte
 * aligned. Checks nothing else: stixel_parse() does. 0; -EBADMSG: the frame ends beyond bytes; -EINVAL. Any
 * thread.
 */
STIXEL_API int stixel_seal(void *frame, size_t bytes);
/*
 * (since 1.6) Writes to folder where a program of stixeld has its sockets: a string of at most bytes, with
 * its zero byte. place: 0, 1, ..., in the order in which programs look. program: "stixeld", whose instances
 * each have a folder there, or "stixel-bridge". The folder need not exist. 1: written; 0: this process has no
 * such place, because a variable of the environment is not set, or bytes are too few: ask for the next;
 * -ENOENT: there are no more places; -EINVAL. Any thread, while none changes the environment.
 */
STIXEL_API int stixel_place(unsigned place, const char *program, char *folder, size_t bytes);

/* ---- how far it is free -------------------------------------------------------------------------------- */

/* What ends the free space of a column. */
enum stixel_free {
	STIXEL_FREE_UNSEEN = 0, /* not seen: what is there is not known */
	STIXEL_FREE_GROUND = 1, /* no obstacle: the ground goes on to its end, most often the horizon */
	STIXEL_FREE_OBJECT = 2, /* an object within the heights of the vehicle */
	STIXEL_FREE_DROP = 3 /* since 1.6: the ground ends, and what is seen behind it lies below the road */
};

/* (since 1.6) Of which vehicle. Fields may be added: zero the rest. */
struct stixel_free_options {
	float height_min; /* m above the road: what reaches between both is an obstacle */
	float height_max; /* m, height_min or more */
	uint32_t reserved[2];
};
STIXEL_SIZE(stixel_free_options, 16);

/* (since 1.6) What a column says. Distances along the optical axis, m. It is free between from_m and to_m. */
struct stixel_free_column {
	float from_m; /* where its ground was first seen: nearer is the blind zone; NAN: no ground was seen */
	float to_m; /* how far it is known to be free, the blind zone left aside; INFINITY: to the horizon */
	uint32_t end;	 /* enum stixel_free: what is there */
	uint32_t stixel; /* its number in the frame; UINT32_MAX: none, as where the ground goes on */
};
STIXEL_SIZE(stixel_free_column, 16);

/* (since 1.6) The heights of the frame's vehicle (stixel_vehicle_of()). 0; -EINVAL. */
STIXEL_API int stixel_free_defaults(const struct stixel_frame *frame, struct stixel_free_options *options,
				    size_t bytes);
/*
 * (since 1.6) How far each column is known to be free, by the rules of docs/convert.md, the same for
 * stixel_scan() and stixel_points(): the nearest object that reaches between the heights ends it (OBJECT, at
 * its distance), or where the ground ends before what was not seen (UNSEEN) or lies below the road (DROP), if
 * that is nearer. Without ground below them those two end it at 0, and so does all in a frame without a
 * camera model or a road, and of STIXEL_FRAME_BLIND. Options NULL: the usual ones. Writes room columns at
 * most and returns how many the frame has; -EINVAL: bad options.
 */
STIXEL_API int64_t stixel_free_space(const struct stixel_frame *frame,
				     const struct stixel_free_options *options, size_t bytes,
				     struct stixel_free_column *columns, uint32_t room);
/*
 * (since 1.3) Of one column with the usual options: to_m, and *end says what is there. HUGE_VAL: infinitely
 * far. Before 1.6 it was an inline function with other rules, which older programs keep until they are
 * compiled anew.
 */
STIXEL_API double stixel_free_space_m(const struct stixel_frame *frame, uint32_t column, int *end);

/* ---- writing class scores (since 1.2) ---- */

/* A writer belongs to one thread at a time. It waits for nobody, and keeps nothing about who reads. */
struct stixel_scores;

/* What scores will be of. Fields may be added: zero the rest. */
struct stixel_scores_format {
	uint32_t classes;		    /* 1..32: as many as semantics.classes names, in that order */
	uint32_t image_width, image_height; /* px, of the left image */
	uint32_t scale;			    /* image pixels a score, each way, 1..32 */
	uint32_t slots;			    /* scores kept: power of two, 2..64; 0: 8 */
	uint32_t reserved;
	const char *folder; /* where the ring lies; NULL: /run/stixel-feed, or the caller's own place */
};

/* Where the next scores go: data[c * plane_bytes + y * pitch + x]. Shared memory, it holds what it held. */
struct stixel_scores_planes {
	uint8_t *data;
	uint32_t classes, width, height, pitch;
	uint64_t plane_bytes;
};

/*
 * Makes the ring of this name (semantics.source of the daemons that are to read it; names are those of
 * instances). bytes: sizeof(*format). A ring that has the name already is replaced; its writer, if there is
 * still one, gets -ESTALE. The ring is given to group stixel-feed where the caller is a member: stixeld reads
 * what belongs to root, to its own user, or to that group.
 * -EINVAL: a name or number that is out of range, or more than 256 MB of scores; -EPERM: the name belongs to
 * another user; -ENOMEM, -ENOSPC, ... as the system says.
 */
STIXEL_API int stixel_scores_create(struct stixel_scores **scores, const char *name,
				    const struct stixel_scores_format *format, size_t bytes);
/*
 * Where the next scores are to be put, directly into shared memory. Without a commit it may be called again.
 * -ESTALE: another writer took the name.
 */
STIXEL_API int stixel_scores_begin(struct stixel_scores *scores, struct stixel_scores_planes *planes);
/*
 * They are complete, and of the left image that was captured at capture_ns (capture_left_ns of its frame).
 * epoch, number: of that frame, or 0. -EINVAL without begin.
 */
STIXEL_API int stixel_scores_commit(struct stixel_scores *scores, int64_t capture_ns, uint64_t epoch,
				    uint64_t number);
/* Takes the ring away. Accepts NULL. */
STIXEL_API void stixel_scores_close(struct stixel_scores *scores);

/* Static text, never NULL, for any error of this library; names for enum values, "?" for unknown ones. */
STIXEL_API const char *stixel_strerror(int error);
STIXEL_API const char *stixel_kind_name(unsigned kind);
STIXEL_API const char *stixel_state_name(unsigned state);
STIXEL_API const char *stixel_publisher_name(unsigned publisher);
STIXEL_API const char *stixel_road_name(unsigned origin);
/* Version of the library, "0.1.0". */
STIXEL_API const char *stixel_version(void);

#undef STIXEL_AT
#undef STIXEL_SIZE
#undef STIXEL_BYTES
#ifdef __cplusplus
}
#endif
#endif
