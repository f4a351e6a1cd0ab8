/*
 * Source "v4l2": sets up the cameras as the configuration requires, with formats and rates that both have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/contract.h"
#include "capture/image/jpeg.h"
#include "capture/v4l2/v4l2_priv.h"

/* share of the requested rate that suffices: a camera that reports 29.97 counts as 30 */
#define RATE_SLACK 0.99
#define TOLERANCE_NS 5000000 /* tolerance of pairs, ns, if the cameras do not report their rate */
/* Buffers in addition to those held by pairs: one being written, one ready, one spare. */
#define BUFFERS_SPARE 3
#define BUFFERS_COPIED 4

/* Returns -ENODEV for errors that may go away: a device that is absent, busy, failing or short of memory. */
static int later(int r)
{
	sx_must(r, <=, 0);
	return r == -EINVAL || r == 0 ? r : -ENODEV;
}

/* Returns true if both names are the same device. It would stay busy for ever. */
static bool is_one_device(const struct sx_v4l2_device *a, const struct sx_v4l2_device *b)
{
	struct stat x, y;

	sx_must_be(a->fd >= 0 && b->fd >= 0);
	return fstat(a->fd, &x) == 0 && fstat(b->fd, &y) == 0 && S_ISCHR(x.st_mode) && S_ISCHR(y.st_mode) &&
	       x.st_rdev == y.st_rdev;
}

static int open_cameras(struct sx_v4l2 *v, const struct sx_source_params *p, struct sx_why *why)
{
	const char *const paths[2] = {p->left, p->right};
	int r = 0;

	v->count = p->layout == SX_LAYOUT_TWO ? 2 : 1;
	for (int i = 0; i < v->count && r == 0; i++) {
		if (!paths[i])
			return sx_why_fail(-EINVAL, why, "no device is named for the %s camera",
					   i ? "right" : "left");
		r = sx_v4l2_device_open(&v->cameras[i].device, paths[i], why);
	}
	if (r == 0 && v->count == 2 && is_one_device(&v->cameras[0].device, &v->cameras[1].device))
		return sx_why_fail(-EINVAL, why, "%s and %s are the same device", paths[0], paths[1]);
	return later(r);
}

/* Size of a camera's image, px. */
static int whole_width(const struct sx_v4l2 *v)
{
	sx_must(v->width, >, 0);
	return v->layout == SX_LAYOUT_SIDE_BY_SIDE ? 2 * v->width : v->width;
}

static int whole_height(const struct sx_v4l2 *v)
{
	sx_must(v->height, >, 0);
	return v->layout == SX_LAYOUT_TOP_BOTTOM ? 2 * v->height : v->height;
}

/*
 * Sets the image size. If the configuration has none, takes the size that the cameras are set to, if they
 * agree.
 */
static int find_size(struct sx_v4l2 *v, const struct sx_source_params *p, struct sx_why *why)
{
	const struct sx_v4l2_device *d = &v->cameras[0].device, *e = &v->cameras[1].device;
	int width[2] = {0}, height[2] = {0}, r = 0;

	sx_must_index(v->count - 1, 2);
	v->width = p->width;
	v->height = p->height;
	if (!p->width) {
		for (int i = 0; i < v->count && r == 0; i++)
			r = sx_v4l2_device_size(&v->cameras[i].device, &width[i], &height[i], why);
		if (r < 0)
			return later(r);
		if (v->count == 2 && (width[0] != width[1] || height[0] != height[1]))
			return sx_why_fail(-EINVAL, why, "%s is set to %dx%d, %s to %dx%d: set source.size",
					   d->path, width[0], height[0], e->path, width[1], height[1]);
		v->width = v->layout == SX_LAYOUT_SIDE_BY_SIDE ? width[0] / 2 : width[0];
		v->height = v->layout == SX_LAYOUT_TOP_BOTTOM ? height[0] / 2 : height[0];
	}
	return sx_source_check_size(d->path, v->width, v->height, why);
}

/*
 * Finds the rate that all cameras have with this format. Returns 1 with *common (0: unknown); 0: not all have
 * the format; or a negative errno. *without: the first camera that lacks it or fails.
 */
