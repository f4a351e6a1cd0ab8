/*
 * Light of the synthetic street: sky, glare, bloom, flare, wet patches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/scene_light.h"

#include <math.h>

#define BLOOM_RADIUS 0.0125 /* radius of the bloom, rad: 9 px of KITTI's camera */
#define BLOOM 150	    /* tone in the middle of a white area; half of it at a straight edge */
#define DICE 1600
#define WHITE 262 /* tone before gain that both cameras show as about 255 */

static double light_dice(const struct sx_scene *s, int64_t number, double lo, double hi)
{
	return sx_pick(s->street.seed, DICE, number, lo, hi);
}

static void make_dark(struct sx_scene *s)
{
	s->weather.dark = true;
	s->weather.ambient = (float)light_dice(s, 0, 0.05, 0.2);
	s->exposure.sky = (float)light_dice(s, 1, 12, 26);
	s->exposure.noise = (float)light_dice(s, 2, 2.5, 6);
	s->street.verge.glare = 0;
}

void sx_light_init(struct sx_scene *s, enum sx_light_kind kind)
{
	s->weather.seed = s->street.seed;
	if (kind == SX_LIGHT_NIGHT || (kind == SX_LIGHT_RAIN && light_dice(s, 3, 0, 1) < 0.5))
		make_dark(s);
	if (kind == SX_LIGHT_RAIN) {
		sx_weather_rain(&s->weather, s->params.width, s->params.height, s->camera.fx / 721.5);
		s->weather.flood = (float)light_dice(s, 4, 0.3, 1.2);
		s->street.verge.wet = (float)light_dice(s, 5, 0.4, 0.85);
		s->street.verge.glare *= 0.3f;
		s->exposure.haze = (float)light_dice(s, 6, 100, 300);
	}
	if (kind == SX_LIGHT_GLASS) {
		s->weather.glass = (float)light_dice(s, 7, 0.2, 0.7);
		s->street.verge.wet = 0;
	}
}

static float square(float x)
{
	return x * x;
}

/* Returns the tone that the glare adds to the sky in direction a (right) and b (up), given as tangents. */
static float light_glare(const struct sx_verge *v, double a, double b)
{
	float r2 = square(((float)a - v->glare_at) / v->glare_width) + square(((float)b - 0.1f) / 0.5f);

	return r2 >= 1 ? 0 : v->glare * (1 - r2) * (1.5f - 0.5f * (1 - r2));
}

/* Returns atan(x), |x| < 4, within 1e-9. The root is exact to the last bit on every machine. */
static double arc_tangent(double x)
{
	double q, r = 0;

	for (int i = 0; i < 3; i++) /* halves the angle */
		x /= 1 + sqrt(1 + x * x);
	q = x * x;
	for (int k = 11; k >= 1; k -= 2)
		r = 1.0 / k - q * r;
	return 8 * x * r;
}

/* Returns the sky's tone in scenes with motion, where it keeps its place when the camera turns. */
static float turned_sky(const struct sx_scene *s, double x, double y)
{
	const struct sx_camera *c = &s->camera;
	const struct sx_pose *p = &s->pose;
	const double a = (x - c->cx) / c->fx, b = (y - c->cy) / c->fy;
	/* undo roll, pitch and course; the sky is a cylinder */
	const double right = a * p->cos_roll - b * p->sin_roll, low = a * p->sin_roll + b * p->cos_roll;
	const double ahead = p->cos_pitch - low * p->sin_pitch, down = p->sin_pitch + low * p->cos_pitch;
	const double round = s->motion->pose.course + arc_tangent(right / ahead), up = -down / ahead;
	const float cloud = sx_texture_sample(&s->texture, round * 180 + 31, up * 420, (float)(180 / c->fx)) +
			    sx_texture_sample(&s->texture, round * 40 + 3, up * 90, 1);

	return s->exposure.sky - 60 * (up < 0 ? 0 : (float)up) + 5 * cloud;
}

float sx_view_sky(const struct sx_scene *s, double x, double y)
{
	const struct sx_camera *c = &s->camera;
	double a = (x - c->cx) / c->fx, b = (c->cy - y) / c->fy + s->pose.sin_pitch;
	float up = b < 0 ? 0 : (float)b, cloud;

	if (s->motion)
		return turned_sky(s, x, y);
	cloud = sx_texture_sample(&s->texture, a * 180 + 31, b * 420, (float)(180 / c->fx)) +
		sx_texture_sample(&s->texture, a * 40 + 3, b * 90, 1);

	return s->exposure.sky - 60 * up + 5 * cloud +
	       (s->street.verge.on ? light_glare(&s->street.verge, a, b) : 0);
}

/*
 * Fills v->white with sums over all rows above and columns to the left. It has one row and one column more
 * than the view.
 */
void sx_light_prepare(struct sx_view *v, const struct sx_scene *s, int side, uint32_t frame)
{
	size_t pitch = (size_t)v->width + 1;

	if (v->streaks)
		sx_weather_streaks(&s->weather, &s->camera, side, frame, v->width, v->height, v->streaks);

	for (int y = 0; y < v->height; y++) {
		const uint16_t *id = v->id + (size_t)y * (size_t)v->width;
		const uint32_t *above = v->white + (size_t)y * pitch;
		uint32_t *here = v->white + (size_t)(y + 1) * pitch, sum = 0;

		for (int x = 0; x < v->width; x++) {
			sum += !id[x] && sx_view_sky(s, x, y) >= WHITE;
			here[x + 1] = above[x + 1] + sum;
		}
	}
}

static int clamp(int x, int lo, int hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

static float bloom(const struct sx_view *v, const struct sx_scene *s, int x, int y)
{
	int r = clamp((int)(s->camera.fx * BLOOM_RADIUS + 0.5), 1, 64);
	int x0 = clamp(x - r, 0, v->width), x1 = clamp(x + r + 1, 0, v->width);
	int y0 = clamp(y - r, 0, v->height), y1 = clamp(y + r + 1, 0, v->height);
	const uint32_t *top = v->white + (size_t)y0 * ((size_t)v->width + 1),
		       *end = v->white + (size_t)y1 * ((size_t)v->width + 1);
	uint32_t sum = end[x1] - end[x0] - top[x1] + top[x0];

	return BLOOM * (float)sum / (float)((x1 - x0) * (y1 - y0));
}

float sx_light_lens(const struct sx_view *v, const struct sx_scene *s, int side, int x, int y)
{
	float tone =
		bloom(v, s, x, y) + (v->streaks ? v->streaks[(size_t)y * (size_t)v->width + (size_t)x] : 0);

	for (int i = 0; i < SX_FLARE_SPOTS; i++) {
		float dx = (float)x - s->street.verge.flare[i].x[side],
		      dy = (float)y - s->street.verge.flare[i].y[side];
		float r2 = (dx * dx + dy * dy) / square(s->street.verge.flare[i].radius);

		if (r2 < 1) /* disc with a soft rim */
			tone += s->street.verge.flare[i].light * (r2 < 0.6f ? 1 : (1 - r2) * 2.5f);
	}
	return tone;
}

float sx_light_wet(const struct sx_scene *s, double x, double z, float foot)
{
	float n = sx_texture_sample(&s->texture, x * 5 + 77, z * 2.5 + 31, foot * 5),
	      share = 1.5f * (n - 0.5f + s->weather.flood);

	return share < 0 ? 0 : share > 1 ? 1 : share;
}
