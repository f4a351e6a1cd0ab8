/*
 * Appearance of the surfaces of streets: tones from edges, periodic patterns and noise. All are averaged over
 * the extent of the pixel, so that both cameras see the same at every distance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>

#include "capture/scene/surface/scene_facet.h"
#include "capture/scene/surface/scene_pattern.h"

/*
 * Tone of the road. s: x from the lane's middle, t: along the street. Both cameras see the same z on a row,
 * so the filter may be sharper along the street than a single image would allow.
 */
static float road(const struct sx_facet *f, const struct sx_texture *texture, double s, double t, float fs,
		  float ft)
{
	float foot = fs > 0.12f * ft ? fs : 0.12f * ft, x = (float)s;
	float tone = f->grey + 8.5f * sx_grain(texture, s, t, 64, foot, 1) +
		     6 * sx_grain(texture, s, t, 4, foot, 2);
	float centre = sx_inside(x, -1.83f, -1.68f, fs),
	      paint = sx_inside(x, 1.78f, 1.88f, fs) + sx_inside(x, -5.38f, -5.28f, fs);
	float patch = sx_inside(x, -0.9f, 0.6f, fs), other = sx_inside(x, -4.6f, -2.4f, fs);

	/* repaired patches; tyre tracks are a little darker */
	if (patch > 0)
		tone -= 11 * patch * sx_pulse(t, 64, 21, 3.2, ft);
	if (other > 0)
		tone -= 11 * other * sx_pulse(t, 128, 50, 7, ft);
	tone -= 5 * (sx_inside(x, -1.0f, -0.55f, fs) + sx_inside(x, 0.55f, 1.0f, fs));
	if (centre > 0)
		paint += centre * sx_pulse(t, 16, 0, 6, ft);
	if (paint <= 0)
		return tone;
	return sx_blend(tone, 214,
			sx_clamp01(paint) * sx_clamp01(0.82f + 0.1f * sx_grain(texture, s, t, 24, foot, 3)));
}

/* Tone of asphalt without markings, with repaired patches on a grid. detail[0]: of fine grit, seen from near by. */
static float asphalt(const struct sx_facet *f, const struct sx_texture *texture, double s, double t, float fs,
		     float ft)
{
	float foot = fs > 0.12f * ft ? fs : 0.12f * ft;
	float tone = f->grey + 8.5f * sx_grain(texture, s, t, 64, foot, 1) +
		     6 * sx_grain(texture, s, t, 4, foot, 2);

	if (f->detail[0] > 0)
		tone += f->detail[0] * sx_grain(texture, s, t, 260, foot, 7);
	tone -= 11 * sx_pulse(s, 32, 11, 1.4, fs) * sx_pulse(t, 16, 5, 2.5, ft);
	return tone - 9 * sx_pulse(s, 16, 3, 3, fs) * sx_pulse(t, 64, 21, 5, ft);
}

static float pavement(const struct sx_facet *f, const struct sx_texture *texture, double s, double t,
		      float fs, float ft)
{
	float foot = fs > 0.12f * ft ? fs : 0.12f * ft;
	float joint = sx_pulse(s, 0.5, 0, 0.018, fs) + sx_pulse(t, 0.5, 0, 0.018, ft);
	float tone =
		f->grey + 6 * sx_grain(texture, s, t, 64, foot, 4) + 8 * sx_grain(texture, s, t, 3, foot, 5);

	return tone - 55 * sx_clamp01(joint);
}

static float grass(const struct sx_facet *f, const struct sx_texture *texture, double s, double t, float fs,
		   float ft)
{
	float foot = fs > 0.12f * ft ? fs : 0.12f * ft;

	return f->grey + 14 * sx_grain(texture, s, t, 48, foot, 11) +
	       9 * sx_grain(texture, s, t, 2, foot, 12);
}

static float kerb(const struct sx_facet *f, const struct sx_texture *texture, double s, double t, float fs,
		  float ft)
{
	return f->grey + 8 * sx_grain(texture, s, t, 64, fs, 6) - 60 * sx_pulse(s, 1, 0, 0.02, fs) -
	       25 * sx_inside((float)t, -1, 0.02f, ft);
}

/* Place of a window in its field of the facade: left, width, sill, height, m. */
struct window {
	double period, left, width, storey, sill, height;
};

/*
 * Tone of a window with curtains, lamps and the reflected sky: every pane has its own tone, and some have a
 * blind.
 */
