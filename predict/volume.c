/*
 * Resolves engine.volume by the table of rules below, and explains the choice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>

#include "predict/predict.h"

#define BYTE_MAX 255

/* Facts that the choice depends on, for one device and one image size with its settings. */
enum {
	ALWAYS = 0,
	NO_CHECKPOINT = 1, /* sx_predict_checkpoint_refuses() gives a reason */
	NO_RECOMPUTE = 2,  /* sx_predict_recompute_refuses() gives a reason */
	INTEGRATED = 4,
	UNPREDICTED = 8,	/* the device is unknown, or the work for these settings was not counted */
	CHECKPOINT_FASTER = 16, /* checkpoint is predicted to be faster than stored */
	RECOMPUTE_FASTER = 32,	/* recompute is faster than stored: measured on cards, 128 disparities */
};

enum volume_reason { ASKED, REFUSED, BLIND, PREDICTED, MEASURED };

/* Rules. The first rule applies whose setting is the requested one and whose facts all hold. */
static const struct volume_rule {
	enum sx_volume_choice asked;
	unsigned facts;
	enum sx_volume_choice flow;
	enum volume_reason reason;
} rules[] = {
	{SX_VOLUME_STORED, ALWAYS, SX_VOLUME_STORED, ASKED},

	{SX_VOLUME_RECOMPUTE, NO_RECOMPUTE, SX_VOLUME_STORED, REFUSED},
	{SX_VOLUME_RECOMPUTE, ALWAYS, SX_VOLUME_RECOMPUTE, ASKED},

	{SX_VOLUME_CHECKPOINT, NO_CHECKPOINT, SX_VOLUME_STORED, REFUSED},
	{SX_VOLUME_CHECKPOINT, ALWAYS, SX_VOLUME_CHECKPOINT, ASKED},

	{SX_VOLUME_AUTO, NO_CHECKPOINT, SX_VOLUME_STORED, REFUSED},
	/* memory of integrated GPUs is slow compared with their computing power */
	{SX_VOLUME_AUTO, UNPREDICTED | INTEGRATED, SX_VOLUME_CHECKPOINT, BLIND},
	{SX_VOLUME_AUTO, UNPREDICTED, SX_VOLUME_STORED, BLIND},
	{SX_VOLUME_AUTO, CHECKPOINT_FASTER, SX_VOLUME_CHECKPOINT, PREDICTED},
	{SX_VOLUME_AUTO, RECOMPUTE_FASTER, SX_VOLUME_RECOMPUTE, MEASURED},
	{SX_VOLUME_AUTO, ALWAYS, SX_VOLUME_STORED, PREDICTED},
};

/* Range of compute capabilities that multiply bits in one instruction (gpu/stereo/match.cuh). */
#define PRODUCTS_FROM 80
#define PRODUCTS_BELOW 100

/*
 * Work of the recompute flow's aggregation, measured on an H200 and on slices of it, in addition to the table
 * that tests/lab/work/count_work.py makes: warp instructions that could have been issued per cell, cycles per
 * column of the longest paths, bytes per cell.
 */
