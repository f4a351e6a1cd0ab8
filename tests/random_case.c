/*
 * Random settings for comparisons of engines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/random_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/scene/scene.h"
#include "config/config.h"
#include "config/option.h"
#include "config/text/number.h"
#include "stages/params_check.h"

#define WIDTH_MAX 640
#define HEIGHT_MAX 400
#define SIZE_MIN 32

/* Content of the images of a case. */
enum picture { PICTURE_REAL, PICTURE_REAL_TOO, PICTURE_STREET, PICTURE_FILL, PICTURES };

/*
 * Picture and position of the image part. Both are drawn again from the seed, so that the seed of a case is
 * all that a caller must pass on.
 */
struct look {
	enum picture picture;
	int pair, x, y;
	unsigned scene;
	const char *scene_name;
	struct check_rng rng; /* source of all further random values */
};

/* ---- settings ---- */

static double between(struct check_rng *r, double low, double high)
{
	return low + (high - low) * (check_random(r) / 4294967295.0);
}

/* Draws a number. Half of the draws lie near the default, because most effects appear there. */
static double number_of(const struct sx_option *o, struct check_rng *r)
{
	const double initial = strtod(o->initial, NULL);
	double v = between(r, o->min, o->max);

	if (initial != 0 && check_below(r, 2))
		v = initial * between(r, 0.4, 2);
	return fmin(fmax(v, o->min), o->max);
}

static int whole_of(const struct sx_option *o, struct check_rng *r)
{
	const int v = (int)rint(number_of(o, r));

	switch (o->rule) {
	case SX_RULE_POWER_OF_TWO:
		return 2 << check_below(r, 3);
	case SX_RULE_ODD:
		return v | 1;
	case SX_RULE_MULTIPLE_OF_32:
		return v < 32 ? 32 : v / 32 * 32;
	default:
		return v;
	}
}

/* Returns true for values that not every engine computes. */
static bool is_not_for_all(const char *word)
{
	static const char *const some[] = {"float", "int32", "slanted-exact"};

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++)
		if (!strcmp(word, some[i]))
			return true;
	return false;
}

static void draw_text(const struct sx_option *o, struct check_rng *r, char *text, size_t bytes)
{
	int words = 0;

	switch (o->kind) {
	case SX_OPTION_BOOL:
		snprintf(text, bytes, "%s", check_below(r, 2) ? "yes" : "no");
		break;
	case SX_OPTION_CHOICE:
		while (o->words[words])
			words++;
		do
			snprintf(text, bytes, "%s", o->words[check_below(r, words)]);
		while (is_not_for_all(text));
		break;
	case SX_OPTION_REAL:
		sx_number_print(number_of(o, r), text, bytes);
		break;
	default:
		snprintf(text, bytes, "%d", whole_of(o, r));
	}
}

/* Returns true for a key with a number or a choice that affects the way from a rectified pair to stixels. */
static bool is_drawn(const struct sx_option *o)
{
	static const char *const sections[] = {"camera", "stereo", "filters", "road", "stixels"};
	bool is_there = false;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		is_there = is_there || !strcmp(o->section, sections[i]);
	return is_there && o->kind != SX_OPTION_TEXT && o->kind != SX_OPTION_SIZE &&
	       strcmp(o->key, "matcher") != 0 && strncmp(o->key, "rectify", 7) != 0 &&
	       strcmp(o->key, "row_correction") != 0;
}

/* Returns true for keys that choose kernels. */
static bool is_always_drawn(const struct sx_option *o)
{
	static const char *const keys[] = {"cost", "aggregation", "fastdt", "paths", "method"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(o->key, keys[i]))
			return true;
	return false;
}

static bool is_sound(const struct sx_params *p, int width, int height)
{
	struct sx_params resolved = *p;
	struct sx_why why;

	sx_stereo_resolve(&resolved.stereo);
	if (sx_is_pyramid(&p->stereo) && p->stereo.cost == SX_COST_ZNCC)
		return false; /* cuda does not combine them */
	return sx_params_check(&resolved, width, height, &why) == 0;
}

