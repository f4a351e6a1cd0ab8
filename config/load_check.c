/*
 * Checks while loading the configuration: the calibration file, and the configuration as a whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/advice.h"
#include "base/log.h"
#include "capture/dataset.h"
#include "capture/paths.h"
#include "config/calibration/calibration.h"
#include "config/classes.h"
#include "config/load_priv.h"

#define PLACES 3 /* largest number of places in one message */
/* Keys of [camera] whose values the calibration file also has. */
static const char *const camera_keys[] = {"fx", "fy", "cx", "cy", "baseline_m"};
#define BASELINE 4

/*
 * Returns true if this key of [camera] was set before the calibration file was named. The later of the two
 * wins. If both are in one file, neither is earlier.
 */
static bool is_earlier(const struct sx_load *l, const char *key)
{
	const int of_key = l->origins[sx_load_index_of("camera", key)].file;
	const int of_file = l->origins[sx_load_index_of("camera", "calibration")].file;

	return (of_key ? of_key : INT_MAX) < (of_file ? of_file : INT_MAX);
}

static void check_beside_calibration(struct sx_load *l, const char *key)
{
	const char *also = sx_load_set_at(l, "camera", key),
		   *where = sx_load_set_at(l, "camera", "calibration");

	if (!also)
		return;
	if (is_earlier(l, key))
		l->origins[sx_load_index_of("camera", key)].where[0] = 0;
	else
		sx_errors_add(l->errors,
			      "%s: [camera] %s: is also in the calibration file %s (%s); which one "
			      "is meant? An empty 'calibration =' turns the file off",
			      also, key, l->settings.calibration, where ? where : "default");
}

/* Returns true if a path contains a folder of this name, or ends in it. */
static bool has_folder(const char *path, const char *name)
{
	const char *at = strstr(path, name);

	return at && (at == path || at[-1] == '/') && strchr("/", at[strlen(name)]);
}

/* Finds out from the folder names which of KITTI's pairs the source reads. */
static enum sx_calibration_pair pair_of(const struct sx_source_params *s)
{
	static const char *const grey[] = {"image_0", "image_00"};
	static const char *const colour[] = {"image_2", "image_02", "colored_0"};
	const char *path = s->left && *s->left ? s->left : s->path;
	char left[PATH_MAX];
	struct sx_dataset d;

	if (s->kind != SX_SOURCE_FILES || !path || sx_pattern_side(path, 0, left, sizeof(left)) < 0)
		return SX_PAIR_UNKNOWN;
	path = sx_dataset_find(left, &d) ? d.images[0] : left;
	for (size_t i = 0; i < sizeof(grey) / sizeof(grey[0]); i++)
		if (has_folder(path, grey[i]))
			return SX_PAIR_GREY;
	for (size_t i = 0; i < sizeof(colour) / sizeof(colour[0]); i++)
		if (has_folder(path, colour[i]))
			return SX_PAIR_COLOUR;
	return SX_PAIR_UNKNOWN;
}

static bool from_dataset(const struct sx_load *l)
{
	return l->origins[sx_load_index_of("camera", "calibration")].file == SX_LOAD_DATASET;
}

