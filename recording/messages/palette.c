/*
 * Colours of distances and classes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/messages/palette.h"

#include <math.h>

#include "include/stixel.h"

static uint8_t to_byte(double v)
{
	return v <= 0.0 ? 0 : v >= 1.0 ? 255 : (uint8_t)(v * 255.0 + 0.5);
}

struct sx_rgb sx_palette_turbo(double t)
{
	static const double red[6] = {0.13572138,   4.61539260,	   -42.66032258,
				      132.13108234, -152.94239396, 59.28637943};
	static const double green[6] = {0.09140261,   2.19418839, 4.84296658,
					-14.18503333, 4.27729857, 2.82956604};
	static const double blue[6] = {0.10667330,   12.64194608,  -60.58204836,
				       110.36276771, -89.90310912, 27.34824973};
	double r = 0.0, g = 0.0, b = 0.0;

	t = !(t > 0.0) ? 0.0 : t > 1.0 ? 1.0 : t;
	for (int i = 5; i >= 0; i--) {
		r = r * t + red[i];
		g = g * t + green[i];
		b = b * t + blue[i];
	}
	return (struct sx_rgb){to_byte(r), to_byte(g), to_byte(b)};
}

struct sx_palette_range sx_palette_metres(double focal_baseline)
{
	return (struct sx_palette_range){focal_baseline / 4.0, focal_baseline / 60.0};
}

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
	return sx_palette_turbo(0.10 + 0.80 * place);
}

struct sx_rgb sx_palette_class(unsigned kind)
{
	static const struct sx_rgb colours[] = {
		[STIXEL_GROUND] = {150, 92, 168},
		[STIXEL_OBJECT] = {240, 150, 30},
		[STIXEL_SKY] = {132, 198, 246},
		[STIXEL_UNKNOWN] = {128, 128, 128},
	};

	return colours[kind <= STIXEL_UNKNOWN ? kind : STIXEL_UNKNOWN];
}

static uint8_t mix(int under, int over, int alpha)
{
	return (uint8_t)(under + ((over - under) * alpha + 128) / 256);
}

struct sx_rgb sx_palette_mix(struct sx_rgb under, struct sx_rgb over, int alpha)
{
	return (struct sx_rgb){mix(under.r, over.r, alpha), mix(under.g, over.g, alpha),
			       mix(under.b, over.b, alpha)};
}
