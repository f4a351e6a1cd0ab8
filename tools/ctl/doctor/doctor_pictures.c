/*
 * Check of stixelctl doctor: what the images of the running instance show about its cameras. It uses pairs if
 * the instance publishes right images, else the values of its status.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/statistics/quantile.h"
#include "engines/select.h"
#include "stixel.h"
#include "tools/common/instances.h"
#include "tools/ctl/ctl.h"
#include "tools/ctl/doctor/doctor.h"
#include "tools/pairs/faults.h"

#define CHECK "pictures"

enum {
	PAIRS = 4,
	WITHOUT = 3,	 /* frames without the requested image, after which the image counts as not offered */
	APART_MS = 50,	 /* time from a pair to the later image, which shows motion */
	FRAME_MS = 1500, /* longest wait for a frame with an image */
	ENGINE_MS = 60000, /* the slowest machine needs 1 s */
	ASKED = 3,
	ASK_AGAIN_MS = 300 /* time between two looks at the status */
};

#define WANTED (1u << STIXEL_PLANE_LEFT | 1u << STIXEL_PLANE_RIGHT)

/* ---- pairs ---- */

/* Copies of images of frames: a pair, and the left image after it. */
struct grab {
	struct stixel_reader *reader;
	struct sx_image left, right, later;
	struct sx_pairs *pairs;
	int64_t asked_ns, left_ns;
	double skew_ms[PAIRS];
	bool stamped;	/* cameras or their driver made the timestamps */
	bool small;	/* images too small to be judged */
	double density; /* density of the last pair, from its frame */
	int width;	/* px, of the last frame, with or without images */
	int disparities, min_disparity;
};

static void grab_finish(struct grab *g)
{
	stixel_close(g->reader);
	sx_pairs_destroy(g->pairs);
	sx_image_finish(&g->left);
	sx_image_finish(&g->right);
	sx_image_finish(&g->later);
}

/*
 * Takes the size from the first frame. Returns false if a later frame has another size, if the images are too
 * small, or if there is no memory.
 */
static bool grab_fits(struct grab *g, const struct stixel_frame_header *h)
{
	const int width = (int)h->image_width, height = (int)h->image_height;

	if (g->pairs)
		return g->left.width == width && g->left.height == height;
	g->disparities = (int)h->disparities;
	g->min_disparity = h->min_disparity;
	g->small = sx_pairs_create(&g->pairs, width, height, g->min_disparity, g->disparities) == -EINVAL;
	return g->pairs && sx_image_init(&g->left, SX_PIXEL_U8, width, height) == 0 &&
	       sx_image_init(&g->right, SX_PIXEL_U8, width, height) == 0 &&
	       sx_image_init(&g->later, SX_PIXEL_U8, width, height) == 0;
}

static bool copy_image(const struct sx_image *to, const struct stixel_frame *f, unsigned kind)
{
	struct stixel_image found;
	struct sx_image from;

	if (!stixel_image(f, kind, &found) || (int)found.width != to->width ||
	    (int)found.height != to->height)
		return false;
	from = (struct sx_image){(void *)(uintptr_t)found.data, to->width, to->height, found.pitch,
				 SX_PIXEL_U8};
	sx_image_copy(to, &from);
	return true;
}

/*
 * Takes the next frame that has the image, captured at from_ns or later. False: no such image, or not in
 * time.
 */
static bool next_with(struct grab *g, unsigned kind, int64_t from_ns, const struct stixel_frame **f)
{
	const int64_t until_ns = sx_now_ns() + FRAME_MS * 1000000LL;
	struct stixel_image image;
	int without = 0;

	while (!ctl_stopped && without < WITHOUT && sx_now_ns() < until_ns) {
		if (stixel_wait(g->reader, FRAME_MS) <= 0 || stixel_latest(g->reader, f) <= 0)
			return false;
		g->width = (int)(*f)->header->image_width;
		if (!stixel_image(*f, kind, &image))
			/* earlier frames may have images that other readers requested, or none */
			without += (*f)->header->plane_kind != STIXEL_PLANE_NONE &&
				   (*f)->header->capture_left_ns > g->asked_ns;
		else if ((*f)->header->capture_left_ns >= from_ns)
			return true;
	}
	return false;
}

