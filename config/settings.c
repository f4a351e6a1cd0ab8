/*
 * The settings as a whole: freeing, comparing, taking over, checking against the size of the images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/camera.h"
#include "config/load_priv.h"
#include "stages/context.h"
#include "stages/params_check.h"
#include "stixel.h"

void sx_settings_finish(struct sx_settings *s)
{
	for (int i = 0; i < sx_option_count; i++)
		sx_option_clear(&sx_options[i], s);
	free(s->files);
	memset(s, 0, sizeof(*s));
}

/* Appends ", section.key". A list that gets too long ends in "...". */
static void list_key(char *list, size_t bytes, const struct sx_option *o)
{
	size_t n = strlen(list);
	int more = snprintf(list + n, bytes - n, "%s%s.%s", n ? ", " : "", o->section, o->key);

	if (more >= (int)(bytes - n))
		memcpy(list + bytes - 4, "...", 4);
}

static bool same_rig(const struct sx_rig *a, const struct sx_rig *b)
{
	bool same = a->raw_width == b->raw_width && a->raw_height == b->raw_height && a->width == b->width &&
		    a->height == b->height && a->fx == b->fx && a->fy == b->fy && a->cx == b->cx &&
		    a->cy == b->cy && a->baseline_m == b->baseline_m &&
		    memcmp(a->rotation, b->rotation, sizeof(a->rotation)) == 0;

	for (int i = 0; i < 2; i++) {
		const struct sx_raw_camera *x = &a->raw[i], *y = &b->raw[i];

		same = same && x->fx == y->fx && x->fy == y->fy && x->cx == y->cx && x->cy == y->cy &&
		       x->lens == y->lens && memcmp(x->distortion, y->distortion, sizeof(x->distortion)) == 0;
	}
	return same;
}

bool sx_settings_same_camera(const struct sx_settings *a, const struct sx_settings *b,
			     const struct sx_source_info *info)
{
	const struct sx_context_config x = sx_settings_context(a, info), y = sx_settings_context(b, info);
	const struct sx_camera *c = &x.params.camera, *d = &y.params.camera;

	return c->fx == d->fx && c->fy == d->fy && c->cx == d->cx && c->cy == d->cy &&
	       c->baseline_m == d->baseline_m && x.rectify == y.rectify &&
	       a->calibration_width == b->calibration_width &&
	       a->calibration_height == b->calibration_height && (!x.rectify || same_rig(&x.rig, &y.rig));
}

/* Counts a change of the raw cameras if the calibration file has the same name but other content. */
static void diff_rig(const struct sx_settings *old, const struct sx_settings *new,
		     struct sx_settings_diff *ret)
{
	const struct sx_option *o = sx_option_find("camera", "calibration");

	if (!sx_option_equal(o, old, new) ||
	    (old->rectify == new->rectify && (!old->rectify || same_rig(&old->rig, &new->rig))))
		return;
	ret->changed++;
	list_key(ret->live_keys, sizeof(ret->live_keys), o);
}

void sx_settings_diff(const struct sx_settings *old, const struct sx_settings *new,
		      struct sx_settings_diff *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];

		if (sx_option_equal(o, old, new))
			continue;
		ret->changed++;
		if (sx_option_changes_live(o)) {
			list_key(ret->live_keys, sizeof(ret->live_keys), o);
		} else {
			ret->restart++;
			list_key(ret->restart_keys, sizeof(ret->restart_keys), o);
		}
	}
	diff_rig(old, new, ret);
}

/* Cannot fail half-way: numbers and words need no memory, and texts are exchanged. */
void sx_settings_take_live(struct sx_settings *s, struct sx_settings *new)
{
	char *files = s->files;

	s->files = new->files;
	new->files = files;
	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];

		/* an equal text keeps its address, because a source may hold it */
		if (sx_option_changes_live(o) && !sx_option_equal(o, s, new))
			sx_option_take(o, s, new);
	}
	s->calibration_width = new->calibration_width;
	s->calibration_height = new->calibration_height;
	s->calibration_baseline = new->calibration_baseline;
	s->calibration_said = new->calibration_said;
	s->rectify = new->rectify;
	s->rig = new->rig;
}

