/*
 * Objects: things that move, with an identity that lasts. docs/develop/motion.md, objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_FILTER_OBJECTS_H
#define SX_STAGES_MOTION_FILTER_OBJECTS_H

#include "stages/motion/filter/belief.h"
#include "stages/motion/pair.h"

struct stixel;

#define SX_MOTION_OBJECTS_MAX 64
#define SX_MOTION_OBJECT_LEAST 2      /* stixels that measure an object, or it is not seen */
#define SX_MOTION_OBJECT_SURE 12      /* an object with this many of them is published at once */
#define SX_MOTION_OBJECT_FRAMES 2     /* another one after this many frames */
#define SX_MOTION_OBJECT_UNSEEN_S 0.4 /* an object that was not seen for longer is dropped */
#define SX_MOTION_OBJECT_STILL_S 2.0  /* and one that did not move for longer */
#define SX_MOTION_OBJECT_ACCEL 3.0    /* m/s^2: standard deviation of how a thing accelerates */
#define SX_MOTION_OBJECT_ALIKE \
	9.0 /* square of a difference, standard deviations, of velocities of one thing */
#define SX_MOTION_OBJECT_SPREAD 0.5   /* (m/s)^2: parts of a thing that turns or bends differ */
#define SX_MOTION_OBJECT_OTHER 25.0   /* square of a difference above which the velocity starts again */
#define SX_MOTION_OBJECT_GAIN 4.0     /* gain of a stixel that may join without a predecessor in the object */
#define SX_MOTION_OBJECT_TOGETHER 2.0 /* stixels of an object whose errors are alike count as one */
#define SX_MOTION_OBJECT_WITHIN 0.02 /* (m/s)^2: velocities of the parts of a thing differ by this variance */
#define SX_MOTION_OBJECT_BIAS_PX 0.02 /* error that all features of an object have in common: they are more */
#define SX_MOTION_OBJECT_SHARE_D 0.04 /* depth of an object: its disparities are within this share, */
#define SX_MOTION_OBJECT_D 0.5	      /* and px */
#define SX_MOTION_OBJECT_MARGIN 8 /* px: an object is searched for within its extent, this, and an eighth */

/* A thing that moves. Places are in the axes of this frame's left camera, m. */
struct sx_motion_object {
	uint32_t id;			     /* identity, from 1 on, never used again */
	uint32_t state;			     /* enum sx_motion_state */
	bool shown;			     /* sure enough to be published; stays so */
	struct sx_motion_estimate estimate;  /* velocity, without the bias */
	struct sx_motion_estimate biased;    /* the same with the bias; decides the state */
	double x, y, z;			     /* middle of its columns, its lowest row, its distance */
	double pxx, pxz, pzz;		     /* covariance of x and z, m^2 */
	double width, height;		     /* m */
	int left, right, top, bottom;	     /* px of the image: columns [left, right), rows top..bottom */
	double disparity, nearest, farthest; /* px, with the offset: median, and nearly all of its stixels */
	double age, unseen, still;	     /* s since it was found first, seen last, and moved last */
	uint32_t frames;		     /* number of frames in which it was seen */
	uint32_t core;			     /* stixels of this frame that measure it */
	uint32_t stixels;		     /* and all that belong to it */
};

/* The objects, in the order in which they were found. Zeroed: none. */
struct sx_motion_objects {
	struct sx_motion_object objects[SX_MOTION_OBJECTS_MAX];
	uint32_t count;
	uint32_t last_id;
};

/* Computes the place of an object, its covariance and the size, from the extent in the image and the disparity. */
void sx_motion_object_measure(struct sx_motion_object *o, const struct sx_camera *c);

/* Returns the object that a stixel has if it may be published, or NULL. */
const struct sx_motion_object *sx_motion_objects_shown(const struct sx_motion_objects *os, uint32_t id);

/*
 * Moves all objects to their expected places in this frame. step: motion of the camera from this frame to the frame
 * before, which is `since` s older. seconds: time of a pair, which decides how large the bias of a velocity is. The
 * function drops objects that were not seen for too long, that did not move for too long, or that have left the image.
 */
void sx_motion_objects_predict(struct sx_motion_objects *os, const struct sx_camera *c,
			       const struct sx_motion_step *step, double since, double seconds, int width,
			       int height);

/*
 * Computes where a feature was in the frame before if it belongs to a predicted object: the first one whose place
 * it is at. False: it is at the place of none.
 */
bool sx_motion_objects_guess(const struct sx_motion_objects *os, const struct sx_camera *c,
			     const struct sx_motion_feature *f, const struct sx_motion_ego *ego,
			     double seconds, struct sx_motion_guess *guess);

/*
 * Finds the predicted objects in a frame, and new objects. beliefs: one for each stixel; `object` is that of the frame
 * before, and this function replaces it. measured: velocities of the stixels in this frame. offset: offset of the
 * disparities, px. velocities: the decision about each stixel alone; this function changes it for stixels of objects,
 * and for moving stixels without an object. work: scratch memory, 2 entries for each stixel.
 *
 * 1. A stixel belongs to an object at whose place it is if its predecessor did, or if it has a gain of
 *    SX_MOTION_OBJECT_GAIN; but not if it measures another velocity. An object of the predecessor goes before
 *    others; then the nearest velocity wins, then the oldest object.
 * 2. The velocities of these stixels together correct the object's, which is then at their place.
 * 3. Other stixels that move alike, SX_MOTION_ALIKE_LEAST of them or more, are a new object.
 * 4. Stixels within the extent of an object that measure nothing, or for which moving as it does is likely as well
 *    as standing, belong to it.
 *
 * Stixels of an object that is shown and moves have its velocity; other stixels do not move.
 */
void sx_motion_objects_next(struct sx_motion_objects *os, const struct sx_camera *c,
			    const struct sx_motion_frame *now, const struct sx_motion_velocity *measured,
			    double offset, double since, uint32_t *work, struct sx_motion_belief *beliefs,
			    struct sx_motion_velocity *velocities);

#endif
