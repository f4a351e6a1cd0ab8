/*
 * Multi-layer stixels by dynamic programming (hernandez-juarez, espinosa, vazquez, lopez, moure:
 * GPU-accelerated real-time stixel computation, WACV 2017): each column becomes the cheapest sequence of
 * ground, object and sky segments. Energies are int32 Q12 nats; docs/develop/algorithm.md, stixel DP, has
 * formulas and corrections.
 *
 * Rows count up from the image bottom. All logarithms and error functions are in tables that the host makes
 * once per context. The tables depend on the road only through ground disparities in Q4. So each column of a
 * rolled road costs one pass over the rows (sx_dp_place_set), in integers, on the processor that computes the
 * frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_STIXEL_DP_H
#define SX_STAGES_STIXELS_STIXEL_DP_H

#include "base/image.h"
#include "stages/params/params.h"
#include "stages/road/road.h"
#include "stages/stixels/segment.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SX_DP_INF 0x3fffffff /* cost of an illegal option: it is compared, never added to */

/*
 * Prior of an object on an object, indexed by the mean of the lower one. It is legal if the upper mean is >
 * hi or < lo.
 */
struct sx_dp_order {
	int32_t hi, lo; /* Q4; depth span around the mean in which two objects are one */
	int32_t cost_hi, cost_lo;
};

/*
 * Tables, made once per context from parameters, camera, height h and range D (number of disparities that a
 * map can hold). Values are in Q12 nats unless another unit is given. Each is clamped so that the sum of a
 * column cannot reach SX_DP_INF with any parameters (probabilities down to 1e-12, sigmas down to 1/64 px, h
 * to 2160).
 */
struct sx_dp_tables {
	int height, range, epsilon_q4;
	int width; /* width of a column, px */
	/*
	 * Pixel costs. object[dq][fn], dq = rounded disparity, row D for an invalid cell;
	 * fn = mean of the object
	 */
	int32_t *object; /* [D + 1][D] */
	/* [16 D + 1] by clamped ground Q4; precision: Q20 1/(2 sigma^2) */
	int32_t *base_ground, *precision_ground;
	int32_t base_sky, precision_sky;
	int32_t uniform_ground, uniform_sky; /* cost of outliers: limit of the gaussian part */
	int32_t valid_ground, valid_sky, invalid_ground, invalid_sky;
	/* Priors */
	int32_t *length;	   /* [h]: ln(h - v_bottom) */
	struct sx_dp_order *order; /* [16 D], indexed by the lower mean, Q4 */
	/* [16 D + 1] by clamped ground Q4: the object floats, or lies below */
	int32_t *gravity_above, *gravity_below;
	int32_t gravity_on; /* object stands on the ground */
	int32_t object_on_sky;
	int32_t ground_next, object_next, ln2;		      /* -ln 0.3, -ln 0.7, ln 2 */
	int32_t first_ground, first_object, first_object_low; /* low: the segment ends below the horizon */
};

/*
 * Creates the tables. range: sx_disparity_range(). -EINVAL for h outside 1..2160 or D outside 1..SX_RANGE_MAX,
 * -ENOMEM. Without a camera model (fx 0) there are no depth spans: noise and order use the pixel sigmas and
 * 0.
 */
int sx_dp_tables_create(struct sx_dp_tables **ret, const struct sx_params *p, int height, int range);
void sx_dp_tables_destroy(struct sx_dp_tables *t);
size_t sx_dp_tables_bytes(const struct sx_dp_tables *t); /* memory that create took, bytes */

/*
 * Returns the disparity span of an object of depth extent depth_order_m at a mean, both Q4; 0 at 0. rdp uses
 * it, too.
 */
int sx_dp_depth_span_q4(const struct sx_params *p, int mean_q4);

/*
 * Part of the prior that depends on the start row v_bottom only (>= 1). SX_DP_INF: illegal. p = v_bottom - 1.
 */
struct sx_dp_row {
	int32_t object_on_object; /* plus order[].cost_* */
	int32_t hi, lo, cost_hi, cost_on,
		cost_lo; /* object on ground (p < vhor) or on sky: mean > hi, between lo and hi, < lo */
	int32_t ground;	 /* ground on ground or on an object */
	int32_t sky_on_object, sky_on_ground;
};

/* The road of one frame for the DP. axis_q4: ground at the axis, signed. */
struct sx_dp_frame {
	int32_t *axis_q4; /* [h] */
	double cross, axis;
	int16_t slope_q14; /* slope of ground segments, per row upwards, saturated */
};

int sx_dp_frame_init(struct sx_dp_frame *f, int height);
size_t sx_dp_frame_bytes(int height); /* memory that init takes, bytes */
void sx_dp_frame_finish(struct sx_dp_frame *f);
void sx_dp_frame_set(struct sx_dp_frame *f, const struct sx_dp_tables *t, const struct sx_road *road);
/* Returns how much more ground disparity column u has than the axis: sx_road_shift_q4(). */
int32_t sx_dp_shift_q4(const struct sx_dp_frame *f, const struct sx_dp_tables *t, int u);

/* The road for all columns with one shift. ground_q4: signed; vhor 0..h; rows[0] is not used. */
struct sx_dp_place {
	int32_t *ground_q4;
	struct sx_dp_row *rows;
	int vhor;
	int16_t slope_q14; /* slope of the frame */
};

int sx_dp_place_init(struct sx_dp_place *p, int height);
size_t sx_dp_place_bytes(int height); /* memory that init takes, bytes */
void sx_dp_place_finish(struct sx_dp_place *p);
void sx_dp_place_set(struct sx_dp_place *p, const struct sx_dp_tables *t, const struct sx_dp_frame *f,
		     int32_t shift_q4);

/*
 * Returns the cost of one cell as ground (v < vhor) and as sky. d: Q4 or SX_DISPARITY_INVALID. A measurement
 * below the ground is noise and costs as much as one on the ground.
 */
int32_t sx_dp_ground_cost(const struct sx_dp_tables *t, int32_t ground_q4, uint16_t d);
int32_t sx_dp_sky_cost(const struct sx_dp_tables *t, uint16_t d);

/*
 * Completes the finished list of column u in place. The lowest rows, which the right camera does not see
 * (sx_road_unseen_rows()), become one unknown segment, and a segment that reaches into them begins above.
 * Sets disparity and slope. Objects with a disparity below 1 px that start above the horizon become sky, and
 * adjacent sky is merged. An object without any valid cell that remains below the horizon becomes unknown.
 * Returns the new number of segments, at most the number of rows. support[v]: number of valid cells in the
 * rows below v.
 */
int sx_dp_finish_list(const struct sx_dp_place *p, const struct sx_dp_tables *t, int u,
		      const uint16_t *support, struct sx_segment *list, int n);

/* Scratch of the reference: about 4 (h + 1) D bytes. */
struct sx_dp;
int sx_dp_create(struct sx_dp **ret, const struct sx_dp_tables *t);
void sx_dp_destroy(struct sx_dp *dp);

/*
 * Runs the reference implementation, as in the paper: O(h^2) pairs per column. columns: U16 Q4, h wide, one
 * row per column (sx_reduce); a valid disparity of D or more counts as D - 1/16. out: one list and total per
 * column. Ties: longer segment; object before ground before sky as predecessor; ground before object before
 * sky at the top. Thread: the owner of dp; allocates nothing.
 */
void sx_dp_run(struct sx_dp *dp, const struct sx_road *road, const struct sx_image *columns,
	       struct sx_segments *out);

#ifdef __cplusplus
}
#endif

#endif
