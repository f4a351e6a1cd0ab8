/*
 * Finds the visible facet at each pixel: fills a disparity buffer, facet by facet, row by row.
 *
 * For a plane, 1/z is affine in image coordinates; so are s/z and t/z. The edges of a facet are then
 * inequalities that are affine in x on each row. Their intersection is the row's span. No clipping is needed,
 * and corners are not rounded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/contract.h"
#include "capture/scene/scene_world.h"

#define EDGES 5
#define NEAREST_DISPARITY 1e-3 /* px; smaller disparities are sky */

static void cross(const double a[3], const double b[3], double ret[3])
{
	ret[0] = a[1] * b[2] - a[2] * b[1];
	ret[1] = a[2] * b[0] - a[0] * b[2];
	ret[2] = a[0] * b[1] - a[1] * b[0];
}

/*
 * Converts to camera axes: x right, y down, z forward. x, height: offset to the right and height of the camera
 * for points, 0 for directions.
 */
static void to_camera(const struct sx_pose *p, const double w[3], double x, double height, double ret[3])
{
	double h = w[1] - height;

	ret[0] = w[0] - x;
	ret[1] = -h * p->cos_pitch - w[2] * p->sin_pitch;
	ret[2] = -h * p->sin_pitch + w[2] * p->cos_pitch;
	if (p->sin_roll != 0) {
		const double down = ret[1];

		ret[0] = w[0] * p->cos_roll + down * p->sin_roll - x;
		ret[1] = down * p->cos_roll - w[0] * p->sin_roll;
	}
}

/* Returns scale * (a . ray(x, y)) as an affine function of x, y. */
static void dot_ray(const struct sx_camera *c, const double a[3], double scale, double ret[3])
{
	ret[0] = scale * (a[0] / c->fx);
	ret[1] = scale * (a[1] / c->fy);
	ret[2] = scale * (a[2] - a[0] * c->cx / c->fx - a[1] * c->cy / c->fy);
}

/*
 * Projects a facet. From o + s u + t v = z r follows 1/z = (n.r)/(n.o), s/z = ((v x o).r)/(n.o), t/z = ((o x
 * u).r)/(n.o), with n = u x v.
 */
static void project(const struct sx_facet *f, const struct sx_scene *scene, int side,
		    struct sx_projection *ret)
{
	const struct sx_camera *c = &scene->camera;
	double o[3], u[3], v[3], n[3], s[3], t[3], no, scale;

	to_camera(&scene->pose, f->origin, side ? c->baseline_m : 0, c->height_m + scene->pose.heave, o);
	to_camera(&scene->pose, f->u, 0, 0, u);
	to_camera(&scene->pose, f->v, 0, 0, v);
	cross(u, v, n);
	cross(v, o, s);
	cross(o, u, t);
	no = n[0] * o[0] + n[1] * o[1] + n[2] * o[2];
	/* 0: the facet is seen edge-on and covers no pixel */
	scale = no > -1e-9 && no < 1e-9 ? 0 : c->fx * c->baseline_m / no;
	dot_ray(c, n, scale, ret->d);
	dot_ray(c, s, scale, ret->s);
	dot_ray(c, t, scale, ret->t);
}

static bool in_ellipse(double a, double b)
{
	return a * a + b * b <= 1;
}

/*
 * Returns true if a point is within the crown of a tree. a, b: -1..1 over the crown's box. Leaves are where
 * the noise is above a limit that rises towards the rim.
 */
static bool in_crown(const struct sx_facet *f, const struct sx_texture *texture, double a, double b, double s,
		     double t)
{
	double r2 = a * a + b * b;
	float n;

	if (r2 > 1)
		return false;
	n = sx_texture_sample(texture, s * 20 + f->detail[0], t * 20 + f->detail[1], 2);
	return (double)n > 3.2 * r2 * r2 - 2.2;
}

/*
 * Returns true if a point is within a person. a: -1..1 across, h: 0..1 from the feet. detail[0]: phase of the
 * step, -1..1.
 */
static bool in_person(const struct sx_facet *f, double a, double h)
{
	double stride = 0.45 * (double)f->detail[0], leg;

	if (h > 0.86)
		return in_ellipse(a / 0.30, (h - 0.93) / 0.07);
	if (h > 0.46)
		return in_ellipse(a / (0.95 - 0.5 * (h > 0.8)), (h - 0.62) / 0.28);
	leg = stride * (0.5 - h) * 2;
	return (a - leg - 0.2 < 0.24 && a - leg - 0.2 > -0.24) ||
	       (a + leg + 0.2 < 0.24 && a + leg + 0.2 > -0.24);
}