static bool grab_pair(struct grab *g, int i)
{
	const struct stixel_frame *f;
	const struct stixel_frame_header *h;
	int64_t later_ns;

	if (!next_with(g, STIXEL_PLANE_RIGHT, 0, &f) || !grab_fits(g, f->header) ||
	    !copy_image(&g->left, f, STIXEL_PLANE_LEFT) || !copy_image(&g->right, f, STIXEL_PLANE_RIGHT))
		return false;
	h = f->header;
	g->left_ns = h->capture_left_ns;
	g->skew_ms[i] = (double)(h->capture_right_ns - h->capture_left_ns) / 1e6;
	g->stamped &= h->stamp != STIXEL_STAMP_SOFTWARE;
	g->density = h->abi_minor >= 4 ? h->measured / 65535.0 : (double)NAN;
	if (!next_with(g, STIXEL_PLANE_LEFT, g->left_ns + APART_MS * 1000000LL, &f) ||
	    !copy_image(&g->later, f, STIXEL_PLANE_LEFT))
		return sx_pairs_add(g->pairs, &g->left, &g->right, NULL, 0) == 0;
	later_ns = f->header->capture_left_ns - g->left_ns;
	return sx_pairs_add(g->pairs, &g->left, &g->right, &g->later, (double)later_ns / 1e6) == 0;
}

/* Takes up to PAIRS pairs. Returns their number; 0: the instance publishes no pairs. */
static int grab_pairs(struct grab *g, const char *instance)
{
	int taken = 0;

	if (stixel_open(&g->reader, instance, 0) < 0 || stixel_want_images(g->reader, WANTED) < 0)
		return 0;
	g->asked_ns = sx_now_ns();
	while (taken < PAIRS && !ctl_stopped && grab_pair(g, taken))
		taken++;
	return taken;
}

/* ---- density ---- */

/* Returns the share of pixels that a context measures. NAN: the engine fails. */
static double density_of(const struct sx_engine *e, struct sx_context *x, const struct sx_image *left,
			 const struct sx_image *right)
{
	const struct sx_pair pair = {.left = *left, .right = *right, .number = 1};

	if (e->backend->submit(x, &pair, NULL, NULL, NULL) < 0 || e->backend->wait(x, ENGINE_MS) != 1)
		return (double)NAN;
	return e->backend->result(x)->diagnostics.measured / ((double)left->width * left->height);
}

/*
 * Computes the density of the last pair as it is, and with left and right exchanged. Uses the cpu engine with
 * its defaults.
 */
static void find_density(const struct grab *g, struct sx_pair_stats *f)
{
	const struct sx_source_info info = {
		.width = g->left.width, .height = g->left.height, .pixel = SX_PIXEL_U8};
	struct sx_settings s;
	struct sx_context_config c;
	struct sx_engine e = {0};
	struct sx_context *x = NULL;
	struct sx_why why;

	if (sx_settings_init(&s) < 0)
		return;
	s.engine.backend = SX_BACKEND_CPU;
	s.params.stereo.disparities = g->disparities;
	s.params.stereo.min_disparity = g->min_disparity;
	c = sx_settings_context(&s, &info);
	if (sx_engine_open(&e, &s.engine, &why) == 0) {
		if (e.backend->context_create(&x, e.device, &c, &why) == 0) {
			f->density = density_of(&e, x, &g->left, &g->right);
			f->exchanged = density_of(&e, x, &g->right, &g->left);
			e.backend->context_destroy(x);
		}
		sx_engine_close(&e);
	}
	sx_settings_finish(&s);
}

/* ---- values ---- */

/*
 * Takes the values from pairs. Returns false if there are no pairs, or if the images are too small. f then
 * has only the width.
 */
static bool stats_of_pairs(struct sx_pair_stats *f, const char *instance, bool *small)
{
	struct grab g = {.density = (double)NAN, .stamped = true};
	const int taken = grab_pairs(&g, instance);

	sx_pair_stats_init(f);
	f->width = g.width;
	if (taken) {
		sx_pairs_stats(g.pairs, f);
		if (g.stamped)
			f->skew_ms = sx_quantile(g.skew_ms, (size_t)taken, 0.5);
		f->density = g.density;
		if (g.density < SX_PAIRS_SPARSE || f->behind > 0.5)
			find_density(&g, f);
	}
	*small = g.small;
	grab_finish(&g);
	return taken > 0;
}

