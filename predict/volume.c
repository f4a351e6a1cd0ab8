/*
 * engine.volume: stored or checkpoint path costs, and why.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>

#include "predict/predict.h"

#define BYTE_MAX 255

const char *sx_predict_checkpoint_refuses(const struct sx_stereo_params *p)
{
	const int p2 = p->paths > 2 && p->p2_vertical > p->p2 ? p->p2_vertical : p->p2;

	if (p->aggregation != SX_AGGREGATION_SGM)
		return "checkpoint is for stereo.aggregation = sgm";
	if (p->cost != SX_COST_CSCT)
		return "checkpoint is for stereo.cost = csct";
	if (p->paths > 4)
		return "checkpoint is for stereo.paths = 2 or 4";
	if (2 * (p2 + sx_cost_max(p->cost)) > BYTE_MAX)
		return "checkpoint is for P2 up to 96, so that the sum of two paths fits a byte";
	return NULL;
}

static const char *word(enum sx_volume_choice volume)
{
	return volume == SX_VOLUME_STORED ? "stored" : volume == SX_VOLUME_CHECKPOINT ? "checkpoint" : "auto";
}

/* What was not counted for a prediction; empty: nothing. */
static void find_missing(const struct sx_predict_device *d, const struct sx_predict_case *c, char *to,
			 size_t bytes)
{
	struct sx_prediction p;

	if (!d) {
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
		 word(volume), integrated ? "integrated" : "a card", missing);
	return volume;
}

enum sx_volume_choice sx_predict_volume(const struct sx_predict_device *d, bool integrated,
					const struct sx_predict_case *c, enum sx_volume_choice asked,
					char *why, size_t why_bytes)
{
	const char *refused = sx_predict_checkpoint_refuses(&c->params->stereo);
	enum sx_volume_choice volume;
	double stored, checkpoint;

	if (asked == SX_VOLUME_STORED || (asked == SX_VOLUME_CHECKPOINT && !refused)) {
		snprintf(why, why_bytes, "engine.volume = %s", word(asked));
		return asked;
	}
	if (refused) {
		snprintf(why, why_bytes, "engine.volume = %s: stored, as %s", word(asked), refused);
		return SX_VOLUME_STORED;
	}
	stored = d ? sx_predict_paths_ms(d, c, SX_VOLUME_STORED) : (double)NAN;
	checkpoint = d ? sx_predict_paths_ms(d, c, SX_VOLUME_CHECKPOINT) : (double)NAN;
	if (isnan(stored) || isnan(checkpoint))
		return choose_blindly(d, integrated, c, why, why_bytes);
	volume = checkpoint < stored ? SX_VOLUME_CHECKPOINT : SX_VOLUME_STORED;
	snprintf(why, why_bytes, "engine.volume = auto: %s, predicted %.3g ms for %.3g of %s", word(volume),
		 fmin(stored, checkpoint), fmax(stored, checkpoint),
		 word(volume == SX_VOLUME_STORED ? SX_VOLUME_CHECKPOINT : SX_VOLUME_STORED));
	return volume;
}
