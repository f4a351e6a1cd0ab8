/*
 * Shades a drawn view into a camera image: tones, shadows, haze, edges by four samples, and the camera's
 * gain, offset and noise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "base/contract.h"
#include "capture/scene/scene_light.h"
#include "capture/scene/scene_world.h"

#define GLASS_PASSES 0.88f /* share of the light that passes glass */
#define GLASS_TONE 9.0f	   /* tone of the reflection in glass */

/* Shadows that may fall on the ground seen in one image row. */
struct row_shadows {
	const struct sx_shadow *list[SX_SHADOWS_MAX];
	int count;
};

static void select_all_shadows(const struct sx_scene *s, struct row_shadows *ret)
{
	sx_must(s->shadow_count, <=, SX_SHADOWS_MAX);
	for (ret->count = 0; ret->count < s->shadow_count; ret->count++)
		ret->list[ret->count] = &s->shadows[ret->count];
}

/* Selects by the distance of the ground on a row, which a roll of the camera hardly changes. */
static void select_turned_shadows(const struct sx_scene *s, double z, struct row_shadows *ret)
{
	ret->count = 0;
	for (int i = 0; i < s->shadow_count; i++)
		if ((double)s->shadows[i].nearest < z * 1.06 + 1 &&
		    (double)s->shadows[i].farthest > z * 0.85 - 1)
			ret->list[ret->count++] = &s->shadows[i];
}

static void select_shadows(const struct sx_scene *s, double y, struct row_shadows *ret)
{
	const struct sx_camera *c = &s->camera;
	double yn = (y - c->cy) / c->fy, down = s->pose.sin_pitch + yn * s->pose.cos_pitch, z;

	sx_must(s->shadow_count, <=, SX_SHADOWS_MAX);
	ret->count = 0;
	/* a row may show the ground at several distances */
	if (s->terrain.count || s->street.verge.on || s->room.on) {
		select_all_shadows(s, ret);
		return;
	}
	if (down <= 1e-4)
		return;
	z = c->height_m / down * (s->pose.cos_pitch - yn * s->pose.sin_pitch);
	if (s->motion) {
		select_turned_shadows(s, z, ret);
		return;
	}
	for (int i = 0; i < s->shadow_count; i++) {
		const struct sx_shadow *h = &s->shadows[i];

		/* pavements are nearer to the camera, by at most a tenth */
		if ((double)h->z0 < z * 1.05 + 1 && (double)h->z1 > z * 0.85 - 1)
			ret->list[ret->count++] = h;
	}
}

static float ramp(float x, float lo, float hi, float sharp)
{
	float a = (x - lo) * sharp + 0.5f, b = (hi - x) * sharp + 0.5f, r = a < b ? a : b;

	return r < 0 ? 0 : r > 1 ? 1 : r;
}

static float shadow_at(const struct row_shadows *rows, float x, float z)
{
	float light = 1;

	for (int i = 0; i < rows->count; i++) {
		const struct sx_shadow *h = rows->list[i];

		if (h->cosine != 0 || h->sine != 0) {
			const float a = x - h->x, b = z - h->z, right = a * h->cosine - b * h->sine,
				    ahead = a * h->sine + b * h->cosine;

			light *= 1 - h->dark * ramp(right, h->x0, h->x1, h->sharp) *
					     ramp(ahead, h->z0, h->z1, h->sharp);
			continue;
		}
		if ((x - h->x0) * h->sharp > -0.5f && (h->x1 - x) * h->sharp > -0.5f)
			light *= 1 -
				 h->dark * ramp(x, h->x0, h->x1, h->sharp) * ramp(z, h->z0, h->z1, h->sharp);
	}
	return light;
}

/*
 * How a pixel samples the view. shadows: shadows that it may meet. steps: two vectors {x, y} in the view,
 * from the pixel's place to the places of the next pixel to the right and of the next pixel below; NULL:
 * these are the next pixels of the view.
 */
struct look {
	struct row_shadows shadows;
	const double *steps;
};

/*
 * Returns the extent of a pixel along s or t of a plane. dx, dy: change of s or t per column and row of the
 * view.
 */
static float extent(double dx, double dy, const double *steps)
{
	float r;

	if (!steps)
		r = (float)fabs(dx) + (float)fabs(dy);
	else
		r = (float)fabs(dx * steps[0] + dy * steps[1]) + (float)fabs(dx * steps[2] + dy * steps[3]);
	return r > 1e-4f ? r : 1e-4f;
}

static float facet_at(const struct sx_view *v, const struct sx_scene *scene, int i, double x, double y,
		      const struct look *look);

