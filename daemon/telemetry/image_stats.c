/*
 * Image health: statistics of frames, and faults of the cameras.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/telemetry/image_stats.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "base/contract.h"
#include "base/statistics/quantile.h"

enum { FEW = 8, USUAL_FROM = 40, USUAL_OVER = 240, USUAL_SLOWER = 10 }; /* numbers of samples */

#define NOTHING 0.98 /* share of an image that is black, white or flat */
#define NOTHING_NO_MORE 0.9
#define NOTICED 0.1	 /* density; covered lenses give up to 0.05, a plain corridor gives 0.1 */
#define NOISE_SPECKLE 10 /* px, from this size on the filter removes matches of noise */
#define MOSTLY 0.5
#define SAME 0.98
#define SAME_NO_MORE 0.9
#define SAME_ROWS 0.125 /* px */
#define ROWS 1.0	/* px */
#define ROW_ERROR_NO_MORE 0.7
#define DENSITY 0.5 /* share of the usual density */
#define DENSITY_NO_MORE 0.6
#define DENSITY_LEAST 0.05 /* lowest usual density that is judged */

static double share(uint32_t part, uint32_t whole)
{
	return whole ? (double)part / whole : (double)NAN;
}

static double rows(int16_t q4)
{
	return q4 == SX_ROW_ERROR_UNKNOWN ? (double)NAN : q4 / 16.0;
}

/*
 * Returns true if v is above much. Also returns true if the fault held before and v is above enough. False
 * for NAN.
 */
static bool exceeds(bool before, double v, double much, double enough)
{
	return v > much || (before && v > enough);
}

/*
 * Value and limits of each fault. A fault begins when its value rises above much, and ends when it is no
 * longer above enough.
 */
static const struct {
	size_t offset; /* offset of the left image's value in struct sx_image_stats */
	double much, enough;
} faults[SX_IMAGE_FAULTS] = {
	[SX_IMAGE_FAULT_BLACK] = {offsetof(struct sx_image_stats, dark), NOTHING, NOTHING_NO_MORE},
	[SX_IMAGE_FAULT_WHITE] = {offsetof(struct sx_image_stats, saturated), NOTHING, NOTHING_NO_MORE},
	[SX_IMAGE_FAULT_EMPTY] = {offsetof(struct sx_image_stats, empty), NOTHING, NOTHING_NO_MORE},
	[SX_IMAGE_FAULT_FROZEN] = {offsetof(struct sx_image_stats, frozen), MOSTLY, MOSTLY},
};

struct sx_image_rules sx_image_rules(const struct sx_params *p, bool live)
{
	const bool matched = p->stereo.matcher != SX_MATCH_EXTERNAL;
	const bool filtered = p->filters.left_right >= 0 && p->filters.speckle_size >= NOISE_SPECKLE;

	return (struct sx_image_rules){
		.live = live, .matched = matched, .noticed = filtered || !matched ? NOTICED : 2};
}

/*
 * Returns true if the images show something. Some settings match a flat image to infinity, which does not
 * count.
 */
static bool notices(const struct sx_image_stats *p, const struct sx_image_rules *rules)
{
	return p->density > 0 && p->density * (1 - p->infinity) >= rules->noticed;
}

/* Returns true if the value is above 98 % of the image. */
static bool is_mostly(const double value[2], int side)
{
	return value[side] > NOTHING;
}

static bool shows_nothing(const struct sx_image_stats *p, int side)
{
	return is_mostly(p->dark, side) || is_mostly(p->saturated, side) || is_mostly(p->flat, side);
}

static void find_repeated(struct sx_image_stats *p, const struct sx_image_stats *before,
			  const struct sx_image_rules *rules)
{
	bool again[2];

	p->twice = rules->matched && p->checksum[0] == p->checksum[1] && !shows_nothing(p, 0);
	if (!before || before->frame == 0)
		return;
	for (int side = 0; side < 2; side++)
		again[side] = p->checksum[side] == before->checksum[side];
	/*
	 * With files, both images may repeat: a picture is shown again, or nothing moves. That is no fault.
	 */
	for (int side = 0; side < 2; side++)
		p->frozen[side] = again[side] && (rules->live || !again[!side]) && !shows_nothing(p, side);
}

void sx_image_stats_of(struct sx_image_stats *ret, const struct sx_diagnostics *m, uint64_t frame,
		       uint32_t pixels, uint32_t columns, const struct sx_image_stats *before,
		       const struct sx_image_rules *rules)
{
	struct sx_row_error error[SX_ROW_ERROR_PARTS];

	sx_must(m->blind, <=, columns);
	sx_must(m->near, <=, m->measured);
	sx_row_error(m, error);
	*ret = (struct sx_image_stats){
		.frame = frame,
		.density = share(m->measured, pixels),
		.infinity = share(m->near, m->measured),
		.blind = share(m->blind, columns),
		.raw_min = (double)NAN,
		.raw_max = (double)NAN,
	};
	for (int i = 0; i < SX_ROW_ERROR_PARTS; i++) {
		ret->row_error[i] = rows(error[i].median);
		ret->row_spread[i] = rows(error[i].spread);
	}
	for (int side = 0; side < 2; side++) {
		ret->dark[side] = share(m->image[side].dark, m->samples);
		ret->saturated[side] = share(m->image[side].bright, m->samples);
		ret->sharpness[side] = share(m->image[side].laplacian, m->samples);
		ret->flat[side] = share(m->image[side].flat, m->image[side].areas);
		ret->empty[side] = notices(ret, rules) ? 0 : ret->flat[side];
		ret->checksum[side] = m->image[side].checksum;
	}
	if (m->samples > 0)
		find_repeated(ret, before, rules);
}

