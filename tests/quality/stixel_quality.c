/*
 * stixel-quality: scores the pipeline on synthetic streets with known truth.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "config/config.h"
#include "cpu/engine/engine.h"
#include "tests/quality/lidar_figures.h"
#include "tests/quality/metrics.h"
#include "tests/quality/options.h"
#include "tests/quality/painted.h"
#include "tests/quality/persons.h"
#include "tests/quality/raw_street.h"
#include "tests/quality/road_end.h"
#include "tests/quality/road_score.h"
#include "tests/quality/room_figures.h"
#include "tests/quality/small_things.h"

/* Data of a run, freed as a whole. */
struct run {
	struct options options;
	struct sx_settings settings;
	const struct sx_backend *backend;
	struct sx_device *device;
	struct sx_context *context;
	struct sx_image left, right;
	struct raw_street raw;
	struct stixel *stixels;
	uint32_t *offsets;
	uint8_t *scratch;
	struct disparity_score disparity;
	struct stixel_score score;
	struct painted_score painted;
	struct road_score road;
	struct lidar_figures figures;
	struct small_things small;
	struct person_score persons;
	struct road_end_score road_end;
	struct room_figures room;
	struct noisy_scores noisy;
	struct label_score labels, noisy_labels;
	int64_t engine_ns;
	struct sx_why why;
};

/* Sets the classes of Cityscapes, which the scene's truth uses. */
static void set_semantics(struct sx_semantic_params *p)
{
	p->classes = QUALITY_CLASSES;
	for (int k = 0; k < QUALITY_CLASSES; k++)
		p->kind[k] = class_kind(k);
}

static int open_engine(struct run *r)
{
	struct sx_errors errors = {0};
	int e = sx_settings_load(&r->settings, NULL, r->options.overrides, r->options.override_count, false,
				 &errors);

	if (e < 0) {
		sx_errors_print(&errors, stderr);
		sx_errors_finish(&errors);
		sx_why_set(&r->why, "wrong settings");
		return e;
	}
	if (r->options.semantics)
		set_semantics(&r->settings.params.semantics);
	r->backend = !strcmp(r->options.engine, "reference") ? &sx_backend_reference
		     : !strcmp(r->options.engine, "cpu")     ? &sx_backend_cpu
							     : NULL;
	if (!r->backend)
		return sx_why_fail(-EINVAL, &r->why, "engine '%s' is unknown: there are reference and cpu",
				   r->options.engine);
	r->settings.engine.contexts = 1;
	return r->backend->open(&r->device, &r->settings.engine, &r->why);
}

/* Prepares the engine for the camera of a scene. */
static int set_camera(struct run *r, const struct sx_scene_params *p)
{
	struct sx_context_config config = {.width = p->width, .height = p->height, .pixel = SX_PIXEL_U8};
	struct sx_camera camera;

	sx_scene_camera(p, &camera);
	if (r->context && !memcmp(&camera, &r->settings.params.camera, sizeof(camera)))
		return 0;
	if (r->context)
		r->backend->context_destroy(r->context);
	r->context = NULL;
	r->settings.params.camera = camera;
	config.params = r->settings.params;
	return r->backend->context_create(&r->context, r->device, &config, &r->why);
}

static int prepare(struct run *r)
{
	size_t columns, height = (size_t)r->options.height;
	struct sx_scene_params raw;
	int e = open_engine(r);

	if (e < 0)
		return e;
	columns = (size_t)(r->options.width / r->settings.params.stixels.width);
	r->stixels = calloc(columns * height, sizeof(*r->stixels));
	r->offsets = calloc(columns + 1, sizeof(*r->offsets));
	r->scratch = calloc(columns, height);
	if (!r->stixels || !r->offsets || !r->scratch ||
	    noisy_scores_init(&r->noisy, r->options.width, r->options.height) < 0 ||
	    sx_image_init(&r->left, SX_PIXEL_U8, r->options.width, r->options.height) < 0 ||
	    sx_image_init(&r->right, SX_PIXEL_U8, r->options.width, r->options.height) < 0)
		return sx_why_fail(-ENOMEM, &r->why, "no memory");
	if (!r->options.lenses)
		return 0;
	raw = (struct sx_scene_params){
		.width = r->options.width,
		.height = r->options.height,
		.lenses = r->options.lenses,
		.raw_width = r->options.raw_width,
		.raw_height = r->options.raw_height,
	};
	return raw_street_init(&r->raw, &raw, &r->why);
}