/*
 * Returns true if a point of a fence is on a bar or a rail. Bars are 3 cm wide, one every 13 cm, between two
 * rails.
 */
static bool in_bars(const struct sx_facet *f, double s, double t)
{
	double bar = s / 0.13;

	return bar - (double)sx_floor(bar) < 0.23 || (t > 0.08 && t < 0.14) || t > f->t1 - 0.05;
}

/* Returns true if a point is on the rim of a wheel. */
static bool in_ring(const struct sx_facet *f, double a, double b)
{
	const double inner = 1 - 2 * (double)f->inset[0] / f->s1;

	return in_ellipse(a, b) && !in_ellipse(a / inner, b / inner);
}

static bool facet_covers(const struct sx_facet *f, const struct sx_texture *texture, double s, double t)
{
	double a = 2 * s / f->s1 - 1, b = 2 * t / f->t1 - 1;

	switch ((enum sx_shape)f->shape) {
	case SX_SHAPE_RECTANGLE:
		return true;
	case SX_SHAPE_TRAPEZOID:
		return s >= (double)f->inset[0] * t / f->t1 && s <= f->s1 - (double)f->inset[1] * t / f->t1;
	case SX_SHAPE_ELLIPSE:
		return in_ellipse(a, b);
	case SX_SHAPE_CROWN:
		return in_crown(f, texture, a, b, s, t);
	case SX_SHAPE_PERSON:
		return in_person(f, a, t / f->t1);
	case SX_SHAPE_BARS:
		return in_bars(f, s, t);
	case SX_SHAPE_PANE:
		return s < (double)f->inset[0] || s > f->s1 - (double)f->inset[0] ||
		       t < (double)f->inset[1] || t > f->t1 - (double)f->inset[1];
	case SX_SHAPE_RING:
		return in_ring(f, a, b);
	}
	return false;
}

/* Computes the inequalities e >= 0 of a facet: d > 0, 0 <= s <= s1, 0 <= t <= t1, each multiplied by d. */
static void edges(const struct sx_facet *f, const struct sx_projection *p, double e[EDGES][3])
{
	for (int k = 0; k < 3; k++) {
		e[0][k] = p->s[k];
		e[1][k] = f->s1 * p->d[k] - p->s[k];
		e[2][k] = p->t[k];
		e[3][k] = f->t1 * p->d[k] - p->t[k];
		e[4][k] = p->d[k];
	}
	e[4][2] -= NEAREST_DISPARITY;
}

/* Finds the columns of row y where all inequalities hold: first..last, empty if first > last. */
static void span(double e[EDGES][3], const double inverse[EDGES], int y, int width, int *first, int *last)
{
	sx_must(width, >, 0);
	double lo = 0, hi = width - 1;

	for (int k = 0; k < EDGES; k++) {
		double rest = e[k][1] * y + e[k][2], x;

		if (e[k][0] == 0) {
			if (rest < 0)
				hi = -1;
			continue;
		}
		x = -rest * inverse[k];
		if (e[k][0] > 0)
			lo = x > lo ? x : lo;
		else
			hi = x < hi ? x : hi;
	}
	*first = 0;
	*last = -1;
	if (!(lo <= hi))
		return;
	*first = (int)lo + ((double)(int)lo < lo);
	*last = (int)hi;
}

/*
 * Finds rows first..last outside of which span() finds no column, empty if first > last. A row and a
 * billionth are left for rounding.
 */
static void rows(double e[EDGES][3], int width, int height, int *first, int *last)
{
	double lo = 0, hi = height - 1;

	sx_must_be(width > 0 && height > 0);
	for (int k = 0; k < EDGES; k++) {
		/* the largest value on row y is top + slope * y */
		const double across = e[k][0] * (width - 1), slope = e[k][1], down = slope * (height - 1);
		const double top = e[k][2] + (across > 0 ? across : 0);
		const double small = 1e-9 * (fabs(across) + fabs(down) + fabs(e[k][2]));

		if (top + (down > 0 ? down : 0) < -small)
			hi = -1;
		if (slope > small && -top / slope - 1 > lo)
			lo = -top / slope - 1;
		if (slope < -small && -top / slope + 1 < hi)
			hi = -top / slope + 1;
	}
	*first = lo < height ? (int)lo : height;
	*last = hi < 0 ? -1 : (int)hi;
}

