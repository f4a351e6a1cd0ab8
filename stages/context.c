/*
 * Checks and names that all backends share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/context.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "stages/params_check.h"
#include "stages/rectify/rig.h"
#include "stages/stereo/census.h"
#include "stages/stereo/ingest.h"
#include "stages/stixels/cells.h"
#include "stages/stixels/compact.h"
#include "stages/stixels/reduce.h"

const char *const sx_volume_names[] = {[SX_VOLUME_AUTO] = "auto",
				       [SX_VOLUME_STORED] = "stored",
				       [SX_VOLUME_RECOMPUTE] = "counted",
				       [SX_VOLUME_CHECKPOINT] = "checkpoint",
				       NULL};

static const char *const stage_names[SX_STAGE_COUNT] = {
	[SX_STAGE_INGEST] = "ingest",	      [SX_STAGE_CENSUS] = "census",
	[SX_STAGE_AGGREGATE] = "sgm",	      [SX_STAGE_WINNER] = "winner",
	[SX_STAGE_MEDIAN] = "median",	      [SX_STAGE_LEFT_RIGHT] = "left_right",
	[SX_STAGE_SPECKLE] = "speckle",	      [SX_STAGE_SMOOTH] = "smooth",
	[SX_STAGE_CONFIDENCE] = "confidence", [SX_STAGE_ROAD] = "road",
	[SX_STAGE_REDUCE] = "reduce",	      [SX_STAGE_SEGMENT] = "segment",
	[SX_STAGE_COMPACT] = "compact",	      [SX_STAGE_DIAGNOSTICS] = "monitor",
	[SX_STAGE_MOTION] = "motion",
};

const char *sx_stage_name(enum sx_stage stage, const struct sx_stereo_params *p)
{
	if (stage == SX_STAGE_WINNER && p->matcher == SX_MATCH_EXTERNAL)
		return "external";
	if (stage == SX_STAGE_CENSUS && p->cost == SX_COST_ZNCC)
		return "zncc";
	if (stage == SX_STAGE_AGGREGATE && p->aggregation == SX_AGGREGATION_FASTDT)
		return "fastdt";
	return stage_names[stage];
}

/*
 * Returns the reason why an engine with these abilities refuses p, in the same words for every engine; NULL
 * if it accepts p.
 */
static const char *context_refusal(const struct sx_params *p, unsigned abilities)
{
	if (p->stereo.aggregation == SX_AGGREGATION_FASTDT && !(abilities & SX_CAN_FASTDT_WIDE)) {
		if (p->stereo.fastdt == SX_FASTDT_FLOAT)
			return "stereo.fastdt = float: only engine.backend = reference computes it";
		if (p->stereo.fastdt == SX_FASTDT_INT32)
			return "stereo.fastdt = int32: only engine.backend = reference computes it";
	}
	if (p->stixels.method == SX_STIXEL_SLANTED_EXACT && !(abilities & SX_CAN_SLANTED_EXACT))
		return "stixels.method = slanted-exact: only engine.backend = cpu or reference computes it";
	if (sx_is_pyramid(&p->stereo) && p->stereo.cost == SX_COST_ZNCC && !(abilities & SX_CAN_PYRAMID_ZNCC))
		return "stereo.search = pyramid with stereo.cost = zncc: only engine.backend = cpu or reference "
		       "computes it";
	return NULL;
}

int sx_context_check(const struct sx_context_config *c, const char *engine, unsigned abilities,
		     struct sx_why *why)
{
	const char *refusal = context_refusal(&c->params, abilities);

	if (refusal)
		return sx_why_fail(-ENOTSUP, why, "%s", refusal);
	if (!sx_ingest_supports(c->pixel))
		return sx_why_fail(-EINVAL, why, "engine %s cannot read images in format %s", engine,
				   sx_pixel_name(c->pixel));
	if (c->rectify && (c->rig.width != c->width || c->rig.height != c->height))
		return sx_why_fail(-EINVAL, why, "the cameras are rectified to %dx%d, not to %dx%d",
				   c->rig.width, c->rig.height, c->width, c->height);
	if (c->rectify && sx_rig_check(&c->rig, why) < 0)
		return -EINVAL;
	return sx_params_check(&c->params, c->width, c->height, why);
}

static const char *mode_name(const struct sx_context_config *c)
{
	return c->params.motion.mode == SX_MOTION_MODE_FILTER ? "filter" : "pair";
}

int sx_chain_check(const struct sx_context_config *c, struct sx_why *why)
{
	const struct sx_camera *camera = &c->params.camera;

	if (camera->fx > 0 && camera->fy > 0 && camera->baseline_m > 0)
		return 0;
	return sx_why_fail(-EINVAL, why, "motion.mode = %s needs a camera: fx, fy and baseline",
			   mode_name(c));
}