static void finish(struct run *r)
{
	if (r->context)
		r->backend->context_destroy(r->context);
	if (r->device)
		r->backend->close(r->device);
	sx_image_finish(&r->left);
	sx_image_finish(&r->right);
	raw_street_finish(&r->raw);
	noisy_scores_finish(&r->noisy);
	free(r->stixels);
	free(r->offsets);
	free(r->scratch);
	sx_settings_finish(&r->settings);
}

/*
 * Compares the engine's last frame with the truth, where both can be known. Leaves out the columns at the
 * left whose ground the right camera does not see, and those at the right where the census window leaves the
 * picture.
 */
static int score(struct run *r, const struct sx_scene *scene, const struct sx_scene_truth *t)
{
	const struct sx_result *result = r->backend->result(r->context);
	int width = r->settings.params.stixels.width,
	    columns = sx_scene_stixels(t, width, r->stixels, r->offsets);
	double nearest = t->road_slope * (t->height - 1) + t->road_offset;
	int first = (int)nearest / width + 1, last = (t->width - 4) / width - 1;
	struct stixel_list truth = {r->stixels, r->offsets}, got = {result->stixels, result->offsets};
	struct sx_image q4;
	int e = r->backend->peek(r->context, SX_TAP_DISPARITY, &q4);

	if (e < 0 || (int)result->columns != columns)
		return sx_why_fail(-EPROTO, &r->why, "%u stixel columns instead of %d, disparity: %s",
				   result->columns, columns, strerror(-e));
	score_disparity(&r->disparity, t, &q4);
	score_road(&r->road, &t->camera, &result->road);
	e = score_room(&r->room, scene, t, &(struct room_result){&r->settings.params, result, &q4});
	if (e < 0)
		return sx_why_fail(e, &r->why, "no memory");
	if (first > last || last >= columns)
		return 0;
	score_stixels(&r->score, t, width, first, last, &truth, &got, r->scratch);
	score_painted(&r->painted, t, width, first, last, &got);
	score_figures(&r->figures, t, &r->left, width, first, last, &got);
	score_small(&r->small, scene, t, width, &got, &q4);
	if (r->options.semantics)
		e = score_road_end(&r->road_end, t, &r->settings.params, result, first, last);
	if (e < 0)
		return sx_why_fail(e, &r->why, "no memory");
	e = score_persons(&r->persons, t, width, first, last, &got);
	if (e < 0)
		return sx_why_fail(e, &r->why, "no memory");
	if (r->options.semantics)
		score_labels(&r->labels, &r->noisy_labels, t, width, first, last, &got, &r->noisy.scores);
	return 0;
}

static int run_frame(struct run *r, const struct sx_scene_params *p, struct sx_scene *scene, uint32_t frame,
		     struct sx_scene_truth *t)
{
	struct sx_pair pair = {.number = 1};
	int64_t start;
	int e = 0;

	if (r->raw.params.lenses)
		e = raw_street_draw(&r->raw, p, frame, &r->left, &r->right, &r->why);
	else
		sx_scene_render(scene, frame, &r->left, &r->right);
	if (e < 0)
		return e;
	sx_scene_truth(scene, frame, t);
	pair.left = r->left;
	pair.right = r->right;
	if (r->options.semantics) {
		noisy_scores_make(&r->noisy, r->options.semantics, t, frame);
		pair.scores = &r->noisy.scores;
	}
	start = sx_now_ns();
	e = r->backend->submit(r->context, &pair, NULL, NULL, NULL);
	if (e == 0)
		e = r->backend->wait(r->context, -1);
	if (e < 0) {
		sx_why_set(&r->why, "frame failed: %s", strerror(-e));
		return e;
	}
	r->engine_ns += sx_now_ns() - start;
	return score(r, scene, t);
}

/* Prints the scores of one pair: the scores of r minus those of the earlier pairs. */
static void print_pair(const struct run *r, unsigned seed, const struct stixel_score *stixels,
		       const struct disparity_score *disparity, const struct lidar_figures *figures)
{
	struct lidar_figures f = r->figures;

	printf("seed %u: detected %.1f %%, false positives %llu %llu %llu, pixels of %llu: given %llu, wrong %llu\n",
	       seed, percent(r->score.detected - stixels->detected, r->score.truth - stixels->truth),
	       (unsigned long long)(r->score.false_positives[0] - stixels->false_positives[0]),
	       (unsigned long long)(r->score.false_positives[1] - stixels->false_positives[1]),
	       (unsigned long long)(r->score.false_positives[2] - stixels->false_positives[2]),
	       (unsigned long long)(r->disparity.truth[NOC] - disparity->truth[NOC]),
	       (unsigned long long)(r->disparity.given[NOC] - disparity->given[NOC]),
	       (unsigned long long)(r->disparity.wrong[NOC] - disparity->wrong[NOC]));
	for (int i = 0; i < FIGURES; i++) {
		f.bad[i] -= figures->bad[i];
		f.all[i] -= figures->all[i];
	}
	print_figures(&f);
}

