/*
 * Slanted stixels (hernandez-juarez, espinosa, vazquez, lopez, moure: 3D perception with slanted
 * stixels on GPU, TPDS 2021): each column becomes the cheapest sequence of ground planes, upright
 * objects and sky; disparities weigh by their confidence, class scores join where a pair has them.
 * docs/algorithm.md, slanted stixels.
 *
 * Rows are cells, counted up from the image bottom. Arithmetic of a candidate: stages/stixels/slanted_fit.h,
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
 * Made once per context; the only place with log and exp. Plain data: no pointers, to be copied to any
 * machine. score: energy of a mean probability, 1/256 nats (0 counts as half a step). outlier[kind]: the
 * exact model's cost of a squared residual, 1/1024 nats; kw[kind]: its argument's factor per weight.
 */
struct sx_slanted_tables {
	struct sx_slanted_model model;
	int height, cell_height; /* image rows; of a cell */
	int width;		 /* of a column, px */
	int rows;		 /* cells of a column */
	int above;		 /* rows above the horizon that may be ground */
	int classes;
	bool exact;
	float least;	     /* share of the expected ground that a measurement has at least */
	int64_t sky_most;    /* sx_slanted_sky_part(), with scores; less than 2^31 */
	uint8_t weight[256]; /* by confidence */
	uint8_t kind[SX_CLASSES_MAX];
	uint16_t score[256];
	float kw[3];
	uint16_t outlier[3][SX_SLANTED_OUTLIERS];
};

/* -EINVAL for heights outside 1..2160 or a range outside 1..384 (sx_disparity_range()), -ENOMEM. */
int sx_slanted_tables_create(struct sx_slanted_tables **ret, const struct sx_params *p, int height,
			     int range);
void sx_slanted_tables_destroy(struct sx_slanted_tables *t);

/*
 * The road of one frame. slope: 1/16 px per row upwards, from row `knee` on `bent`; least: as the tables', 0
 * of a road nobody has seen; lambda_slope: the model's.
 */
struct sx_slanted_frame {
	struct sx_slanted_row *row; /* [rows] */
	double cross, axis;	    /* of struct sx_road */
	float slope, bent, least, lambda_slope;
	int knee;
};

/* row: the owner's, t->rows entries. */
void sx_slanted_frame_set(struct sx_slanted_frame *f, const struct sx_slanted_tables *t,
			  const struct sx_road *road);

/*
 * The road in column u: shift: what its ground has more than the axis, 1/16 px. vhor: rows from the bottom
 * that expect ground above 0; rows below top may be ground. unseen: rows from the bottom whose ground, and
 * what stands before it, the right camera does not have in its image; they count as not measured, and an
 * object does not go on from there.
 */
struct sx_slanted_place {
	int32_t shift;
	int vhor, top, unseen;
};
struct sx_slanted_place sx_slanted_place_of(const struct sx_slanted_frame *f,
					    const struct sx_slanted_tables *t, int u);

/*
 * Makes the segments of a list of choices, bottom to top; returns how many, t->rows at most. The unseen
 * rows become one unknown segment, and ground that covered them begins above. Without scores an object nearer
 * to infinity than 1 px that begins where ground would be as well becomes sky, and sky joins sky; an object
 * without weight is unknown.
 */
int sx_slanted_publish(const struct sx_slanted_tables *t, const struct sx_slanted_frame *f,
		       const struct sx_slanted_place *at, bool scored, const struct sx_slanted_choice *choice,
		       int n, struct sx_segment *list);

/* Scratch of the reference. */
struct sx_slanted;
int sx_slanted_create(struct sx_slanted **ret, const struct sx_slanted_tables *t);
void sx_slanted_destroy(struct sx_slanted *s);

/*
 * The reference. columns: U16 Q4, rows wide, one row per column (sx_evidence); confidence: U8, same shape, or
 * NULL: every valid cell weighs 255. scores: U8, rows * classes wide, [v][class] (sx_reduce_scores), or NULL.
 * Ties: the longest stixel; object before ground before sky below; ground before object before sky at the
 * top; of the classes the first. Thread: the owner of s; allocates nothing.
 */
void sx_slanted_run(struct sx_slanted *s, const struct sx_road *road, const struct sx_image *columns,
		    const struct sx_image *confidence, const struct sx_image *scores,
		    struct sx_segments *out);

#ifdef __cplusplus
}
#endif

#endif
