/*
 * What tests of engines share: pairs, parameters and sizes that have shown mistakes, and the comparison of
 * all that two engines give for one pair.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_ENGINE_CASE_H
#define SX_TESTS_ENGINE_CASE_H

#include "stages/engine.h"
#include "tests/check.h"

/* What a pair brings where stereo.matcher is external. */
enum engine_map { ENGINE_MAP_NONE, ENGINE_MAP_PLAIN, ENGINE_MAP_WEIGHED, ENGINE_MAP_MISSING };

/* One comparison: what to match, and how. */
struct engine_case {
	int width, height;
	struct sx_params params;
	enum sx_pixel pixel;
	enum check_fill fill;
	int y16_levels; /* Y16: check_fill_y16(); 0: fill, byte by byte */
	int shift, padding;
	bool interleaved; /* YUYV: both images lie in one, the right one a byte later, as cameras send Y8I */
	uint64_t seed;
	bool rectify; /* the pair is raw, of this rig, whose rectified size is that of the case */
	struct sx_rig rig;
	int score_scale; /* scores of params.semantics.classes come along, one for so many pixels; 0: none */
	enum engine_map external; /* ENGINE_MAP_NONE: pairs are matched */
};

/* A KITTI-like camera and the usual chain with 64 disparities. */
struct sx_params engine_case_params(void);
/* 70x43 pixels of noise, shifted by 7. */
struct engine_case engine_case_small(uint64_t seed);
/* Size of the cost volume: what a comparison costs. */
size_t engine_case_cells(const struct engine_case *t);

struct engine_frame {
	struct check_image left, right, planes, map, map_confidence;
	struct sx_scores scores;
	struct sx_disparity disparity;
	struct sx_pair pair;
};
void engine_frame_init(struct engine_frame *f, const struct engine_case *t);
/* external_case.c: the map of a case that has one; engine_frame_init() calls it. */
void engine_frame_external(struct engine_frame *f, const struct engine_case *t, struct check_rng *r);
/* False when the engine wrote beside or between the pixels. */
bool engine_frame_finish(struct engine_frame *f);

/* A context of the case; NULL and a line on stderr when there is none. */
struct sx_context *engine_case_context(const struct sx_backend *backend, struct sx_device *device,
				       const struct engine_case *t, bool keep_volume);

/*
 * True when every tap and the result are the same; otherwise lines on stderr that begin with how. volume: S
 * too (both contexts keep it).
 */
struct engine_output {
	const struct sx_backend *backend;
	const struct sx_context *context;
};
bool engine_case_same(const struct engine_case *t, struct engine_output want, struct engine_output got,
		      const char *how, bool volume);

/* Groups of cases, each handed to a function. */
typedef void engine_case_fn(const struct engine_case *t);
void engine_cases_sizes(
	engine_case_fn *check); /* 32x32 .. 631x479, 40x1100, 1500x40; 32 .. 256 disparities */
void engine_cases_fills(engine_case_fn *check);
void engine_cases_costs(engine_case_fn *check);
void engine_cases_zncc(engine_case_fn *check);	/* windows 3 .. 15: sizes, sides, grey levels */
void engine_cases_edges(engine_case_fn *check); /* p2_edge: costs, paths */
void engine_cases_paths(engine_case_fn *check); /* P2 on both sides of what a byte holds */
void engine_cases_extreme_sums(engine_case_fn *check);
void engine_cases_min_disparity(engine_case_fn *check); /* -128 .. 128 */
void engine_cases_winner(engine_case_fn *check);
void engine_cases_filters(engine_case_fn *check);
void engine_cases_pixels(engine_case_fn *check);
void engine_cases_rectify(engine_case_fn *check);  /* raw pairs: formats, lenses, sizes, what is hidden */
void engine_cases_external(engine_case_fn *check); /* maps: range, confidence, filters, raw pairs */
void engine_cases_stixels(engine_case_fn *check);
void engine_cases_slanted(engine_case_fn *check); /* cells, scores, weights, parameters */
void engine_cases_slanted_exact(engine_case_fn *check);
void engine_cases_fastdt(engine_case_fn *check); /* int16 and int8, which every engine has, with all costs */

#endif