/* Returns the tone of the reflection at (x, y), on the wet road or in a window: mirrored facets, or the sky. */
static float mirrored_at(const struct sx_view *v, const struct sx_scene *s, double x, double y)
{
	static const struct look none;
	const double horizon = s->camera.cy + s->camera.fy * s->pose.sin_pitch;
	int i;

	sx_must_be(x >= -0.5 && y >= -0.5 && x + 0.5 < v->width && y + 0.5 < v->height);
	i = v->id[(size_t)(y + 0.5) * (size_t)v->width + (size_t)(x + 0.5)] - 1;
	/* the facet may end between pixel centres */
	if (i >= 0 && sx_view_probe(v, s, i, x, y) > 0)
		return facet_at(v, s, i, x, y, &none);
	return sx_view_sky(s, x, s->weather.glass > 0 ? y : 2 * horizon - y) - 20;
}

/* Returns the tone of a shop window at (x, y) of its front. tone: tone of the things behind it. */
static float window(const struct sx_view *v, const struct sx_scene *s, double x, double y, float tone)
{
	const float share = s->weather.glass;

	sx_must_index(v - s->view, 2);
	return tone * (1 - share) + share * mirrored_at(&s->mirrored[v - s->view], s, x, y);
}

/* Returns the share of daylight on a point of a facet; lamps give light themselves. */
static float light_on(const struct sx_scene *scene, const struct sx_facet *f, double s, double t)
{
	if (!scene->weather.dark || f->material == SX_MATERIAL_LAMP)
		return 1;
	return sx_weather_light(&scene->weather, f->origin[0] + s * f->u[0] + t * f->v[0],
				f->origin[1] + s * f->u[1] + t * f->v[1],
				f->origin[2] + s * f->u[2] + t * f->v[2]);
}

/* Returns the tone of a wet road. tone: of the dry road at s, t. */
static float wet_road(const struct sx_view *v, const struct sx_scene *scene, const struct sx_facet *f,
		      double x, double y, double s, double t, float foot, float tone)
{
	float wet = sx_light_wet(scene, s + f->s_texture, t + f->t_texture, foot);

	if (wet <= 0)
		return tone;
	tone *= 1 - 0.35f * wet;
	sx_must_index(v - scene->view, 2);
	wet *= scene->street.verge.wet;
	return tone * (1 - wet) + wet * mirrored_at(&scene->mirrored[v - scene->view], scene, x, y);
}

/* Returns the tone of a point at (x, y), seen through the panes of glass in front of it. */
static float behind_glass(const struct sx_scene *s, const struct sx_view *v, double x, double y,
			  double inverse, float tone)
{
	for (int i = 0; i < s->room.pane_count; i++)
		if (sx_view_is_before(v, s, s->room.panes[i], x, y, 1 / inverse))
			tone = GLASS_PASSES * tone + GLASS_TONE;
	return tone;
}

/* Returns the tone of facet i at (x, y), which the facet must cover. */
static float facet_at(const struct sx_view *v, const struct sx_scene *scene, int i, double x, double y,
		      const struct look *look)
{
	const struct sx_facet *f = &scene->facets[i];
	const struct sx_projection *p = &v->projection[i];
	double inverse = 1 / sx_affine(p->d, x, y), s = sx_affine(p->s, x, y) * inverse,
	       t = sx_affine(p->t, x, y) * inverse;
	float fs = extent((p->s[0] - s * p->d[0]) * inverse, (p->s[1] - s * p->d[1]) * inverse, look->steps);
	float ft = extent((p->t[0] - t * p->d[0]) * inverse, (p->t[1] - t * p->d[1]) * inverse, look->steps);
	const struct row_shadows *rows = &look->shadows;
	float tone, far, haze;

	tone = sx_material_tone(f, &scene->texture, s, t, fs, ft) * f->light;
	if (f->kind == 0 && rows->count && scene->room.on)
		tone *= shadow_at(rows, (float)(s + f->s_texture), (float)(t + f->t_texture));
	else if (f->kind == 0 && rows->count &&
		 (scene->terrain.count || scene->street.verge.on || scene->motion))
		tone *= shadow_at(rows, (float)(f->origin[0] + s * f->u[0] + t * f->v[0]),
				  (float)(f->origin[2] + s * f->u[2] + t * f->v[2]));
	else if (f->kind == 0 && rows->count)
		tone *= shadow_at(rows, (float)(f->origin[0] + s), (float)(f->origin[2] + t));
	tone *= light_on(scene, f, s, t);
	if (f->material == SX_MATERIAL_WINDOW && i < scene->count)
		tone = window(v, scene, x, y, tone);
	if (f->material == SX_MATERIAL_ROAD && scene->street.verge.on && i < scene->count)
		tone = wet_road(v, scene, f, x, y, s, t, 0.2f * ft > fs ? 0.2f * ft : fs, tone);
	far = (float)(scene->camera.fx * scene->camera.baseline_m * inverse);
	haze = far / (far + scene->exposure.haze);
	tone += (scene->exposure.sky - 12 - tone) * haze;
	return scene->room.pane_count ? behind_glass(scene, v, x, y, inverse, tone) : tone;
}

