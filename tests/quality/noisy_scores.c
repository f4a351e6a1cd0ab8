/*
 * Makes class scores with the faults of a network from true labels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "capture/scene/surface/scene_noise.h"
#include "tests/quality/painted.h"

#define FIELD 16	    /* px, distance over which the offset of borders changes */
#define OFF 4.0		    /* px, largest offset of borders in each direction */
#define BLOCK 8		    /* px, size of blocks with the same certainty */
#define PIXELS_A_PATCH 4000 /* pixels of the picture per wrong patch; patches have a radius of 3 to 12 px */

#define AREA 48	       /* px, distance over which it changes whether an area is wrong */
#define SAME_KIND 0.35 /* areas in which |field| is larger have another class */
#define OTHER_KIND 0.7 /* areas in which field is less than minus this have a class of another kind */

enum { DX = 1, DY, SURE, PATCH, WRONG };

/* A network mistakes each class of Cityscapes for a class of the same kind, or for one of another kind. */
static const uint8_t mistakes[QUALITY_CLASSES][2] = {
	{1, 13}, /* road: sidewalk, car */
	{0, 3},	 /* sidewalk: road, wall */
	{8, 10}, /* building: vegetation, sky */
	{2, 1},	 /* wall: building, sidewalk */
	{8, 9},	 /* fence: vegetation, terrain */
	{2, 10}, /* pole: building, sky */
	{8, 10}, /* traffic light: vegetation, sky */
	{2, 10}, /* traffic sign: building, sky */
	{2, 9},	 /* vegetation: building, terrain */
	{1, 8},	 /* terrain: sidewalk, vegetation */
	{10, 2}, /* sky: building */
	{12, 1}, /* person: rider, sidewalk */
	{11, 1}, /* rider: person, sidewalk */
	{14, 0}, /* car: truck, road */
	{15, 0}, /* truck: bus, road */
	{14, 0}, /* bus: truck, road */
	{15, 0}, /* train: bus, road */
	{18, 0}, /* motorcycle: bicycle, road */
	{11, 1}, /* bicycle: person, sidewalk */
};

int noisy_scores_init(struct noisy_scores *n, int width, int height)
{
	size_t pixels = (size_t)width * (size_t)height;

	*n = (struct noisy_scores){
		.data = calloc(pixels, QUALITY_CLASSES),
		.label = calloc(pixels, 1),
	};
	n->scores = (struct sx_scores){
		.data = n->data,
		.pitch = (size_t)width,
		.plane_bytes = pixels,
		.classes = QUALITY_CLASSES,
		.width = width,
		.height = height,
		.scale = 1,
	};
	if (n->data && n->label)
		return 0;
	noisy_scores_finish(n);
	return -ENOMEM;
}

void noisy_scores_finish(struct noisy_scores *n)
{
	free(n->data);
	free(n->label);
	*n = (struct noisy_scores){0};
}

static double node(uint64_t seed, uint64_t what, int i, int j)
{
	return 2 * sx_unit(sx_mix(seed, what, ((uint64_t)i << 20) + (uint64_t)j)) - 1;
}

/* Returns a value in -1..1 that changes smoothly over a distance, px. */
static double field(uint64_t seed, uint64_t what, int distance, int x, int y)
{
	int i = x / distance, j = y / distance;
	double a = (double)(x % distance) / distance, b = (double)(y % distance) / distance;

	return (1 - b) * ((1 - a) * node(seed, what, i, j) + a * node(seed, what, i + 1, j)) +
	       b * ((1 - a) * node(seed, what, i, j + 1) + a * node(seed, what, i + 1, j + 1));
}

static int inside(double x, int size)
{
	int i = (int)(x + 0.5);

	return i < 0 ? 0 : i >= size ? size - 1 : i;
}

static void shift_borders(struct noisy_scores *n, const struct sx_scene_truth *t, uint64_t seed)
{
	for (int y = 0; y < t->height; y++)
		for (int x = 0; x < t->width; x++) {
			int i = inside(x + OFF * field(seed, DX, FIELD, x, y), t->width);
			int j = inside(y + OFF * field(seed, DY, FIELD, x, y), t->height);

			n->label[(size_t)y * (size_t)t->width + (size_t)x] =
				t->label[(size_t)j * (size_t)t->width + (size_t)i];
		}
}