bool sx_has_same_range(const struct sx_context_config *a, const struct sx_context_config *b)
{
	const struct sx_camera *x = &a->params.camera, *y = &b->params.camera;

	return a->width == b->width && a->height == b->height && x->fx == y->fx && x->fy == y->fy &&
	       x->cx == y->cx && x->cy == y->cy && x->baseline_m == y->baseline_m &&
	       a->rectify == b->rectify && memcmp(&a->rig, &b->rig, sizeof(a->rig)) == 0;
}

bool sx_chain_fits(const struct sx_context_config *a, const struct sx_context_config *b)
{
	const struct sx_stixel_params *s = &a->params.stixels, *t = &b->params.stixels;

	return sx_has_same_range(a, b) && a->params.motion.mode == b->params.motion.mode &&
	       s->width == t->width && sx_cell_rows(s, a->height) == sx_cell_rows(t, b->height) &&
	       s->max_per_column == t->max_per_column;
}

int sx_chain_refuse(const struct sx_context_config *c, struct sx_why *why)
{
	return sx_why_fail(-ENOTSUP, why,
			   "motion.mode = %s: only engine.backend = cpu or reference computes it",
			   mode_name(c));
}

int sx_chain_create(struct sx_chain **ret, const struct sx_backend *backend, struct sx_device *d,
		    const struct sx_context_config *c, struct sx_why *why)
{
	*ret = NULL;
	if (c->params.motion.mode == SX_MOTION_MODE_OFF)
		return 0;
	if (!backend->chain_create)
		return sx_chain_refuse(c, why);
	return sx_chain_check(c, why) < 0 ? -EINVAL : backend->chain_create(ret, d, c, why);
}

int sx_context_maps_init(struct sx_rectify_map map[2], const struct sx_context_config *c)
{
	const struct sx_stereo_params *p = &c->params.stereo;
	const int window = p->zncc_window / 2;
	const int radius[2] = {p->cost == SX_COST_ZNCC ? window : SX_CENSUS_RADIUS_X,
			       p->cost == SX_COST_ZNCC ? window : SX_CENSUS_RADIUS_Y};
	int r = 0;

	map[0] = map[1] = (struct sx_rectify_map){0};
	for (int side = 0; c->rectify && side < 2 && r == 0; side++)
		r = sx_rectify_map_init(&map[side], &c->rig, side, radius);
	if (r < 0)
		sx_rectify_map_finish(&map[0]);
	return r;
}

size_t sx_context_stixels(const struct sx_context_config *c)
{
	const struct sx_stixel_params *p = &c->params.stixels;

	return sx_compact_capacity(sx_reduce_columns(c->width, p->width), sx_cell_rows(p, c->height),
				   p->max_per_column);
}

void sx_context_resolve(struct sx_params *p)
{
	sx_stereo_resolve(&p->stereo);
	if (p->stereo.matcher == SX_MATCH_EXTERNAL)
		p->filters.left_right = -1;
}

static bool fits(const struct sx_context_config *c, const struct sx_image *img)
{
	const int width = sx_context_pair_width(c);

	return img->data && img->width == width && img->height == sx_context_pair_height(c) &&
	       img->pixel == c->pixel && img->pitch >= (size_t)width * sx_pixel_bytes(c->pixel);
}

const struct sx_scores *sx_context_scores(const struct sx_context_config *c, const struct sx_pair *pair)
{
	return sx_is_slanted(&c->params.stixels) && c->params.semantics.classes > 0 ? pair->scores : NULL;
}

static bool scores_fit(const struct sx_context_config *c, const struct sx_scores *s)
{
	if (!s)
		return true;
	return s->data && s->classes == c->params.semantics.classes && s->scale >= 1 &&
	       s->scale <= SX_SCORES_SCALE_MAX && s->width == (c->width + s->scale - 1) / s->scale &&
	       s->height == (c->height + s->scale - 1) / s->scale && s->pitch >= (size_t)s->width &&
	       s->plane_bytes >= s->pitch * (size_t)(s->height - 1) + (size_t)s->width;
}

const struct sx_disparity *sx_context_disparity(const struct sx_context_config *c, const struct sx_pair *pair)
{
	return c->params.stereo.matcher == SX_MATCH_EXTERNAL ? pair->disparity : NULL;
}

static bool disparity_fits(const struct sx_context_config *c, const struct sx_disparity *d)
{
	if (!d)
		return true;
	return d->data && d->width == c->width && d->height == c->height &&
	       d->pitch % sizeof(*d->data) == 0 && d->pitch >= (size_t)d->width * sizeof(*d->data) &&
	       (!d->confidence || d->confidence_pitch >= (size_t)d->width);
}

int sx_context_check_pair(const struct sx_context_config *c, const struct sx_pair *pair)
{
	if (!fits(c, &pair->left) || !fits(c, &pair->right))
		return -EINVAL;
	return scores_fit(c, sx_context_scores(c, pair)) && disparity_fits(c, sx_context_disparity(c, pair))
		       ? 0
		       : -EINVAL;
}