static int run_seed(struct run *r, unsigned seed)
{
	struct sx_scene_params p = {r->options.scene, seed, r->options.width, r->options.height};
	const struct stixel_score stixels = r->score;
	const struct disparity_score disparity = r->disparity;
	const struct lidar_figures figures = r->figures;
	struct sx_scene_truth truth = {0};
	struct sx_scene *scene = NULL;
	int e = sx_scene_create(&scene, &p, &r->why);

	if (e == 0)
		e = set_camera(r, &p);
	if (e == 0)
		e = sx_scene_truth_init(&truth, scene);
	if (e == 0)
		e = run_frame(r, &p, scene, seed * 37 % 1000, &truth);
	if (e == 0 && r->options.verbose)
		print_pair(r, seed, &stixels, &disparity, &figures);
	sx_scene_truth_finish(&truth);
	sx_scene_destroy(scene);
	return e;
}

/* Returns the share of the pixels that both cameras see whose disparity is wrong or missing, percent. */
static double bad_pixels(const struct disparity_score *s)
{
	return percent(s->truth[NOC] - s->given[NOC] + s->wrong[NOC], s->truth[NOC]);
}

static void print(const struct run *r)
{
	static const char *const spaces[] = {"literal", "measurable", "corridor"};
	const struct disparity_score *d = &r->disparity;
	const struct stixel_score *s = &r->score;
	uint64_t right = d->given[NOC] - d->wrong[NOC];

	printf("%d pairs of %dx%d, engine %s, %d disparities, %d paths, %.2f ms a pair\n", r->options.seeds,
	       r->options.width, r->options.height, r->backend->name, r->settings.params.stereo.disparities,
	       r->settings.params.stereo.paths, (double)r->engine_ns / 1e6 / r->options.seeds);
	printf("disparity: D1 %.2f %% (all %.2f %%), density %.1f %% (all %.1f %%), mean error %.3f px\n",
	       percent(d->wrong[NOC], d->given[NOC]), percent(d->wrong[ALL], d->given[ALL]),
	       percent(d->given[NOC], d->truth[NOC]), percent(d->given[ALL], d->truth[ALL]),
	       right ? d->error_sum / (double)right : 0);
	printf("wrong or missing: %.2f %%\n", bad_pixels(d));
	printf("stixels: detected %.2f %% of %llu, %.0f pixels per stixel\n", percent(s->detected, s->truth),
	       (unsigned long long)s->truth, s->stixels ? (double)s->pixels / (double)s->stixels : 0);
	for (int k = 0; k < SPACES; k++)
		printf("false positives, %s: %.1f %% of the pairs, %llu in all\n", spaces[k],
		       percent(s->pairs_with_false[k], s->pairs), (unsigned long long)s->false_positives[k]);
}

static void print_painted(const struct run *r)
{
	static const char *const kinds[] = {"ground", "objects", "sky"};
	const struct painted_score *s = &r->painted;
	uint64_t wrong = s->wrong[0] + s->wrong[1], truth = s->truth[0] + s->truth[1];

	printf("painted back: D1 %.2f %% of ground and objects\n", percent(wrong, truth));
	for (int k = 0; k < QUALITY_KINDS; k++)
		printf("  %s: D1 %.2f %%, called ground %.2f %%, object %.2f %%, sky %.2f %%\n", kinds[k],
		       percent(s->wrong[k], s->truth[k]), percent(s->called[k][0], s->truth[k]),
		       percent(s->called[k][1], s->truth[k]), percent(s->called[k][2], s->truth[k]));
	if (r->options.semantics)
		printf("intersection over union: classes %.2f %% (input %.2f %%), kinds %.2f %% (input %.2f "
		       "%%)\n",
		       100 * class_score_iou(&r->labels.classes),
		       100 * class_score_iou(&r->noisy_labels.classes),
		       100 * class_score_iou(&r->labels.kinds),
		       100 * class_score_iou(&r->noisy_labels.kinds));
}

