/*
 * stixel-process: computes one pair with the engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "capture/image/image_io.h"
#include "config/classes.h"
#include "stages/context.h"
#include "tools/common/progress.h"
#include "tools/common/settings_args.h"
#include "tools/pairs/faults.h"
#include "tools/process/process.h"
#include "tools/process/process_scores.h"

/* Prints a sentence about a pair on stderr. Returns the exit code `code`. */
static int pair_say(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int pair_say(int code, const char *format, ...)
{
	va_list args;

	sx_progress_hide();
	fflush(stdout); /* so that the sentence follows the lines of earlier pairs */
	fputs(SX_PROGRAM ": ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return code;
}

/* Reads the table of classes. The settings were checked, so the table is valid. */
static void take_classes(struct process *p)
{
	struct sx_semantic_params table = p->settings->params.semantics;
	struct sx_why why;

	p->classes = table;
	sx_classes_parse(p->settings->semantics.classes, &table, &p->names, &why);
	for (int i = 0; i < SX_CLASSES_MAX; i++)
		p->name[i] = p->names.name[i];
	if (p->scores.count)
		p->classes = table;
}

int process_open(struct process *p, const struct sx_settings *settings)
{
	p->settings = settings;
	take_classes(p);
	return sx_settings_args_engine(&p->engine, &settings->engine, SX_PROGRAM);
}

/*
 * Destroys the context, then its memory. In this order, because a device reads the pair until its context is
 * destroyed.
 */
static void drop_context(struct process *p)
{
	if (p->context)
		p->engine.backend->context_destroy(p->context);
	p->context = NULL;
	if (p->chain)
		p->engine.backend->chain_destroy(p->chain);
	p->chain = NULL;
	sx_engine_unpin_all(&p->engine);
	sx_slots_finish(&p->slots);
}

void process_close(struct process *p)
{
	drop_context(p);
	sx_engine_close(&p->engine);
}

/*
 * Allocates a slot and pins it. If pinning fails, the engine copies each pair once more. This time is small
 * beside reading files.
 */
static int make_slot(struct process *p, const struct sx_image *left, struct sx_why *why)
{
	struct sx_block block;
	int r = sx_slots_init(&p->slots, 1, SX_LAYOUT_TWO, left->width, left->height, left->pixel, why);

	for (int i = 0; r == 0 && sx_slots_block(&p->slots, i, &block); i++)
		sx_engine_pin(&p->engine, block.memory, block.bytes);
	return r;
}

/* Replaces the context if it does not fit the images. */
static int fit_context(struct process *p, const struct process_job *job, const struct sx_image *left)
{
	const struct sx_source_info info = {
		.width = left->width, .height = left->height, .pixel = left->pixel};
	struct sx_why why = {""};
	int r;

	if (p->context && p->slots.slot->left.width == left->width &&
	    p->slots.slot->left.height == left->height && p->config.pixel == left->pixel)
		return 0;
	drop_context(p);
	if (sx_settings_check_size(p->settings, left->width, left->height, &why) < 0)
		return pair_say(EX_DATAERR, "%s: %s", job->left, why.text);
	p->config = sx_settings_context(p->settings, &info);
	p->config.params.semantics = p->classes;
	if (p->maps.count)
		p->config.params.stereo.matcher = SX_MATCH_EXTERNAL;
	p->config.params.motion.mode = !p->moves    ? SX_MOTION_MODE_OFF
				       : p->filters ? SX_MOTION_MODE_FILTER
						    : SX_MOTION_MODE_PAIR;
	r = sx_chain_create(&p->chain, p->engine.backend, p->engine.device, &p->config, &why);
	p->config.chain = p->chain;
	if (r == 0)
		r = p->engine.backend->context_create(&p->context, p->engine.device, &p->config, &why);
	if (r < 0)
		p->context = NULL;
	else if ((r = make_slot(p, left, &why)) < 0)
		drop_context(p);
	if (r == 0)
		return 0;
	if (r == -EINVAL)
		return pair_say(EX_DATAERR, "%s: %s", job->left, why.text);
	return pair_say(r == -EOPNOTSUPP ? EX_CONFIG : EX_SOFTWARE, "engine %s: %s", p->engine.backend->name,
			why.text[0] ? why.text : strerror(-r));
}

static double density(const struct process *p)
{
	struct sx_image q4;
	size_t valid = 0;

	if (p->engine.backend->peek(p->context, SX_TAP_DISPARITY, &q4) < 0)
		return 0.0;
	for (int y = 0; y < q4.height; y++) {
		const uint16_t *row = sx_image_row(&q4, y);

		for (int x = 0; x < q4.width; x++)
			valid += row[x] != SX_DISPARITY_INVALID;
	}
	return 100.0 * (double)valid / ((double)q4.width * q4.height);
}

static void print_line(const struct process *p, const struct process_job *job, double percent)
{
	static const char *const origins[] = {"none", "measured", "previous", "from calibration"};
	const struct sx_result *result = p->engine.backend->result(p->context);
	const struct sx_road *road = &result->road;

	sx_progress_hide();
	printf("%s: %dx%d, %.1f ms, density %.1f %%, %u stixels, road %s", job->name, p->config.width,
	       p->config.height, (double)(result->finished_ns - result->started_ns) / 1e6, percent,
	       result->count, origins[road->origin <= SX_ROAD_FROM_CALIBRATION ? road->origin : 0]);
	if (road->origin != SX_ROAD_NONE)
		printf(" (height %.2f m, pitch %.2f deg, roll %.2f deg, horizon row %.1f)", road->height_m,
		       road->pitch_rad * 57.29577951308232, road->roll_rad * 57.29577951308232,
		       road->horizon_row);
	putchar('\n');
	fflush(stdout);
}

static int compute(struct process *p, const struct process_job *job, const struct sx_image *left,
		   const struct sx_image *right, const struct sx_scores *scores,
		   const struct sx_disparity *map)
{
	struct sx_pair pair = {
		.number = 1, .left_ns = p->motion.captured_ns, .scores = scores, .disparity = map};
	double percent;
	struct sx_why why = {""};
	int r;

	r = fit_context(p, job, left);
	if (r)
		return r;
	pair.left = p->slots.slot->left;
	pair.right = p->slots.slot->right;
	sx_image_copy(&pair.left, left);
	sx_image_copy(&pair.right, right);
	/* no previous road: pairs are independent, in whatever order the files come */
	r = p->engine.backend->submit(p->context, &pair, NULL, NULL, NULL);
	if (r == 0)
		r = p->engine.backend->wait(p->context, -1);
	if (r < 0)
		return pair_say(EX_SOFTWARE, "%s: engine %s failed: %s", job->left, p->engine.backend->name,
				sx_engine_failure(&p->engine, r));
	r = process_write(p, job->name, &why);
	if (r < 0)
		return pair_say(EX_CANTCREAT, "%s", why.text);
	percent = density(p);
	p->done++;
	print_line(p, job, percent);
	if (p->moves && process_motion_pair(p, job->name, &why) < 0)
		return pair_say(EX_CANTCREAT, "%s", why.text);
	/* with maps, another matcher is responsible for the density */
	if (percent < 100 * SX_PAIRS_SPARSE && !p->maps.count)
		process_sparse_look(p, job->name, percent);
	return 0;
}

/*
 * Reads a disparity map of the left image (rectified if the image is raw), in the format that stixel-process
 * writes.
 */
static int read_map(const struct process *p, const char *path, const struct sx_image *left,
		    struct sx_image *image, struct sx_disparity *ret, struct sx_why *why)
{
	const struct sx_settings *s = p->settings;
	const int width = s->rectify ? s->rig.width : left->width,
		  height = s->rectify ? s->rig.height : left->height;
	int r = sx_image_read(path, image, why);

	if (r < 0)
		return r;
	*ret = (struct sx_disparity){
		.data = image->data, .pitch = image->pitch, .width = image->width, .height = image->height};
	if (image->pixel == SX_PIXEL_Y16 && image->width == width && image->height == height)
		return 0;
	return sx_why_fail(-EBADMSG, why, "%s: %s of %dx%d, expected a disparity map, 16 bit grey, of %dx%d",
			   path, sx_pixel_name(image->pixel), image->width, image->height, width, height);
}

/* Reads one image of the pair. Warns about the first image with an EXIF orientation tag. */
static int read_side(struct process *p, const char *path, struct sx_image *ret, struct sx_why *why)
{
	struct sx_image_notes notes;
	char text[PATH_MAX + 256];
	int r = sx_image_read_noted(path, ret, &notes, why);

	if (r == 0 && !p->warned && sx_orientation_text(path, notes.orientation, text, sizeof(text))) {
		p->warned = true;
		pair_say(0, "%s", text);
	}
	return r;
}

int process_pair(struct process *p, const struct process_job *job)
{
	const struct sx_settings *s = p->settings;
	struct sx_image left = {0}, right = {0}, image = {0};
	struct sx_disparity map;
	struct process_scores scores = {0}; /* scores of the rectified image */
	struct sx_why why = {""};
	int code;

	if (p->moves)
		process_motion_next(p);
	if (read_side(p, job->left, &left, &why) < 0 || read_side(p, job->right, &right, &why) < 0)
		code = pair_say(EX_DATAERR, "%s", why.text);
	else if (left.width != right.width || left.height != right.height)
		code = pair_say(EX_DATAERR, "sizes differ: %s is %dx%d, %s is %dx%d", job->left, left.width,
				left.height, job->right, right.width, right.height);
	else if (left.pixel != right.pixel)
		code = pair_say(EX_DATAERR, "formats differ: %s is %s, %s is %s", job->left,
				sx_pixel_name(left.pixel), job->right, sx_pixel_name(right.pixel));
	else if (job->scores && process_scores_read(&scores, job->scores, p->classes.classes,
						    s->rectify ? s->rig.width : left.width,
						    s->rectify ? s->rig.height : left.height, &why) < 0)
		code = pair_say(EX_DATAERR, "%s", why.text);
	else if (job->map && read_map(p, job->map, &left, &image, &map, &why) < 0)
		code = pair_say(EX_DATAERR, "%s", why.text);
	else
		code = compute(p, job, &left, &right, job->scores ? &scores.scores : NULL,
			       job->map ? &map : NULL);
	process_scores_finish(&scores);
	sx_image_finish(&left);
	sx_image_finish(&right);
	sx_image_finish(&image);
	return code;
}