bool sx_load_calibration(struct sx_load *l)
{
	const char *where = sx_load_set_at(l, "camera", "calibration");
	struct sx_camera *camera = &l->settings.params.camera;
	const char *baseline = sx_load_set_at(l, "camera", "baseline_m");
	const struct sx_calibration_wish wish = {.rectify = l->settings.rectification,
						 .width = l->settings.source.width,
						 .height = l->settings.source.height,
						 .baseline_m = baseline ? camera->baseline_m : 0,
						 .baseline_overrides = baseline && camera->baseline_m > 0 &&
								       !is_earlier(l, "baseline_m"),
						 .images = pair_of(&l->settings.source)};
	struct sx_calibration c;
	struct sx_why why;
	int r;

	if (!l->settings.calibration)
		return true;
	r = sx_calibration_read(&c, l->settings.calibration, &wish, &why);
	if (r < 0) {
		sx_errors_add(l->errors, "%s: [camera] calibration: %s", where ? where : "default", why.text);
		return false;
	}
	for (int i = 0; i < BASELINE + (r == 0 && !wish.baseline_overrides); i++)
		check_beside_calibration(l, camera_keys[i]);
	if (r == 1 && !sx_load_set_at(l, "camera", "baseline_m"))
		sx_errors_add(l->errors, "%s: [camera] calibration: %s; or give baseline_m in [camera]",
			      where ? where : "default", why.text);
	camera->fx = c.fx;
	camera->fy = c.fy;
	camera->cx = c.cx;
	camera->cy = c.cy;
	if (r == 0)
		camera->baseline_m = c.baseline_m;
	l->settings.calibration_baseline = r == 0 && !wish.baseline_overrides;
	l->settings.calibration_said = (struct sx_calibration_said){.format = c.format,
								    .pair = c.pair,
								    .other_pair = c.other_pair,
								    .baseline_m = c.file_baseline_m,
								    .of_dataset = from_dataset(l)};
	l->settings.calibration_width = c.width;
	l->settings.calibration_height = c.height;
	l->settings.rectify = c.rectify;
	l->settings.rig = c.rig;
	return true;
}

void sx_load_forget_calibration(struct sx_load *l)
{
	struct sx_settings *s = &l->settings;
	struct sx_why why;

	for (int i = 0; i <= BASELINE; i++) {
		const struct sx_option *o = sx_option_find("camera", camera_keys[i]);

		if (!sx_load_set_at(l, "camera", camera_keys[i]))
			(void)sx_option_read(o, s, o->initial, &why);
	}
	s->calibration_width = s->calibration_height = 0;
	s->calibration_baseline = s->rectify = false;
	s->calibration_said = (struct sx_calibration_said){0};
	s->rig = (struct sx_rig){0};
}

void sx_load_check_rectify(struct sx_load *l, bool read)
{
	struct sx_settings *s = &l->settings;
	const struct sx_rectify_params *p = &s->rectification;
	const char *at = sx_load_set_at(l, "camera", "rectify"),
		   *alpha = sx_load_set_at(l, "camera", "rectify_alpha");
	/* raw cameras of the synthetic source, which provides its own rig */
	const bool known = s->source.kind == SX_SOURCE_SYNTHETIC && s->source.lenses &&
			   strcmp(s->source.lenses, "ideal"),
		   drawn = known && !s->calibration && p->choice != SX_RECTIFY_NO;

	if (p->alpha < 0 && p->alpha != -1)
		sx_errors_add(
			l->errors,
			"%s: [camera] rectify_alpha: found %g, allowed -1 (scale of the raw images), 0..1",
			alpha, p->alpha);
	if (p->choice == SX_RECTIFY_YES && !s->calibration && !known)
		sx_errors_add(
			l->errors,
			"%s: [camera] rectify: found 'yes', but there is no calibration file to say how", at);
	else if (p->width && !s->rectify && !drawn && (read || !s->calibration))
		sx_errors_add(l->errors,
			      "%s: [camera] rectify_size: found '%dx%d', but images are not rectified here: "
			      "%s, or rectify = no",
			      sx_load_set_at(l, "camera", "rectify_size"), p->width, p->height,
			      s->calibration ? "the calibration file does not say that they are raw"
					     : "there is no calibration file");
	s->source.rectified_width = drawn ? p->width : 0;
	s->source.rectified_height = drawn ? p->height : 0;
}

/*
 * Returns true if a value was given and refused. The refusal is reported already; further checks then skip
 * the key.
 */
static bool refused(const struct sx_load *l, const char *section, const char *key)
{
	return sx_load_set_at(l, section, key) && !l->origins[sx_load_index_of(section, key)].good;
}

