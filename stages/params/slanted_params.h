/*
 * Parameters of slanted stixels, a part of stages/params/params.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_PARAMS_SLANTED_PARAMS_H
#define SX_STAGES_PARAMS_SLANTED_PARAMS_H

/*
 * Weight of a measurement in the slanted model: c^2 or c, with c = confidence / confidence_full and at most
 * 1, or the same weight for all.
 */
enum sx_confidence_weight { SX_WEIGHT_SQUARED, SX_WEIGHT_LINEAR, SX_WEIGHT_EQUAL };

/* Slanted stixels. sigma_*_px: sqrt 2 times a standard deviation. Costs are in nats. */
struct sx_slanted_params {
	enum sx_confidence_weight confidence;
	double confidence_full; /* lowest confidence, in 0..1, with full weight */
	double sigma_ground_px, sigma_object_px, sigma_sky_px; /* ground: far away */
	/*
	 * distance of the ground from a plane, as a share of its disparity (equal to a share of the camera
	 * height)
	 */
	double roughness;
	double offset_px; /* distance of the foot of a ground stixel from the road, far away */
	double slope_px; /* difference between the slopes of a ground stixel and the road, px per image row */
	double bent_px;	 /* slope_px for a frame in which the road climbs or falls */
	int above;  /* greatest height of ground above the horizon of the road, percent of the image height */
	double cut; /* cost of each stixel */
	/* cost of an object off the ground: this times (1 + px of disparity), less where ground is rough */
	double gravity;
	double order; /* cost of an object nearer than the object below: this times (1 + px of disparity) */
	double gap;   /* cost of ground that does not continue the ground below */
	double hole;  /* cost of a ground cell without a disparity */
	double semantic;    /* weight of class scores between ground and objects, and among their classes */
	double class_cut;   /* with scores: cost of a change of class in ground, 0..1000; 0: no cuts there */
	double sky_outlier; /* with scores: greatest cost of a cell as sky */
	/*
	 * At a camera height of 1.65 m: a measurement below the expected ground by more than this share of it
	 * does not count. Lower cameras use the share that corresponds to the same depth below the road.
	 */
	double below;
	int fill_px; /* greatest distance from which a hole is filled, px, 0..512; 0: holes stay */
	int feet_px; /* greatest part of an object's lower end that may become ground, image rows, 0..512 */
};

#endif
