/*
 * Predicts how long a frame takes on a device that was not measured, from counted instructions and bytes, and
 * a formula.
 *
 *   issue  warp instructions / (4 per clock and multiprocessor) / efficiency
 *   floor  cycles of the serial part, which do not depend on the size of the device
 *   bytes  bytes of memory / (0.75 of its peak)
 *   stage  the longer of sqrt(issue^2 + floor^2) and bytes
 *   chain  sum of the stages, with only the longer of the road and the stages beside it,
 *          plus the host's share
 *
 * Instructions and floors of other architectures are those of sm_90 times the ratio of code lengths. For
 * sm_72, which CUDA 13 does not compile, they are those of sm_75. The table is in work.h. No number here was
 * measured on a board. A program that prints one of them must say "predicted", and how far the formula is off
 * where it can be tested.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_PREDICT_PREDICT_H
#define SX_PREDICT_PREDICT_H

#include "base/why.h"
#include "predict/boards.h"
#include "predict/work.h"

/*
 * Share of the memory's peak bandwidth. On an H200 with 4.8 TB/s, aggregation reached 0.75 and
 * winner-takes-all 0.85 at 2048x1024. Not measured on a board.
 */
#define SX_PREDICT_BANDWIDTH 0.75

enum sx_predict_bound { SX_BOUND_ISSUE, SX_BOUND_FLOOR, SX_BOUND_BYTES };

struct sx_predict_case {
	const struct sx_params *params; /* params->stereo must be resolved (sx_stereo_resolve()) */
	int width, height;
};

struct sx_predict_stage {
	bool runs;
	const struct sx_work *work; /* NULL: the stage does not run, or its work was not counted */
	double issue_ms, floor_ms, bytes_ms;
	double ms; /* NAN: not predicted */
	enum sx_predict_bound bound;
};

struct sx_prediction {
	enum sx_volume_choice volume;
	struct sx_predict_stage stage[SX_STAGE_COUNT];
	double host_ms;			   /* launches, and copies over a bus */
	double chain_ms;		   /* NAN: not predicted */
	const struct sx_work_chain *chain; /* error of the formula for the chain; NULL: not predicted */
	/* Empty, or the first setting for which no work was counted: "stereo.paths = 8: counted for 4". */
	char missing[192];
};

/*
 * Predicts all stages and the chain. volume: the result of sx_predict_volume(). With SX_VOLUME_RECOMPUTE
 * the times of aggregation and chain are missing, because they are measured and not predicted.
 */
void sx_predict(struct sx_prediction *ret, const struct sx_predict_device *d, const struct sx_predict_case *c,
		enum sx_volume_choice volume);

/*
 * Returns the time of aggregation and winner-takes-all alone, ms. NAN: not predicted. volume: stored or
 * checkpoint.
 */
double sx_predict_paths_ms(const struct sx_predict_device *d, const struct sx_predict_case *c,
			   enum sx_volume_choice volume);

/* Returns the time of one stage with work w by the formula above, ms. */
double sx_predict_work_ms(const struct sx_work *w, const struct sx_predict_device *d,
			  const struct sx_predict_case *c);

/*
 * Returns why the checkpoint flow does not fit these (resolved) settings, such as "checkpoint is for
 * stereo.cost = csct". NULL: it fits.
 */
const char *sx_predict_checkpoint_refuses(const struct sx_stereo_params *p);

/*
 * Returns why the recompute flow (engine.volume = counted), in which the paths compute costs themselves, does
 * not fit these (resolved) settings on this device. NULL: it fits.
 */
const char *sx_predict_recompute_refuses(const struct sx_stereo_params *p, int capability);

/*
 * Resolves engine.volume = asked for a device. clock_hz 0: only the capability of the device is known.
 * integrated: the GPU is part of the processor's chip. why receives one sentence, such as "engine.volume =
 * auto: checkpoint, predicted 4.4 ms for 9.5 of stored".
 */
enum sx_volume_choice sx_predict_volume(const struct sx_predict_device *d, bool integrated,
					const struct sx_predict_case *c, enum sx_volume_choice asked,
					struct sx_why *why);

#endif
