/*
 * Slanted stixels: values per context and per frame, and the conversion of a finished list. See slanted.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/slanted.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stages/road/road_ground.h"
#include "stages/road/road_scale.h"
#include "stages/stixels/cells.h"

#define SQRT_PI 1.77245385090551602730
/* Chosen on KITTI 2015 with scores of real networks: tests/lab/lab-accuracy.md. */
#define SKY_SURE 2.5
#define SKY_STEEP 3.0
#define SCORE_MAX 7000 /* times 2160 rows below 2^24 */

enum { G = STIXEL_GROUND, S = STIXEL_SKY };

static double weight_of(int c, const struct sx_slanted_params *s)
{
	const double part = c / (255.0 * s->confidence_full), most = part > 1 ? 1 : part;

	return 255.0 * (s->confidence == SX_WEIGHT_SQUARED  ? most * most
			: s->confidence == SX_WEIGHT_LINEAR ? most
							    : 1);
}

/* Returns the nats per unit. Residuals are in 1/16 px, weights in 1/255. */
static double nats_per_unit(double sigma_px)
{
	return 1.0 / (255.0 * 256.0 * sigma_px * sigma_px);
}

static void fill_model(struct sx_slanted_tables *t, const struct sx_slanted_params *s)
{
	const double slope_px = s->slope_px * t->cell_height, bent_px = s->bent_px * t->cell_height;
	const double weight = 255.0 * s->sigma_ground_px * s->sigma_ground_px;

	t->model = (struct sx_slanted_model){
		.lambda_offset = (float)(weight / (s->offset_px * s->offset_px)),
		.lambda_slope = (float)(weight / (slope_px * slope_px)),
		.lambda_bent = (float)(weight / (bent_px * bent_px)),
		.roughness = (float)(s->roughness / (16.0 * s->sigma_ground_px)),
		.k_ground = (float)nats_per_unit(s->sigma_ground_px),
		.k_object = (float)nats_per_unit(s->sigma_object_px),
		.k_sky = (float)nats_per_unit(s->sigma_sky_px),
		.cut = (float)s->cut,
		/* twice the cut: below a first object there is also ground, which the image does not show */
		.cut_first_object = (float)(s->cut + s->cut),
		.gravity = (float)(s->gravity / 16.0),
		.cut_order = (float)(s->cut + s->order),
		.order = (float)(s->order / 16.0),
		.cut_gap = (float)(s->cut + s->gap),
		.hole = (float)s->hole,
		.feet = s->feet_px / t->cell_height,
	};
}

/*
 * Returns the energy of a cell in a class of a kind whose mean probability is c / 255, nats. Networks are
 * wrong about ground and objects in whole areas, so their probabilities weigh little. They know the sky well,
 * and the disparity does not: a certain sky costs SKY_SURE nats less than anything else. Without any
 * information, c = 0 in all classes, all kinds cost the same.
 */
static double score_of(int kind, int c, double weight)
{
	const double nats = -log((c ? c : 0.5) / 255.0), most = SKY_SURE + weight * log(510.0);

	return kind == S ? fmin(SKY_STEEP * nats, most) : SKY_SURE + weight * nats;
}

/*
 * Fills the energies of scores, in units of the largest of them / SCORE_MAX. The sum of a column is below 2^24,
 * so it is exact as a float.
 */
static void fill_scores(struct sx_slanted_tables *t, double weight)
{
	const double unit = (SKY_SURE + weight * log(510.0)) / SCORE_MAX;

	t->model.semantic = (float)unit;
	for (int kind = G; kind <= S; kind++)
		for (int c = 0; c < 256; c++)
			t->score[kind][c] = (uint16_t)floor(score_of(kind, c, weight) / unit + 0.5);
}

/*
 * Fills the costs of outliers: -ln of the mixture of outliers (uniform over the range) and the gaussian
 * exp(-r2) / (sigma sqrt pi), less its value at r2 = 0. With few outliers the cost is about r2, as in the
 * model without outliers.
 */
static void fill_outliers(uint16_t *cost, double p_outlier, double sigma_px, int range)
{
	const double uniform = p_outlier * sigma_px * SQRT_PI / ((1.0 - p_outlier) * range);

	for (int i = 0; i < SX_SLANTED_OUTLIERS; i++) {
		const double gauss = i < SX_SLANTED_OUTLIERS - 1 ? exp(-i / 128.0) : 0.0;
		const double x = 1024.0 * (log(uniform + 1.0) - log(uniform + gauss));

		cost[i] = (uint16_t)floor((x < 0 ? 0 : x > 65535 ? 65535 : x) + 0.5);
	}
}

/*
 * Returns the lowest share of the ground's expected disparity that a measurement may have. below: how much of
 * this disparity may be missing, as a share, with a camera at the height SX_ROAD_CAR_M. It corresponds to a
 * depth below the road. With a lower camera the same depth is a larger share. So a step down that a small
 * robot could fall from does not count as a reflection.
 */
static float slanted_least(double below, double height_m)
{
	const double depth_m = below * SX_ROAD_CAR_M / (1.0 - below);

	if (below >= 1.0 || !(height_m > 0.0) || height_m >= SX_ROAD_CAR_M)
		return (float)(1.0 - below);
	return (float)(height_m / (height_m + depth_m));
}

