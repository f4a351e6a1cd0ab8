/*
 * What the pictures say of the cameras.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/pictures.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "base/contract.h"
#include "base/quantile.h"

enum { FEW = 8, USUAL_FROM = 40, USUAL_OVER = 240, USUAL_SLOWER = 10 }; /* samples */

#define BLACK 0.98
#define BLACK_NO_MORE 0.9
#define SAME 0.98
#define SAME_NO_MORE 0.9
#define SAME_ROWS 0.125 /* px */
#define ROWS 1.0	/* px */
#define ROWS_NO_MORE 0.7
#define DENSITY 0.5 /* of the usual one */
#define DENSITY_NO_MORE 0.6
#define DENSITY_LEAST 0.05 /* usual: less is nothing to fall from */

static double share(uint32_t part, uint32_t whole)
{
	return whole ? (double)part / whole : (double)NAN;
}

static double rows(int16_t q4)
{
	return q4 == SX_ROWS_UNKNOWN ? (double)NAN : q4 / 16.0;
}

void sx_pictures_of(struct sx_pictures *ret, const struct sx_monitor *m, uint64_t frame, uint32_t pixels,
		    uint32_t columns)
{
	struct sx_row_error error[SX_ROWS_PARTS];

	sx_must(m->blind, <=, columns);
	sx_must(m->near, <=, m->measured);
	sx_row_error(m, error);
	*ret = (struct sx_pictures){
		.frame = frame,
		.density = share(m->measured, pixels),
		.infinity = share(m->near, m->measured),
		.blind = share(m->blind, columns),
	};
	for (int i = 0; i < SX_ROWS_PARTS; i++) {
		ret->row_error[i] = rows(error[i].median);
		ret->row_spread[i] = rows(error[i].spread);
	}
	for (int side = 0; side < 2; side++) {
		ret->dark[side] = share(m->image[side].dark, m->samples);
		ret->saturated[side] = share(m->image[side].bright, m->samples);
		ret->sharpness[side] = share(m->image[side].laplacian, m->samples);
	}
}

/*
 * Median of one figure, offset bytes into each of the last samples, as far as they know it; NAN when fewer
 * than least do. Of two in the middle the lower.
 */
static double recent(const struct sx_pictures_watch *w, size_t offset, unsigned samples, unsigned least)
{
	sx_must(samples, <=, SX_PICTURES_SAMPLES);
	sx_must(offset, <, sizeof(struct sx_pictures));
	double known[SX_PICTURES_SAMPLES];
	unsigned n = 0;

	for (unsigned i = 0; i < samples && i < w->taken; i++) {
		const struct sx_pictures *s = &w->sample[(w->taken - 1 - i) % SX_PICTURES_SAMPLES];
		const double v = *(const double *)((const char *)s + offset);

		if (!isnan(v))
			known[n++] = v;
	}
	if (n < least)
		return (double)NAN;
	return sx_quantile(known, n, 0.5);
}

/* Whether v is too much, which it stays until it is no more than enough. NAN is not. */
static bool exceeds(bool before, double v, double much, double enough)
{
	return v > much || (before && v > enough);
}

static void judge_images(struct sx_pictures_watch *w)
{
	const double error = recent(w, offsetof(struct sx_pictures, row_error[SX_ROWS_ALL]), FEW, FEW / 2);
	const double infinity = recent(w, offsetof(struct sx_pictures, infinity), FEW, FEW);

	for (int side = 0; side < 2; side++)
		w->black[side] =
			exceeds(w->black[side],
				recent(w, offsetof(struct sx_pictures, dark) + (size_t)side * sizeof(double),
				       FEW, FEW),
				BLACK, BLACK_NO_MORE);
	w->same = fabs(error) < SAME_ROWS && exceeds(w->same, infinity, SAME, SAME_NO_MORE);
}

