/*
 * Appearance of the surfaces of rooms.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>

#include <stixel.h>

#include "capture/scene/surface/scene_facet.h"
#include "capture/scene/surface/scene_pattern.h"

#define PILE 0.012f /* size of the coarsest grains of pile, m */

/*
 * A pixel on a surface: its place in the texture, its extents along both axes, and the extent for noise that
 * is the same along both, m.
 */
struct spot {
	const struct sx_facet *f;
	const struct sx_texture *texture;
	double s, t;
	float fs, ft, foot;
};

static float noise(const struct spot *p, double texels_per_m, uint64_t seed)
{
	return sx_grain(p->texture, p->s, p->t, texels_per_m, p->foot, seed);
}

/* Returns noise whose grains are `stretch` times as long along the second axis as along the first. */
static float streaks(const struct spot *p, bool along_s, double stretch, double texels_per_m, uint64_t seed)
{
	double across = along_s ? p->t : p->s, along = (along_s ? p->s : p->t) / stretch;
	float narrow = along_s ? p->ft : p->fs, wide = (along_s ? p->fs : p->ft) / (float)stretch;

	return sx_grain(p->texture, across, along, texels_per_m, narrow > wide ? narrow : wide, seed);
}

/*
 * Returns a tone -1..1 for each field of a grid, averaged at the borders along the first axis. It fades where
 * a pixel is larger than a field.
 */
static float field(uint64_t seed, double place, double period, int64_t other, float extent)
{
	double at = place / period, half = 0.5 * (double)extent / period;
	int64_t i = sx_floor(at - half), k = sx_floor(at + half);
	float a = 2 * (float)sx_unit(sx_mix(seed, (uint64_t)i, (uint64_t)other)) - 1, b, share;

	if (i == k)
		return a;
	b = 2 * (float)sx_unit(sx_mix(seed, (uint64_t)i + 1, (uint64_t)other)) - 1;
	share = (float)((at + half - (double)(i + 1)) / (2 * half));
	return sx_blend(a, b, sx_clamp01(share)) * sx_clamp01(1.5f - (float)half);
}

/*
 * Tone of boards. detail[0]: 1 if they lie along s; detail[1], detail[2]: width and length of a board, m;
 * detail[3]: contrast.
 */
static float planks(const struct spot *p)
{
	const struct sx_facet *f = p->f;
	const bool along_s = f->detail[0] > 0;
	const double a = along_s ? p->t : p->s, b = along_s ? p->s : p->t;
	const double width = (double)f->detail[1], length = (double)f->detail[2];
	const float fa = along_s ? p->ft : p->fs, fb = along_s ? p->fs : p->ft, contrast = f->detail[3];
	const int64_t row = sx_floor(a / width);
	const double shift = length * sx_unit(sx_mix(f->seed, 1, (uint64_t)row));
	const int64_t board = sx_floor((b + shift) / length);
	float tone = f->grey + contrast * 11 * field(f->seed, a, width, board, fa);

	tone += contrast * 6 * streaks(p, along_s, 14, 300, f->seed + (uint64_t)(row * 7 + board * 31));
	tone += contrast * 3.5f * streaks(p, along_s, 6, 60, f->seed >> 9);
	tone += 1.2f * noise(p, 700, f->seed >> 17);
	tone -= 42 * sx_pulse(a, width, 0, 0.0018, fa);
	return tone - 36 * sx_pulse(b + shift, length, 0, 0.002, fb);
}

/* Tone of loops or cut pile. detail[0]: contrast. */
static float carpet(const struct spot *p)
{
	const struct sx_facet *f = p->f;

	/* coarse grains are left out, because their repetition would be visible */
	float pile = 0;

	if (p->foot < PILE)
		pile = noise(p, 1600, f->seed) - sx_grain(p->texture, p->s, p->t, 1600, PILE, f->seed);
	return f->grey +
	       f->detail[0] * (17 * pile + 5 * noise(p, 330, f->seed >> 9) + 2 * noise(p, 12, f->seed >> 17));
}

/* Tone of a plain floor. detail[0]: contrast. */
static float lino(const struct spot *p)
{
	const struct sx_facet *f = p->f;

	return f->grey + f->detail[0] * (1.1f * noise(p, 260, f->seed) + 1.2f * noise(p, 9, f->seed >> 9));
}

/* Tone of square tiles. detail[0]: contrast; detail[1]: size, m. */
static float tiles(const struct spot *p)
{
	const struct sx_facet *f = p->f;
	const double size = (double)f->detail[1];
	float tone = f->grey + 2.5f * field(f->seed, p->s, size, sx_floor(p->t / size), p->fs);
	float grout = sx_pulse(p->s, size, 0, 0.004, p->fs) + sx_pulse(p->t, size, 0, 0.004, p->ft);

	tone += f->detail[0] * (1.6f * noise(p, 90, f->seed) + 2 * noise(p, 10, f->seed >> 9));
	return sx_blend(tone, 0.62f * f->grey, sx_clamp01(grout));
}