/* Writes the missing keys of the camera to `missing`. Returns their number. */
static int find_missing(const struct sx_load *l, char *missing, size_t bytes)
{
	size_t n = 0;
	int count = 0;

	for (int i = 0; i <= BASELINE; i++)
		if (!sx_load_set_at(l, "camera", camera_keys[i])) {
			n += (size_t)snprintf(missing + n, bytes - n, "%s%s", n ? ", " : "", camera_keys[i]);
			count++;
		}
	return count;
}

/*
 * Requires the camera's values: lengths in metres must never come from the defaults. A writer of pairs may give
 * them instead (kind = shared): without values in the configuration there is no camera.
 */
static void check_camera_given(struct sx_load *l)
{
	struct sx_camera *c = &l->settings.params.camera;
	const enum sx_source_kind kind = l->settings.source.kind;
	const char *where = sx_load_set_at(l, "source", "kind");
	char missing[64] = "";
	int count;

	if (!where || refused(l, "source", "kind") || (kind != SX_SOURCE_V4L2 && kind != SX_SOURCE_SHARED))
		return;
	if (l->settings.calibration || refused(l, "camera", "calibration") ||
	    (c->fx == 0 && c->fy == 0 && c->baseline_m == 0))
		return;
	count = find_missing(l, missing, sizeof(missing));
	if (count && kind == SX_SOURCE_V4L2)
		sx_errors_add(l->errors,
			      "%s: [source] kind: v4l2 needs the camera: give calibration in [camera], or %s "
			      "(fx, fy and baseline_m all 0: no camera model)",
			      where, missing);
	else if (count == BASELINE + 1)
		c->fx = c->fy = c->cx = c->cy = c->baseline_m = 0;
	else if (count)
		sx_errors_add(
			l->errors,
			"%s: [source] kind: shared takes the camera from the writer or from [camera]: give "
			"%s, too, or none of these keys",
			where, missing);
}

/*
 * Requires camera.height_m for a calibrated road with a writer's camera: the writer does not know it, and the
 * default would give every distance of the road the wrong scale.
 */
static void check_height_given(struct sx_load *l)
{
	const struct sx_settings *s = &l->settings;

	if (s->params.road.mode == SX_ROAD_CALIBRATED && s->source.kind == SX_SOURCE_SHARED &&
	    !s->calibration && !(s->params.camera.fx > 0) && !sx_load_set_at(l, "camera", "height_m"))
		sx_errors_add(l->errors,
			      "%s: [road] mode: calibrated needs camera.height_m: the writer of pairs gives "
			      "its camera, but not the height above the road",
			      sx_load_set_at(l, "road", "mode"));
}

static void check_exists(struct sx_load *l, const char *section, const char *key, const char *path)
{
	struct sx_why why;

	if (path && *path && !refused(l, section, key) && sx_missing(path, &why))
		sx_errors_add(l->errors, "%s: [%s] %s: %s", sx_load_set_at(l, section, key), section, key,
			      why.text);
}

/*
 * Checks that files exist. Cameras are not checked, because they may be plugged in later. The calibration
 * file is not checked, because it was read already.
 */
static void check_files_exist(struct sx_load *l)
{
	const struct sx_settings *s = &l->settings;

	if (s->source.kind == SX_SOURCE_FILES && !refused(l, "source", "kind")) {
		check_exists(l, "source", "path", s->source.path);
		check_exists(l, "source", "left", s->source.left);
		check_exists(l, "source", "right", s->source.right);
	}
	check_exists(l, "power", "root", s->power.root);
}

