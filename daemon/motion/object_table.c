/*
 * Table of objects, see object_table.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/motion/object_table.h"

#include <math.h>

#include "ipc/check.h"

/* A covariance within these limits is positive definite even after its numbers were rounded to float. */
#define MOST_CORRELATION 0.9999
#define LEAST_VARIANCE 1e-8 /* m^2 or (m/s)^2 */

/* A negative variance, or one that is not a number, stays so: sx_object_agrees() refuses it. */
static double at_least(double variance)
{
	return variance >= 0.0 ? fmax(variance, LEAST_VARIANCE) : variance;
}

static void write_covariance(double xx, double xz, double zz, float *to_xx, float *to_xz, float *to_zz)
{
	const double a = at_least(xx), c = at_least(zz), most = MOST_CORRELATION * sqrt(a * c);

	*to_xx = (float)a;
	*to_xz = (float)(isfinite(xz) ? fmax(-most, fmin(most, xz)) : xz);
	*to_zz = (float)c;
}

static uint16_t within(int px, int size)
{
	return (uint16_t)(px < 0 ? 0 : px < size ? px : size - 1);
}

static bool is_in_image(const struct sx_object_source *s, const struct sx_motion_object *o)
{
	return o->left < o->right && o->top <= o->bottom && o->right > 0 &&
	       o->left < (int)s->header->image_width && o->bottom >= 0 &&
	       o->top < (int)s->header->image_height;
}

/* Returns whether readers take the object. */
static bool write_object(const struct sx_object_source *s, const struct sx_motion_object *o,
			 struct stixel_object *r)
{
	const int width = (int)s->header->image_width, height = (int)s->header->image_height;
	const struct sx_motion_estimate *e = &o->biased;
	struct sx_motion_object at = *o; /* gets the distance that the frame's disparities say */

	at.disparity -= s->offset_px;
	if (!(at.disparity > 0.0) || !is_in_image(s, o))
		return false;
	sx_motion_object_measure(&at, s->camera);
	*r = (struct stixel_object){
		.id = s->base_id + o->id,
		.state = (uint8_t)o->state,
		.frames = (uint16_t)(o->frames < UINT16_MAX ? o->frames : UINT16_MAX),
		.x = (float)at.x,
		.y = (float)at.y,
		.z = (float)at.z,
		.width = (float)at.width,
		.height = (float)at.height,
		.vx = (float)e->vx,
		.vz = (float)e->vz,
		.age_s = (float)o->age,
		.unseen_s = (float)o->unseen,
		.left = within(o->left, width),
		.right = within(o->right - 1, width),
		.top = within(o->top, height),
		.bottom = within(o->bottom, height),
	};
	write_covariance(at.pxx, at.pxz, at.pzz, &r->pxx, &r->pxz, &r->pzz);
	write_covariance(e->sxx, e->sxz, e->szz, &r->sxx, &r->sxz, &r->szz);
	return sx_object_agrees(s->header, r);
}

/* Returns 1 + the index of the object with an id; 0: the table does not have it. */
static uint8_t number_of(const struct sx_object_table *t, uint32_t id)
{
	uint32_t low = 0, high = t->count; /* the ids grow */

	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if (t->objects[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint8_t)(low < t->count && t->objects[low].id == id ? low + 1 : 0);
}

/* Returns the class with most rows, of equal ones the least. */
static uint8_t label_of(const uint32_t rows[STIXEL_CLASSES_MAX])
{
	uint8_t label = STIXEL_LABEL_NONE;
	uint32_t most = 0;

	for (unsigned i = 0; i < STIXEL_CLASSES_MAX; i++) {
		if (rows[i] <= most)
			continue;
		most = rows[i];
		label = (uint8_t)i;
	}
	return label;
}

/* Writes which object each stixel belongs to. Gives each object the number of its stixels, and its class. */
static void write_stixels(struct sx_object_table *t, const struct sx_object_source *s)
{
	uint32_t rows[STIXEL_OBJECTS_MAX][STIXEL_CLASSES_MAX] = {{0}};

	for (uint32_t i = 0; i < s->header->stixel_count; i++) {
		const struct stixel *x = &s->stixels[i];
		const uint8_t number = s->object_of[i] ? number_of(t, s->base_id + s->object_of[i]) : 0;

		t->object_of[i] = number;
		if (!number)
			continue;
		t->objects[number - 1].stixels += t->objects[number - 1].stixels < UINT16_MAX;
		if (x->label < STIXEL_CLASSES_MAX)
			rows[number - 1][x->label] += (uint32_t)(x->row_bottom - x->row_top + 1);
	}
	for (uint32_t k = 0; k < t->count; k++)
		t->objects[k].label = label_of(rows[k]);
}

void sx_object_table_fill(struct sx_object_table *t, const struct sx_object_source *s)
{
	uint32_t last_id = 0;

	t->count = 0;
	for (uint32_t k = 0; k < s->objects->count && t->count < STIXEL_OBJECTS_MAX; k++) {
		const struct sx_motion_object *o = &s->objects->objects[k];

		if (!o->shown || s->base_id + o->id <= last_id || !write_object(s, o, &t->objects[t->count]))
			continue;
		last_id = t->objects[t->count++].id;
	}
	if (t->count)
		write_stixels(t, s);
}