static float square(float x)
{
	return x * x;
}

/* Returns the share of light that corners take, within 0.5 m of the floor and of the ends of a wall. */
static float corner(double distance)
{
	return distance < 0.5 ? 0.09f * square(1 - 2 * (float)distance) : 0;
}

/*
 * Returns the light on a wall, which differs from place to place. detail[2], detail[3]: change of the light
 * along s and t, per m.
 */
static float light_of(const struct spot *p)
{
	const struct sx_facet *f = p->f;
	const double s = p->s - f->s_texture;
	float light = 1 + f->detail[2] * (float)(s - 0.5 * f->s1) + f->detail[3] * (float)(p->t - 1);

	if (f->part != SX_PART_WALL)
		return light;
	return light * (1 - corner(p->t < 0 ? 0 : p->t)) * (1 - corner(s) - corner(f->s1 - s));
}

/* Tone of paint, put on with a roller. detail[0]: contrast. */
static float paint(const struct spot *p)
{
	const struct sx_facet *f = p->f;

	return f->grey + f->detail[0] * (0.8f * noise(p, 300, f->seed) + 0.7f * noise(p, 12, f->seed >> 9));
}

/* Tone of wallpaper. detail[0]: below 1 stripes, below 2 dots, else ornaments; detail[1]: period, m. */
static float wallpaper(const struct spot *p)
{
	const struct sx_facet *f = p->f;
	const double period = (double)f->detail[1];
	float tone = f->grey + 2.2f * noise(p, 350, f->seed);

	if (f->detail[0] < 1)
		return tone + 13 * sx_pulse(p->s, period, 0, 0.45 * period, p->fs) -
		       9 * sx_pulse(p->s, period, 0.6 * period, 0.03 * period, p->fs);
	if (f->detail[0] < 2)
		return tone + 17 * (sx_pulse(p->s, period, 0, 0.3 * period, p->fs) *
					    sx_pulse(p->t, period, 0, 0.3 * period, p->ft) +
				    sx_pulse(p->s, period, 0.5 * period, 0.3 * period, p->fs) *
					    sx_pulse(p->t, period, 0.5 * period, 0.3 * period, p->ft));
	return tone + 15 * sx_clamp01(0.5f + 1.5f * noise(p, SX_TEXTURE_SIZE / period, f->seed >> 17));
}

static float plaster(const struct spot *p)
{
	const struct sx_facet *f = p->f;

	return f->grey + f->detail[0] * (5 * noise(p, 400, f->seed) + 1.6f * noise(p, 30, f->seed >> 9));
}

/* Tone of bricks in a running bond. */
static float brick(const struct spot *p)
{
	const struct sx_facet *f = p->f;
	const double long_m = 0.25, high = 0.075;
	const int64_t row = sx_floor(p->t / high);
	const double s = p->s + (row & 1 ? 0.5 * long_m : 0);
	float tone = f->grey + 13 * field(f->seed, s, long_m, row, p->fs) + 5 * noise(p, 200, f->seed) +
		     4 * noise(p, 25, f->seed >> 9);
	float joint = sx_pulse(p->t, high, 0, 0.011, p->ft) + sx_pulse(s, long_m, 0, 0.011, p->fs);

	return sx_blend(tone, f->grey + 45, sx_clamp01(joint));
}

/* Tone of a door with fields. detail[0], detail[1]: number of fields across and up. */
static float panel(const struct spot *p)
{
	const struct sx_facet *f = p->f;
	const double w = f->s1 / (double)f->detail[0], h = f->t1 / (double)f->detail[1];
	const double s = p->s - f->s_texture, t = p->t - f->t_texture;
	float gap = sx_pulse(s + 0.002, w, 0, 0.004, p->fs) + sx_pulse(t + 0.002, h, 0, 0.004, p->ft);
	float handle = sx_pulse(s, w, w - 0.07, 0.02, p->fs);
	float tone = f->grey + 0.8f * noise(p, 300, f->seed);

	if (f->detail[2] > 0)
		tone += f->detail[2] * streaks(p, false, 12, 200, f->seed);
	if (handle > 0)
		handle *= sx_pulse(t, h, 0.47 * h, 0.11, p->ft);
	tone = sx_blend(tone, 0.55f * f->grey, sx_clamp01(gap));
	return sx_blend(tone, 60, sx_clamp01(handle));
}

