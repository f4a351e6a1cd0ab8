/*
 * Motion of a pair: records and constants that the stages of this folder share. The stages measure how the
 * camera moved between two frames, by features of the newer frame that are found again in the older one.
 * docs/develop/motion.md has the formulas. "This frame" is the newer one; "before" is the older one.
 *
 * Lengths inside are in baselines (B = 1), so that the same images with another baseline give the same bytes
 * up to the last step, which multiplies by the baseline.
 *
 * Integers decide, and every minimum has a tie rule. Where doubles are computed, every engine evaluates the
 * same operations in the same order: + - * / sqrt and rint alone, without contraction. A sum over features
 * adds integers, so that its value does not depend on the order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_MOTION_H
#define SX_STAGES_MOTION_MOTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/camera.h"
#include "base/image.h"

#ifdef __CUDACC__
#define SX_MOTION_INLINE static __host__ __device__ inline
/* This word stands before loops over the unknowns, so that a device has their arrays in registers. */
#define SX_MOTION_UNROLL _Pragma("unroll")
#else
#define SX_MOTION_INLINE static inline
#define SX_MOTION_UNROLL
#endif

SX_MOTION_INLINE int sx_motion_clamp(int v, int least, int most)
{
	return v < least ? least : v > most ? most : v;
}

SX_MOTION_INLINE int sx_motion_distance(int a, int b)
{
	return a < b ? b - a : a - b;
}

#define SX_MOTION_FEATURES_MAX 8192 /* cells of an image: more would overflow the sums */
#define SX_MOTION_MARGIN 8	    /* px: no feature is nearer to a border of the image */
#define SX_MOTION_LEAST_Q8 384	    /* disparity of a feature, 1/256 px, at least: 1.5 px */

/* Owner of a pixel: number of the object stixel that covers it, or this. */
#define SX_MOTION_NO_OWNER 0xffffffffu

enum {
	SX_MOTION_OBJECT = 1, /* an object stixel covers the feature */
	SX_MOTION_ROAD = 2    /* the feature lies on the road before the camera: see sx_motion_corners() */
};

/* A corner of this frame. There is one slot for each cell, and score 0 marks an empty slot. */
struct sx_motion_feature {
	int32_t x, y;	      /* px */
	int32_t disparity_q8; /* 1/256 px */
	int32_t slope_q14;    /* change of disparity per row downwards, 1/16384 px: on the road, else 0 */
	uint32_t score;	      /* 1 .. SX_MOTION_SCORE_MAX; 0: the cell has no feature */
	uint32_t owner;	      /* object stixel, or SX_MOTION_NO_OWNER */
	uint32_t kind;	      /* SX_MOTION_OBJECT, SX_MOTION_ROAD */
};

/*
 * Expected place of a feature in the frame before, and how its surroundings look there. A pixel (i, j) beside the
 * feature is expected at (dx + across i + shear j, dy + down j) beside it.
 */
struct sx_motion_guess {
	int32_t dx, dy;		     /* px: position before minus position now */
	int32_t across, shear, down; /* 1/1024; SX_MOTION_WARP_LEAST .. SX_MOTION_WARP_MOST, shear +-1024 */
};
#define SX_MOTION_WARP_LEAST 512
#define SX_MOTION_WARP_MOST 2048

/* Outcome of the search for a feature. Only SX_MOTION_FOUND is a measurement. */
enum sx_motion_search {
	SX_MOTION_UNKNOWN,	/* the slot has no feature, or the search left the image */
	SX_MOTION_AMBIGUOUS,	/* another place is nearly as good */
	SX_MOTION_UNREFINED,	/* sub-pixel search failed, or the grey levels differ */
	SX_MOTION_NOT_BACK,	/* the search from there ends elsewhere */
	SX_MOTION_NO_DISPARITY, /* the older map has no disparity there */
	SX_MOTION_FOUND
};

/* Place of a feature in the frame before. The fields are valid up to the step that failed. */
struct sx_motion_flow {
	int32_t x_q6, y_q6;   /* 1/64 px */
	int32_t disparity_q8; /* disparity in the frame before, 1/256 px */
	uint16_t cost;	      /* cost of the coarse search, bits */
	uint16_t second;      /* least cost of the places apart from it, bits */
	int32_t rest_q4;      /* mean difference of grey levels after refinement, 1/16 */
	uint32_t guess;	      /* number of the guess that was taken */
	uint32_t search;      /* enum sx_motion_search */
};

/*
 * Motion of the camera: a point P of this frame's left camera is R P + t in the left camera of the frame
 * before. x right, y down, z ahead.
 */
struct sx_motion_step {
	double q[4]; /* R as a quaternion of length 1: w, x, y, z */
	double t[3]; /* baselines */
};

/* The images of a frame that the stages read: see sx_motion_view_init(). */
struct sx_motion_view {
	struct sx_image grey;	     /* U8 */
	struct sx_image half;	     /* U8: half of the size, rounded up */
	struct sx_image census;	     /* U32: descriptors of grey */
	struct sx_image half_census; /* U32: descriptors of half */
	struct sx_image disparity;   /* U16 Q4, invalid 0xffff: final map of the left image */
};

#endif
