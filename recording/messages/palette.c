/*
 * Colours of distances and classes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/messages/palette.h"

#include <math.h>
#include <stdbool.h>

#include "include/stixel.h"

/*
 * Every 17th of the 256 colours of the map "plasma" (S. van der Walt, N. Smith, matplotlib 2015, CC0). The
 * first two, which are hard to see on a dark image, are left out.
 */
static const struct sx_rgb plasma[] = {
	{80, 2, 162},	{106, 0, 168},	{132, 5, 167},	{156, 23, 158}, {177, 42, 144},
	{195, 61, 128}, {211, 81, 113}, {225, 100, 98}, {237, 121, 83}, {246, 143, 68},
	{252, 166, 54}, {254, 192, 41}, {249, 220, 36}, {240, 249, 33},
};

double sx_palette_place(const struct sx_palette_range *r, double disparity_px)
{
	double t;

	if (!(disparity_px > r->far_px))
		return 0.0;
	/* The ratio is the same for every logarithm. log() in a new build would require glibc 2.29. */
	t = log10(disparity_px / r->far_px) / log10(r->near_px / r->far_px);
	return t < 1.0 ? t : 1.0;
}

struct sx_rgb sx_palette_distance(const struct sx_palette_range *r, double disparity_px)
{
	return sx_palette_distance_at(sx_palette_place(r, disparity_px));
}

struct sx_rgb sx_palette_distance_at(double place)
{
	enum { STEPS = sizeof(plasma) / sizeof(plasma[0]) - 1 };
	const double at = !(place > 0.0) ? 0.0 : place < 1.0 ? place * STEPS : STEPS;
	const int step = at < STEPS ? (int)at : STEPS - 1;

	return sx_palette_mix(plasma[step], plasma[step + 1], (int)((at - step) * 256.0 + 0.5));
}

struct sx_rgb sx_palette_class(unsigned kind)
{
	static const struct sx_rgb colours[] = {
		[STIXEL_GROUND] = {120, 255, 215},
		[STIXEL_OBJECT] = {240, 150, 30},
		[STIXEL_SKY] = {130, 190, 255},
		[STIXEL_UNKNOWN] = {128, 128, 128},
	};

	return colours[kind <= STIXEL_UNKNOWN ? kind : STIXEL_UNKNOWN];
}

static const struct named {
	const char *name;
	struct sx_rgb colour;
} named[] = {
	{"road", {128, 64, 128}},
	{"sidewalk", {244, 35, 232}},
	{"building", {70, 70, 70}},
	{"wall", {102, 102, 156}},
	{"fence", {190, 153, 153}},
	{"pole", {153, 153, 153}},
	{"traffic-light", {250, 170, 30}},
	{"traffic-sign", {220, 220, 0}},
	{"vegetation", {107, 142, 35}},
	{"terrain", {152, 251, 152}},
	{"sky", {70, 130, 180}},
	{"person", {220, 20, 60}},
	{"rider", {255, 0, 0}},
	{"car", {0, 0, 142}},
	{"truck", {0, 0, 70}},
	{"bus", {0, 60, 100}},
	{"train", {0, 80, 100}},
	{"motorcycle", {0, 0, 230}},
	{"bicycle", {119, 11, 32}},
};

enum { NAMED = sizeof(named) / sizeof(named[0]) };

/* Colours far from each other, for names that are not in the table above. */
static const struct sx_rgb others[] = {
	{230, 159, 0},	 {86, 180, 233},  {0, 158, 115},  {240, 228, 66}, {0, 114, 178},
	{213, 94, 0},	 {204, 121, 167}, {170, 110, 40}, {128, 0, 0},	  {145, 30, 180},
	{250, 190, 212}, {170, 255, 195}, {128, 128, 0},  {255, 225, 25},
};

static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		const char x = *a == '_' ? '-' : *a >= 'A' && *a <= 'Z' ? (char)(*a - 'A' + 'a') : *a;

		if (x != *b)
			return false;
	}
	return *a == *b;
}

const char *sx_palette_named(size_t i, struct sx_rgb *colour)
{
	if (i >= NAMED)
		return NULL;
	*colour = named[i].colour;
	return named[i].name;
}

struct sx_rgb sx_palette_label(const char *name, unsigned label)
{
	for (size_t i = 0; name && i < NAMED; i++)
		if (same_name(name, named[i].name))
			return named[i].colour;
	return others[label % (sizeof(others) / sizeof(others[0]))];
}
