/*
 * How long a frame would take on a device that nobody measured: counted instructions and bytes, and a
 * formula.
 *
 *   issue  warp instructions / (4 a clock and multiprocessor) / efficiency
 *   floor  cycles of what is walked one after the other, however large the device is
 *   bytes  bytes of memory / (0.75 of its peak)
 *   stage  the longer of sqrt(issue^2 + floor^2) and bytes
 *   chain  sum of the stages, but of road and what runs beside it the longer; and the host's share
 *
 * Instructions and floors of other architectures are those of sm_90 times how much longer their code is; of
 * sm_72, which CUDA 13 does not compile, those of sm_75. The table is work.h. Nothing here was measured on
 * a board: who prints a figure of this says "predicted", and how far the formula is off where it can be
 * tested.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_PREDICT_PREDICT_H
#define SX_PREDICT_PREDICT_H

#include "predict/boards.h"
#include "predict/work.h"

/*
 * Of the memory's peak: what aggregation reached of an H200's 4.8 TB/s at 2048x1024 (0.75; the winner
 * 0.85). Not measured on a board.
 */
#define SX_PREDICT_BANDWIDTH 0.75

enum sx_predict_bound { SX_BOUND_ISSUE, SX_BOUND_FLOOR, SX_BOUND_BYTES };

struct sx_predict_case {
	const struct sx_params *params; /* stereo resolved (sx_stereo_resolve()) */
	int width, height;
};

struct sx_predict_stage {
	bool runs;
	const struct sx_work *work; /* NULL: it does not run, or was not counted */
	double issue_ms, floor_ms, bytes_ms;
	double ms; /* NAN: not predicted */
	enum sx_predict_bound bound;
};

struct sx_prediction {
	enum sx_volume_choice volume;
	struct sx_predict_stage stage[SX_STAGE_COUNT];
	double host_ms;			   /* launch, and copies over a bus */
	double chain_ms;		   /* NAN: not predicted */
	const struct sx_work_chain *chain; /* how far the chain is off; NULL: not predicted */
	/* Empty, or the first setting that was not counted: "stereo.paths = 8: counted for 4". */
	char missing[192];
};

/*
 * volume: what sx_predict_volume() returns. counted is measured, not predicted: aggregation and chain are
 * missing.
 */
void sx_predict(struct sx_prediction *ret, const struct sx_predict_device *d, const struct sx_predict_case *c,
		enum sx_volume_choice volume);

/* Of aggregation and winner alone; NAN: not predicted. volume: stored or checkpoint. */
double sx_predict_paths_ms(const struct sx_predict_device *d, const struct sx_predict_case *c,
			   enum sx_volume_choice volume);

/* Of one stage whose work is w, by the formula above. */
double sx_predict_work_ms(const struct sx_work *w, const struct sx_predict_device *d,
			  const struct sx_predict_case *c);

/*
 * Why the checkpoint flow is not for these settings (resolved), as "checkpoint is for stereo.cost = csct";
 * NULL: it is.
 */
const char *sx_predict_checkpoint_refuses(const struct sx_stereo_params *p);

/*
 * Why paths are not to count their costs themselves with these settings (resolved) on this device; NULL: they
 * may.
 */
const char *sx_predict_counted_refuses(const struct sx_stereo_params *p, int capability);

/*
 * engine.volume = asked on this device (clock_hz 0: nothing but its capability is known; integrated: part of
 * the processor's chip): what it becomes, and in why one sentence, such as "engine.volume = auto: checkpoint,
 * predicted 4.4 ms for 9.5 of stored".
 */
enum sx_volume_choice sx_predict_volume(const struct sx_predict_device *d, bool integrated,
					const struct sx_predict_case *c, enum sx_volume_choice asked,
					char *why, size_t why_bytes);

#endif
