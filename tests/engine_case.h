/*
 * Helpers shared by the tests of engines: pairs, parameters and sizes that have shown mistakes, and the
 * comparison of all outputs of two engines for one pair.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_ENGINE_CASE_H
#define SX_TESTS_ENGINE_CASE_H

#include "stages/engine.h"
#include "tests/check.h"

/* Disparity map that comes with a pair when stereo.matcher is external. */
enum engine_map { ENGINE_MAP_NONE, ENGINE_MAP_PLAIN, ENGINE_MAP_WEIGHED, ENGINE_MAP_MISSING };

/* One comparison: the images to match and the parameters. */
struct engine_case {
	int width, height;
	struct sx_params params;
	enum sx_pixel pixel;
	enum check_fill fill;
	int y16_levels; /* Y16 levels for check_fill_y16(); 0: uses `fill`, byte by byte */
	int shift, padding;
	/* YUYV: both images lie in one buffer, the right one a byte later, as cameras send Y8I */
	bool interleaved;
	uint64_t seed;
	/* the pair is raw, taken with `rig`; the rectified size of the rig is the size of the case */
	bool rectify;
	struct sx_rig rig;
	/*
	 * the pair brings scores of params.semantics.classes, one score per `score_scale` pixels; 0: no
	 * scores
	 */
	int score_scale;
	enum engine_map external; /* ENGINE_MAP_NONE: the engine matches the pair */
};

/* Returns the parameters of a KITTI-like camera and the usual chain with 64 disparities. */
struct sx_params engine_case_params(void);
/* Returns a case of 70x43 pixels of noise, shifted by 7 px. */
struct engine_case engine_case_small(uint64_t seed);
/* Draws a case of pyramid search. zncc: its costs may be correlations, which not every engine combines. */
struct engine_case engine_case_pyramid(uint64_t seed, bool zncc);
/* Returns the size of the cost volume in cells: a measure of the work of a comparison. */
size_t engine_case_cells(const struct engine_case *t);

struct engine_frame {
	struct check_image left, right, planes, map, map_confidence;
	struct sx_scores scores;
	struct sx_disparity disparity;
	struct sx_pair pair;
};
void engine_frame_init(struct engine_frame *f, const struct engine_case *t);
/*
 * Adds the disparity map of a case that has one (external_case.c). engine_frame_init() calls this function.
 */
void engine_frame_external(struct engine_frame *f, const struct engine_case *t, struct check_rng *r);
/* Frees the frame. Returns false if the engine wrote outside the pixels. */
bool engine_frame_finish(struct engine_frame *f);

/* Creates a context for the case. Returns NULL, with a line on stderr, if that fails. */
struct sx_context *engine_case_context(const struct sx_backend *backend, struct sx_device *device,
				       const struct engine_case *t, bool keep_volume);

/*
 * Returns true if every tap and the result are the same. Otherwise prints lines on stderr that begin with
 * `how`. If `volume` is set, compares S too (both contexts must keep it).
 */
struct engine_output {
	const struct sx_backend *backend;
	const struct sx_context *context;
};
bool engine_case_same(const struct engine_case *t, struct engine_output want, struct engine_output got,
		      const char *how, bool volume);

/* Groups of cases. Each group calls `check` for each of its cases. */
typedef void engine_case_fn(const struct engine_case *t);
void engine_cases_sizes(
	engine_case_fn *check); /* 32x32 .. 631x479, 40x1100, 1500x40 px; 32 .. 256 disparities */
void engine_cases_fills(engine_case_fn *check);
void engine_cases_costs(engine_case_fn *check);
void engine_cases_zncc(engine_case_fn *check);	/* windows of 3 .. 15 px: sizes, sides, grey levels */
void engine_cases_edges(engine_case_fn *check); /* p2_edge: costs, paths */
void engine_cases_paths(engine_case_fn *check); /* P2 just below and just above the limit of a byte */
void engine_cases_extreme_sums(engine_case_fn *check);
void engine_cases_min_disparity(engine_case_fn *check); /* -128 .. 128 px */
void engine_cases_pyramid(engine_case_fn *check);	/* sizes, settings, 32 .. 512 disparities; not zncc */
void engine_cases_winner(engine_case_fn *check);
void engine_cases_filters(engine_case_fn *check);
void engine_cases_pixels(engine_case_fn *check);
void engine_cases_rectify(engine_case_fn *check);  /* raw pairs: formats, lenses, sizes, hidden areas */
void engine_cases_external(engine_case_fn *check); /* external maps: range, confidence, filters, raw pairs */
void engine_cases_stixels(engine_case_fn *check);
void engine_cases_slanted(engine_case_fn *check); /* cells, scores, weights, parameters */
void engine_cases_slanted_exact(engine_case_fn *check);
/* int16 and int8 variants, which every engine has, with all costs */
void engine_cases_fastdt(engine_case_fn *check);

#endif