/* Judges the values that stixels give pixels. */
static bool judge_painted(const struct run *r)
{
	const struct painted_score *s = &r->painted;
	const struct options *o = &r->options;
	bool good = true;

	for (int k = 0; k < 2; k++)
		good &= percent(s->wrong[k], s->truth[k]) <= o->max_painted[k] &&
			percent(s->called[k][k], s->truth[k]) >= o->min_called[k];
	if (!good)
		fprintf(stderr,
			"NOT GOOD ENOUGH: asked for wrong disparity of ground, objects <= %g, %g %%, called "
			"so >= %g, %g %%\n",
			o->max_painted[0], o->max_painted[1], o->min_called[0], o->min_called[1]);
	if (o->semantics && (100 * class_score_iou(&r->labels.classes) < o->min_iou[0] ||
			     100 * class_score_iou(&r->labels.kinds) < o->min_iou[1])) {
		fprintf(stderr, "NOT GOOD ENOUGH: asked for classes >= %g %%, kinds >= %g %%\n",
			o->min_iou[0], o->min_iou[1]);
		good = false;
	}
	if (o->semantics == QUALITY_PATCHES &&
	    (class_score_iou(&r->labels.classes) < class_score_iou(&r->noisy_labels.classes) ||
	     class_score_iou(&r->labels.kinds) < class_score_iou(&r->noisy_labels.kinds))) {
		fprintf(stderr, "NOT GOOD ENOUGH: labels or kinds are worse than the input's\n");
		good = false;
	}
	return good;
}

/* Returns whether the plane at the camera is just a part of the road. */
static bool road_ends(const struct options *o)
{
	return o->scene && strcmp(o->scene, "street") && strcmp(o->scene, "open");
}

/* Judges all scores. Returns the exit status, 0 or 1. */
static int judge(const struct run *r)
{
	const struct options *o = &r->options;
	bool good = percent(r->score.detected, r->score.truth) >= o->min_detection &&
		    percent(r->disparity.wrong[NOC], r->disparity.given[NOC]) <= o->max_d1;

	for (int k = 0; k < SPACES; k++)
		good &= percent(r->score.pairs_with_false[k], r->score.pairs) <= o->max_false[k] &&
			(double)r->score.false_positives[k] <= o->max_each[k] * (double)r->score.pairs;
	if (!good)
		fprintf(stderr,
			"NOT GOOD ENOUGH: asked for detected >= %g %%, D1 <= %g %%, pairs with false "
			"positives <= %g, %g, %g %%, false positives per pair <= %g, %g, %g\n",
			o->min_detection, o->max_d1, o->max_false[0], o->max_false[1], o->max_false[2],
			o->max_each[0], o->max_each[1], o->max_each[2]);
	if (bad_pixels(&r->disparity) > o->max_bad) {
		fprintf(stderr, "NOT GOOD ENOUGH: asked for wrong or missing pixels <= %g %%\n", o->max_bad);
		good = false;
	}
	if (!road_ends(o) && !judge_road(&r->road)) {
		fprintf(stderr,
			"NOT GOOD ENOUGH: asked for roads within 2 sigma in 85 %%, sigma <= 4 times rms\n");
		good = false;
	}
	good &= judge_figures(&r->figures, o->max_figures);
	good &= judge_small(&r->small, o->min_small);
	good &= !o->semantics || judge_road_end(&r->road_end, o->max_road_end);
	good &= judge_persons(&r->persons, o->min_persons);
	good &= judge_room(&r->room, o->max_room);
	return !(judge_painted(r) && good);
}

int main(int argc, char **argv)
{
	struct run r = {0};
	int e = parse_options(&r.options, argc, argv);

	if (e < 0) {
		return 64;
	}
	e = prepare(&r);
	for (int i = 0; e == 0 && i < r.options.seeds; i++)
		e = run_seed(&r, r.options.first + (unsigned)i);
	if (e < 0) {
		fprintf(stderr, "stixel-quality: %s\n", r.why.text);
		finish(&r);
		return e == -EINVAL ? 64 : 70;
	}
	print(&r);
	print_painted(&r);
	print_road(stdout, &r.road);
	print_figures(&r.figures);
	print_small(&r.small);
	if (r.options.semantics)
		print_road_end(&r.road_end);
	print_persons(&r.persons, r.options.semantics != QUALITY_NO_SCORES);
	print_room(&r.room);
	e = judge(&r);
	finish(&r);
	return e;
}