int sx_slanted_tables_create(struct sx_slanted_tables **ret, const struct sx_params *p, int height, int range)
{
	const struct sx_slanted_params *s = &p->stixels.slanted;
	const double sigma[3] = {s->sigma_ground_px, s->sigma_object_px, s->sigma_sky_px};
	struct sx_slanted_tables *t;

	if (height < 1 || height > 2160 || sx_cell_rows(&p->stixels, height) < 1 || range < 1 ||
	    range > SX_RANGE_MAX)
		return -EINVAL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->height = height;
	t->width = p->stixels.width;
	t->cell_height = sx_cell_height(&p->stixels);
	t->rows = sx_cell_rows(&p->stixels, height);
	t->above = (height * s->above / 100 + t->cell_height - 1) / t->cell_height;
	t->classes = p->semantics.classes;
	t->exact = p->stixels.method == SX_STIXEL_SLANTED_EXACT;
	t->sky_most = (int64_t)fmin(s->sky_outlier / nats_per_unit(s->sigma_sky_px), INT32_MAX);
	t->least = slanted_least(s->below, p->camera.height_m);
	fill_model(t, s);
	for (int c = 0; c < 256; c++)
		t->weight[c] = (uint8_t)floor(weight_of(c, s) + 0.5);
	fill_scores(t, s->semantic);
	for (int k = 0; k < SX_CLASSES_MAX; k++)
		t->kind[k] = p->semantics.kind[k];
	for (int k = G; k <= S; k++) {
		t->kw[k] = (float)(128.0 * nats_per_unit(sigma[k]));
		fill_outliers(t->outlier[k], k == S ? p->stixels.p_outlier_sky : p->stixels.p_outlier,
			      sigma[k], range);
	}
	*ret = t;
	return 0;
}

void sx_slanted_tables_destroy(struct sx_slanted_tables *t)
{
	free(t);
}

void sx_slanted_frame_set(struct sx_slanted_frame *f, const struct sx_slanted_tables *t,
			  const struct sx_road *road)
{
	const double limit = SX_SLANTED_GROUND_MAX_Q4;

	f->knee = t->rows;
	for (int v = 0; v < t->rows; v++) {
		/* the centre of the image rows of the cell */
		const double y = (t->height - 1 - v * t->cell_height) - 0.5 * (t->cell_height - 1);
		const double g = sx_road_row_q4(road, y);
		const double q4 = rint(g > limit ? limit : g < -limit ? -limit : g);

		f->row[v] = sx_slanted_row_of(&t->model, (int32_t)q4);
		if (y < road->bend_row && v < f->knee)
			f->knee = v;
	}
	f->cross = road->cross;
	f->axis = road->axis;
	/* a road that was not measured may be wrong; then measurements below it count */
	f->least = road->origin == SX_ROAD_MEASURED || road->origin == SX_ROAD_PREVIOUS ? t->least : 0.0f;
	f->lambda_slope = road->bend != 0.0 ? t->model.lambda_bent : t->model.lambda_slope;
	f->slope = (float)(-16.0 * road->slope * t->cell_height);
	f->bent = (float)(-16.0 * (road->slope - road->bend) * t->cell_height);
}

struct sx_slanted_place sx_slanted_place_of(const struct sx_slanted_frame *f,
					    const struct sx_slanted_tables *t, int u)
{
	struct sx_slanted_place p = {.shift = sx_road_shift_q4(f->cross, f->axis, u, t->width)};

	const int32_t limit = sx_road_in_view_q4(u, t->width);

	while (p.unseen < t->rows && sx_slanted_expected(f->row[p.unseen].ground_q4, p.shift) > limit)
		p.unseen++;
	while (p.vhor < t->rows && sx_slanted_expected(f->row[p.vhor].ground_q4, p.shift) > 0)
		p.vhor++;
	p.top = p.vhor + t->above < t->rows ? p.vhor + t->above : t->rows;
	if (p.vhor == 0)
		p.top = 0;
	return p;
}

/* Moves cells from the lower end of `object` to the ground below it: sx_slanted_is_before(). */
static void rise(const struct sx_slanted_tables *t, const struct sx_slanted_frame *f, int32_t shift,
		 struct sx_segment *ground, struct sx_segment *object)
{
	for (int n = sx_slanted_feet(&t->model, object); n > 0; n--) {
		const struct sx_slanted_row *below = f->row + object->v_bottom - 1;

		if (!sx_slanted_is_before(ground, object, t->cell_height,
					  sx_slanted_expected(below->ground_q4, shift)))
			break;
		object->v_bottom++;
		ground->v_top++;
	}
}

int sx_slanted_publish(const struct sx_slanted_tables *t, const struct sx_slanted_frame *f,
		       const struct sx_slanted_place *at, bool scored, const struct sx_slanted_choice *choice,
		       int n, struct sx_segment *list)
{
	int kept = 0;

	if (at->unseen > 0)
		list[kept++] = sx_segment_unseen(at->unseen);
	for (int i = 0; i < n; i++) {
		struct sx_slanted_choice c = choice[i];
		struct sx_slanted_geometry g = {.cell_height = t->cell_height, .scored = scored};
		struct sx_segment s;

		if (!sx_slanted_cut_unseen(&c, at->unseen))
			continue;
		g.slope = c.v_bottom < f->knee ? f->slope : f->bent;
		g.ground_q4 = sx_slanted_expected(f->row[c.v_bottom].ground_q4, at->shift);
		s = sx_slanted_segment(&g, &c);
		if (kept && s.kind == STIXEL_OBJECT && list[kept - 1].kind == STIXEL_GROUND)
			rise(t, f, at->shift, &list[kept - 1], &s);
		if (kept && !scored && s.kind == S && list[kept - 1].kind == S)
			list[kept - 1].v_top = s.v_top;
		else
			list[kept++] = s;
	}
	return kept;
}
