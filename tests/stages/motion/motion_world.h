/*
 * A small street with texture, seen by a camera that moves: pictures and exact disparities of a frame, and the
 * true step between two frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_MOTION_WORLD_H
#define SX_TESTS_MOTION_WORLD_H

#include <stdint.h>

#include "base/camera.h"
#include "stages/motion/pair.h"
#include "stages/motion/view.h"
#include "stixel.h"

/*
 * Reason to leave out tests of motion in an emulator: the other tests show that the compiler translated the
 * arithmetic of motion correctly, and these tests have the same arithmetic.
 */
#define SAME_MOTION "the other tests have the same arithmetic"

enum { MW_WIDTH = 640, MW_HEIGHT = 240, MW_BOXES = 6, MW_STIXEL = 4, MW_STIXELS_MAX = 4096 };

/* A box on the road, world coordinates: x right, z ahead, m. */
struct mw_box {
	double x, z, width, length, height;
	double vx, vz; /* m/s */
};

struct mw_world {
	struct sx_camera camera;
	struct mw_box boxes[MW_BOXES];
	int box_count;
	double offset_px; /* offset that is missing in all disparities */
	int noise;	  /* grey levels to both sides, other ones in each frame */
	uint32_t seed;	  /* seed of the texture */
	bool mirrored;	  /* left and right of the world are exchanged */
	bool plain_road;  /* the road has no texture */
};

/* Place of the camera: position on the road, m; yaw to the right, rad; time, s. */
struct mw_pose {
	double x, z, yaw, t;
};

/* A frame: views of the stages, and the stixels of its boxes. */
struct mw_frame {
	struct sx_motion_view view;
	struct stixel stixels[MW_STIXELS_MAX];
	int owner_box[MW_STIXELS_MAX]; /* box of each stixel */
	uint32_t count;
	struct sx_road road;
};

/* A street with walls to both sides and two parked boxes. */
struct mw_world mw_street(uint32_t seed);
/* Draws a frame; number: of the noise. The caller finishes frame->view. */
void mw_draw(const struct mw_world *w, const struct mw_pose *pose, uint32_t number, struct mw_frame *frame);
/* Computes the true way, m, and the turn about y, rad, from `now` to `before`. */
void mw_truth(const struct mw_pose *now, const struct mw_pose *before, double way[3], double *turn);
/* Runs the stages on two frames with nothing known before. Aborts without memory. */
void mw_run(const struct mw_world *w, const struct mw_frame *now, const struct mw_frame *before,
	    struct sx_motion_pair *m);
/* Draws both frames and runs the stages. The caller finishes m. */
void mw_drive(const struct mw_world *w, const struct mw_pose *now, const struct mw_pose *before,
	      struct sx_motion_pair *m);
double mw_turn(const struct sx_motion_step *s);

#endif