static float window_tone(const struct sx_facet *f, const struct sx_texture *texture, const struct window *w,
			 double s, double t, float fs, float ft)
{
	float foot = fs > ft ? fs : ft, frame, pane;
	int64_t column = sx_floor(s / w->period), row = sx_floor(t / w->storey);
	uint64_t h = sx_mix(f->seed, (uint64_t)column, (uint64_t)row);

	frame = sx_pulse(s, w->period, w->left + 0.5 * w->width - 0.04, 0.08, fs) +
		sx_pulse(t, w->storey, w->sill + 0.62 * w->height, 0.07, ft) +
		sx_pulse(s, w->period, w->left, 0.07, fs) +
		sx_pulse(s, w->period, w->left + w->width - 0.07, 0.07, fs);
	pane = 34 + 46 * (float)sx_unit(h) + 7 * sx_grain(texture, s, t, 30, foot, h) +
	       8 * (float)(t / w->storey - (double)row);
	if ((h & 7) == 0)
		pane += 60 * sx_pulse(t, w->storey, w->sill + 0.4 * w->height, w->height, ft);
	return sx_blend(pane, 205, sx_clamp01(frame));
}

/*
 * Tone of a facade. detail: floor height, window pitch, window width, share of brick. The ground floor has
 * shop windows.
 */
static float facade(const struct sx_facet *f, const struct sx_texture *texture, double s, double t, float fs,
		    float ft)
{
	double storey = (double)f->detail[0], period = (double)f->detail[1];
	bool shop = t < storey;
	double width = shop ? period - 0.45 : (double)f->detail[2];
	struct window w = {period, 0.5 * (period - width), width,
			   storey, shop ? 0.5 : 0.95,	   shop ? storey - 1.1 : 1.55};
	float foot = fs > ft ? fs : ft, share, sill;
	float tone = f->grey + 9 * sx_grain(texture, s, t, 40, foot, f->seed) +
		     7 * sx_grain(texture, s, t, 5, foot, f->seed >> 8);

	if (f->detail[3] > 0)
		tone -= 28 * (sx_pulse(t, 0.08, 0, 0.012, ft) + 0.7f * sx_pulse(s, 0.25, 0, 0.012, fs));
	if (t > storey * 0.5)
		tone += 24 * sx_pulse(t, storey, 0, 0.22, ft);
	sill = sx_pulse(t, storey, w.sill - 0.14, 0.14, ft);
	if (sill > 0)
		tone += 30 * sill * sx_pulse(s, period, w.left - 0.08, width + 0.16, fs);
	share = sx_pulse(t, storey, w.sill, w.height, ft);
	if (share > 0)
		share *= sx_pulse(s, period, w.left, width, fs);
	return share > 0 ? sx_blend(tone, window_tone(f, texture, &w, s, t, fs, ft), share) : tone;
}

/* Tone of a wall. detail[3]: rows of stone. detail[2]: equal planks, hard to match along the wall. */
static float wall(const struct sx_facet *f, const struct sx_texture *texture, double s, double t, float fs,
		  float ft)
{
	float foot = fs > ft ? fs : ft;
	float tone = f->grey + 10 * sx_grain(texture, s, t, 40, foot, f->seed) +
		     8 * sx_grain(texture, s, t, 6, foot, f->seed >> 8);

	if (f->detail[3] > 0)
		tone -= 18 * f->detail[3] * sx_pulse(t, 0.2, 0, 0.02, ft);
	if (f->detail[2] > 0)
		tone -= 45 * f->detail[2] * sx_pulse(s, 0.16, 0, 0.05, fs);
	return tone;
}

/* Tone of a car's back. detail[0]: tone of the lamps. */
static float car_back(const struct sx_facet *f, const struct sx_texture *texture, double s, double t,
		      float fs, float ft)
{
	float x = (float)s, y = (float)t, w = (float)f->s1, top = (float)f->t1;
	float side = x < 0.5f * w ? x : w - x; /* distance from the nearer side */
	float low = sx_inside(y, -1, 0.26f, ft);
	float tone = f->grey + 2.5f * sx_grain(texture, s, t, 60, fs, f->seed) + 14 * (y / top - 0.5f);

	tone = sx_blend(tone, tone * 0.7f, sx_inside(y, 0.28f, 0.48f, ft));
	tone = sx_blend(tone, 205, sx_inside(side, 0.5f * w - 0.27f, w, fs) * sx_inside(y, 0.50f, 0.62f, ft));
	tone = sx_blend(tone, f->detail[0],
			sx_inside(side, 0.05f, 0.36f, fs) * sx_inside(y, top - 0.27f, top - 0.1f, ft));
	tone = sx_blend(tone, tone * 0.55f, sx_inside(y, top - 0.06f, top - 0.035f, ft));
	if (low > 0)
		tone = sx_blend(tone, 22 + 5 * sx_grain(texture, s, t, 60, fs, 9), low);
	return sx_blend(tone, 30, sx_inside(side, -1, 0.2f, fs) * sx_inside(y, -1, 0.5f, ft));
}

