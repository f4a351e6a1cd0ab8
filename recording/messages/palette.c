/*
 * Colours of distances and classes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/messages/palette.h"

#include <math.h>

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

struct sx_rgb sx_palette_label(const char *name, unsigned label)
{
	uint8_t rgb[3];

	stixel_class_colour(name, label, rgb);
	return (struct sx_rgb){rgb[0], rgb[1], rgb[2]};
}
