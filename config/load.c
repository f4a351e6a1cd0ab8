/*
 * Loading the configuration: defaults, main file, drop-ins, overrides, calibration, and what
 * only the whole can tell.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config/calibration/calibration.h"
#include "config/classes.h"
#include "config/load_priv.h"
#include "config/number.h"

static int index_of(const char *section, const char *key)
{
	const struct sx_option *o = sx_option_find(section, key);

	return o ? (int)(o - sx_options) : -1;
}

/* Where a key was set, NULL: it is the default. */
static const char *set_at(const struct sx_load *l, const char *section, const char *key)
{
	int i = index_of(section, key);

	return i >= 0 && l->origins[i].where[0] ? l->origins[i].where : NULL;
}

bool sx_load_unknown_section(struct sx_load *l, const char *section, const char *where)
{
	const char *best = NULL;
	int least = 99;

	for (int i = 0; i < sx_section_count; i++) {
		int distance = sx_word_distance(section, sx_sections[i].name);

		if (!distance)
			return false;
		if (distance < least) {
			least = distance;
			best = sx_sections[i].name;
		}
	}
	if (best && sx_word_near(section, least))
		sx_errors_add(l->errors, "%s: unknown section [%s], did you mean [%s]?", where, section,
			      best);
	else
		sx_errors_add(l->errors, "%s: unknown section [%s]", where, section);
	return true;
}

/* Nearest key of the section, else of the table; a key of another section in its place is near. */
static void tell_unknown_key(struct sx_load *l, const char *section, const char *key, const char *where)
{
	const struct sx_option *elsewhere = sx_option_find(NULL, key), *best = NULL;
	int least = 99;

	if (elsewhere) {
		sx_errors_add(l->errors, "%s: [%s] %s: unknown key, it belongs to [%s]", where, section, key,
			      elsewhere->section);
		return;
	}
	for (int i = 0; i < sx_option_count; i++) {
		bool here = !strcmp(sx_options[i].section, section);
		int distance = 2 * sx_word_distance(key, sx_options[i].key) + !here;

		if (distance < least) {
			least = distance;
			best = &sx_options[i];
		}
	}
	if (!best || !sx_word_near(key, least / 2))
		sx_errors_add(l->errors, "%s: [%s] %s: unknown key", where, section, key);
	else if (strcmp(best->section, section))
		sx_errors_add(l->errors, "%s: [%s] %s: unknown key, did you mean %s in [%s]?", where, section,
			      key, best->key, best->section);
	else
		sx_errors_add(l->errors, "%s: [%s] %s: unknown key, did you mean %s?", where, section, key,
			      best->key);
}

/* A calibration file is named relative to the file that names it. */
static const char *with_folder(const char *value, const char *folder, char *buf, size_t bytes)
{
	const char *comma = strchr(value, ','), *second = comma ? comma + 1 + strspn(comma + 1, " ") : NULL;
	int n;

	if (!*value || !folder || !*folder)
		return value;
	n = snprintf(buf, bytes, "%s%s%.*s", *value == '/' ? "" : folder, *value == '/' ? "" : "/",
		     comma ? (int)(comma - value) : (int)strlen(value), value);
	if (second && n >= 0 && (size_t)n < bytes)
		n += snprintf(buf + n, bytes - (size_t)n, ",%s%s%s", *second == '/' ? "" : folder,
			      *second == '/' ? "" : "/", second);
	return n >= 0 && (size_t)n < bytes ? buf : value;
}

void sx_load_set(struct sx_load *l, const char *section, const char *key, const char *value,
		 const char *where, const char *folder)
{
	int i = index_of(section, key);
	struct sx_origin *origin;
	char why[512], buf[1024];
	int r;

	if (i < 0) {
		tell_unknown_key(l, section, key, where);
		return;
	}
	if (l->live && sx_options[i].change != SX_CHANGE_LIVE) {
		sx_errors_add(l->errors, "%s: [%s] %s: needs a restart: change it in a file", where, section,
			      key);
		return;
	}
	origin = &l->origins[i];
	if (l->file &&
	    origin->file == l->file) { /* twice in one file is an oversight; drop-ins are for changing */
		sx_errors_add(l->errors, "%s: [%s] %s: found '%s', but it is already set at %s", where,
			      section, key, value, origin->where);
		return;
	}
	snprintf(origin->where, sizeof(origin->where), "%s", where);
	origin->file = l->file;
	if (!strcmp(key, "calibration"))
		value = with_folder(value, folder, buf, sizeof(buf));
	r = sx_option_read(&sx_options[i], &l->settings, value, why, sizeof(why));
	if (r == -ENOMEM)
		l->out_of_memory = true;
	else if (r < 0)
		sx_errors_add(l->errors, "%s: [%s] %s: %s", where, section, key, why);
	origin->good = r == 0;
}