/* Tone of a cardboard box: tape, a label, print. */
static float card(const struct spot *p)
{
	const struct sx_facet *f = p->f;
	const float x = (float)((p->s - f->s_texture) / f->s1), y = (float)((p->t - f->t_texture) / f->t1);
	const float gx = p->fs / (float)f->s1, gy = p->ft / (float)f->t1;
	const float left = 0.08f + 0.4f * (float)sx_unit(f->seed),
		    low = 0.1f + 0.4f * (float)sx_unit(f->seed << 9);
	float tone = f->grey + 3 * noise(p, 180, f->seed) + 3 * noise(p, 20, f->seed >> 9);
	float label = sx_inside(x, left, left + 0.36f, gx) * sx_inside(y, low, low + 0.3f, gy);
	float print = sx_inside(x, 0.55f, 0.92f, gx) * sx_inside(y, 0.62f, 0.86f, gy);

	tone = sx_blend(tone, f->grey + 24, 0.8f * sx_inside(x, 0.44f, 0.56f, gx));
	if (label > 0) {
		float lines =
			sx_pulse((double)y, 0.06, 0, 0.03, gy) * sx_clamp01(0.6f + noise(p, 400, f->seed));

		tone = sx_blend(tone, 205 - 120 * lines, label);
	}
	if (print <= 0)
		return tone;
	return sx_blend(tone, 0.5f * f->grey, print * sx_clamp01(2.5f * noise(p, 90, f->seed >> 17)));
}

/* Tone of cloth and skin. detail[0]: how much darker it is at its sides. */
static float fabric(const struct spot *p)
{
	const struct sx_facet *f = p->f;
	const float across = 2 * (float)((p->s - f->s_texture) / f->s1) - 1;

	return f->grey * (1 + 0.25f * f->detail[0] - f->detail[0] * across * across) +
	       4 * noise(p, 700, f->seed) + 5 * noise(p, 90, f->seed >> 9) + 4 * noise(p, 18, f->seed >> 17);
}

/* Tone of furniture of wood. The grain runs along the longer side. */
static float timber(const struct spot *p)
{
	const struct sx_facet *f = p->f;

	return f->grey + 6 * streaks(p, f->s1 > f->t1, 12, 320, f->seed) +
	       3 * streaks(p, f->s1 > f->t1, 5, 60, f->seed >> 9);
}

static float picture(const struct spot *p)
{
	const struct sx_facet *f = p->f;
	const float s = (float)(p->s - f->s_texture), t = (float)(p->t - f->t_texture);
	float tone = f->grey + 24 * noise(p, 60, f->seed) + 20 * noise(p, 14, f->seed >> 9);
	float shown = sx_inside(s, 0.03f, (float)f->s1 - 0.03f, p->fs) *
		      sx_inside(t, 0.03f, (float)f->t1 - 0.03f, p->ft);

	return sx_blend(f->detail[0], tone, shown);
}

/* Tone of a window or a lamp. detail[0], detail[1]: number of panes across and up. */
static float lamp(const struct spot *p)
{
	const struct sx_facet *f = p->f;
	const double w = f->s1 / (double)f->detail[0], h = f->t1 / (double)f->detail[1];
	const double s = p->s - f->s_texture, t = p->t - f->t_texture;
	float bar = sx_pulse(s + 0.03, w, 0, 0.06, p->fs) + sx_pulse(t + 0.03, h, 0, 0.06, p->ft);

	return sx_blend(f->grey, f->detail[2], sx_clamp01(bar));
}

float sx_indoor_tone(const struct sx_facet *f, const struct sx_texture *texture, double s, double t, float fs,
		     float ft)
{
	const float large = fs > ft ? fs : ft, small = fs > ft ? ft : fs;
	/*
	 * A row of the image shows a floor at the same distance in both cameras. So the filter may be sharper
	 * along the view than a single image would allow.
	 */
	const bool floor = f->kind == STIXEL_GROUND;
	const struct spot p = {
		f, texture, s, t, fs, ft, !floor ? large : small > 0.15f * large ? small : 0.15f * large};

	switch (f->material) {
	case SX_MATERIAL_PLANKS:
		return planks(&p);
	case SX_MATERIAL_CARPET:
		return carpet(&p);
	case SX_MATERIAL_LINO:
		return lino(&p);
	case SX_MATERIAL_TILES:
		return tiles(&p);
	case SX_MATERIAL_PAINT:
		return paint(&p) * light_of(&p);
	case SX_MATERIAL_WALLPAPER:
		return wallpaper(&p) * light_of(&p);
	case SX_MATERIAL_PLASTER:
		return plaster(&p) * light_of(&p);
	case SX_MATERIAL_BRICK:
		return brick(&p) * light_of(&p);
	case SX_MATERIAL_PANEL:
		return panel(&p);
	case SX_MATERIAL_CARD:
		return card(&p);
	case SX_MATERIAL_FABRIC:
		return fabric(&p);
	case SX_MATERIAL_TIMBER:
		return timber(&p);
	case SX_MATERIAL_PICTURE:
		return picture(&p);
	case SX_MATERIAL_LAMP:
		return lamp(&p);
	}
	return 0;
}