static int common_rate(const struct sx_v4l2 *v, const struct sx_v4l2_format *f, double *common,
		       const char **without)
{
	sx_must(v->count, >, 0);
	*common = 0;

	for (int i = 0; i < v->count; i++) {
		const struct sx_v4l2_device *d = &v->cameras[i].device;
		double fps;
		int r = sx_v4l2_device_rate(d, f, whole_width(v), whole_height(v), &fps);

		if (r <= 0) {
			*without = d->path;
			return r;
		}
		*common = fps > 0 && (*common == 0 || fps < *common) ? fps : *common;
	}
	return 1;
}

/*
 * Lists the formats in the order to try: formats that reach the rate, cheapest first, then the others,
 * fastest first. Returns their number, or a negative errno.
 */
static int candidates(const struct sx_v4l2 *v, const struct sx_source_params *p,
		      const struct sx_v4l2_format *list[SX_V4L2_FORMATS], const char **without)
{
	double rate[SX_V4L2_FORMATS];
	int n = 0;

	for (int i = 0; i < SX_V4L2_FORMATS; i++) {
		const struct sx_v4l2_format *f = &sx_v4l2_formats[i];
		int at, r;
		double fps;

		if (!sx_layout_takes(v->layout, f->choice) ||
		    (p->format == SX_FORMAT_AUTO ? f->compressed && sx_jpeg_check(NULL) < 0
						 : p->format != f->choice))
			continue;
		r = common_rate(v, f, &fps, without);
		if (r < 0)
			return r;
		if (r == 0)
			continue;
		if (fps == 0 || fps >= RATE_SLACK * p->fps)
			fps = SX_FPS_MAX; /* equal rank for all formats that are fast enough */
		for (at = n++; at > 0 && rate[at - 1] < fps; at--) {
			rate[at] = rate[at - 1];
			list[at] = list[at - 1];
		}
		sx_must(n, <=, SX_V4L2_FORMATS);
		rate[at] = fps;
		list[at] = f;
	}
	return n;
}

static const char *format_word(enum sx_source_format choice)
{
	for (int i = 0; i < SX_V4L2_FORMATS; i++)
		if (sx_v4l2_formats[i].choice == choice)
			return sx_v4l2_formats[i].name;
	return "any format that can be used";
}

/*
 * Checks the halves of one camera's image, side by side or one above the other: the second half must begin at
 * the start of a pattern.
 */
static int check_halves(const struct sx_v4l2 *v, const struct sx_v4l2_format *f, struct sx_why *why)
{
	const int unit = sx_raw_unit_px(f->packing);

	if (f->packing == SX_RAW_NONE || !((v->layout == SX_LAYOUT_SIDE_BY_SIDE && v->width % unit) ||
					   (v->layout == SX_LAYOUT_TOP_BOTTOM && v->height % 2)))
		return 0;
	return sx_why_fail(
		-EINVAL, why,
		"%s: two images of %dx%d in one picture of %s: width has to be a multiple of %d, height of 2",
		v->cameras[0].device.path, v->width, v->height, f->name, unit);
}

static int set_format(struct sx_v4l2 *v, const struct sx_source_params *p, struct sx_why *why)
{
	const struct sx_v4l2_format *list[SX_V4L2_FORMATS];
	const char *without = v->cameras[0].device.path;
	int n = candidates(v, p, list, &without), r = -EINVAL, fault = 0;

	if (n < 0) {
		sx_why_set(why, "%s: its formats cannot be read: %s", without, strerror(-n));
		return later(n);
	}
	sx_why_set(why, "%s: no %dx%d in %s%s (stixelctl doctor lists what it has)", without, whole_width(v),
		   whole_height(v), format_word(p->format),
		   v->count == 2 && p->format == SX_FORMAT_AUTO ? " that the other camera has, too" : "");
	sx_must(n, <=, SX_V4L2_FORMATS);
	for (int k = 0; k < n && r != 0 && r != -ENODEV; k++) {
		r = check_halves(v, list[k], why);
		for (int i = 0; i < v->count && r == 0; i++)
			r = sx_v4l2_device_set_format(&v->cameras[i].device, list[k], whole_width(v),
						      whole_height(v), why);
		if (r < 0 && r != -EINVAL)
			fault = r;
	}
	/* -EINVAL is final only if no format failed for another reason */
	return later(r < 0 && fault < 0 ? fault : r);
}

