/*
 * engine.volume: stored or checkpoint path costs, and why.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>

#include "predict/predict.h"

#define BYTE_MAX 255

/* Compute capabilities with products of bits in one instruction (gpu/stereo/match.cuh). */
#define PRODUCTS_FROM 80
#define PRODUCTS_BELOW 100

/*
 * Aggregation with costs that are counted, measured on an H200 and slices of it, beside the table that
 * tests/lab/work/count_work.py makes: warp instructions that could have been issued a cell, cycles a column of the
 * longest paths, bytes a cell.
 */
static const struct sx_work counted_work = {SX_STAGE_SGM,
					    SX_VOLUME_COUNTED,
					    128,
					    -1,
					    .instructions = {1.19},
					    .efficiency = 1,
					    .floor_column = 285,
					    .bytes = {4},
					    .factor = {1, 1, 1, 1}};

const char *sx_predict_checkpoint_refuses(const struct sx_stereo_params *p)
{
	const int p2 = p->paths > 2 && p->p2_vertical > p->p2 ? p->p2_vertical : p->p2;

	if (p->aggregation != SX_AGGREGATION_SGM)
		return "checkpoint is for stereo.aggregation = sgm";
	if (p->cost != SX_COST_CSCT)
		return "checkpoint is for stereo.cost = csct";
	if (2 * (p2 + sx_cost_max(p->cost)) > BYTE_MAX)
		return "checkpoint is for P2 up to 96, so that the sum of two paths fits a byte";
	return NULL;
}

const char *sx_predict_counted_refuses(const struct sx_stereo_params *p, int capability)
{
	if (p->aggregation != SX_AGGREGATION_SGM)
		return "counted is for stereo.aggregation = sgm";
	if (p->cost != SX_COST_CSCT)
		return "counted is for stereo.cost = csct";
	if (p->paths > 4)
		return "counted is for stereo.paths = 2 or 4";
	if (capability < PRODUCTS_FROM || capability >= PRODUCTS_BELOW)
		return "counted is for GPUs that multiply bits, sm_80 to sm_90";
	return NULL;
}

/* Instead of stored, on cards, and where it was measured. ms: then, with the winner, which is the same. */
static bool counted_is_faster(const struct sx_predict_device *d, const struct sx_predict_case *c, double *ms)
{
	const struct sx_stereo_params *p = &c->params->stereo;
	struct sx_prediction stored;

	if (!d->copies || sx_predict_counted_refuses(p, d->capability) ||
	    p->disparities != counted_work.disparities)
		return false;
	sx_predict(&stored, d, c, SX_VOLUME_STORED);
	*ms = sx_predict_work_ms(&counted_work, d, c) + stored.stage[SX_STAGE_WINNER].ms;
	return *ms < stored.stage[SX_STAGE_SGM].ms + stored.stage[SX_STAGE_WINNER].ms;
}

/* What was not counted for a prediction; empty: nothing. */
static void find_missing(const struct sx_predict_device *d, const struct sx_predict_case *c, char *to,
			 size_t bytes)
{
	struct sx_prediction p;

	if (d->clock_hz <= 0.0) {
		snprintf(to, bytes, "no figures of this GPU");
		return;
	}
	sx_predict(&p, d, c, SX_VOLUME_STORED);
	snprintf(to, bytes, "%s", p.missing);
}

/* Without a prediction: memory of integrated GPUs is slow beside what they compute. */
static enum sx_volume_choice choose_blindly(const struct sx_predict_device *d, bool integrated,
					    const struct sx_predict_case *c, char *why, size_t why_bytes)
{
	const enum sx_volume_choice volume = integrated ? SX_VOLUME_CHECKPOINT : SX_VOLUME_STORED;
	char missing[192];

	find_missing(d, c, missing, sizeof(missing));
	snprintf(why, why_bytes, "engine.volume = auto: %s, as the GPU is %s; not predicted (%s)",
		 sx_volume_names[volume], integrated ? "integrated" : "a card", missing);
	return volume;
}

enum sx_volume_choice sx_predict_volume(const struct sx_predict_device *d, bool integrated,
					const struct sx_predict_case *c, enum sx_volume_choice asked,
					char *why, size_t why_bytes)
{
	const char *refused = sx_predict_checkpoint_refuses(&c->params->stereo);
	enum sx_volume_choice volume;
	const bool known = d->clock_hz > 0.0;
	double stored, checkpoint, counted;

	if (asked == SX_VOLUME_COUNTED)
		refused = sx_predict_counted_refuses(&c->params->stereo, d->capability);
	if (asked == SX_VOLUME_STORED || (asked != SX_VOLUME_AUTO && !refused)) {
		snprintf(why, why_bytes, "engine.volume = %s", sx_volume_names[asked]);
		return asked;
	}
	if (refused) {
		snprintf(why, why_bytes, "engine.volume = %s: stored, as %s", sx_volume_names[asked],
			 refused);
		return SX_VOLUME_STORED;
	}
	stored = known ? sx_predict_paths_ms(d, c, SX_VOLUME_STORED) : (double)NAN;
	checkpoint = known ? sx_predict_paths_ms(d, c, SX_VOLUME_CHECKPOINT) : (double)NAN;
	if (isnan(stored) || isnan(checkpoint))
		return choose_blindly(d, integrated, c, why, why_bytes);
	volume = checkpoint < stored ? SX_VOLUME_CHECKPOINT : SX_VOLUME_STORED;
	if (volume == SX_VOLUME_STORED && counted_is_faster(d, c, &counted)) {
		snprintf(why, why_bytes,
			 "engine.volume = auto: counted, predicted %.3g ms for %.3g of stored, %.3g of "
			 "checkpoint",
			 counted, stored, checkpoint);
		return SX_VOLUME_COUNTED;
	}
	snprintf(why, why_bytes, "engine.volume = auto: %s, predicted %.3g ms for %.3g of %s",
		 sx_volume_names[volume], fmin(stored, checkpoint), fmax(stored, checkpoint),
		 sx_volume_names[volume == SX_VOLUME_STORED ? SX_VOLUME_CHECKPOINT : SX_VOLUME_STORED]);
	return volume;
}
