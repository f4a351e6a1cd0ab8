/*
 * Slanted stixels (hernandez-juarez, espinosa, vazquez, lopez, moure: 3D perception with slanted stixels on
 * GPU, TPDS 2021): each column becomes the cheapest sequence of ground planes, upright objects and sky.
 * Confidence weighs disparities. Class scores are used if a pair has them. docs/develop/algorithm.md, slanted
 * stixels.
 *
 * Rows are cells and count up from the image bottom. Arithmetic of a candidate: stages/stixels/slanted_fit.h,
 * slanted_prior.h, slanted_list.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_SLANTED_H
#define SX_STAGES_STIXELS_SLANTED_H

#include "base/image.h"
#include "base/scores.h"
#include "stages/params/params.h"
#include "stages/road/road.h"
#include "stages/stixels/segment.h"
#include "stages/stixels/slanted_list.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Tables, made once per context; the only place with log and exp. Plain data without pointers, so that it can
 * be copied to any machine. score[kind]: energy of the mean probability of a class of this kind, in units of
 * model.semantic (0 counts as half a step). outlier[kind]: cost of a squared residual in the exact model,
 * 1/1024 nats. kw[kind]: factor of its argument per weight.
 */
struct sx_slanted_tables {
	struct sx_slanted_model model;
	int height, cell_height; /* image rows; rows of a cell */
	int width;		 /* width of a column, px */
	int rows;		 /* number of cells in a column */
	int above;		 /* rows above the horizon that may be ground */
	int classes;
	bool exact;
	float least;	     /* lowest share of the expected ground that a measurement may have */
	int64_t sky_most;    /* sx_slanted_sky_part(), with scores; less than 2^31 */
	uint8_t weight[256]; /* weight by confidence */
	uint8_t kind[SX_CLASSES_MAX];
	uint16_t score[3][256];
	float kw[3];
	uint16_t outlier[3][SX_SLANTED_OUTLIERS];
};

/*
 * Creates the tables. -EINVAL for heights outside 1..2160 or a range outside 1..SX_RANGE_MAX (sx_disparity_range()),
 * -ENOMEM.
 */
int sx_slanted_tables_create(struct sx_slanted_tables **ret, const struct sx_params *p, int height,
			     int range);
void sx_slanted_tables_destroy(struct sx_slanted_tables *t);

/*
 * The road of one frame. slope: 1/16 px per row upwards; from row `knee` on the slope is `bent`. least: as in
 * the tables; 0 if the road was never measured. lambda_slope: that of the model.
 */
struct sx_slanted_frame {
	struct sx_slanted_row *row; /* [rows] */
	double cross, axis;	    /* as in struct sx_road */
	float slope, bent, least, lambda_slope;
	int knee;
};

/* Sets the road of a frame. row: memory of the owner, t->rows entries. */
void sx_slanted_frame_set(struct sx_slanted_frame *f, const struct sx_slanted_tables *t,
			  const struct sx_road *road);

/*
 * The road in column u. shift: how much more disparity its ground has than the axis, 1/16 px. vhor: number of
 * rows from the bottom whose expected ground is above 0. Rows below top may be ground. unseen: number of rows
 * from the bottom whose ground, and nearer objects, lie outside the image of the right camera. These rows
 * count as not measured, and no object continues from them to the rows above.
 */
struct sx_slanted_place {
	int32_t shift;
	int vhor, top, unseen;
};
struct sx_slanted_place sx_slanted_place_of(const struct sx_slanted_frame *f,
					    const struct sx_slanted_tables *t, int u);

/*
 * Makes segments from a list of choices, bottom to top. Returns their number, t->rows at most. The unseen
 * rows become one unknown segment, and ground that covered them begins above. Without scores an object with a
 * disparity below 1 px that begins where the ground has less than 1 px, too, becomes sky, and adjacent sky is
 * merged. An object without weight is unknown.
 */
int sx_slanted_publish(const struct sx_slanted_tables *t, const struct sx_slanted_frame *f,
		       const struct sx_slanted_place *at, bool scored, const struct sx_slanted_choice *choice,
		       int n, struct sx_segment *list);

/* Scratch of the reference. */
struct sx_slanted;
int sx_slanted_create(struct sx_slanted **ret, const struct sx_slanted_tables *t);
void sx_slanted_destroy(struct sx_slanted *s);

/*
 * Runs the reference implementation. columns: U16 Q4, rows wide, one row per column (sx_evidence);
 * confidence: U8, same shape, or NULL: every valid cell weighs 255. scores: U8, rows * classes wide,
 * [v][class] (sx_reduce_scores), or NULL. Ties: the longest stixel; object before ground before sky below;
 * ground before object before sky at the top; of the classes the first. Thread: the owner of s; allocates
 * nothing.
 */
void sx_slanted_run(struct sx_slanted *s, const struct sx_road *road, const struct sx_image *columns,
		    const struct sx_image *confidence, const struct sx_image *scores,
		    struct sx_segments *out);

#ifdef __cplusplus
}
#endif

#endif