static void fill_plain(float *restrict depth, uint16_t *restrict id, int n, float d0, float dx, uint16_t mine)
{
	sx_must(n, >, 0);
	for (int i = 0; i < n; i++) {
		float d = d0 + dx * (float)i;
		bool nearer = d > depth[i];

		depth[i] = nearer ? d : depth[i];
		id[i] = nearer ? mine : id[i];
	}
}

static void draw_facet(struct sx_view *v, const struct sx_scene *scene, int i)
{
	const struct sx_facet *f = &scene->facets[i];
	const struct sx_projection *p = &v->projection[i];
	double e[EDGES][3], inverse[EDGES];
	int top, bottom;

	edges(f, p, e);
	rows(e, v->width, v->height, &top, &bottom);
	for (int k = 0; k < EDGES; k++)
		inverse[k] = e[k][0] == 0 ? 0 : 1 / e[k][0];
	for (int y = top; y <= bottom; y++) {
		float *depth = v->depth + (size_t)y * (size_t)v->width;
		uint16_t *id = v->id + (size_t)y * (size_t)v->width;
		int first, last;

		span(e, inverse, y, v->width, &first, &last);
		if (first > last)
			continue;
		sx_must_be(first >= 0 && last < v->width);
		if (f->shape == SX_SHAPE_RECTANGLE) {
			fill_plain(depth + first, id + first, last - first + 1,
				   (float)sx_affine(p->d, first, y), (float)p->d[0], (uint16_t)(i + 1));
			continue;
		}
		for (int x = first; x <= last; x++) {
			double d = sx_affine(p->d, x, y);

			if ((float)d <= depth[x] ||
			    !facet_covers(f, &scene->texture, sx_affine(p->s, x, y) / d,
					  sx_affine(p->t, x, y) / d))
				continue;
			depth[x] = (float)d;
			id[x] = (uint16_t)(i + 1);
		}
	}
}

static void begin(struct sx_view *v)
{
	size_t pixels = (size_t)v->width * (size_t)v->height;

	sx_must_be(v->width > 0 && v->height > 0);
	memset(v->depth, 0, pixels * sizeof(*v->depth));
	memset(v->id, 0, pixels * sizeof(*v->id));
}

static void draw_one(struct sx_view *v, const struct sx_scene *s, int side, int i)
{
	sx_must_index(i, SX_FACETS_MAX);
	project(&s->facets[i], s, side, &v->projection[i]);
	draw_facet(v, s, i);
}

void sx_view_draw(struct sx_view *v, const struct sx_scene *s, int side)
{
	sx_must(s->count, <=, SX_FACETS_MAX);
	begin(v);
	for (int i = 0; i < s->count; i++)
		draw_one(v, s, side, i);
}

void sx_view_draw_ground(struct sx_view *v, const struct sx_scene *s, int side)
{
	begin(v);
	for (int i = 0; i < s->count; i++)
		if (s->facets[i].kind == 0)
			draw_one(v, s, side, i);
}

void sx_view_draw_mirrored(struct sx_view *v, const struct sx_scene *s, int side)
{
	sx_must_be(s->count <= s->mirrored_to && s->mirrored_to <= SX_FACETS_MAX);
	begin(v);
	for (int i = s->count; i < s->mirrored_to; i++)
		draw_one(v, s, side, i);
}

bool sx_view_is_before(const struct sx_view *v, const struct sx_scene *s, int i, double x, double y, double d)
{
	const struct sx_projection *p = &v->projection[i];
	const struct sx_facet *f = &s->facets[i];
	const double nearer = sx_affine(p->d, x, y), a = sx_affine(p->s, x, y), b = sx_affine(p->t, x, y);

	return nearer > d && a >= 0 && a <= f->s1 * nearer && b >= 0 && b <= f->t1 * nearer;
}

double sx_view_probe(const struct sx_view *v, const struct sx_scene *s, int i, double x, double y)
{
	const struct sx_projection *p = &v->projection[i];
	const struct sx_facet *f = &s->facets[i];
	double d = sx_affine(p->d, x, y), a, b;

	if (d < NEAREST_DISPARITY)
		return 0;
	a = sx_affine(p->s, x, y) / d;
	b = sx_affine(p->t, x, y) / d;
	if (a < 0 || a > f->s1 || b < 0 || b > f->t1 || !facet_covers(f, &s->texture, a, b))
		return 0;
	return d;
}