static void add_patch(struct noisy_scores *n, const struct sx_scene_truth *t, uint64_t h)
{
	int x0 = (int)(sx_unit(sx_mix(h, 1, 0)) * t->width), y0 = (int)(sx_unit(sx_mix(h, 2, 0)) * t->height);
	int r = 3 + (int)(sx_unit(sx_mix(h, 3, 0)) * 10);
	uint8_t label = (uint8_t)(sx_mix(h, 4, 0) % QUALITY_CLASSES);

	for (int y = y0 - r; y <= y0 + r; y++)
		for (int x = x0 - r; x <= x0 + r; x++)
			if (x >= 0 && x < t->width && y >= 0 && y < t->height &&
			    (x - x0) * (x - x0) + (y - y0) * (y - y0) <= r * r)
				n->label[(size_t)y * (size_t)t->width + (size_t)x] = label;
}

/* Gives the label's class 40 to 90 percent. */
static void set_probabilities(struct noisy_scores *n, const struct sx_scene_truth *t, uint64_t seed)
{
	for (int y = 0; y < t->height; y++)
		for (int x = 0; x < t->width; x++) {
			size_t at = (size_t)y * (size_t)t->width + (size_t)x;
			int sure = (int)(255 * (0.65 + 0.25 * node(seed, SURE, x / BLOCK, y / BLOCK)));
			uint8_t others = (uint8_t)((255 - sure) / (QUALITY_CLASSES - 1));

			for (int k = 0; k < QUALITY_CLASSES; k++)
				n->data[(size_t)k * n->scores.plane_bytes + at] =
					k == n->label[at] ? (uint8_t)sure : others;
		}
}

/* Sets the scores of a pixel. The classes `said` and `second` get theirs, and the others share the rest. */
static void set_pixel(struct noisy_scores *n, size_t at, int said, int sure, int second, int unsure)
{
	const int rest = second == said ? 255 - sure : 255 - sure - unsure;
	const int others = rest / (QUALITY_CLASSES - (second == said ? 1 : 2));

	for (int k = 0; k < QUALITY_CLASSES; k++)
		n->data[(size_t)k * n->scores.plane_bytes + at] = (uint8_t)(k == said	  ? sure
									    : k == second ? unsure
											  : others);
}

/* Gives whole areas a wrong class. A class has a chance of its own in each area. */
static void make_areas(struct noisy_scores *n, const struct sx_scene_truth *t, uint64_t seed)
{
	for (int y = 0; y < t->height; y++)
		for (int x = 0; x < t->width; x++) {
			size_t at = (size_t)y * (size_t)t->width + (size_t)x;
			int truth = n->label[at], sure;
			double wrong = field(seed, WRONG + (uint64_t)truth, AREA, x, y);
			double certain = field(seed, SURE, FIELD, x, y);

			if (wrong <= SAME_KIND && wrong >= -OTHER_KIND) {
				sure = (int)(255 * (0.75 + 0.2 * certain));
				set_pixel(n, at, truth, sure, truth, 0);
				continue;
			}
			n->label[at] = mistakes[truth][wrong < 0];
			sure = (int)(255 * (0.6 + 0.2 * certain));
			set_pixel(n, at, n->label[at], sure, truth, (255 - sure) / 3);
		}
}

void noisy_scores_make(struct noisy_scores *n, enum quality_scores faults, const struct sx_scene_truth *t,
		       uint64_t seed)
{
	int patches = t->width * t->height / PIXELS_A_PATCH;

	shift_borders(n, t, seed);
	if (faults == QUALITY_AREAS) {
		make_areas(n, t, seed);
		return;
	}
	for (int i = 0; i < patches; i++)
		add_patch(n, t, sx_mix(seed, PATCH, (uint64_t)i));
	set_probabilities(n, t, seed);
}