/* Returns the tone of the nearest facet of ids (0 ends the list) at a point between pixel centres. */
static float sample_between(const struct sx_view *v, const struct sx_scene *s, const uint16_t *ids, double x,
			    double y, const struct look *look)
{
	double nearest = 0;
	int best = -1;

	for (; *ids; ids++) {
		double d = sx_view_probe(v, s, *ids - 1, x, y);

		if (d > nearest) {
			nearest = d;
			best = *ids - 1;
		}
	}
	return best < 0 ? sx_view_sky(s, x, y) : facet_at(v, s, best, x, y, look);
}

/* Collects the different ids around a pixel, without the sky's 0. A 0 ends the list. */
static void gather(const struct sx_view *v, int x, int y, uint16_t ids[10])
{
	int n = 0;

	for (int j = y > 0 ? y - 1 : 0; j <= y + 1 && j < v->height; j++)
		for (int i = x > 0 ? x - 1 : 0; i <= x + 1 && i < v->width; i++) {
			uint16_t id = v->id[(size_t)j * (size_t)v->width + (size_t)i];
			int k = 0;

			while (k < n && ids[k] != id)
				k++;
			if (id && k == n)
				ids[n++] = id;
		}
	sx_must(n, <, 10);
	ids[n] = 0;
}

static bool is_edge(const struct sx_view *v, int x, int y)
{
	const uint16_t *p = v->id + (size_t)y * (size_t)v->width + x;

	return (x > 0 && p[-1] != *p) || (x + 1 < v->width && p[1] != *p) || (y > 0 && p[-v->width] != *p) ||
	       (y + 1 < v->height && p[v->width] != *p);
}

/* Rotated grid: each sample has its own row and column. */
static const double sample_x[4] = {-0.125, 0.375, 0.125, -0.375},
		    sample_y[4] = {-0.375, -0.125, 0.375, 0.125};

static float pixel_at(const struct sx_view *v, const struct sx_scene *s, int x, int y,
		      const struct look *look)
{
	uint16_t id = v->id[(size_t)y * (size_t)v->width + (size_t)x], ids[10];
	float sum = 0;

	if (!is_edge(v, x, y))
		return id ? facet_at(v, s, id - 1, x, y, look) : sx_view_sky(s, x, y);
	gather(v, x, y, ids);
	for (int k = 0; k < 4; k++)
		sum += sample_between(v, s, ids, x + sample_x[k], y + sample_y[k], look);
	return sum * 0.25f;
}

/* Returns true if a pixel of the view and its eight neighbours, which must exist, show the same facet. */
static bool is_inside(const struct sx_view *v, int x, int y)
{
	const uint16_t *p = v->id + (size_t)y * (size_t)v->width + x, *above = p - v->width,
		       *below = p + v->width;

	sx_must_be(x > 0 && x + 1 < v->width && y > 0 && y + 1 < v->height);
	return above[-1] == *p && above[0] == *p && above[1] == *p && p[-1] == *p && p[1] == *p &&
	       below[-1] == *p && below[0] == *p && below[1] == *p;
}

/* Returns the tone that a raw pixel sees around (x, y) of the view. */
static float raw_pixel_at(const struct sx_view *v, const struct sx_scene *s, double x, double y,
			  const struct look *look)
{
	const double *steps = look->steps;
	int column = (int)(x + 0.5), row = (int)(y + 0.5);
	const bool inside = is_inside(v, column, row);
	uint16_t id = v->id[(size_t)row * (size_t)v->width + (size_t)column], ids[10];
	float sum = 0;

	if (inside)
		return id ? facet_at(v, s, id - 1, x, y, look) : sx_view_sky(s, x, y);
	gather(v, column, row, ids);
	for (int k = 0; k < 4; k++)
		sum += sample_between(v, s, ids, x + sample_x[k] * steps[0] + sample_y[k] * steps[2],
				      y + sample_x[k] * steps[1] + sample_y[k] * steps[3], look);
	return sum * 0.25f;
}

/*
 * Returns the sum of four random bytes, normalised: close to a normal distribution (mean 510, deviation 147.8
 * before).
 */
static float next_noise(uint64_t *state)
{
	uint64_t b;

	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	b = *state >> 24;
	return (float)((int)((b & 255) + (b >> 8 & 255) + (b >> 16 & 255) + (b >> 24 & 255)) - 510) *
	       (1.0f / 147.8f);
}

