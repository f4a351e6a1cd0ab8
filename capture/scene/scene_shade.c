/*
 * From "which facet is where" to a camera's picture: tones, shadows, haze, edges by four samples, and the
 * camera's gain, offset and noise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/scene_light.h"
#include "capture/scene/scene_world.h"

/* Shadows that may touch the ground seen on one image row. */
struct row_shadows {
	const struct sx_shadow *list[SX_SHADOWS_MAX];
	int count;
};

static void select_shadows(const struct sx_scene *s, double y, struct row_shadows *ret)
{
	const struct sx_camera *c = &s->camera;
	double yn = (y - c->cy) / c->fy, down = s->pose.sin_pitch + yn * s->pose.cos_pitch, z;

	ret->count = 0;
	if (s->terrain.count || s->street.verge.on) { /* a row may see the ground at several distances */
		while (ret->count < s->shadow_count) {
			ret->list[ret->count] = &s->shadows[ret->count];
			ret->count++;
		}
		return;
	}
	if (down <= 1e-4)
		return;
	z = c->height_m / down * (s->pose.cos_pitch - yn * s->pose.sin_pitch);
	for (int i = 0; i < s->shadow_count; i++) {
		const struct sx_shadow *h = &s->shadows[i];

		/* pavements are nearer to the eye, by a tenth at most */
		if ((double)h->z0 < z * 1.05 + 1 && (double)h->z1 > z * 0.85 - 1)
			ret->list[ret->count++] = h;
	}
}

static float ramp(float x, float lo, float hi)
{
	float a = (x - lo) * 4 + 0.5f, b = (hi - x) * 4 + 0.5f, r = a < b ? a : b;

	return r < 0 ? 0 : r > 1 ? 1 : r;
}

static float shadow_at(const struct row_shadows *rows, float x, float z)
{
	float light = 1;

	for (int i = 0; i < rows->count; i++) {
		const struct sx_shadow *h = rows->list[i];

		if (x > h->x0 - 0.2f && x < h->x1 + 0.2f)
			light *= 1 - 0.52f * ramp(x, h->x0, h->x1) * ramp(z, h->z0, h->z1);
	}
	return light;
}

float sx_view_sky(const struct sx_scene *s, double x, double y)
{
	const struct sx_camera *c = &s->camera;
	double a = (x - c->cx) / c->fx, b = (c->cy - y) / c->fy + s->pose.sin_pitch;
	float up = b < 0 ? 0 : (float)b;
	float cloud = sx_texture_sample(&s->texture, a * 180 + 31, b * 420, (float)(180 / c->fx)) +
		      sx_texture_sample(&s->texture, a * 40 + 3, b * 90, 1);

	return s->street.sky - 60 * up + 5 * cloud +
	       (s->street.verge.on ? sx_light_glare(&s->street.verge, a, b) : 0);
}

static float absolute(double x)
{
	return (float)(x < 0 ? -x : x);
}

static float facet_at(const struct sx_view *v, const struct sx_scene *scene, int i, double x, double y,
		      const struct row_shadows *rows);

/* What the wet road shows at (x, y): things upside down, or the sky. */
static float mirrored_at(const struct sx_view *v, const struct sx_scene *s, double x, double y)
{
	static const struct row_shadows none;
	int i = v->id[(size_t)(y + 0.5) * (size_t)v->width + (size_t)(x + 0.5)] - 1;
	double horizon = s->camera.cy + s->camera.fy * s->pose.sin_pitch;

	/* between pixel centres the facet may end */
	if (i >= 0 && sx_view_probe(v, s, i, x, y) > 0)
		return facet_at(v, s, i, x, y, &none);
	return sx_view_sky(s, x, 2 * horizon - y) - 20;
}

/* tone: of the dry road at s, t. */
static float wet_road(const struct sx_view *v, const struct sx_scene *scene, const struct sx_facet *f,
		      double x, double y, double s, double t, float foot, float tone)
{
	float wet = sx_light_wet(scene, s + f->s_texture, t + f->t_texture, foot);

	if (wet <= 0)
		return tone;
	tone *= 1 - 0.35f * wet;
	wet *= scene->street.verge.wet;
	return tone * (1 - wet) + wet * mirrored_at(&scene->mirrored[v - scene->view], scene, x, y);
}

