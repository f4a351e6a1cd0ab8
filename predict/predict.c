/*
 * Formula of the prediction (predict.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "predict/predict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "stages/stereo/sgm.h"
#include "stages/stixels/cells.h"

/* Warp instructions per clock and multiprocessor, for every architecture since Volta. */
#define ISSUES 4
#define CELL 4 /* cell size for which stixels were counted, px */
/* Largest sum of all path costs for which rows and winner-takes-all are one kernel. */
#define NARROW_SUM 480

static const char *const cost_names[] = {"csct", "census", "census48", "census63", "zncc"};
static const char *const method_names[] = {"dp", "slanted", "rdp", "slanted-exact"};

/* Notes a setting that was not counted. Only the first one is kept. Always returns false. */
static bool lacks(struct sx_prediction *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool lacks(struct sx_prediction *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!*p->missing)
		vsnprintf(p->missing, sizeof(p->missing), format, args);
	va_end(args);
	return false;
}

/* Returns true if the work of the descriptors was counted for these settings. */
static bool counts_census(struct sx_prediction *p, const struct sx_stereo_params *s)
{
	if (s->cost != SX_COST_CSCT)
		return lacks(p, "stereo.cost = %s: counted for csct", cost_names[s->cost]);
	return true;
}

/* Returns true if the work of paths and winner-takes-all was counted for these settings. */
static bool counts_paths(struct sx_prediction *p, const struct sx_stereo_params *s)
{
	if (!counts_census(p, s))
		return false;
	if (s->aggregation != SX_AGGREGATION_SGM)
		return lacks(p, "stereo.aggregation = fastdt: counted for sgm");
	if (s->paths != 4)
		return lacks(p, "stereo.paths = %d: counted for 4", s->paths);
	if (s->disparities != 64 && s->disparities != 128)
		return lacks(p, "stereo.disparities = %d: counted for 64 and 128", s->disparities);
	if (s->matcher == SX_MATCH_EXTERNAL)
		return lacks(p, "stereo.matcher = external: another process matches");
	if (sx_is_pyramid(s))
		return lacks(p, "stereo.search = pyramid: counted for full");
	if (s->p2_edge)
		return lacks(p, "stereo.p2_edge = %d: counted for 0", s->p2_edge);
	if (s->out_of_view != SX_OUT_OF_VIEW_ZERO)
		return lacks(p, "model.out_of_view = max: counted for zero");
	if (sx_sgm_largest(s) > NARROW_SUM)
		return lacks(p, "sums of paths up to %d (P2): counted for at most %d", sx_sgm_largest(s),
			     NARROW_SUM);
	return true;
}

static bool counts_filters(struct sx_prediction *p, const struct sx_filter_params *f)
{
	if (f->median)
		return lacks(p, "filters.median = yes: counted for no");
	if (f->left_right < 0)
		return lacks(p, "filters.left_right = -1: counted with the check");
	if (!f->smooth)
		return lacks(p, "filters.smooth = no: counted for yes");
	return true;
}

static bool counts_stixels(struct sx_prediction *p, const struct sx_params *a)
{
	const struct sx_stixel_params *s = &a->stixels;

	if (s->method != SX_STIXEL_SLANTED)
		return lacks(p, "stixels.method = %s: counted for slanted", method_names[s->method]);
	if (s->width != CELL || sx_cell_height(s) != CELL)
		return lacks(p, "cells of %dx%d px: counted for 4x4 (stixels.width, stixels.cell_height)",
			     s->width, sx_cell_height(s));
	if (s->reduction != SX_REDUCTION_MEDIAN)
		return lacks(p, "stixels.reduction = mean: counted for median");
	if (a->semantics.classes)
		return lacks(p, "class scores: counted without");
	return true;
}

static bool counts_stage(struct sx_prediction *p, enum sx_stage stage, const struct sx_params *a)
{
	switch (stage) {
	case SX_STAGE_CENSUS:
		return counts_census(p, &a->stereo);
	case SX_STAGE_AGGREGATE:
	case SX_STAGE_WINNER:
		return counts_paths(p, &a->stereo);
	case SX_STAGE_MEDIAN:
	case SX_STAGE_SMOOTH:
		return counts_filters(p, &a->filters);
	case SX_STAGE_ROAD:
		return a->road.mode == SX_ROAD_PLANE || lacks(p, "road.mode = calibrated: counted for plane");
	case SX_STAGE_REDUCE:
	case SX_STAGE_SEGMENT:
		return counts_stixels(p, a);
	default:
		return true;
	}
}

