/*
 * Parameters of slanted stixels, a part of stages/params.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_SLANTED_PARAMS_H
#define SX_STAGES_SLANTED_PARAMS_H

/* What a measurement weighs in the slanted model, by its confidence c in 0..1: c^2, c, or all the same. */
enum sx_confidence_weight { SX_WEIGHT_SQUARED, SX_WEIGHT_LINEAR, SX_WEIGHT_EQUAL };

/* Slanted stixels. sigma_*_px: sqrt 2 times a standard deviation; costs in nats. */
struct sx_slanted_params {
	enum sx_confidence_weight confidence;
	double sigma_ground_px, sigma_object_px, sigma_sky_px;
	double offset_px; /* how far the foot of a ground stixel lies from the road, */
	double slope_px;  /* and how much steeper it is, px per image row */
	int above;	  /* percent of the image height that ground may reach above the road's horizon */
	double cut;	  /* of each stixel */
	double gravity; /* of an object that does not stand on the ground: this times (1 + px of disparity) */
	double order;	/* of an object nearer than the one below it: likewise */
	double gap;	/* of ground that does not go on where the ground below it ends */
	double semantic; /* weight of the class scores' energy */
};

#endif
