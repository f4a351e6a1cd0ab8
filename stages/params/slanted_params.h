/*
 * Parameters of slanted stixels, a part of stages/params/params.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_PARAMS_SLANTED_PARAMS_H
#define SX_STAGES_PARAMS_SLANTED_PARAMS_H

/*
 * What a measurement weighs in the slanted model: c^2 or c, c = confidence / confidence_full up to 1;
 * or all the same.
 */
enum sx_confidence_weight { SX_WEIGHT_SQUARED, SX_WEIGHT_LINEAR, SX_WEIGHT_EQUAL };

/* Slanted stixels. sigma_*_px: sqrt 2 times a standard deviation; costs in nats. */
struct sx_slanted_params {
	enum sx_confidence_weight confidence;
	double confidence_full; /* the confidence, in 0..1, from which on a measurement weighs all */
	double sigma_ground_px, sigma_object_px, sigma_sky_px; /* ground: where it is far away */
	/* how far ground lies from a plane, as a share of its disparity (of the camera's height) */
	double roughness;
	double offset_px; /* how far the foot of a ground stixel lies from the road, far away, */
	double slope_px;  /* and how much steeper it is, px per image row, */
	double bent_px;	  /* likewise where the road was seen to climb or fall */
	int above;	  /* percent of the image height that ground may reach above the road's horizon */
	double cut;	  /* of each stixel */
	/* of an object off the ground: this times (1 + px of disparity), less where ground is rough */
	double gravity;
	double order;	    /* of an object nearer than the one below it: this times (1 + px of disparity) */
	double gap;	    /* of ground that does not go on where the ground below it ends */
	double hole;	    /* of a cell of ground without a disparity */
	double semantic;    /* weight of the class scores' energy */
	double sky_outlier; /* with scores: what a cell can cost as sky at most */
	/*
	 * Share of the expected ground by which a measurement below it counts as none, at 1.65 m; at less
	 * the same depth below the road.
	 */
	double below;
	int fill_px; /* how far to each side holes are filled from, px, 0..512; 0: not at all */
	int feet_px; /* how much of an object's lower end may become ground, image rows, 0..512 */
};

#endif
