/*
 * Simulated faults of a stereo rig.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/scene_fault.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "capture/scene/scene.h"

enum {
	BLUR_REACH = 40,  /* px; with a sigma of 8 px, weights further away are below half a unit */
	BLUR_ONE = 65536, /* sum of all weights of a pixel */
	BLUR_STRIP = 256  /* pixels summed up at once */
};

static const struct {
	const char *name;
	bool amount, whole; /* the kind has an amount; the amount is a whole number */
	double least, most;
} kinds[] = {
	[SX_FAULT_NONE] = {.name = "none"},
	[SX_FAULT_SWAPPED] = {.name = "swapped"},
	[SX_FAULT_ROWS] = {"rows", true, false, -64, 64},
	[SX_FAULT_ROTATED] = {"rotated", true, false, -10, 10},
	[SX_FAULT_DARK_RIGHT] = {"dark-right", true, false, 0, 1},
	[SX_FAULT_BLURRED] = {"blurred", true, false, 0.5, 8},
	[SX_FAULT_BLURRED_RIGHT] = {"blurred-right", true, false, 0.5, 8},
	[SX_FAULT_SAME] = {.name = "same"},
	[SX_FAULT_LATE_RIGHT] = {"late-right", true, true, 1, 8},
};

static int fault_refuse(const char *text, struct sx_why *why)
{
	return sx_why_fail(
		-EINVAL, why,
		"fault '%s' is not known: allowed are none, swapped, rows:-64..64, rotated:-10..10, "
		"dark-right:0..1, blurred:0.5..8, blurred-right:0.5..8, same, late-right:1..8",
		text);
}

int sx_fault_parse(struct sx_fault *ret, const char *text, struct sx_why *why)
{
	const char *name = text && *text ? text : kinds[SX_FAULT_NONE].name;
	const size_t length = strcspn(name, ":");
	double amount = 0;
	char *end = NULL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strlen(kinds[i].name) != length || strncmp(name, kinds[i].name, length) != 0)
			continue;
		if (kinds[i].amount != (name[length] == ':'))
			break;
		if (kinds[i].amount) {
			amount = strtod(name + length + 1, &end);
			if (end == name + length + 1 || *end || !(amount >= kinds[i].least) ||
			    !(amount <= kinds[i].most) || (kinds[i].whole && amount != floor(amount)))
				break;
		}
		*ret = (struct sx_fault){(enum sx_fault_kind)i, amount};
		return 0;
	}
	return fault_refuse(name, why);
}

/* Samples bilinearly at any place. Outside of the image its border pixels continue. */
static uint8_t fault_sample(const struct sx_image *img, double x, double y)
{
	const double u = fmin(fmax(x, 0), img->width - 1), v = fmin(fmax(y, 0), img->height - 1);
	const int i = u < img->width - 1 ? (int)u : img->width - 2,
		  j = v < img->height - 1 ? (int)v : img->height - 2;
	const uint8_t *up = (const uint8_t *)sx_image_row(img, j) + i,
		      *low = (const uint8_t *)sx_image_row(img, j + 1) + i;
	const double a = u - i, b = v - j;

	return (uint8_t)((1 - b) * ((1 - a) * up[0] + a * up[1]) + b * ((1 - a) * low[0] + a * low[1]) + 0.5);
}

/* Rotates an image clockwise about its middle, and shifts it down. */
static void fault_move(struct sx_image *img, struct sx_image *scratch, double degrees, double rows)
{
	const double turn = degrees * (3.14159265358979323846 / 180), c = cos(turn), s = sin(turn);
	const double x0 = (img->width - 1) / 2.0, y0 = (img->height - 1) / 2.0;

	sx_must(scratch->width, ==, img->width);
	sx_image_copy(scratch, img);
	for (int y = 0; y < img->height; y++) {
		uint8_t *to = sx_image_row(img, y);
		const double v = y - rows - y0;

		for (int x = 0; x < img->width; x++)
			to[x] = fault_sample(scratch, x0 + c * (x - x0) + s * v, y0 - s * (x - x0) + c * v);
	}
}

/* Weights of a pixel and of the pixels at distance 1, 2, .. on either side, in 1/65536. */
struct blur {
	int reach; /* index of the last weight that is not 0 */
	int32_t weight[BLUR_REACH + 1];
};

/*
 * Sets binomial weights: the weights 1 2 1, which have a variance of 1/2 px^2, applied repeatedly, but
 * without intermediate rounding.
 */
static void blur_init(struct blur *b, double sigma)
{
	const int times = (int)(2 * sigma * sigma + 0.5);
	double weight = BLUR_ONE;

	for (int i = 1; i <= times; i++)
		weight *= (2 * i - 1) / (2.0 * i);
	b->weight[0] = BLUR_ONE;
	for (b->reach = 0; b->reach < times && b->reach < BLUR_REACH; b->reach++) {
		weight *= (double)(times - b->reach) / (times + b->reach + 1);
		if (weight < 0.5)
			break;
		b->weight[b->reach + 1] = (int32_t)(weight + 0.5);
		b->weight[0] -= 2 * b->weight[b->reach + 1];
	}
}