/*
 * Returns true if all disparities are near infinity and rows are aligned, as with one image twice. False for
 * NAN.
 */
static bool look_the_same(double infinity, double error, bool before)
{
	return fabs(error) < SAME_ROWS && exceeds(before, infinity, SAME, SAME_NO_MORE);
}

/*
 * Returns true if one image is black or white and the other is far from it, whatever is measured between
 * them.
 */
static bool differ(const double value[2])
{
	return (is_mostly(value, 0) && value[1] < NOTHING_NO_MORE) ||
	       (is_mostly(value, 1) && value[0] < NOTHING_NO_MORE);
}

bool sx_images_are_blind(const struct sx_image_stats *p, const struct sx_image_rules *rules)
{
	const bool nothing = shows_nothing(p, 0) || shows_nothing(p, 1);

	if (p->frozen[0] > 0 || p->frozen[1] > 0)
		return true;
	if (nothing && (!notices(p, rules) || (rules->matched && (differ(p->dark) || differ(p->saturated)))))
		return true;
	return !nothing &&
	       (p->twice > 0 || look_the_same(p->infinity, p->row_error[SX_ROW_ERROR_ALL], false));
}

/*
 * Returns the median of one value over the last samples that know it; NAN if fewer than least know it.
 * offset: of the value in struct sx_image_stats, bytes. Of an even number returns the lower middle value.
 */
static double recent(const struct sx_image_watch *w, size_t offset, unsigned samples, unsigned least)
{
	sx_must(samples, <=, SX_IMAGE_WATCH_SAMPLES);
	sx_must(offset, <, sizeof(struct sx_image_stats));
	double known[SX_IMAGE_WATCH_SAMPLES];
	unsigned n = 0;

	for (unsigned i = 0; i < samples && i < w->taken; i++) {
		const struct sx_image_stats *s = &w->sample[(w->taken - 1 - i) % SX_IMAGE_WATCH_SAMPLES];
		const double v = *(const double *)((const char *)s + offset);

		if (!isnan(v))
			known[n++] = v;
	}
	if (n < least)
		return (double)NAN;
	return sx_quantile(known, n, 0.5);
}

static void judge_images(struct sx_image_watch *w)
{
	const double error =
		recent(w, offsetof(struct sx_image_stats, row_error[SX_ROW_ERROR_ALL]), FEW, FEW / 2);
	const double infinity = recent(w, offsetof(struct sx_image_stats, infinity), FEW, FEW);

	for (int i = 0; i < SX_IMAGE_FAULTS; i++)
		for (int side = 0; side < 2; side++)
			w->wrong[i][side] =
				exceeds(w->wrong[i][side],
					recent(w, faults[i].offset + (size_t)side * sizeof(double), FEW, FEW),
					faults[i].much, faults[i].enough);
	w->same = look_the_same(infinity, error, w->same) ||
		  recent(w, offsetof(struct sx_image_stats, twice), FEW, FEW) > MOSTLY;
}

/* Returns the largest known row error by absolute value, px; 0 if none is known. */
static double judge_row_error(struct sx_image_watch *w, double error[SX_ROW_ERROR_PARTS])
{
	double largest = 0;

	for (int i = 0; i < SX_ROW_ERROR_PARTS; i++) {
		error[i] = recent(w, offsetof(struct sx_image_stats, row_error) + (size_t)i * sizeof(double),
				  SX_IMAGE_WATCH_SAMPLES, FEW);
		if (fabs(error[i]) > largest)
			largest = fabs(error[i]);
	}
	w->row_error = exceeds(w->row_error, largest, ROWS, ROW_ERROR_NO_MORE);
	return largest;
}

static bool knows_usual(const struct sx_image_watch *w)
{
	return w->taken >= USUAL_FROM && w->usual >= DENSITY_LEAST;
}

static double judge_density(struct sx_image_watch *w)
{
	const double now = recent(w, offsetof(struct sx_image_stats, density), FEW, FEW),
		     newest = w->sample[(w->taken - 1) % SX_IMAGE_WATCH_SAMPLES].density;
	double over = w->taken < USUAL_OVER ? (double)w->taken : USUAL_OVER;

	sx_must(w->taken, >, 0);
	if (w->density)
		over *= USUAL_SLOWER;
	if (!isnan(newest))
		w->usual += (newest - w->usual) / over;
	w->density = knows_usual(w) &&
		     (now < DENSITY * w->usual || (w->density && now < DENSITY_NO_MORE * w->usual));
	return now;
}