/*
 * Returns true for the stages that are predicted. In the CUDA engine the other stages are parts of these. The
 * image diagnostics run beside them and are shorter.
 */
static bool is_run(enum sx_stage stage)
{
	return stage != SX_STAGE_INGEST && stage != SX_STAGE_LEFT_RIGHT && stage != SX_STAGE_SPECKLE &&
	       stage != SX_STAGE_CONFIDENCE && stage != SX_STAGE_DIAGNOSTICS && stage != SX_STAGE_MOTION;
}

static double instructions_of(const struct sx_work *w, const struct sx_predict_case *c)
{
	const double pixels = (double)c->width * c->height, columns = (c->width + CELL - 1) / CELL;
	const double cells = c->height / CELL;

	return w->instructions[SX_WORK_CELL] * pixels * c->params->stereo.disparities +
	       w->instructions[SX_WORK_PIXEL] * pixels +
	       w->instructions[SX_WORK_STIXEL_CELL] * columns * cells +
	       w->instructions[SX_WORK_STIXEL_PAIR] * columns * cells * cells;
}

static void predict_stage(struct sx_predict_stage *s, const struct sx_predict_device *d,
			  const struct sx_predict_case *c)
{
	const struct sx_work *w = s->work;
	const double factor = w->factor[sx_work_arch_of(d->capability)];
	const double slots = ISSUES * (double)d->sms * d->clock_hz * w->efficiency;
	const double cycles = w->floor_row * c->height + w->floor_column * c->width + w->floor_constant;
	const double bytes =
		(w->bytes[0] * c->params->stereo.disparities + w->bytes[1]) * c->width * c->height;
	double computed;

	s->issue_ms = 1e3 * factor * instructions_of(w, c) / slots;
	s->floor_ms = 1e3 * factor * cycles / d->clock_hz;
	s->bytes_ms = 1e3 * bytes / (d->bytes_per_s * SX_PREDICT_BANDWIDTH);
	computed = hypot(s->issue_ms, s->floor_ms);
	s->ms = fmax(computed, s->bytes_ms);
	s->bound = s->bytes_ms > computed      ? SX_BOUND_BYTES
		   : s->floor_ms > s->issue_ms ? SX_BOUND_FLOOR
					       : SX_BOUND_ISSUE;
}

double sx_predict_work_ms(const struct sx_work *w, const struct sx_predict_device *d,
			  const struct sx_predict_case *c)
{
	struct sx_predict_stage s = {.work = w};

	predict_stage(&s, d, c);
	return s.ms;
}

/* Returns the time of the whole chain, ms. Smoothing and reduction run beside the road. */
static double chain_of(const struct sx_prediction *p)
{
	const struct sx_predict_stage *s = p->stage;
	double sum = p->host_ms;

	for (int i = 0; i < SX_STAGE_COUNT; i++)
		if (s[i].runs)
			sum += s[i].ms; /* NAN: the sum stays NAN */
	return sum - fmin(s[SX_STAGE_SMOOTH].ms + s[SX_STAGE_REDUCE].ms, s[SX_STAGE_ROAD].ms);
}

void sx_predict(struct sx_prediction *ret, const struct sx_predict_device *d, const struct sx_predict_case *c,
		enum sx_volume_choice volume)
{
	const struct sx_params *a = c->params;

	*ret = (struct sx_prediction){.volume = volume, .host_ms = sx_work_host_ms};
	if (volume == SX_VOLUME_RECOMPUTE)
		lacks(ret, "engine.volume = counted: only stored and checkpoint are predicted");
	if (d->copies)
		ret->host_ms += sx_work_copy_ms * c->width * c->height;
	for (int i = 0; i < SX_STAGE_COUNT; i++) {
		struct sx_predict_stage *s = &ret->stage[i];

		s->runs = is_run((enum sx_stage)i);
		s->ms = s->runs ? (double)NAN : 0;
		if (s->runs && counts_stage(ret, (enum sx_stage)i, a))
			s->work = sx_work_find((enum sx_stage)i, volume, a->stereo.disparities,
					       a->filters.speckle_size > 0);
		if (s->work)
			predict_stage(s, d, c);
	}
	ret->chain_ms = chain_of(ret);
	if (!isnan(ret->chain_ms))
		ret->chain = sx_work_chain_find(volume, a->stereo.disparities);
}

double sx_predict_paths_ms(const struct sx_predict_device *d, const struct sx_predict_case *c,
			   enum sx_volume_choice volume)
{
	struct sx_prediction p;

	sx_predict(&p, d, c, volume);
	return p.stage[SX_STAGE_AGGREGATE].ms + p.stage[SX_STAGE_WINNER].ms;
}