/* Checks the keys of cameras: devices, their layout and pixel format. */
static void check_devices(struct sx_load *l, const char *where)
{
	const struct sx_source_params *s = &l->settings.source;

	if (!s->left)
		sx_errors_add(l->errors, "%s: [source] kind: v4l2 needs the device in left", where);
	if (s->layout == SX_LAYOUT_TWO && !s->right)
		sx_errors_add(l->errors, "%s: [source] kind: v4l2 with two cameras needs the device in right",
			      where);
	if (s->layout == SX_LAYOUT_TWO && s->left && s->right && !strcmp(s->left, s->right))
		sx_errors_add(l->errors, "%s: [source] right: found '%s', which is left as well",
			      sx_load_set_at(l, "source", "right"), s->right);
	if (!sx_layout_takes(s->layout, s->format) && !refused(l, "source", "format"))
		sx_errors_add(l->errors,
			      "%s: [source] format: Y8I and Y12I, and no others, go with layout "
			      "interleaved or right-first",
			      sx_load_set_at(l, "source", "format"));
	if (s->layout != SX_LAYOUT_TWO && s->right)
		sx_errors_add(
			l->errors,
			"%s: [source] right: found '%s', but one camera takes both images in this layout",
			sx_load_set_at(l, "source", "right"), s->right);
}

/* Checks that each kind of source has the keys that say where its images are. */
static void check_places(struct sx_load *l)
{
	const struct sx_source_params *s = &l->settings.source;
	const char *where = sx_load_set_at(l, "source", "kind");

	if (!where || refused(l, "source", "kind") || refused(l, "source", "left") ||
	    refused(l, "source", "right") || refused(l, "source", "path"))
		return;
	if (s->kind == SX_SOURCE_FILES && (!s->path == !s->left || !s->left != !s->right))
		sx_errors_add(l->errors, "%s: [source] kind: files needs either path, or left and right",
			      where);
	if (s->kind != SX_SOURCE_SYNTHETIC && s->fault && *s->fault && strcmp(s->fault, "none") != 0)
		sx_errors_add(
			l->errors,
			"%s: [source] fault: found '%s', but faults are planted into the synthetic source "
			"only",
			sx_load_set_at(l, "source", "fault"), s->fault);
	if (s->kind == SX_SOURCE_SHARED && (s->layout != SX_LAYOUT_TWO || s->path || s->left || s->right))
		sx_errors_add(
			l->errors,
			"%s: [source] kind: shared gets its images from the process that connects: layout, "
			"path, left and right have no meaning",
			where);
	if (s->kind == SX_SOURCE_V4L2)
		check_devices(l, where);
}

/* Refuses values between -1 (unchanged) and 0 (automatic, or none), which have no meaning. */
static void check_keep(struct sx_load *l, const char *key, double value)
{
	if (value < 0 && value != SX_CONTROL_KEEP && !refused(l, "source", key))
		sx_errors_add(l->errors, "%s: [source] %s: found %g, allowed -1 (unchanged), 0 or more",
			      sx_load_set_at(l, "source", key), key, value);
}

/* Returns true if the name is valid for a ring. The same rules hold for instance names (ipc/instance.h). */
static bool name_of_ring(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n <= 64 && name[0] != '.' &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") == n;
}

static void check_ring_name(struct sx_load *l, const char *section, const char *name)
{
	if (name && !refused(l, section, "source") && !name_of_ring(name))
		sx_errors_add(l->errors,
			      "%s: [%s] source: found '%s', allowed 1 to 64 of A-Z a-z 0-9 _ . - and no "
			      "leading dot",
			      sx_load_set_at(l, section, "source"), section, name);
}

/*
 * Reads the table of classes. It is checked even if no process writes scores, because stixel-process may be
 * given scores.
 */
static void take_classes(struct sx_load *l)
{
	const struct sx_semantics_params *s = &l->settings.semantics;
	struct sx_semantic_params table;
	struct sx_why why;

	if (refused(l, "semantics", "classes"))
		return;
	if (sx_classes_parse(s->classes, &table, NULL, &why) < 0)
		sx_errors_add(l->errors, "%s: [semantics] classes: %s",
			      sx_load_set_at(l, "semantics", "classes"), why.text);
	else if (s->source)
		l->settings.params.semantics = table;
	check_ring_name(l, "semantics", s->source);
}

/*
 * Checks that an external matcher has a ring. Programs that need no [source] need no ring: they read maps
 * from files.
 */