/* Draws a value for one key after the other. Takes back a value that does not fit the earlier ones. */
static void draw_params(struct sx_params *p, struct check_rng *r)
{
	char before[SX_OPTION_TEXT_BYTES], text[SX_OPTION_TEXT_BYTES];
	struct sx_why why;
	struct sx_settings s;

	if (sx_settings_init(&s) < 0)
		abort();
	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];

		if (!is_drawn(o) || (!is_always_drawn(o) && check_below(r, 2)))
			continue;
		sx_option_write(o, &s, before);
		draw_text(o, r, text, sizeof(text));
		if (sx_option_read(o, &s, text, &why) < 0) {
			fprintf(stderr, "%s.%s: %s\n", o->section, o->key, why.text);
			abort();
		}
		if (!is_sound(&s.params, WIDTH_MAX, HEIGHT_MAX))
			sx_option_read(o, &s, before, &why);
	}
	*p = s.params;
	sx_settings_finish(&s);
}

/* ---- pictures ---- */

static struct look look_of(uint64_t seed, const struct random_images *images)
{
	static const char *const scenes[] = {"street", "open",	"climb", "fall", "ramp",
					     "verge",  "cargo", "night", "rain", "glass"};
	struct look l = {.rng = check_rng_seed(seed)};
	struct check_rng *r = &l.rng;

	l.picture = (enum picture)check_below(r, PICTURES);
	if (l.picture <= PICTURE_REAL_TOO && images->count < 2)
		l.picture = PICTURE_STREET;
	l.pair = check_below(r, images->count < 2 ? 1 : images->count / 2);
	l.scene = (unsigned)check_below(r, 1000);
	l.scene_name = scenes[check_below(r, 10)];
	if (l.picture <= PICTURE_REAL_TOO) {
		l.picture = PICTURE_REAL;
		l.x = check_below(r, images->image[2 * l.pair].width - SIZE_MIN);
		l.y = check_below(r, images->image[2 * l.pair].height - SIZE_MIN);
	}
	return l;
}

static int size_up_to(struct check_rng *r, int most)
{
	return SIZE_MIN + check_below(r, most - SIZE_MIN + 1);
}

/*
 * Returns the work of the reference for a pixel, in cells. The reference sums each zncc window from scratch.
 */
static size_t work_of(const struct sx_stereo_params *p)
{
	const size_t window = (size_t)p->zncc_window;

	return (size_t)p->disparities * (p->cost == SX_COST_ZNCC ? 1 + window * window / 8 : 1);
}

static void draw_size(struct engine_case *t, struct look *l, const struct random_images *images,
		      size_t cells_max)
{
	const size_t pixels = cells_max / work_of(&t->params.stereo);
	int width = WIDTH_MAX, height = HEIGHT_MAX;

	if (l->picture == PICTURE_REAL) {
		width = images->image[2 * l->pair].width - l->x;
		height = images->image[2 * l->pair].height - l->y;
	}
	t->width = size_up_to(&l->rng, width < WIDTH_MAX ? width : WIDTH_MAX);
	t->height = size_up_to(&l->rng, height < HEIGHT_MAX ? height : HEIGHT_MAX);
	while ((size_t)t->width * (size_t)t->height > pixels &&
	       (t->width > SIZE_MIN || t->height > SIZE_MIN)) {
		t->width = t->width * 3 / 4 < SIZE_MIN ? SIZE_MIN : t->width * 3 / 4;
		t->height = t->height * 3 / 4 < SIZE_MIN ? SIZE_MIN : t->height * 3 / 4;
	}
}

/* Sets, in half of the cases, the camera that took the picture, so that there is a road. */
static void fit_camera(struct engine_case *t, struct look *l)
{
	struct sx_camera *c = &t->params.camera;
	const struct sx_camera drawn = *c;

	if (check_below(&l->rng, 2))
		return;
	if (l->picture == PICTURE_STREET)
		sx_scene_camera(&(struct sx_scene_params){.width = t->width, .height = t->height}, c);
	else
		*c = (struct sx_camera){.fx = 721.5,
					.fy = 721.5,
					.cx = 609.5 - l->x,
					.cy = 172.9 - l->y,
					.baseline_m = 0.54,
					.height_m = 1.65};
	if (!is_sound(&t->params, t->width, t->height))
		*c = drawn;
}

/* Draws class scores, for slanted stixels only. */
static void draw_scores(struct engine_case *t, struct check_rng *r)
{
	struct sx_semantic_params *p = &t->params.semantics;

	if (t->params.stixels.method != SX_STIXEL_SLANTED || check_below(r, 3))
		return;
	p->classes = 1 + check_below(r, 20);
	for (int i = 0; i < p->classes; i++)
		p->kind[i] = (uint8_t)check_below(r, 3);
	t->score_scale = 1 + check_below(r, 8);
	if (!is_sound(&t->params, t->width, t->height)) {
		p->classes = 0;
		t->score_scale = 0;
	}
}