static float car_side(const struct sx_facet *f, const struct sx_texture *texture, double s, double t,
		      float fs, float ft)
{
	float x = (float)s, y = (float)t, l = (float)f->s1, top = (float)f->t1, foot = fs > ft ? fs : ft;
	float end = x < 0.5f * l ? x : l - x;
	float tone = f->grey + 2.5f * sx_grain(texture, s, t, 60, foot, f->seed) + 18 * (y / top - 0.6f);
	float wheel = sx_disc(end - 0.8f, y - 0.32f, 0.33f, foot),
	      arch = sx_disc(end - 0.8f, y - 0.34f, 0.42f, foot), low = sx_inside(y, -1, 0.24f, ft);

	tone = sx_blend(tone, tone * 0.6f,
			sx_inside(x, 0.40f * l, 0.40f * l + 0.025f, fs) +
				sx_inside(x, 0.63f * l, 0.63f * l + 0.025f, fs));
	tone = sx_blend(tone, tone * 0.75f, sx_inside(y, 0.5f, 0.55f, ft));
	if (low > 0)
		tone = sx_blend(tone, 20 + 5 * sx_grain(texture, s, t, 60, foot, 9), low);
	tone = sx_blend(tone, 24, arch);
	if (wheel > 0)
		tone = sx_blend(tone, 38 + 5 * sx_grain(texture, s, t, 90, foot, 10), wheel);
	return sx_blend(tone, 150, sx_disc(end - 0.8f, y - 0.32f, 0.19f, foot));
}

static float glass(const struct sx_facet *f, const struct sx_texture *texture, double s, double t, float fs,
		   float ft)
{
	float x = (float)s / (float)f->s1, y = (float)t / (float)f->t1;
	float gx = fs / (float)f->s1, gy = ft / (float)f->t1;
	float pane = sx_inside(x, 0.1f, 0.9f, gx) * sx_inside(y, 0.08f, 0.88f, gy);
	float tone = f->grey + 2 * sx_grain(texture, s, t, 60, fs, f->seed);

	if (pane <= 0)
		return tone;
	return sx_blend(tone, 38 + 40 * y + 9 * sx_grain(texture, s, t, 25, fs, f->seed >> 9), pane);
}

static float cabin_side(const struct sx_facet *f, const struct sx_texture *texture, double s, double t,
			float fs, float ft)
{
	float x = (float)s / (float)f->s1, y = (float)t / (float)f->t1;
	float gx = fs / (float)f->s1, gy = ft / (float)f->t1;
	float pane = (sx_inside(x, 0.14f, 0.47f, gx) + sx_inside(x, 0.52f, 0.84f, gx)) *
		     sx_inside(y, 0.05f, 0.82f, gy);
	float tone = f->grey + 2 * sx_grain(texture, s, t, 60, fs, f->seed);

	if (pane <= 0)
		return tone;
	return sx_blend(tone, 42 + 26 * y + 7 * sx_grain(texture, s, t, 25, fs, f->seed >> 9),
			sx_clamp01(pane));
}

/* Tone of vans and containers: panels with a stripe and lettering. */
static float box(const struct sx_facet *f, const struct sx_texture *texture, double s, double t, float fs,
		 float ft)
{
	float x = (float)s / (float)f->s1, y = (float)t / (float)f->t1, foot = fs > ft ? fs : ft;
	float gx = fs / (float)f->s1, gy = ft / (float)f->t1;
	float tone = f->grey + 4 * sx_grain(texture, s, t, 50, foot, f->seed) +
		     4 * sx_grain(texture, s, t, 8, foot, f->seed >> 9);
	float stripe = sx_inside(x, 0.15f, 0.85f, gx) * sx_inside(y, 0.55f, 0.72f, gy);
	float low = sx_inside((float)t, -1, f->detail[0], ft);

	if (stripe > 0) {
		float letters = sx_clamp01(2 * sx_grain(texture, s * 2, t * 0.3, 8, foot, f->seed >> 17));

		tone = sx_blend(tone, f->detail[1], stripe * letters);
	}
	tone = sx_blend(tone, tone * 0.6f, sx_inside(x, 0.49f, 0.51f, gx));
	return low > 0 ? sx_blend(tone, 26 + 5 * sx_grain(texture, s, t, 60, foot, 9), low) : tone;
}

static float cloth(const struct sx_facet *f, const struct sx_texture *texture, double s, double t, float fs)
{
	float y = (float)(t / f->t1), tone = y > 0.86f ? f->detail[2] : y > 0.46f ? f->grey : f->detail[1];

	return tone + 9 * sx_grain(texture, s, t, 40, fs, f->seed) +
	       7 * sx_grain(texture, s, t, 10, fs, f->seed >> 9);
}