static void check_external(struct sx_load *l, bool source_required)
{
	check_ring_name(l, "external", l->settings.external.source);
	if (source_required && !l->settings.external.source &&
	    l->settings.params.stereo.matcher == SX_MATCH_EXTERNAL && !refused(l, "external", "source"))
		sx_errors_add(
			l->errors,
			"%s: [stereo] matcher: found 'external', but no source in [external] says whose "
			"maps are read",
			sx_load_set_at(l, "stereo", "matcher"));
}

/* Adds a place, unless the list already contains it. */
static void add_place(const char **places, size_t *count, const char *place)
{
	for (size_t i = 0; i < *count; i++)
		if (places[i] == place)
			return;
	if (*count < PLACES)
		places[(*count)++] = place;
}

/*
 * Adds the message of sx_params_check(), preceded by the places where the named keys were set. Keys with
 * their default have no place. A name without a section belongs to the section that was named last.
 */
static void add_with_places(struct sx_load *l, const char *why)
{
	static const char *const letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
	const char *places[PLACES];
	char section[32] = "", word[32], where[PLACES * SX_WHERE_BYTES] = "";
	size_t count = 0, used = 0, n;

	for (const char *p = why; *p; p += n + !n) {
		n = strspn(p, letters);
		snprintf(word, sizeof(word), "%.*s", (int)n, p);
		if (n && p[n] == '.' && p[n + 1] >= 'a' && p[n + 1] <= 'z')
			memcpy(section, word, sizeof(section));
		else if (sx_load_set_at(l, section, word) && !refused(l, section, word))
			add_place(places, &count, sx_load_set_at(l, section, word));
	}
	/* a live change needs no place: the client knows what it has set */
	for (size_t i = 0; i < count && !l->live; i++)
		used += (size_t)snprintf(where + used, sizeof(where) - used, "%s%s", i ? ", " : "",
					 places[i]);
	sx_errors_add(l->errors, "%s%s%s", where, *where ? ": " : "", why);
}

void sx_load_check(struct sx_load *l, bool source_required)
{
	const struct sx_settings *s = &l->settings;
	struct sx_log_levels levels;
	/* if the size is not known, check the largest one: every width that a key allows fits into it */
	const struct sx_source_info largest = {.width = s->source.width ? s->source.width : 4096,
					       .height = s->source.height ? s->source.height : 2160,
					       .awaited = s->source.kind == SX_SOURCE_SHARED};
	char allowed[SX_OPTION_ALLOWED_BYTES];
	struct sx_why why;

	if (source_required && !sx_load_set_at(l, "source", "kind")) {
		sx_option_allowed(sx_option_find("source", "kind"), allowed);
		sx_errors_add(l->errors, "[source] kind: not given, allowed %s", allowed);
	}
	check_places(l);
	if (l->look)
		check_files_exist(l);
	check_keep(l, "exposure_ms", s->source.exposure_ms);
	check_keep(l, "gain", s->source.gain);
	check_camera_given(l);
	check_height_given(l);
	take_classes(l);
	check_external(l, source_required);
	if (sx_log_levels_parse(&levels, s->log_levels ? s->log_levels : "", &why) < 0)
		sx_errors_add(l->errors, "%s: [log] levels: %s", sx_load_set_at(l, "log", "levels"),
			      why.text);
	if (sx_settings_check_params(s, &largest, &why) < 0)
		add_with_places(l, why.text);
	if (s->source.width && !sx_settings_size_fits(s, s->source.width, s->source.height, &why))
		sx_errors_add(l->errors, "%s: [source] size: %s", sx_load_set_at(l, "source", "size"),
			      why.text);
	else if (!s->source.width && s->calibration_width &&
		 !sx_settings_size_fits(s, s->calibration_width, s->calibration_height, &why))
		sx_errors_add(l->errors, "%s: [camera] calibration: %s",
			      sx_load_set_at(l, "camera", "calibration"), why.text);
}