static int set_rate(struct sx_v4l2 *v, const struct sx_source_params *p, struct sx_why *why)
{
	const struct sx_v4l2_device *d = &v->cameras[0].device, *e = &v->cameras[1].device;
	int r = 0;

	for (int i = 0; i < v->count && r == 0; i++)
		r = sx_v4l2_device_set_rate(&v->cameras[i].device, p->fps, why);
	if (r < 0)
		return later(r);
	if (v->count == 2 && d->fps > 0 && e->fps > 0 &&
	    (d->fps < RATE_SLACK * e->fps || e->fps < RATE_SLACK * d->fps))
		return sx_why_fail(-EINVAL, why, "%s gives %g fps, %s gives %g: they cannot be paired",
				   d->path, d->fps, e->path, e->fps);
	return 0;
}

static void return_buffers(struct sx_v4l2 *v)
{
	sx_must(v->count, <=, 2);
	for (int i = 0; i < v->count; i++)
		sx_v4l2_queue_finish(&v->cameras[i].queue);
	sx_dmabuf_maker_close(&v->maker);
}

/* Allocates buffers of the same kind of memory for all cameras. -ENOTSUP: one camera does not support it. */
static int take_buffers(struct sx_v4l2 *v, const struct sx_source_params *p, enum sx_source_memory memory,
			int slots, struct sx_why *why)
{
	bool copied = memory == SX_MEMORY_MMAP && !sx_v4l2_format_is_decoded(v->cameras[0].device.format);
	int wanted = p->buffers ? p->buffers : copied ? BUFFERS_COPIED : slots + BUFFERS_SPARE;
	int r = 0;

	sx_must(v->cameras[0].queue.count, ==, 0);
	if (wanted < SX_V4L2_BUFFERS_MIN)
		wanted = SX_V4L2_BUFFERS_MIN;
	if (memory == SX_MEMORY_DMABUF)
		r = sx_dmabuf_maker_open(&v->maker, p->dmabuf_from, &v->cameras[0].device, v->count * wanted,
					 why);
	if (r < 0 && r != -EINVAL && r != -ENOTSUP)
		r = -ENODEV; /* the exporting device may appear later, like a camera */
	for (int i = 0; i < v->count && r == 0; i++) {
		struct sx_v4l2_camera *c = &v->cameras[i];

		r = sx_v4l2_queue_init(&c->queue, &c->device, memory, wanted, &v->maker, why);
	}
	if (r < 0)
		return_buffers(v);
	return r;
}

/*
 * Tries userptr, dmabuf and mmap until one works, or only the requested kind. note: why the first kind was
 * not used.
 */
static int find_memory(struct sx_v4l2 *v, const struct sx_source_params *p, int slots, struct sx_why *note,
		       struct sx_why *why)
{
	static const enum sx_source_memory kinds[] = {SX_MEMORY_USERPTR, SX_MEMORY_DMABUF, SX_MEMORY_MMAP};
	const bool any = p->memory == SX_MEMORY_AUTO;
	int r = -ENOTSUP;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!any && p->memory != kinds[i])
			continue;
		r = take_buffers(v, p, kinds[i], slots, why);
		/* if one kind of memory is short, another kind may be available */
		if (!any || r == 0 || r == -EINVAL || r == -ENODEV)
			break;
		if (sx_why_is_empty(note))
			sx_why_set(note, "%s", why->text);
	}
	if (r == -ENOTSUP)
		r = -EINVAL; /* final: the driver does not support it */
	return later(r);
}

/* Allocates the slots for copied and decoded images, and starts the decoders. */
static int take_slots(struct sx_v4l2 *v, const struct sx_source_params *p, int slots, struct sx_why *why)
{
	const struct sx_v4l2_format *f = v->cameras[0].device.format;
	const bool raw = f->packing != SX_RAW_NONE;
	int r, threads;

	sx_must_index(slots - 1, SX_V4L2_PAIRS_MAX);
	v->lease_count = slots;
	v->task_count = raw ? 2 : v->count;
	threads = p->decoders ? p->decoders : v->task_count;
	v->direct = !sx_v4l2_format_is_decoded(f) && v->cameras[0].queue.memory != SX_MEMORY_MMAP;
	if (v->direct)
		return 0;
	/* each side of raw pixels is decoded separately */
	r = sx_slots_init(&v->slots, slots, raw ? SX_LAYOUT_TWO : p->layout, v->width, v->height, f->pixel,
			  why);
	for (int i = 0; r == 0 && i < slots; i++)
		v->leases[i].slot = &v->slots.slot[i];
	if (r == 0 && f->compressed)
		r = sx_jpeg_check(why);
	if (r == 0 && sx_v4l2_format_is_decoded(f))
		r = sx_decoders_create(&v->decoders, threads, why);
	return r == -ENOTSUP ? -EINVAL : r == -ENOMEM ? r : later(r);
}