/* Tone of a guard rail: sheet metal with two waves, in pieces of 4 m; nearly constant along its length. */
static float rail(const struct sx_facet *f, const struct sx_texture *texture, double s, double t, float fs,
		  float ft)
{
	float y = (float)(t / f->t1), gy = ft / (float)f->t1, foot = fs > ft ? fs : ft;
	float tone = f->grey + 3 * sx_grain(texture, s, t, 40, foot, f->seed) +
		     4 * sx_grain(texture, s, t, 3, foot, f->seed >> 8);

	tone -= 45 * (sx_inside(y, 0.0f, 0.16f, gy) + sx_inside(y, 0.44f, 0.6f, gy));
	tone += 30 * (sx_inside(y, 0.2f, 0.34f, gy) + sx_inside(y, 0.74f, 0.9f, gy));
	return tone - 35 * sx_pulse(s, 4, 0, 0.03, fs);
}

/* Returns the place across a facet, -1..1. */
static float across(const struct sx_facet *f, double s)
{
	return 2 * (float)(s / f->s1) - 1;
}

float sx_material_tone(const struct sx_facet *f, const struct sx_texture *texture, double s, double t,
		       float fs, float ft)
{
	float foot = fs > ft ? fs : ft;

	switch ((enum sx_material)f->material) {
	case SX_MATERIAL_ROAD:
		return road(f, texture, s + f->s_texture, t + f->t_texture, fs, ft);
	case SX_MATERIAL_PAVEMENT:
		return pavement(f, texture, s + f->s_texture, t + f->t_texture, fs, ft);
	case SX_MATERIAL_GRASS:
		return grass(f, texture, s + f->s_texture, t + f->t_texture, fs, ft);
	case SX_MATERIAL_KERB:
		return kerb(f, texture, s + f->s_texture, t, fs, ft);
	case SX_MATERIAL_FACADE:
		return facade(f, texture, s + f->s_texture, t, fs, ft);
	case SX_MATERIAL_WALL:
		return wall(f, texture, s + f->s_texture, t, fs, ft);
	case SX_MATERIAL_CAR_BACK:
		return car_back(f, texture, s, t, fs, ft);
	case SX_MATERIAL_CAR_SIDE:
		return car_side(f, texture, s, t, fs, ft);
	case SX_MATERIAL_CAR_TOP:
		return f->grey * 1.08f + 2.5f * sx_grain(texture, s, t, 60, foot, f->seed);
	case SX_MATERIAL_GLASS:
		return glass(f, texture, s, t, fs, ft);
	case SX_MATERIAL_CABIN_SIDE:
		return cabin_side(f, texture, s, t, fs, ft);
	case SX_MATERIAL_BOX:
		return box(f, texture, s, t, fs, ft);
	case SX_MATERIAL_POLE:
		return f->grey * (1.2f - 0.6f * across(f, s) * across(f, s)) +
		       5 * sx_grain(texture, s, t, 50, foot, f->seed);
	case SX_MATERIAL_SIGN:
		return sx_blend(f->grey, 40,
				sx_inside((float)(s / f->s1), 0.3f, 0.7f, fs) *
					sx_inside((float)(t / f->t1), 0.3f, 0.7f, ft)) +
		       4 * sx_grain(texture, s, t, 40, foot, f->seed);
	case SX_MATERIAL_BARK:
		return f->grey * (1.15f - 0.5f * across(f, s) * across(f, s)) +
		       12 * sx_grain(texture, s * 3, t * 0.6, 40, foot, f->seed);
	case SX_MATERIAL_LEAVES:
		return f->grey + 17 * sx_grain(texture, s, t, 40, foot, f->seed) +
		       11 * sx_grain(texture, s, t, 12, foot, f->seed >> 9);
	case SX_MATERIAL_CLOTH:
		return cloth(f, texture, s, t, foot);
	case SX_MATERIAL_RAIL:
		return rail(f, texture, s, t, fs, ft);
	case SX_MATERIAL_ASPHALT:
		return asphalt(f, texture, s + f->s_texture, t + f->t_texture, fs, ft);
	case SX_MATERIAL_MARKING:
		return f->grey +
		       12 * sx_grain(texture, s + f->s_texture, t + f->t_texture, 24, foot, f->seed);
	case SX_MATERIAL_WINDOW: /* goods in a dark shop */
		return f->grey + 14 * sx_grain(texture, s, t, 6, foot, f->seed) +
		       6 * sx_grain(texture, s, t, 40, foot, f->seed >> 9);
	case SX_MATERIAL_HILLS:
		return f->grey + 9 * sx_grain(texture, s + f->s_texture, t, 2, foot, f->seed);
	default:
		return sx_indoor_tone(f, texture, s + f->s_texture, t + f->t_texture, fs, ft);
	}
}