/* Tone of facet i at (x, y), which it must cover. */
static float facet_at(const struct sx_view *v, const struct sx_scene *scene, int i, double x, double y,
		      const struct row_shadows *rows)
{
	const struct sx_facet *f = &scene->facets[i];
	const struct sx_projection *p = &v->projection[i];
	double inverse = 1 / sx_affine(p->d, x, y), s = sx_affine(p->s, x, y) * inverse,
	       t = sx_affine(p->t, x, y) * inverse;
	float fs = absolute((p->s[0] - s * p->d[0]) * inverse) + absolute((p->s[1] - s * p->d[1]) * inverse);
	float ft = absolute((p->t[0] - t * p->d[0]) * inverse) + absolute((p->t[1] - t * p->d[1]) * inverse);
	float tone, far, haze;

	fs = fs > 1e-4f ? fs : 1e-4f;
	ft = ft > 1e-4f ? ft : 1e-4f;
	tone = sx_material_tone(f, &scene->texture, s, t, fs, ft) * f->light;
	if (f->kind == 0 && rows->count && (scene->terrain.count || scene->street.verge.on))
		tone *= shadow_at(rows, (float)(f->origin[0] + s * f->u[0] + t * f->v[0]),
				  (float)(f->origin[2] + s * f->u[2] + t * f->v[2]));
	else if (f->kind == 0 && rows->count)
		tone *= shadow_at(rows, (float)(f->origin[0] + s), (float)(f->origin[2] + t));
	if (f->material == SX_MATERIAL_ROAD && scene->street.verge.on)
		tone = wet_road(v, scene, f, x, y, s, t, 0.2f * ft > fs ? 0.2f * ft : fs, tone);
	far = (float)(scene->camera.fx * scene->camera.baseline_m * inverse);
	haze = far / (far + scene->street.haze);
	return tone + (scene->street.sky - 12 - tone) * haze;
}

/* The nearest of the facets in ids (0 ends the list) at a point between pixel centres. */
static float sample_between(const struct sx_view *v, const struct sx_scene *s, const uint16_t *ids, double x,
			    double y, const struct row_shadows *rows)
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
	return best < 0 ? sx_view_sky(s, x, y) : facet_at(v, s, best, x, y, rows);
}

/* Different ids around a pixel, without the sky's 0, which ends the list. */
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
	ids[n] = 0;
}

static bool is_edge(const struct sx_view *v, int x, int y)
{
	const uint16_t *p = v->id + (size_t)y * (size_t)v->width + x;

	return (x > 0 && p[-1] != *p) || (x + 1 < v->width && p[1] != *p) || (y > 0 && p[-v->width] != *p) ||
	       (y + 1 < v->height && p[v->width] != *p);
}

static float pixel_at(const struct sx_view *v, const struct sx_scene *s, int x, int y,
		      const struct row_shadows *rows)
{
	/* rotated grid: every sample on a row and a column of its own */
	static const double dx[4] = {-0.125, 0.375, 0.125, -0.375}, dy[4] = {-0.375, -0.125, 0.375, 0.125};
	uint16_t id = v->id[(size_t)y * (size_t)v->width + (size_t)x], ids[10];
	float sum = 0;

	if (!is_edge(v, x, y))
		return id ? facet_at(v, s, id - 1, x, y, rows) : sx_view_sky(s, x, y);
	gather(v, x, y, ids);
	for (int k = 0; k < 4; k++)
		sum += sample_between(v, s, ids, x + dx[k], y + dy[k], rows);
	return sum * 0.25f;
}

/* Sum of four bytes: close to a normal distribution of mean 510 and deviation 147.8. */
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

void sx_view_shade(const struct sx_view *v, const struct sx_scene *s, int side, uint32_t frame,
		   struct sx_image *ret)
{
	const struct sx_street *st = &s->street;
	struct row_shadows rows;

	for (int y = 0; y < v->height; y++) {
		uint64_t state = sx_mix(st->seed, UINT64_C(0x6e6f6973) + (uint64_t)side,
					((uint64_t)frame << 16) + (uint64_t)y) |
				 1;
		uint8_t *out = sx_image_row(ret, y);

		select_shadows(s, y, &rows);
		for (int x = 0; x < v->width; x++) {
			float tone = pixel_at(v, s, x, y, &rows);

			if (st->verge.on)
				tone += sx_light_lens(v, s, side, x, y);
			tone = tone * st->gain[side] + st->offset[side];

			/* read noise and, with brightness, shot noise */
			tone += st->noise * (0.6f + 0.004f * tone) * next_noise(&state) + 0.5f;
			out[x] = (uint8_t)(tone < 0 ? 0 : tone > 255 ? 255 : (int)tone);
		}
	}
}