static double number_at(const json_t *j, const char *object, const char *key)
{
	const json_t *in = *object ? json_object_get(j, object) : j, *v = json_object_get(in, key);

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

/* Returns the median of three values, as far as they are known. */
static double middle_of(const double v[ASKED])
{
	return fmax(fmin(v[0], v[1]), fmin(fmax(v[0], v[1]), v[2]));
}

/* Asks several times and takes the medians, because the row errors differ from frame to frame. */
static void ask_rows(const struct doctor *d, double ret[4])
{
	static const char *const parts[] = {"left", "middle", "right", "all"};
	double seen[4][ASKED];
	json_t *again = json_incref(d->status);

	for (int i = 0; i < ASKED; i++) {
		for (int part = 0; part < 4; part++)
			seen[part][i] = number_at(json_object_get(again, CHECK), "row_error_px", parts[part]);
		json_decref(again);
		again = NULL;
		if (i + 1 < ASKED) {
			nanosleep(&(struct timespec){.tv_nsec = ASK_AGAIN_MS * 1000000L}, NULL);
			again = doctor_fetch(d->instance);
		}
	}
	for (int part = 0; part < 4; part++)
		ret[part] = middle_of(seen[part]);
}

/* Takes the values from the status. The row errors of the image's thirds become an offset and a rotation. */
static void stats_of_status(const struct doctor *d, struct sx_pair_stats *f)
{
	const json_t *said = json_object_get(d->status, CHECK);
	double rows[4];

	f->density = number_at(said, "", "density");
	for (int side = 0; side < 2; side++) {
		const char *const key = side ? "right" : "left";

		f->dark[side] = number_at(said, "dark", key);
		f->saturated[side] = number_at(said, "saturated", key);
		f->flat[side] = number_at(said, "flat", key);
		f->laplacian[side] = number_at(said, "sharpness", key);
	}
	ask_rows(d, rows);
	sx_pair_rows_of_thirds(f, rows);
	if (fabs(rows[3]) < 0.125) /* 1/8 px, as in the daemon's own judgement */
		f->still = number_at(said, "", "at_infinity");
}

/* ---- findings ---- */

/* Returns an end of the raw range of images of 10 to 16 bits; NAN: other images, or an older daemon. */
static double raw_value(const struct doctor *d, const char *key)
{
	return number_at(json_object_get(d->status, CHECK), "raw_range", key);
}

static void say_raw_range(struct doctor *d)
{
	const double min = raw_value(d, "min"), max = raw_value(d, "max");

	if (!isnan(min) && !isnan(max))
		doctor_say(d, DOCTOR_OK, CHECK, NULL,
			   "pixels of more than 8 bits use the values %.0f to %.0f, %.0f of 65536; single "
			   "darker and brighter ones are left out",
			   min, max, max - min + 1);
}

/* Reports the values of images without faults. */
static void say_fine(struct doctor *d, const struct sx_pair_stats *f)
{
	char pairs[24] = "", rows[64], sharp[48] = "", density[32] = "", levels[64] = "";

	if (f->pairs)
		snprintf(pairs, sizeof(pairs), "%d pairs: ", f->pairs);
	if (isnan(f->off))
		snprintf(rows, sizeof(rows), "rows are not known: too little is found in both images");
	else
		snprintf(rows, sizeof(rows), "rows within %.1f px", f->off);
	if (!isnan(f->sharp[0]) && !isnan(f->sharp[1]))
		snprintf(sharp, sizeof(sharp), ", sharpness %.2f and %.2f", f->sharp[0], f->sharp[1]);
	if (!isnan(f->density))
		snprintf(density, sizeof(density), ", density %.0f %%", 100 * f->density);
	if (!isnan(f->least) && isnan(raw_value(d, "min")))
		snprintf(levels, sizeof(levels), ", 99 %% of the pixels have grey levels %.0f to %.0f",
			 f->least, f->most);
	doctor_say(d, DOCTOR_OK, CHECK, NULL, "%s%s%s%s%s%s", pairs, rows, sharp, density, levels,
		   f->pairs && isnan(f->late_ms)
			   ? "; too little moves up or down to tell whether both are of the same time"
			   : "");
}

void doctor_pictures(struct doctor *d)
{
	const char *state = json_string_value(json_object_get(d->status, "state"));
	struct sx_pair_finding finding[SX_PAIR_FAULTS];
	struct sx_pair_stats f;
	bool pairs, small;
	int n;

	if (!state || (strcmp(state, "running") != 0 && strcmp(state, "degraded") != 0))
		return;
	pairs = stats_of_pairs(&f, d->instance, &small);
	if (!pairs)
		stats_of_status(d, &f);
	n = sx_pair_faults(&f, finding);
	for (int i = 0; i < n; i++)
		/* the status describes single frames, which is not enough to report a problem */
		doctor_say(d, pairs && finding[i].useless ? DOCTOR_PROBLEM : DOCTOR_WARNING, CHECK,
			   finding[i].advice, "%s", finding[i].text);
	if (!n)
		say_fine(d, &f);
	say_raw_range(d);
	if (!pairs && small)
		doctor_say(d, DOCTOR_OK, CHECK, NULL, "images are too small to judge pairs");
	else if (!pairs)
		doctor_say(d, DOCTOR_OK, CHECK,
			   "restart it with -s output.planes=pair to learn of these as well",
			   "right images are not published: exchanged images and synchronisation "
			   "were not looked at, focus only roughly");
}
