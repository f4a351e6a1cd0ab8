/*
 * Implements stixelctl snapshot: draws the newest frame as a picture.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sysexits.h>

#include <jansson.h>

#include "base/clock.h"
#include "stixel.h"
#include "tools/ctl/answer.h"
#include "tools/ctl/ctl.h"
#include "tools/ctl/ctl_ask.h"
#include "tools/ctl/snapshot.h"
#include "tools/draw/bird.h"
#include "tools/draw/overlay.h"

enum { IMAGE_MS = 1000, GAP_PX = 4 };

/* Returns the image plane that stixelctl requests from the daemon. */
static unsigned plane_of(const struct ctl *c)
{
	return c->image == CTL_IMAGE_LEFT	 ? STIXEL_PLANE_LEFT
	       : c->image == CTL_IMAGE_DISPARITY ? STIXEL_PLANE_DISPARITY
						 : STIXEL_PLANE_NONE;
}

/* Returns the requested image if the frame has it in the size of the stixels. */
static bool has_image(const struct ctl *c, const struct stixel_frame *f, struct sx_image *image)
{
	struct stixel_image found;

	if (c->image == CTL_IMAGE_NONE || !stixel_image(f, plane_of(c), &found) ||
	    found.width != f->header->image_width || found.height != f->header->image_height)
		return false;
	*image = (struct sx_image){.data = (void *)(uintptr_t)found.data,
				   .width = (int)found.width,
				   .height = (int)found.height,
				   .pitch = found.pitch,
				   .pixel = c->image == CTL_IMAGE_LEFT ? SX_PIXEL_U8 : SX_PIXEL_U16};
	return true;
}

/*
 * Asks the daemon for the names of the classes. Without an answer they stay NULL, and numbers are drawn. They
 * belong to the answer, for json_decref().
 */
static json_t *ask_names(const struct ctl *c, const char *names[STIXEL_CLASSES_MAX])
{
	struct sx_reply reply;
	json_t *status = ctl_ask_status(c->instance, CTL_ANSWER_MS, &reply), *each;
	size_t i;

	json_array_foreach(sx_answer_find(status, "semantics.classes"), i, each)
	{
		if (i < STIXEL_CLASSES_MAX)
			names[i] = json_string_value(json_object_get(each, "name"));
	}
	sx_reply_finish(&reply);
	return status;
}

/* Draws the stixels over the requested image, or over a dark background. */
static int draw_front(const struct ctl *c, const struct stixel_frame *f, const struct sx_scale *scale,
		      const char *const *classes, struct sx_image *rgb)
{
	const struct stixel_frame_header *h = f->header;
	struct sx_image image;
	bool over = has_image(c, f, &image);
	struct sx_overlay_params params = {
		.column_width = (int)h->column_width,
		.scale = *scale,
		.classes = classes,
		.outline = over && c->image == CTL_IMAGE_DISPARITY,
		.opaque = !over,
	};
	int r;

	sx_overlay_frame(&params, h);
	if (over && c->image == CTL_IMAGE_DISPARITY)
		r = sx_overlay_disparity(rgb, &image, scale);
	else
		r = sx_overlay_background(rgb, over ? &image : NULL);
	return r < 0 ? r : sx_overlay_draw(rgb, f->stixels, h->stixel_count, &params);
}

/* Returns the part of a picture of this size from column x on, at the top. */
static struct sx_image part_of(const struct sx_image *rgb, int x, int width, int height)
{
	struct sx_image part = *rgb;

	part.data = (uint8_t *)rgb->data + 3 * (size_t)x;
	part.width = width;
	part.height = height;
	return part;
}