struct engine_case random_case(uint64_t seed, const struct random_images *images, size_t cells_max)
{
	static const enum sx_pixel formats[] = {SX_PIXEL_U8,   SX_PIXEL_U8,   SX_PIXEL_Y16,  SX_PIXEL_Y16,
						SX_PIXEL_YUYV, SX_PIXEL_UYVY, SX_PIXEL_NV12, SX_PIXEL_RGB24};
	struct look l = look_of(seed, images);
	struct engine_case t = engine_case_small(seed);

	draw_params(&t.params, &l.rng);
	draw_size(&t, &l, images, cells_max);
	if (!is_sound(&t.params, t.width, t.height))
		t.params = engine_case_params();
	t.pixel = formats[check_below(&l.rng, 8)];
	t.fill = (enum check_fill)check_below(&l.rng, CHECK_FILL_COUNT);
	t.shift = t.params.stereo.min_disparity + check_below(&l.rng, 20);
	t.padding = check_below(&l.rng, 20);
	fit_camera(&t, &l);
	draw_scores(&t, &l.rng);
	return t;
}

static uint8_t level_at(const struct sx_image *from, int x, int y)
{
	return ((const uint8_t *)sx_image_row(from, y))[x];
}

/* Writes a grey level as a pixel. Y16: of 10 to 16 bits, with hot and dead pixels. */
static void put_pixel(const struct sx_image *to, int x, int y, unsigned grey, unsigned gain,
		      struct check_rng *r)
{
	uint8_t *p = (uint8_t *)sx_image_row(to, y) + (size_t)x * sx_pixel_bytes(to->pixel);
	unsigned wide;

	switch (to->pixel) {
	case SX_PIXEL_Y16:
		wide = check_below(r, 4000) == 0 ? (check_below(r, 2) ? 65535 : 0)
						 : 64 + grey * gain + (unsigned)check_below(r, (int)gain + 1);
		wide = wide < 65535 ? wide : 65535;
		p[0] = (uint8_t)wide;
		p[1] = (uint8_t)(wide >> 8);
		break;
	case SX_PIXEL_RGB24:
		p[0] = (uint8_t)(grey > 20 ? grey - 20 : 0);
		p[1] = (uint8_t)grey;
		p[2] = (uint8_t)(grey < 235 ? grey + 20 : 255);
		break;
	case SX_PIXEL_UYVY:
		p[1] = (uint8_t)grey;
		break;
	default: /* U8, NV12, YUYV */
		p[0] = (uint8_t)grey;
		break;
	}
}

static void put_picture(const struct sx_image *to, const struct sx_image *from, int x0, int y0, unsigned gain,
			struct check_rng *r)
{
	for (int y = 0; y < to->height; y++)
		for (int x = 0; x < to->width; x++)
			put_pixel(to, x, y, level_at(from, x0 + x, y0 + y), gain, r);
}

static void put_street(struct engine_frame *f, const struct engine_case *t, const struct look *l,
		       unsigned gain, struct check_rng *r)
{
	const struct sx_scene_params p = {
		.name = l->scene_name, .seed = l->scene, .width = t->width, .height = t->height};
	struct sx_image image[2];
	struct sx_scene *scene;
	struct sx_why why;

	if (sx_scene_create(&scene, &p, &why) < 0 ||
	    sx_image_init(&image[0], SX_PIXEL_U8, t->width, t->height) < 0 ||
	    sx_image_init(&image[1], SX_PIXEL_U8, t->width, t->height) < 0)
		abort();
	sx_scene_render(scene, l->scene % 40, &image[0], &image[1]);
	put_picture(&f->left.image, &image[0], 0, 0, gain, r);
	put_picture(&f->right.image, &image[1], 0, 0, gain, r);
	sx_image_finish(&image[0]);
	sx_image_finish(&image[1]);
	sx_scene_destroy(scene);
}

void random_case_frame(struct engine_frame *f, const struct engine_case *t,
		       const struct random_images *images)
{
	const struct look l = look_of(t->seed, images);
	struct check_rng r = check_rng_seed(t->seed ^ 0x5eed);
	const unsigned gain = 1u << check_below(&r, 9);

	engine_frame_init(f, t);
	if (l.picture == PICTURE_STREET) {
		put_street(f, t, &l, gain, &r);
	} else if (l.picture == PICTURE_REAL) {
		put_picture(&f->left.image, &images->image[2 * l.pair], l.x, l.y, gain, &r);
		put_picture(&f->right.image, &images->image[2 * l.pair + 1], l.x, l.y, gain, &r);
	}
}