/* Writes "left -1.2, ", or an empty text if the error is NAN. */
static const char *part_text(char text[24], const char *name, double error)
{
	text[0] = 0;
	if (!isnan(error))
		snprintf(text, 24, "%s %+.1f, ", name, error);
	return text;
}

static void say_row_error(struct sx_image_watch *w, double largest, const double error[SX_ROW_ERROR_PARTS])
{
	char left[24], middle[24], right[24];

	sx_must_be(largest > 0);
	snprintf(w->why, sizeof(w->why),
		 "images are up to %.1f rows out of line (%s%s%sright image lower: +): calibrate again",
		 largest, part_text(left, "left", error[SX_ROW_ERROR_LEFT]),
		 part_text(middle, "middle", error[SX_ROW_ERROR_MIDDLE]),
		 part_text(right, "right", error[SX_ROW_ERROR_RIGHT]));
}

/* Returns the median of the wrong side in percent; if both sides are wrong, the lower one. */
static double percent_of(const struct sx_image_watch *w, enum sx_image_fault fault)
{
	double least = 1;

	for (int side = 0; side < 2; side++)
		if (w->wrong[fault][side])
			least = fmin(least, recent(w, faults[fault].offset + (size_t)side * sizeof(double),
						   FEW, FEW));
	return floor(100 * least);
}

static void say_fault(struct sx_image_watch *w, enum sx_image_fault fault)
{
	const bool both = w->wrong[fault][0] && w->wrong[fault][1];
	const char *side = both ? "both" : w->wrong[fault][0] ? "left" : "right";

	switch (fault) {
	case SX_IMAGE_FAULT_BLACK:
	case SX_IMAGE_FAULT_WHITE:
		snprintf(w->why, sizeof(w->why), both ? "%s images are %s" : "the %s image is %s", side,
			 fault == SX_IMAGE_FAULT_BLACK ? "black" : "white");
		break;
	case SX_IMAGE_FAULT_EMPTY:
		snprintf(w->why, sizeof(w->why),
			 both ? "%s images show nothing (%.0f %% of them is flat): are the lenses covered?"
			      : "the %s image shows nothing (%.0f %% of it is flat): is the lens covered?",
			 side, percent_of(w, fault));
		break;
	default:
		snprintf(w->why, sizeof(w->why),
			 both ? "%s cameras repeat the same images" : "the %s camera repeats the same image",
			 side);
	}
}

/* Writes the sentence on a fault of the images themselves. Returns false if there is none. */
static bool say_images(struct sx_image_watch *w)
{
	for (int i = 0; i < SX_IMAGE_FAULTS; i++)
		if (w->wrong[i][0] || w->wrong[i][1]) {
			say_fault(w, (enum sx_image_fault)i);
			return true;
		}
	if (w->same)
		snprintf(w->why, sizeof(w->why),
			 "both images are the same: one camera is read twice, or both get one signal");
	return w->same;
}

void sx_image_watch_forget_row_error(struct sx_image_watch *w)
{
	for (unsigned i = 0; i < SX_IMAGE_WATCH_SAMPLES; i++)
		for (int part = 0; part < SX_ROW_ERROR_PARTS; part++)
			w->sample[i].row_error[part] = (double)NAN;
	if (w->row_error && !say_images(w))
		w->why[0] = 0;
	w->row_error = false;
}

void sx_image_watch(struct sx_image_watch *w, const struct sx_image_stats *newest)
{
	double error[SX_ROW_ERROR_PARTS], largest, density;

	if (w->taken > 0 && w->sample[(w->taken - 1) % SX_IMAGE_WATCH_SAMPLES].frame == newest->frame)
		return;
	sx_must_be(w->taken == 0 || newest->frame > w->sample[(w->taken - 1) % SX_IMAGE_WATCH_SAMPLES].frame);
	w->sample[w->taken++ % SX_IMAGE_WATCH_SAMPLES] = *newest;
	judge_images(w);
	largest = judge_row_error(w, error);
	density = judge_density(w);
	w->why[0] = 0;
	if (say_images(w))
		return;
	if (w->row_error)
		say_row_error(w, largest, error);
	else if (w->density)
		snprintf(w->why, sizeof(w->why), "only %.0f %% of the pixels are measured, usually %.0f %%",
			 100 * density, 100 * w->usual);
}

static double limit_of(const struct sx_image_watch *w, enum sx_image_fault fault)
{
	return w->wrong[fault][0] || w->wrong[fault][1] ? faults[fault].enough : faults[fault].much;
}

void sx_image_limits(struct sx_image_limits *ret, const struct sx_image_watch *w)
{
	*ret = (struct sx_image_limits){
		.density = knows_usual(w) ? (w->density ? DENSITY_NO_MORE : DENSITY) * w->usual : (double)NAN,
		.infinity = w->same ? SAME_NO_MORE : SAME,
		.row_error = w->row_error ? ROW_ERROR_NO_MORE : ROWS,
		.dark = limit_of(w, SX_IMAGE_FAULT_BLACK),
		.saturated = limit_of(w, SX_IMAGE_FAULT_WHITE),
		.flat = limit_of(w, SX_IMAGE_FAULT_EMPTY),
	};
}