static int snapshot_draw(const struct ctl *c, const struct stixel_frame *f, struct sx_image *rgb)
{
	const int width = (int)f->header->image_width, height = (int)f->header->image_height;
	const int bird = c->bird ? sx_bird_width(height) : 0, whole = width + (bird ? GAP_PX + bird : 0);
	struct sx_scale scale = {.given_near_m = c->near_m, .given_far_m = c->far_m};
	const char *names[STIXEL_CLASSES_MAX] = {NULL};
	const char *const *classes = c->classes ? names : NULL;
	json_t *answer = c->classes ? ask_names(c, names) : NULL;
	struct sx_image front, above, image;
	struct sx_legend legend;
	int r;

	sx_scale_frame(&scale, f->header, f->stixels);
	/* a disparity image is coloured by distance everywhere, whatever the class */
	if (c->image == CTL_IMAGE_DISPARITY && has_image(c, f, &image))
		sx_legend_distances(&legend, &scale, false);
	else if (classes)
		sx_legend_classes(&legend, classes, f->stixels, f->header->stixel_count);
	else
		sx_legend_distances(&legend, &scale, true);
	r = sx_image_init(rgb, SX_PIXEL_RGB24, whole, height + sx_legend_height(&legend, whole));
	if (r < 0) {
		json_decref(answer);
		return r;
	}
	front = part_of(rgb, 0, width, height);
	r = sx_overlay_background(rgb, NULL);
	if (r == 0)
		r = draw_front(c, f, &scale, classes, &front);
	if (r == 0 && bird) {
		above = part_of(rgb, width + GAP_PX, bird, height);
		r = sx_bird_draw(&above, f, &scale, classes);
	}
	json_decref(answer);
	sx_legend_draw(rgb, height, &legend);
	return r;
}

static int save_frame(const struct ctl *c, const struct stixel_frame *f)
{
	static const char *const names[] = {"left image", "disparity"};
	const struct stixel_frame_header *h = f->header;
	struct sx_image rgb = {0}, image;
	int code;

	if (c->bird && !(h->fx > 0.0 && h->baseline_m > 0.0))
		return ctl_fail(CTL_NOTHING, "instance '%s' has no camera model, which --bird needs",
				c->instance);
	code = snapshot_draw(c, f, &rgb) < 0
		       ? ctl_fail(EX_SOFTWARE, "cannot draw a frame of %" PRIu32 "x%" PRIu32, h->image_width,
				  h->image_height)
		       : snapshot_write(c, &rgb);
	sx_image_finish(&rgb);
	if (code)
		return code;
	fprintf(snapshot_to_stdout(c) ? stderr : stdout,
		"%s: frame %" PRIu64 ", %" PRIu32 "x%" PRIu32 ", %" PRIu32 " stixels, %.1f ms old\n",
		snapshot_to_stdout(c) ? "standard output" : c->operands[0], h->number, h->image_width,
		h->image_height, h->stixel_count, (double)stixel_age_ns(h, sx_now_ns()) / 1e6);
	if (c->image != CTL_IMAGE_NONE && !has_image(c, f, &image))
		fprintf(stderr,
			"drawn on a dark ground: the daemon publishes no %s (output.planes, output.stream)\n",
			names[c->image]);
	return 0;
}

/*
 * Waits for a frame with the requested image. If none comes in time, takes the newest frame without the
 * image.
 */
static int take_with_image(const struct ctl *c, struct stixel_reader *reader, int timeout_ms,
			   const struct stixel_frame **f)
{
	const int64_t image_by_ns = sx_now_ns() + IMAGE_MS * 1000000LL;
	bool asked = c->image != CTL_IMAGE_NONE && stixel_want_images(reader, 1u << plane_of(c)) == 0;
	struct stixel_image image;
	int r = ctl_wait_for_frame(c, reader, timeout_ms);

	while (r > 0) {
		r = stixel_latest(reader, f);
		if (r <= 0 || !asked || stixel_image(*f, plane_of(c), &image) || sx_now_ns() > image_by_ns ||
		    ctl_wait_for_frame(c, reader, IMAGE_MS) <= 0)
			break;
	}
	return r;
}

int ctl_snapshot(const struct ctl *c)
{
	const struct stixel_frame *f = NULL;
	struct stixel_reader *reader;
	int r, code;

	r = stixel_open(&reader, c->instance, 0);
	if (r < 0)
		return ctl_explain(c, r);
	r = take_with_image(c, reader, ctl_timeout_ms(c), &f);
	code = r > 0 ? save_frame(c, f) : r < 0 ? ctl_no_frame(c, r, ctl_timeout_ms(c)) : CTL_NOTHING;
	stixel_close(reader);
	return code;
}
