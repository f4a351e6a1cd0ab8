/*
 * Darkness and rain of the synthetic scenes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/weather/weather.h"

#include <string.h>

#include "base/contract.h"
#include "capture/scene/surface/scene_noise.h"

#define SMALLER 6.0 /* a drop shows a part of the view that is this many times as large as itself */
#define NEAREST 1.0 /* distances at which falling drops are seen, m */
#define FARTHEST 9.0
#define DROP 0.004 /* width of a falling drop, m, and the way that it falls while a picture is exposed */
#define FALL 0.07

enum dice { D_RAIN = 1700, D_DROP, D_STREAK };

static float square(float x)
{
	return x * x;
}

static double rain_dice(const struct sx_weather *w, int64_t number, double lo, double hi)
{
	return sx_pick(w->seed, D_RAIN, number, lo, hi);
}

void sx_weather_rain(struct sx_weather *w, int width, int height, double px)
{
	w->streaks = (int)rain_dice(w, 0, 100, 900);
	w->wind = (float)rain_dice(w, 1, -0.3, 0.3);
	w->side = rain_dice(w, 2, 0, 1) < 0.5;
	w->drops = (int)rain_dice(w, 3, 4, SX_WEATHER_DROPS);
	for (int i = 0; i < w->drops; i++)
		w->drop[i] = (struct sx_drop){
			.x = (float)(sx_pick(w->seed, D_DROP, 3 * i, 0, 1) * width),
			.y = (float)(sx_pick(w->seed, D_DROP, 3 * i + 1, 0, 1) * height),
			.radius = (float)(sx_pick(w->seed, D_DROP, 3 * i + 2, 8, 34) * px),
		};
}

float sx_weather_light(const struct sx_weather *w, double right, double up, double ahead)
{
	const float x = (float)right, z = ahead > 0 ? (float)ahead : 0, y = up < 0 ? (float)-up : (float)up;
	const float beam = 1.3f / (1 + square(z / 14)), aside = 1 / (1 + square(x / (1.5f + 0.35f * z)));
	const float over = y - 0.7f - 0.01f * z; /* m above the edge of low beams */

	return w->ambient + beam * aside * (over <= 0 ? 1 : 0.1f + 0.9f / (1 + square(over / 0.25f)));
}

float sx_weather_drop(const struct sx_weather *w, int side, int x, int y, double at[2])
{
	if (side != w->side)
		return 0;
	for (int i = 0; i < w->drops; i++) {
		const float dx = (float)x - w->drop[i].x, dy = (float)y - w->drop[i].y;
		const float r2 = (dx * dx + dy * dy) / square(w->drop[i].radius);

		if (r2 >= 1)
			continue;
		at[0] = (double)w->drop[i].x - SMALLER * (double)dx;
		at[1] = (double)w->drop[i].y - SMALLER * (double)dy;
		return r2 < 0.5f ? 1 : (1 - r2) * 2;
	}
	return 0;
}

/* A falling drop in the view of one camera: its upper end, its extent, px, and the tone that it adds. */
struct streak {
	double x, y, high, half;
	float tone;
};

static void add_streak(const struct streak *k, double wind, int width, int height, float *tones)
{
	const int top = k->y < 0 ? 0 : (int)k->y,
		  bottom = k->y + k->high < height ? (int)(k->y + k->high) : height - 1;

	for (int y = top; y <= bottom; y++) {
		const double x0 = k->x + wind * (y - k->y);
		const int64_t from = sx_floor(x0 - k->half), to = sx_floor(x0 + k->half) + 1;

		for (int64_t x = from < 0 ? 0 : from; x <= to && x < width; x++) {
			const double off = (double)x < x0 ? x0 - (double)x : (double)x - x0,
				     share = k->half + 0.5 - off;

			tones[(size_t)y * (size_t)width + (size_t)x] +=
				k->tone * (float)(share < 0   ? 0
						  : share > 1 ? 1
							      : share);
		}
	}
}

void sx_weather_streaks(const struct sx_weather *w, const struct sx_camera *c, int side, uint32_t frame,
			int width, int height, float *tones)
{
	const uint64_t now = sx_mix(w->seed, D_STREAK, frame);

	sx_must_be(width > 0 && height > 0);
	memset(tones, 0, (size_t)width * (size_t)height * sizeof(*tones));
	for (int i = 0; i < w->streaks; i++) {
		/* their number at each distance fills the view there: uniform in the image */
		const double z = sx_pick(now, D_STREAK, 4 * i, NEAREST, FARTHEST);
		const double x = sx_pick(now, D_STREAK, 4 * i + 1, 0, width), width_px = DROP * c->fx / z;
		const double half = width_px < 0.6 ? 0.3 : width_px / 2;
		const struct streak k = {
			.x = x - (side ? c->fx * c->baseline_m / z : 0),
			.y = sx_pick(now, D_STREAK, 4 * i + 2, -0.2, 1) * height,
			.high = FALL * c->fy / z,
			.half = half,
			.tone = (float)(sx_pick(now, D_STREAK, 4 * i + 3, 8, 40) * width_px / (2 * half)),
		};

		add_streak(&k, (double)w->wind, width, height, tones);
	}
}