static const struct sx_work recompute_work = {SX_STAGE_AGGREGATE,
					      SX_VOLUME_RECOMPUTE,
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

const char *sx_predict_recompute_refuses(const struct sx_stereo_params *p, int capability)
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

/*
 * Facts that the rules use. refused: why NO_CHECKPOINT or NO_RECOMPUTE holds. ms: time of aggregation and
 * winner-takes-all for each flow.
 */
struct volume_facts {
	unsigned facts;
	const char *refused[SX_VOLUME_CHECKPOINT + 1];
	double ms[SX_VOLUME_CHECKPOINT + 1];
};

/*
 * Returns the time of the recompute flow on a card, ms, for the settings that it was measured with, else NAN.
 * The time of winner-takes-all is the same as with the stored flow.
 */
static double recompute_ms(const struct sx_predict_device *d, const struct sx_predict_case *c)
{
	struct sx_prediction stored;

	if (!d->copies || sx_predict_recompute_refuses(&c->params->stereo, d->capability) ||
	    c->params->stereo.disparities != recompute_work.disparities)
		return (double)NAN;
	sx_predict(&stored, d, c, SX_VOLUME_STORED);
	return sx_predict_work_ms(&recompute_work, d, c) + stored.stage[SX_STAGE_WINNER].ms;
}

static struct volume_facts facts_of(const struct sx_predict_device *d, bool integrated,
				    const struct sx_predict_case *c)
{
	const struct sx_stereo_params *p = &c->params->stereo;
	const bool known = d->clock_hz > 0.0;
	const double stored = known ? sx_predict_paths_ms(d, c, SX_VOLUME_STORED) : (double)NAN;
	const double checkpoint = known ? sx_predict_paths_ms(d, c, SX_VOLUME_CHECKPOINT) : (double)NAN;
	const double recompute = known ? recompute_ms(d, c) : (double)NAN;
	struct volume_facts f = {
		.refused = {[SX_VOLUME_RECOMPUTE] = sx_predict_recompute_refuses(p, d->capability),
			    [SX_VOLUME_CHECKPOINT] = sx_predict_checkpoint_refuses(p)},
		.ms = {[SX_VOLUME_STORED] = stored,
		       [SX_VOLUME_RECOMPUTE] = recompute,
		       [SX_VOLUME_CHECKPOINT] = checkpoint},
	};

	f.facts = (f.refused[SX_VOLUME_CHECKPOINT] ? NO_CHECKPOINT : 0) |
		  (f.refused[SX_VOLUME_RECOMPUTE] ? NO_RECOMPUTE : 0) | (integrated ? INTEGRATED : 0) |
		  (isnan(stored) || isnan(checkpoint) ? UNPREDICTED : 0) |
		  (checkpoint < stored ? CHECKPOINT_FASTER : 0) | (recompute < stored ? RECOMPUTE_FASTER : 0);
	return f;
}

/* Writes the first thing that a prediction lacks. Empty: none. */
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

/* Writes the sentence for a rule: "engine.volume = ...". */
static void explain(const struct volume_rule *r, const struct volume_facts *f,
		    const struct sx_predict_device *d, const struct sx_predict_case *c, struct sx_why *why)
{
	const char *asked = sx_volume_names[r->asked], *flow = sx_volume_names[r->flow];
	const enum sx_volume_choice other =
		r->flow == SX_VOLUME_STORED ? SX_VOLUME_CHECKPOINT : SX_VOLUME_STORED;
	char missing[192];

	switch (r->reason) {
	case ASKED:
		sx_why_set(why, "engine.volume = %s", asked);
		break;
	case REFUSED:
		sx_why_set(why, "engine.volume = %s: %s, as %s", asked, flow,
			   f->refused[r->facts == NO_RECOMPUTE ? SX_VOLUME_RECOMPUTE : SX_VOLUME_CHECKPOINT]);
		break;
	case BLIND:
		find_missing(d, c, missing, sizeof(missing));
		sx_why_set(why, "engine.volume = %s: %s, as the GPU is %s; not predicted (%s)", asked, flow,
			   f->facts & INTEGRATED ? "integrated" : "a card", missing);
		break;
	case PREDICTED:
		sx_why_set(why, "engine.volume = %s: %s, predicted %.3g ms for %.3g of %s", asked, flow,
			   f->ms[r->flow], f->ms[other], sx_volume_names[other]);
		break;
	case MEASURED:
		sx_why_set(why,
			   "engine.volume = %s: %s, predicted %.3g ms for %.3g of stored, %.3g of checkpoint",
			   asked, flow, f->ms[r->flow], f->ms[SX_VOLUME_STORED], f->ms[SX_VOLUME_CHECKPOINT]);
		break;
	}
}

enum sx_volume_choice sx_predict_volume(const struct sx_predict_device *d, bool integrated,
					const struct sx_predict_case *c, enum sx_volume_choice asked,
					struct sx_why *why)
{
	const struct volume_facts f = facts_of(d, integrated, c);
	const struct volume_rule *r = rules;

	while (r->asked != asked || (r->facts & ~f.facts))
		r++; /* the last rule of each setting needs no fact */
	explain(r, &f, d, c, why);
	return r->flow;
}