static void set_times(struct sx_v4l2 *v, const struct sx_source_params *p)
{
	double fps = v->cameras[0].device.fps > 0 ? v->cameras[0].device.fps : p->fps;
	int64_t period = fps > 0 ? (int64_t)((double)SX_NS_PER_S / fps) : 2 * TOLERANCE_NS;
	int64_t tolerance = (int64_t)(p->tolerance_ms * 1e6);
	/* half a period is no limit if the period is unknown */
	bool asked = tolerance > 0 && (fps == 0 || tolerance < period / 2);

	sx_must(period, >, 0);
	v->pairing.tolerance_ns = asked ? tolerance : period / 2;
	v->timeout_ns = (int64_t)(p->timeout_ms * 1e6);
	if (fps > 0 && v->timeout_ns < 3 * period)
		v->timeout_ns = 3 * period;
}

__attribute__((format(printf, 2, 3))) static void add_note(struct sx_source_info *info, const char *format,
							   ...)
{
	size_t n = strlen(info->note);
	va_list args;

	sx_must(n, <, sizeof(info->note));
	if (n > 0)
		n += (size_t)snprintf(info->note + n, sizeof(info->note) - n, "; ");
	if (n >= sizeof(info->note))
		return;
	va_start(args, format);
	vsnprintf(info->note + n, sizeof(info->note) - n, format, args);
	va_end(args);
}

static void fill_info(struct sx_source *s, const struct sx_v4l2 *v, const struct sx_source_params *p,
		      const char *note)
{
	const struct sx_v4l2_camera *c = &v->cameras[0];
	char exposure[SX_V4L2_EXPOSURE_BYTES];

	sx_must(c->queue.memory, !=, SX_MEMORY_AUTO);
	sx_v4l2_exposure_text(&c->exposure, exposure);
	s->info = (struct sx_source_info){
		.width = v->width,
		.height = v->height,
		.pixel = c->device.format->pixel,
		.memory = sx_v4l2_memory_name(c->queue.memory),
		.format = c->device.format->name,
		.fps = c->device.fps,
		.cameras = v->count,
		.path = {p->left, v->count == 2 ? p->right : NULL},
		.paced = true,
		.live = true,
	};
	if (*note)
		add_note(&s->info, "memory is %s: %.159s", s->info.memory, note);
	if (p->fps > 0 && c->device.fps > 0 && c->device.fps < RATE_SLACK * p->fps)
		add_note(&s->info, "%s gives %g fps instead of %g", p->left, c->device.fps, p->fps);
	if (*exposure)
		add_note(&s->info, "%s", exposure);
}

int sx_v4l2_set_up(struct sx_source *s, struct sx_v4l2 *v, const struct sx_source_params *p, int slots,
		   struct sx_why *why)
{
	struct sx_why note = {""};
	int r;

	v->layout = p->layout;
	if (slots < 1 || slots > SX_V4L2_PAIRS_MAX)
		return sx_why_fail(-EINVAL, why, "%d pairs in use, allowed are 1 to %d", slots,
				   SX_V4L2_PAIRS_MAX);
	if (!sx_layout_takes(p->layout, p->format))
		return sx_why_fail(-EINVAL, why, "%s: format %s %s", p->left ? p->left : "v4l2",
				   format_word(p->format),
				   sx_layout_is_interleaved(p->layout)
					   ? "has one image, layout = interleaved needs Y8I, Y12I or auto"
					   : "has both images of one camera: it needs layout = interleaved");
	if ((r = open_cameras(v, p, why)) < 0 || (r = find_size(v, p, why)) < 0 ||
	    (r = set_format(v, p, why)) < 0 || (r = set_rate(v, p, why)) < 0 ||
	    (r = later(sx_v4l2_set_controls(v, p, NULL, why))) < 0 ||
	    (r = find_memory(v, p, slots, &note, why)) < 0 || (r = take_slots(v, p, slots, why)) < 0)
		return r;
	set_times(v, p);
	fill_info(s, v, p, note.text);
	return 0;
}