/* Returns the largest error that is known, by its size; 0 without any. */
static double judge_rows(struct sx_pictures_watch *w, double error[SX_ROWS_PARTS])
{
	double largest = 0;

	for (int i = 0; i < SX_ROWS_PARTS; i++) {
		error[i] = recent(w, offsetof(struct sx_pictures, row_error) + (size_t)i * sizeof(double),
				  SX_PICTURES_SAMPLES, FEW);
		if (fabs(error[i]) > largest)
			largest = fabs(error[i]);
	}
	w->rows = exceeds(w->rows, largest, ROWS, ROWS_NO_MORE);
	return largest;
}

static bool knows_usual(const struct sx_pictures_watch *w)
{
	return w->taken >= USUAL_FROM && w->usual >= DENSITY_LEAST;
}

static double judge_density(struct sx_pictures_watch *w)
{
	const double now = recent(w, offsetof(struct sx_pictures, density), FEW, FEW),
		     newest = w->sample[(w->taken - 1) % SX_PICTURES_SAMPLES].density;
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

/* "left -1.2, " or nothing. */
static const char *part_text(char text[24], const char *name, double error)
{
	text[0] = 0;
	if (!isnan(error))
		snprintf(text, 24, "%s %+.1f, ", name, error);
	return text;
}

static void say_rows(struct sx_pictures_watch *w, double largest, const double error[SX_ROWS_PARTS])
{
	char left[24], middle[24], right[24];

	sx_must_be(largest > 0);
	snprintf(w->why, sizeof(w->why),
		 "images are up to %.1f rows out of line (%s%s%sright image lower: +): calibrate anew",
		 largest, part_text(left, "left", error[SX_ROWS_LEFT]),
		 part_text(middle, "middle", error[SX_ROWS_MIDDLE]),
		 part_text(right, "right", error[SX_ROWS_RIGHT]));
}

void sx_pictures_forget_rows(struct sx_pictures_watch *w)
{
	for (unsigned i = 0; i < SX_PICTURES_SAMPLES; i++)
		for (int part = 0; part < SX_ROWS_PARTS; part++)
			w->sample[i].row_error[part] = (double)NAN;
	if (w->rows && !w->black[0] && !w->black[1] && !w->same)
		w->why[0] = 0;
	w->rows = false;
}

void sx_pictures_watch(struct sx_pictures_watch *w, const struct sx_pictures *newest)
{
	double error[SX_ROWS_PARTS], largest, density;

	if (w->taken > 0 && w->sample[(w->taken - 1) % SX_PICTURES_SAMPLES].frame == newest->frame)
		return;
	sx_must_be(w->taken == 0 || newest->frame > w->sample[(w->taken - 1) % SX_PICTURES_SAMPLES].frame);
	w->sample[w->taken++ % SX_PICTURES_SAMPLES] = *newest;
	judge_images(w);
	largest = judge_rows(w, error);
	density = judge_density(w);
	w->why[0] = 0;
	if (w->black[0] && w->black[1])
		snprintf(w->why, sizeof(w->why), "both images are black");
	else if (w->black[0] || w->black[1])
		snprintf(w->why, sizeof(w->why), "the %s image is black", w->black[0] ? "left" : "right");
	else if (w->same)
		snprintf(w->why, sizeof(w->why),
			 "both images are the same: one camera is read twice, or both get one signal");
	else if (w->rows)
		say_rows(w, largest, error);
	else if (w->density)
		snprintf(w->why, sizeof(w->why), "only %.0f %% of the pixels are measured, usually %.0f %%",
			 100 * density, 100 * w->usual);
}

void sx_pictures_limits(struct sx_pictures_limits *ret, const struct sx_pictures_watch *w)
{
	*ret = (struct sx_pictures_limits){
		.density = knows_usual(w) ? (w->density ? DENSITY_NO_MORE : DENSITY) * w->usual : (double)NAN,
		.infinity = w->same ? SAME_NO_MORE : SAME,
		.row_error = w->rows ? ROWS_NO_MORE : ROWS,
		.dark = w->black[0] || w->black[1] ? BLACK_NO_MORE : BLACK,
	};
}