/* Mirrors index i into 0..n-1. */
static int mirrored(int i, int n)
{
	sx_must(n, >, 0);
	while (i < 0 || i >= n)
		i = i < 0 ? -1 - i : 2 * n - 1 - i;
	return i;
}

/* Weighs `count` pixels of near[0] with the pixels of near[-i] and near[i], for i up to the reach. */
static void blur_pixels(const struct blur *b, uint8_t *to, const uint8_t *const *near, int count)
{
	int32_t sum[BLUR_STRIP];

	sx_must_be(count <= BLUR_STRIP && b->reach <= BLUR_REACH);
	for (int x = 0; x < count; x++)
		sum[x] = BLUR_ONE / 2 + b->weight[0] * near[0][x];
	for (int i = 1; i <= b->reach; i++)
		for (int x = 0; x < count; x++)
			sum[x] += b->weight[i] * (near[-i][x] + near[i][x]);
	for (int x = 0; x < count; x++)
		to[x] = (uint8_t)(sum[x] / BLUR_ONE);
}

static void blur_rows(const struct blur *b, struct sx_image *to, const struct sx_image *from)
{
	uint8_t strip[BLUR_STRIP + 2 * BLUR_REACH];
	const uint8_t *places[2 * BLUR_REACH + 1];

	sx_must(to->width, ==, from->width);
	for (int i = 0; i <= 2 * b->reach; i++)
		places[i] = strip + i;
	for (int y = 0; y < from->height; y++) {
		const uint8_t *row = sx_image_row(from, y);

		for (int x = 0; x < from->width; x += BLUR_STRIP) {
			const int count = from->width - x < BLUR_STRIP ? from->width - x : BLUR_STRIP;

			for (int i = 0; i < count + 2 * b->reach; i++)
				strip[i] = row[mirrored(x + i - b->reach, from->width)];
			blur_pixels(b, (uint8_t *)sx_image_row(to, y) + x, places + b->reach, count);
		}
	}
}

static void blur_columns(const struct blur *b, struct sx_image *to, const struct sx_image *from)
{
	const uint8_t *places[2 * BLUR_REACH + 1];

	sx_must(to->width, ==, from->width);
	for (int y = 0; y < from->height; y++)
		for (int x = 0; x < from->width; x += BLUR_STRIP) {
			const int count = from->width - x < BLUR_STRIP ? from->width - x : BLUR_STRIP;

			for (int i = 0; i <= 2 * b->reach; i++)
				places[i] = (const uint8_t *)sx_image_row(
						    from, mirrored(y + i - b->reach, from->height)) +
					    x;
			blur_pixels(b, (uint8_t *)sx_image_row(to, y) + x, places + b->reach, count);
		}
}

static void fault_blur(struct sx_image *img, struct sx_image *scratch, double sigma)
{
	struct blur b;

	blur_init(&b, sigma);
	blur_rows(&b, scratch, img);
	blur_columns(&b, img, scratch);
}

static void fault_darken(struct sx_image *img, double light)
{
	for (int y = 0; y < img->height; y++) {
		uint8_t *row = sx_image_row(img, y);

		for (int x = 0; x < img->width; x++)
			row[x] = (uint8_t)(light * row[x] + 0.5);
	}
}

void sx_fault_plant(const struct sx_fault *f, struct sx_image *left, struct sx_image *right,
		    struct sx_image *scratch)
{
	sx_must(left->width, ==, right->width);
	switch (f->kind) {
	case SX_FAULT_NONE:
	case SX_FAULT_LATE_RIGHT:
		break;
	case SX_FAULT_SWAPPED:
		sx_image_copy(scratch, left);
		sx_image_copy(left, right);
		sx_image_copy(right, scratch);
		break;
	case SX_FAULT_ROWS:
		fault_move(right, scratch, 0, f->amount);
		break;
	case SX_FAULT_ROTATED:
		fault_move(right, scratch, f->amount, 0);
		break;
	case SX_FAULT_DARK_RIGHT:
		fault_darken(right, f->amount);
		break;
	case SX_FAULT_BLURRED:
		fault_blur(left, scratch, f->amount);
		fault_blur(right, scratch, f->amount);
		break;
	case SX_FAULT_BLURRED_RIGHT:
		fault_blur(right, scratch, f->amount);
		break;
	case SX_FAULT_SAME:
		sx_image_copy(right, left);
		break;
	}
}

void sx_fault_render(const struct sx_fault *f, struct sx_scene *s, uint32_t frame, struct sx_image *left,
		     struct sx_image *right, struct sx_image *scratch)
{
	if (f->kind == SX_FAULT_LATE_RIGHT) {
		sx_scene_render(s, frame + (uint32_t)f->amount, scratch, right);
		sx_scene_render(s, frame, left, scratch);
		return;
	}
	sx_scene_render(s, frame, left, right);
	sx_fault_plant(f, left, right, scratch);
}