/* Returns the tone that the lens of a street with verges makes of a pixel's tone. */
static float behind_lens(const struct sx_view *v, const struct sx_scene *s, int side, int x, int y,
			 float tone, const struct look *look)
{
	double at[2];
	const float share = sx_weather_drop(&s->weather, side, x, y, at);

	if (share > 0) { /* the mean of four points: a drop is out of focus */
		float sum = 0;

		for (int k = 0; k < 4; k++) {
			const int i = (int)(at[0] + 12 * sample_x[k]), j = (int)(at[1] + 12 * sample_y[k]);

			sum += pixel_at(v, s,
					i < 0	       ? 0
					: i < v->width ? i
						       : v->width - 1,
					j < 0		? 0
					: j < v->height ? j
							: v->height - 1,
					look);
		}
		tone = tone * (1 - share) + share * sum * 0.25f;
	}
	return tone + sx_light_lens(v, s, side, x, y);
}

/* Converts a tone to a pixel value of the camera. */
static uint8_t expose(const struct sx_exposure *e, int side, float tone, uint64_t *state)
{
	tone = tone * e->gain[side] + e->offset[side];
	/* read noise, and shot noise that grows with brightness */
	tone += e->noise * (0.6f + 0.004f * tone) * next_noise(state) + 0.5f;
	return (uint8_t)(tone < 0 ? 0 : tone > 255 ? 255 : (int)tone);
}

static uint64_t noise_of_row(const struct sx_exposure *e, int side, uint32_t frame, int y)
{
	return sx_mix(e->seed, UINT64_C(0x6e6f6973) + (uint64_t)side, ((uint64_t)frame << 16) + (uint64_t)y) |
	       1;
}

void sx_view_shade(const struct sx_view *v, const struct sx_scene *s, int side, uint32_t frame,
		   struct sx_image *ret)
{
	const struct sx_exposure *e = &s->exposure;
	struct look look = {.steps = NULL};

	sx_must(ret->width, ==, v->width);
	for (int y = 0; y < v->height; y++) {
		uint64_t state = noise_of_row(e, side, frame, y);
		uint8_t *out = sx_image_row(ret, y);

		select_shadows(s, y, &look.shadows);
		for (int x = 0; x < v->width; x++) {
			float tone = pixel_at(v, s, x, y, &look);

			if (s->street.verge.on)
				tone = behind_lens(v, s, side, x, y, tone, &look);
			out[x] = expose(e, side, tone, &state);
		}
	}
}

static double limited(double x)
{
	return x < -4 ? -4 : x > 4 ? 4 : x;
}

/*
 * Computes the step from a raw pixel's place to the place of the pixel `apart` entries further. A negative
 * `apart` gives the reversed step. False: one of the two pixels sees nothing.
 */
static bool step(const float *at, ptrdiff_t apart, double ret[2])
{
	const float *next = at + 2 * apart;
	double sign = apart < 0 ? -1 : 1;

	if (at[0] < 0 || next[0] < 0)
		return false;
	ret[0] = limited(sign * (double)(next[0] - at[0]));
	ret[1] = limited(sign * (double)(next[1] - at[1]));
	return true;
}

/*
 * Computes the image steps at raw pixel (x, y). Without visible neighbours, at the end of the image, any step
 * will do.
 */
static void find_steps(const struct sx_lens_view *lens, int x, int y, double ret[4])
{
	const float *at = lens->at + 2 * ((size_t)y * (size_t)lens->width + (size_t)x);
	ptrdiff_t row = lens->width;

	if (!(x + 1 < lens->width && step(at, 1, ret)) && !(x > 0 && step(at, -1, ret))) {
		ret[0] = 1;
		ret[1] = 0;
	}
	if (!(y + 1 < lens->height && step(at, row, ret + 2)) && !(y > 0 && step(at, -row, ret + 2))) {
		ret[2] = 0;
		ret[3] = 1;
	}
}

void sx_view_shade_raw(const struct sx_view *v, const struct sx_scene *s, int side, uint32_t frame,
		       struct sx_image *ret)
{
	const struct sx_exposure *e = &s->exposure;
	const struct sx_lens_view *lens = &s->lens[side];
	double steps[4];
	struct look look = {.steps = steps};

	sx_must(ret->width, ==, lens->width);
	select_all_shadows(s, &look.shadows);
	for (int y = 0; y < lens->height; y++) {
		uint64_t state = noise_of_row(e, side, frame, y);
		const float *at = lens->at + 2 * (size_t)y * (size_t)lens->width;
		uint8_t *out = sx_image_row(ret, y);

		for (int x = 0; x < lens->width; x++, at += 2) {
			float tone = 0;

			if (at[0] >= 0) {
				find_steps(lens, x, y, steps);
				tone = raw_pixel_at(v, s, (double)at[0], (double)at[1], &look);
				if (s->street.verge.on)
					tone = behind_lens(v, s, side, (int)(at[0] + 0.5f),
							   (int)(at[1] + 0.5f), tone, &look);
			}
			out[x] = expose(e, side, tone, &state);
		}
	}
}