static int is_drop_in(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return d->d_name[0] != '.' && n > 5 && !strcmp(d->d_name + n - 5, ".conf");
}

static int byte_order(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int load_drop_ins(struct sx_load *l, const char *file)
{
	struct dirent **list = NULL;
	char folder[512], path[1024];
	int n, r = 0;

	if (snprintf(folder, sizeof(folder), "%s.d", file) >= (int)sizeof(folder))
		return -ENAMETOOLONG;
	n = scandir(folder, &list, is_drop_in, byte_order);
	if (n < 0) {
		if (errno == ENOENT)
			return 0;
		r = -errno;
		sx_errors_add(l->errors, "%s: %s", folder, strerror(errno));
		return r;
	}
	if (n > SX_CONFIG_FILES) {
		sx_errors_add(l->errors, "%s: has %d files, at most %d are allowed", folder, n,
			      SX_CONFIG_FILES);
		r = -E2BIG;
	}
	for (int i = 0; i < n; i++) {
		int e;

		snprintf(path, sizeof(path), "%s/%s", folder, list[i]->d_name);
		if (i < SX_CONFIG_FILES && (e = sx_load_file(l, path)) < 0)
			r = e;
		free(list[i]);
	}
	free(list);
	return r;
}

static void load_override(struct sx_load *l, const char *text)
{
	const char *equals = strchr(text, '='), *dot = strchr(text, '.');
	char where[SX_WHERE_BYTES], section[64], key[64];
	const char *value;

	snprintf(where, sizeof(where), "%s %.250s", l->how, text);
	if (!equals || !dot || dot > equals || dot == text) {
		const struct sx_option *o = NULL;

		snprintf(key, sizeof(key), "%.*s",
			 equals ? (int)(equals - text < 63 ? equals - text : 63) : 63, text);
		if (equals)
			o = sx_option_find(NULL, key);
		if (o)
			sx_errors_add(l->errors, "%s: expected SECTION.KEY=VALUE, did you mean %s.%s?", where,
				      o->section, o->key);
		else
			sx_errors_add(l->errors, "%s: expected SECTION.KEY=VALUE", where);
		return;
	}
	if (dot - text >= (int)sizeof(section) || equals - dot - 1 >= (int)sizeof(key)) {
		sx_errors_add(l->errors, "%s: the name is too long", where);
		return;
	}
	snprintf(section, sizeof(section), "%.*s", (int)(dot - text), text);
	snprintf(key, sizeof(key), "%.*s", (int)(equals - dot - 1), dot + 1);
	for (size_t n = strlen(key); n && key[n - 1] == ' '; n--)
		key[n - 1] = 0;
	value = equals + 1 + strspn(equals + 1, " ");
	if (!sx_load_unknown_section(l, section, where))
		sx_load_set(l, section, key, value, where, NULL);
}

/* The calibration file against what is given beside it, then into the settings. False: it cannot be used. */
static bool apply_calibration(struct sx_load *l)
{
	static const char *const keys[] = {"fx", "fy", "cx", "cy", "baseline_m"};
	const char *where = set_at(l, "camera", "calibration");
	struct sx_camera *camera = &l->settings.params.camera;
	const struct sx_calibration_wish wish = {
		.rectify = l->settings.rectification,
		.width = l->settings.source.width,
		.height = l->settings.source.height,
		.baseline_m = set_at(l, "camera", "baseline_m") ? camera->baseline_m : 0};
	struct sx_calibration c;
	char why[1024];
	int r;

	if (!l->settings.calibration)
		return true;
	r = sx_calibration_read(&c, l->settings.calibration, &wish, why, sizeof(why));
	if (r < 0) {
		sx_errors_add(l->errors, "%s: [camera] calibration: %s", where ? where : "default", why);
		return false;
	}
	for (int i = 0; i < 5; i++) {
		const char *also = set_at(l, "camera", keys[i]);

		if (also && !(r == 1 && i == 4))
			sx_errors_add(l->errors,
				      "%s: [camera] %s: is also in the calibration file %s (%s); which one "
				      "is meant? An empty 'calibration =' turns the file off",
				      also, keys[i], l->settings.calibration, where ? where : "default");
	}
	if (r == 1 && !set_at(l, "camera", "baseline_m"))
		sx_errors_add(l->errors, "%s: [camera] calibration: %s; or give baseline_m in [camera]",
			      where ? where : "default", why);
	camera->fx = c.fx;
	camera->fy = c.fy;
	camera->cx = c.cx;
	camera->cy = c.cy;
	if (r == 0)
		camera->baseline_m = c.baseline_m;
	l->settings.calibration_baseline = r == 0;
	l->settings.calibration_width = c.width;
	l->settings.calibration_height = c.height;
	l->settings.rectify = c.rectify;
	l->settings.rig = c.rig;
	return true;
}

/* After the calibration: what else is said about rectifying makes sense with it. */
static void check_rectify(struct sx_load *l, bool read)
{
	const struct sx_settings *s = &l->settings;
	const struct sx_rectify_params *p = &s->rectification;
	const char *at = set_at(l, "camera", "rectify"), *alpha = set_at(l, "camera", "rectify_alpha");

	if (p->alpha < 0 && p->alpha != -1)
		sx_errors_add(
			l->errors,
			"%s: [camera] rectify_alpha: found %g, allowed -1 (scale of the raw images), 0..1",
			alpha, p->alpha);
	if (p->choice == SX_RECTIFY_YES && !s->calibration)
		sx_errors_add(
			l->errors,
			"%s: [camera] rectify: found 'yes', but there is no calibration file to say how", at);
	else if (p->width && !s->rectify && read)
		sx_errors_add(l->errors,
			      "%s: [camera] rectify_size: found '%dx%d', but images are not rectified here: "
			      "the calibration file does not say that they are raw, or rectify = no",
			      set_at(l, "camera", "rectify_size"), p->width, p->height);
}

/* Was a value given and refused? It is told already; nothing more is said about it. */
static bool refused(const struct sx_load *l, const char *section, const char *key)
{
	return set_at(l, section, key) && !l->origins[index_of(section, key)].good;
}

/* A camera's metres must never come from the defaults. */
static void check_camera_given(struct sx_load *l)
{
	static const char *const keys[] = {"fx", "fy", "cx", "cy", "baseline_m"};
	const struct sx_camera *c = &l->settings.params.camera;
	const char *where = set_at(l, "source", "kind");
	char missing[64] = "";
	size_t n = 0;

	if (!where || refused(l, "source", "kind") || l->settings.source.kind != SX_SOURCE_V4L2)
		return;
	if (l->settings.calibration || refused(l, "camera", "calibration") ||
	    (c->fx == 0 && c->fy == 0 && c->baseline_m == 0))
		return;
	for (int i = 0; i < 5; i++)
		if (!set_at(l, "camera", keys[i]))
			n += (size_t)snprintf(missing + n, sizeof(missing) - n, "%s%s", n ? ", " : "",
					      keys[i]);
	if (n)
		sx_errors_add(l->errors,
			      "%s: [source] kind: v4l2 needs the camera: give calibration in [camera], or %s "
			      "(fx, fy and baseline_m all 0: no camera model)",
			      where, missing);
}

/* What each kind of source needs to know where its images are. */
static void check_places(struct sx_load *l)
{
	const struct sx_source_params *s = &l->settings.source;
	const char *where = set_at(l, "source", "kind");

	if (!where || refused(l, "source", "kind") || refused(l, "source", "left") ||
	    refused(l, "source", "right") || refused(l, "source", "path"))
		return;
	if (s->kind == SX_SOURCE_FILES && (!s->path == !s->left || !s->left != !s->right))
		sx_errors_add(l->errors, "%s: [source] kind: files needs either path, or left and right",
			      where);
	if (s->kind != SX_SOURCE_V4L2)
		return;
	if (!s->left)
		sx_errors_add(l->errors, "%s: [source] kind: v4l2 needs the device in left", where);
	if (s->layout == SX_LAYOUT_TWO && !s->right)
		sx_errors_add(l->errors, "%s: [source] kind: v4l2 with two cameras needs the device in right",
			      where);
	if (s->layout == SX_LAYOUT_TWO && s->left && s->right && !strcmp(s->left, s->right))
		sx_errors_add(l->errors, "%s: [source] right: found '%s', which is left as well",
			      set_at(l, "source", "right"), s->right);
	if (!sx_layout_takes(s->layout, s->format) && !refused(l, "source", "format"))
		sx_errors_add(l->errors,
			      "%s: [source] format: Y8I and Y12I, and no others, go with layout "
			      "interleaved or right-first",
			      set_at(l, "source", "format"));
	if (s->layout != SX_LAYOUT_TWO && s->right)
		sx_errors_add(
			l->errors,
			"%s: [source] right: found '%s', but one camera takes both images in this layout",
			set_at(l, "source", "right"), s->right);
}

/* Between -1 (as it is) and 0 (automatic, or none) nothing has a meaning. */
static void check_keep(struct sx_load *l, const char *key, double value)
{
	if (value < 0 && value != SX_CONTROL_KEEP && !refused(l, "source", key))
		sx_errors_add(l->errors, "%s: [source] %s: found %g, allowed -1 (unchanged), 0 or more",
			      set_at(l, "source", key), key, value);
}

/* As names of instances (ipc/instance.h). */
static bool name_of_ring(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n <= 64 && name[0] != '.' &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") == n;
}

/* The table is looked at also when nobody writes scores: stixel-process may be given some. */
static void take_classes(struct sx_load *l)
{
	const struct sx_semantics_params *s = &l->settings.semantics;
	struct sx_semantic_params table;
	char why[512];

	if (refused(l, "semantics", "classes"))
		return;
	if (sx_classes_parse(s->classes, &table, NULL, why, sizeof(why)) < 0)
		sx_errors_add(l->errors, "%s: [semantics] classes: %s", set_at(l, "semantics", "classes"),
			      why);
	else if (s->source)
		l->settings.params.semantics = table;
	if (s->source && !refused(l, "semantics", "source") && !name_of_ring(s->source))
		sx_errors_add(
			l->errors,
			"%s: [semantics] source: found '%s', allowed 1 to 64 of A-Z a-z 0-9 _ . - and no "
			"leading dot",
			set_at(l, "semantics", "source"), s->source);
}

static void check_whole(struct sx_load *l, bool source_required)
{
	const struct sx_settings *s = &l->settings;
	struct sx_log_levels levels;
	int width = s->rectify ? s->rig.width : s->source.width;
	int height = s->rectify ? s->rig.height : s->source.height;
	char why[512];

	if (source_required && !set_at(l, "source", "kind"))
		sx_errors_add(l->errors, "[source] kind: not given, allowed v4l2, files, synthetic");
	check_places(l);
	check_keep(l, "exposure_ms", s->source.exposure_ms);
	check_keep(l, "gain", s->source.gain);
	check_camera_given(l);
	take_classes(l);
	if (sx_log_levels_parse(&levels, s->log_levels ? s->log_levels : "", why, sizeof(why)) < 0)
		sx_errors_add(l->errors, "%s: [log] levels: %s", set_at(l, "log", "levels"), why);
	/* without a size the largest stands in: every width that a key can say fits into it */
	if (sx_params_check(&s->params, width ? width : 4096, height ? height : 2160, why, sizeof(why)) < 0)
		sx_errors_add(l->errors, "%s", why);
	if (s->source.width && !sx_settings_size_fits(s, s->source.width, s->source.height, why, sizeof(why)))
		sx_errors_add(l->errors, "%s: [source] size: %s", set_at(l, "source", "size"), why);
}

int sx_settings_init(struct sx_settings *ret)
{
	struct sx_settings s;
	char why[256];
	int r;

	memset(&s, 0, sizeof(s));
	for (int i = 0; i < sx_option_count; i++) {
		if (!sx_options[i].initial)
			continue;
		r = sx_option_read(&sx_options[i], &s, sx_options[i].initial, why, sizeof(why));
		if (r < 0) {
			sx_settings_finish(&s);
			return r;
		}
	}
	*ret = s;
	return 0;
}

/* What is asked of the whole, once all of it was read. */
enum whole { WHOLE_TEMPLATE, WHOLE_WITHOUT_SOURCE, WHOLE_WITH_SOURCE };

static void copy_origins(const struct sx_load *l, struct sx_origins *ret)
{
	for (int i = 0; i < sx_option_count; i++)
		memcpy(ret->where[i], l->origins[i].where, SX_WHERE_BYTES);
}

/* Ends a load: the settings to ret, or the errno why not. */
static int load_end(struct sx_load *l, int r, struct sx_settings *ret, struct sx_origins *origins)
{
	if (l->out_of_memory)
		r = -ENOMEM;
	else if (r == 0 && (l->errors->count || l->errors->more))
		r = -EINVAL;
	if (r < 0) {
		sx_settings_finish(&l->settings);
	} else {
		*ret = l->settings;
		if (origins)
			copy_origins(l, origins);
	}
	free(l);
	return r;
}

static int load_settings(struct sx_settings *ret, struct sx_origins *origins, const char *file,
			 const char *const *overrides, int count, enum whole whole, struct sx_errors *errors)
{
	struct sx_load *l = calloc(1, sizeof(*l));
	int r = l ? sx_settings_init(&l->settings) : -ENOMEM, e;

	if (r < 0) {
		free(l);
		return r;
	}
	l->errors = errors;
	l->how = "-s";
	if (file) {
		r = sx_load_file(l, file);
		e = load_drop_ins(l, file);
		r = r < 0 ? r : e;
	}
	l->file = 0;
	for (int i = 0; i < count; i++)
		load_override(l, overrides[i]);
	/* what the whole says is only worth telling when all of it was read */
	if (r == 0) {
		bool read;

		l->settings.source_given = set_at(l, "source", "kind") != NULL;
		read = apply_calibration(l);
		if (whole != WHOLE_TEMPLATE) {
			check_rectify(l, read);
			check_whole(l, whole == WHOLE_WITH_SOURCE);
		}
	}
	return load_end(l, r, ret, origins);
}

int sx_settings_load_origins(struct sx_settings *ret, struct sx_origins *origins, const char *file,
			     const char *const *overrides, int count, bool source_required,
			     struct sx_errors *errors)
{
	return load_settings(ret, origins, file, overrides, count,
			     source_required ? WHOLE_WITH_SOURCE : WHOLE_WITHOUT_SOURCE, errors);
}

int sx_settings_set(struct sx_settings *ret, struct sx_origins *origins, const struct sx_settings *base,
		    const char *const *changes, int count, struct sx_errors *errors)
{
	struct sx_load *l = calloc(1, sizeof(*l));
	int r = l ? sx_settings_copy(&l->settings, base) : -ENOMEM;

	if (r < 0) {
		free(l);
		return r;
	}
	l->errors = errors;
	l->how = "set";
	l->live = true;
	for (int i = 0; i < sx_option_count; i++) {
		memcpy(l->origins[i].where, origins->where[i], SX_WHERE_BYTES);
		l->origins[i].good = true;
	}
	for (int i = 0; i < count; i++)
		load_override(l, changes[i]);
	check_whole(l, true);
	return load_end(l, 0, ret, origins);
}

int sx_settings_load(struct sx_settings *ret, const char *file, const char *const *overrides, int count,
		     bool source_required, struct sx_errors *errors)
{
	return sx_settings_load_origins(ret, NULL, file, overrides, count, source_required, errors);
}

int sx_settings_template(struct sx_settings *ret, const char *const *overrides, int count,
			 struct sx_errors *errors)
{
	return load_settings(ret, NULL, NULL, overrides, count, WHOLE_TEMPLATE, errors);
}