int sx_settings_copy(struct sx_settings *ret, const struct sx_settings *s)
{
	struct sx_settings copy = *s;
	int r = 0;

	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];
		const char **text = (const char **)((char *)&copy + o->offset);

		if (o->kind != SX_OPTION_TEXT || !*text)
			continue;
		*text = strdup(*text); /* NULL on failure: the copy must not own the text of s */
		r = *text ? r : -ENOMEM;
	}
	copy.files = s->files ? strdup(s->files) : NULL;
	if (s->files && !copy.files)
		r = -ENOMEM;
	if (r < 0)
		sx_settings_finish(&copy);
	else
		*ret = copy;
	return r;
}

void sx_origins_take_live(struct sx_origins *origins, const struct sx_origins *from,
			  const struct sx_settings *s, const struct sx_settings *new)
{
	for (int i = 0; i < sx_option_count; i++)
		if (sx_option_changes_live(&sx_options[i]) || sx_option_equal(&sx_options[i], s, new))
			memcpy(origins->where[i], from->where[i], SX_WHERE_BYTES);
}

const char *sx_origin_text(const struct sx_origins *origins, const struct sx_option *o)
{
	const char *where = origins ? origins->where[o - sx_options] : "";

	return *where ? where : SX_ORIGIN_DEFAULT;
}

bool sx_origin_is_live(const struct sx_origins *origins, const struct sx_option *o)
{
	return strncmp(sx_origin_text(origins, o), "set ", 4) == 0;
}

bool sx_settings_size_fits(const struct sx_settings *s, int width, int height, struct sx_why *why)
{
	char reason[SX_CAMERA_TEXT_BYTES];

	if (s->calibration_width && s->calibration_height &&
	    (s->calibration_width != width || s->calibration_height != height)) {
		sx_why_set(why, "images are %dx%d, but calibration %s was made for %dx%d", width, height,
			   s->calibration, s->calibration_width, s->calibration_height);
		return false;
	}
	/* check the camera only if a calibration file was read: its values are from that file then */
	if (s->calibration_said.format && !s->rectify &&
	    !sx_camera_fits(&s->params.camera, width, height, reason, sizeof(reason))) {
		sx_why_set(why, "calibration %.200s: %s", s->calibration, reason);
		return false;
	}
	return true;
}

int sx_settings_check_params(const struct sx_settings *s, const struct sx_source_info *info,
			     struct sx_why *why)
{
	const struct sx_context_config c = sx_settings_context(s, info);

	if (info->camera_yields && c.params.road.mode == SX_ROAD_CALIBRATED && !(c.params.camera.fx > 0))
		return sx_why_fail(
			-EINVAL, why,
			"road.mode = calibrated needs a camera, and neither the writer nor [camera] "
			"gives one (fx, fy, cx, cy, baseline_m)");
	if (c.params.motion.mode != SX_MOTION_MODE_OFF && sx_chain_check(&c, why) < 0)
		return -EINVAL;
	return sx_params_check(&c.params, c.width, c.height, why);
}

int sx_settings_check_source(const struct sx_settings *s, const struct sx_source_info *info,
			     struct sx_why *why)
{
	if (!sx_settings_size_fits(s, info->width, info->height, why))
		return -EINVAL;
	return sx_settings_check_params(s, info, why);
}

int sx_settings_check_size(const struct sx_settings *s, int width, int height, struct sx_why *why)
{
	const struct sx_source_info info = {.width = width, .height = height};

	return sx_settings_check_source(s, &info, why);
}

unsigned sx_settings_images(enum sx_planes planes)
{
	static const unsigned images[] = {
		[SX_PLANES_NONE] = 0,
		[SX_PLANES_DISPARITY] = 1u << STIXEL_PLANE_DISPARITY,
		[SX_PLANES_LEFT] = 1u << STIXEL_PLANE_LEFT,
		[SX_PLANES_BOTH] = 1u << STIXEL_PLANE_LEFT | 1u << STIXEL_PLANE_DISPARITY,
		[SX_PLANES_PAIR] = 1u << STIXEL_PLANE_LEFT | 1u << STIXEL_PLANE_RIGHT,
	};

	return images[planes];
}
