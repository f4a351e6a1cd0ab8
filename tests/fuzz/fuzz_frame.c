/*
 * Fuzz target for a frame, and for all code that draws it or makes tables, scans, points and messages from
 * it. The first byte selects whether the input is the frame itself, or the source of a frame whose sizes and
 * checksum agree, or of such a frame that is damaged afterwards except for its checksum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "include/stixel.h"
#include "include/stixel_convert.h"
#include "ipc/check.h"
#include "ipc/frame.h"
#include "recording/messages/messages.h"
#include "tests/fuzz/fails.h"
#include "tests/fuzz/frame_input.h"
#include "tools/ctl/top/scene.h"
#include "tools/draw/bird.h"
#include "tools/draw/overlay.h"
#include "tools/draw/stixel_csv.h"
#include "tools/web/packet.h"

enum { PIXELS_MOST = 128 * 96, BIRD_HEIGHT = 30, ANGLES_MOST = 1024, POINTS_MOST = 256 };

static bool starved; /* this input makes allocations fail: output without memory is left out */

static void miss_memory(void)
{
	if (!starved)
		fuzz_fail("out of memory");
}

static void tabulate(const struct stixel_frame *f)
{
	const struct stixel_frame_header *h = f->header;
	double px;
	struct stixel_velocity velocity;
	struct stixel_ego ego;
	int end;

	sx_csv_header(fuzz_null());
	for (uint32_t i = 0; i < h->stixel_count; i++) {
		sx_csv_stixel(fuzz_null(), &f->stixels[i], h->fx * h->baseline_m);
		sx_json_stixel(fuzz_null(), &f->stixels[i], h->fx * h->baseline_m);
	}
	for (uint32_t u = 0; u < h->columns; u++)
		if (isnan(stixel_free_space_m(f, u, &end)) || end < 0 || end > STIXEL_FREE_DROP)
			fuzz_fail("column %u ends as %d", u, end);
	for (uint32_t i = 0; i < h->stixel_count; i++)
		if (stixel_velocity(f, i, &velocity) && !(velocity.sxx > 0 && velocity.szz > 0))
			fuzz_fail("stixel %u has a velocity without a covariance", i);
	stixel_ego_of(h, &ego);
	stixel_row_error_px(h, &px);
	stixel_age_ns(h, h->published_ns);
}

/* True if the image is small. Memory and time of a drawing grow with its pixels. */
static bool small(const struct stixel_frame_header *h)
{
	return h->image_width && (uint64_t)h->image_width * h->image_height <= PIXELS_MOST;
}

static void draw(const struct stixel_frame *f, unsigned bits)
{
	const struct stixel_frame_header *h = f->header;
	static const char *const names[STIXEL_CLASSES_MAX] = {"road", "sky", "CAR", ""};
	struct sx_overlay_params p = {.column_width = (int)h->column_width,
				      .outline = bits & 1,
				      .opaque = bits & 2,
				      .classes = bits & 4 ? names : NULL};
	struct sx_legend legend;
	struct stixel_image left;
	struct sx_image rgb;

	sx_scale_frame(&p.scale, h, f->stixels);
	if (small(h) && sx_image_init(&rgb, SX_PIXEL_RGB24, (int)h->image_width, (int)h->image_height) == 0) {
		sx_overlay_background(&rgb, NULL);
		if (stixel_image(f, STIXEL_PLANE_LEFT, &left) == 1 &&
		    sx_overlay_background(&rgb, &(struct sx_image){.data = (void *)(uintptr_t)left.data,
								   .width = (int)left.width,
								   .height = (int)left.height,
								   .pitch = left.pitch,
								   .pixel = SX_PIXEL_U8}) == 0 &&
		    (left.width != h->image_width || left.height != h->image_height))
			fuzz_fail("an image of another size is drawn");
		sx_overlay_frame(&p, h);
		sx_overlay_draw(&rgb, f->stixels, h->stixel_count, &p);
		if (p.classes)
			sx_legend_classes(&legend, names, f->stixels, h->stixel_count);
		else
			sx_legend_distances(&legend, &p.scale, bits & 1);
		sx_legend_draw(&rgb, 0, &legend);
		sx_image_finish(&rgb);
	}
	if (sx_image_init(&rgb, SX_PIXEL_RGB24, sx_bird_width(BIRD_HEIGHT), BIRD_HEIGHT) == 0) {
		sx_bird_draw(&rgb, f, &p.scale, p.classes);
		sx_image_finish(&rgb);
	}
}

static void draw_characters(const struct stixel_frame *f, unsigned bits)
{
	struct sx_canvas canvas = {.utf8 = bits & 1, .colours = bits & 2};
	double metres[SX_FREE_PARTS];
	struct sx_scale scale = {0};
	int width = 0, height = 0;

	sx_scale_frame(&scale, f->header, f->stixels);
	sx_scene_free(f, metres);
	if (f->header->image_width)
		sx_scene_size(f, 50, 16, &width, &height);
	if (width && sx_canvas_resize(&canvas, 60, 20) == 0) {
		sx_scene_draw(&canvas, f, &scale, 2, 1, width, height);
		sx_scene_legend(&canvas, &scale, 2, 18, 60);
		sx_canvas_print(&canvas, fuzz_null());
	}
	sx_canvas_finish(&canvas);
}

/* Computes the free space with any options and any values in the frame. */
static void free_space(const struct stixel_frame *f, struct fuzz_input *in)
{
	const struct stixel_frame_header *h = f->header;
	struct stixel_free_column *columns = malloc((h->columns + 1) * sizeof(*columns));
	struct stixel_free_options options;

	if (!columns)
		return;
	if (stixel_free_defaults(f, &options, sizeof(options)) < 0)
		fuzz_fail("no defaults of free space");
	fuzz_copy(in, &options, sizeof(options));
	if (stixel_free_space(f, &options, sizeof(options), columns, h->columns) == h->columns)
		for (uint32_t u = 0; u < h->columns; u++) {
			const struct stixel_free_column *c = &columns[u];

			if (!(c->to_m >= 0.0f) || c->end > STIXEL_FREE_OTHER ||
			    (c->stixel != UINT32_MAX &&
			     (c->stixel < f->offsets[u] || c->stixel >= f->offsets[u + 1])) ||
			    (h->flags & STIXEL_FRAME_BLIND &&
			     (c->end != STIXEL_FREE_UNSEEN || c->to_m > 0.0f)))
				fuzz_fail("column %u: free to %g, %u, stixel %u", u, (double)c->to_m, c->end,
					  c->stixel);
		}
	free(columns);
}

static void scan(const struct stixel_frame *f, struct fuzz_input *in)
{
	struct stixel_scan_options options;
	float *ranges, *begins, *speeds;

	if (stixel_scan_defaults(f, &options, sizeof(options)) < 0)
		fuzz_fail("no defaults of a scan");
	if (options.count > 65536)
		fuzz_fail("%u angles", options.count);
	fuzz_copy(in, &options, sizeof(options)); /* copies the remaining bytes: none, or other options */
	if (options.count > ANGLES_MOST)
		options.count %= ANGLES_MOST;
	ranges = malloc((3 * options.count + 1) * sizeof(*ranges));
	if (!ranges)
		return;
	begins = ranges + options.count;
	speeds = begins + options.count;
	if (stixel_scan_speeds(f, &options, sizeof(options), ranges, begins, speeds) == 1)
		for (uint32_t i = 0; i < options.count; i++) {
			if (isfinite(ranges[i]) &&
			    (ranges[i] < options.range_min || ranges[i] > options.range_max))
				fuzz_fail("range %g is outside of %g..%g", ranges[i], options.range_min,
					  options.range_max);
			if (ranges[i] == INFINITY && f->header->flags & STIXEL_FRAME_BLIND)
				fuzz_fail("angle %u is free", i);
			if (isnan(begins[i]) != (isnan(ranges[i]) || ranges[i] == -INFINITY) ||
			    begins[i] > ranges[i])
				fuzz_fail("seen from %g to %g", begins[i], ranges[i]);
			if (!isnan(speeds[i]) && (!isfinite(ranges[i]) || !(fabsf(speeds[i]) < 500.0f)))
				fuzz_fail("speed %g at range %g", speeds[i], ranges[i]);
		}
	free(ranges);
}

static void count_points(const struct stixel_frame *f, struct fuzz_input *in)
{
	struct stixel_points_options options = {.step = 0.5f, .range_max = 100.0f};
	struct stixel_point *points = malloc(POINTS_MOST * sizeof(*points));
	int64_t all, some;

	if (!points)
		return;
	options.of = fuzz_choice(in, 3);
	options.coordinates = fuzz_choice(in, 3);
	if (fuzz_choice(in, 2)) {
		fuzz_copy(in, &options.step, sizeof(options.step));
		fuzz_copy(in, &options.range_max, sizeof(options.range_max));
	}
	if (options.range_max / options.step >
	    2000) /* a stixel may have 65536 points, which would only take time */
		options.step = options.range_max / 2000;
	all = stixel_points(f, &options, sizeof(options), NULL, 0);
	some = stixel_points(f, &options, sizeof(options), points, POINTS_MOST);
	if (all != some)
		fuzz_fail("%lld points, and %lld with room", (long long)all, (long long)some);
	for (int64_t i = 0; i < all && i < POINTS_MOST; i++)
		if (!isfinite(points[i].x) || !isfinite(points[i].y) || !isfinite(points[i].z) ||
		    points[i].id >= f->header->stixel_count)
			fuzz_fail("point %lld is none", (long long)i);
	free(points);
}

static void export(const struct stixel_frame *f)
{
	struct sx_messages *messages;
	struct stixel_message message;
	struct stixel_message_topic topic;

	if (sx_messages_create(&messages, "front") < 0) {
		miss_memory();
		return;
	}
	for (int kind = 0; kind < SX_MESSAGE_KINDS; kind++)
		if (sx_messages_topic(messages, (enum stixel_message_kind)kind, &topic) < 0)
			miss_memory();
	sx_messages_frame(messages, f);
	for (int kind = 0; kind < SX_MESSAGE_KINDS; kind++)
		if (sx_messages_make(messages, (enum stixel_message_kind)kind, &message) == 1) {
			fuzz_touch(message.head, message.head_bytes);
			fuzz_touch(message.data, message.data_bytes);
		}
	sx_messages_destroy(messages);
}

static void send_to_browsers(const struct stixel_frame *f, unsigned wants, bool code)
{
	const unsigned planes = web_packet_planes(wants);
	struct sx_scale scale = {0};
	struct web_packet *p;
	const void *coded;
	void *own;
	size_t bytes;

	sx_scale_frame(&scale, f->header, f->stixels);
	p = web_packet_create(f, wants, &scale);
	if (!p) {
		miss_memory();
		return;
	}
	if (web_packet_ref(p) != p)
		fuzz_fail("another packet");
	web_packet_unref(p);
	fuzz_touch(p->record, p->record_bytes);
	if (((const struct stixel_frame_header *)p->record)->stixel_count != f->header->stixel_count)
		fuzz_fail("stixels are left out");
	if ((p->image[WEB_LEFT].pixels && !(planes & 1u << STIXEL_PLANE_LEFT)) ||
	    (p->image[WEB_DISPARITY].pixels && !(planes & 1u << STIXEL_PLANE_DISPARITY)))
		fuzz_fail("an image that nobody asks the publisher for");
	fuzz_touch(p->whole, p->whole_bytes);
	for (int which = 0; code && which < WEB_PICTURES; which++)
		if ((coded = web_packet_code(p, (enum web_picture)which, 75, &bytes)) != NULL)
			fuzz_touch(coded, bytes);
	sx_scale_give(&scale, 1.0, 2.0);
	own = code ? web_packet_code_scaled(p, WEB_DISPARITY, 75, &scale, &bytes) : NULL;
	if (own)
		fuzz_touch(own, bytes);
	free(own);
	web_packet_unref(p);
}

/* A frame that is published again without its images, or without its stixels, must still be a frame. */
static void shrink(const struct stixel_frame *f)
{
	for (size_t room = f->header->frame_bytes; room > STIXEL_HEADER_BYTES_LEAST; room = room / 2) {
		void *out = malloc(room);
		int64_t n = !out ? -1 : sx_frame_shrink(out, room, f->bytes);
		struct stixel_frame again;

		if (n >= 0 && sx_frame_check(&again, out, (size_t)n) < 0)
			fuzz_fail("shrunk from %u to %lld bytes it is no frame", f->header->frame_bytes,
				  (long long)n);
		free(out);
	}
}

/* Calls without required arguments must return an error. */
static void ask_wrongly(const struct stixel_frame *f)
{
	struct stixel_scan_options scan_options;
	struct stixel_points_options points_options = {.step = 0};
	float range;

	if (stixel_scan_defaults(NULL, &scan_options, sizeof(scan_options)) != -EINVAL ||
	    stixel_scan_defaults(f, NULL, sizeof(scan_options)) != -EINVAL ||
	    stixel_scan(NULL, &scan_options, sizeof(scan_options), &range) != -EINVAL ||
	    stixel_scan(f, NULL, sizeof(scan_options), &range) != -EINVAL ||
	    stixel_free_space(f, NULL, 0, NULL, 1) != -EINVAL ||
	    stixel_points(NULL, &points_options, sizeof(points_options), NULL, 0) != -EINVAL ||
	    stixel_points(f, NULL, sizeof(points_options), NULL, 0) != -EINVAL)
		fuzz_fail("what cannot be meant is taken");
}

/* Places of stixels and objects are numbers where they are known, and NAN elsewhere. */
static void look_ahead(const struct stixel_frame *f)
{
	const uint32_t room = f->header->stixel_count + STIXEL_OBJECTS_MAX;
	struct stixel_place *places = calloc(room, sizeof(*places));
	int64_t known, objects;

	if (!places) {
		miss_memory();
		return;
	}
	known = stixel_ahead(f, 0.5, places, room);
	if (known < 0 || known > f->header->stixel_count)
		fuzz_fail("%lld of %u stixels are ahead", (long long)known, f->header->stixel_count);
	objects = stixel_object_ahead(f, 0.5, places, room);
	if (objects < 0 || objects > STIXEL_OBJECTS_MAX)
		fuzz_fail("%lld objects are ahead", (long long)objects);
	for (int i = 0; i < stixel_object_count(f); i++)
		objects -= isfinite(places[i].x) && isfinite(places[i].szz);
	if (objects != 0)
		fuzz_fail("%lld known places are no numbers", (long long)objects);
	free(places);
}

static void use(const struct stixel_frame *f, struct fuzz_input *in)
{
	const unsigned bits = (unsigned)fuzz_number(in, 1);
	const unsigned wants = (unsigned)fuzz_number(in, 2);

	frame_input_touch(f);
	tabulate(f);
	draw(f, bits);
	draw_characters(f, bits);
	free_space(f, in);
	scan(f, in);
	look_ahead(f);
	count_points(f, in);
	export(f);
	send_to_browsers(f, wants, bits & 4 && small(f->header));
	shrink(f);
}

/* The bytes that select the damage are a small part of the input. They change as often as all the rest. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t most, unsigned seed)
{
	if (seed % 16 == 0)
		return fails_mutate(data, bytes, most, seed >> 4, 1u << FAILS_MEMORY | 1u << FAILS_CALLER);
	if (seed % 2 || bytes <= 1 + FRAME_INPUT_BREAK_BYTES)
		return LLVMFuzzerMutate(data, bytes, most);
	data[0] |= 3;
	LLVMFuzzerMutate(data + 1, FRAME_INPUT_BREAK_BYTES, FRAME_INPUT_BREAK_BYTES);
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_input in = fails_input(data, bytes);
	const unsigned how = fuzz_choice(&in, 4);
	const bool made = how == 1;
	uint8_t of_breaks[FRAME_INPUT_BREAK_BYTES];
	struct fuzz_input breaks = {of_breaks, 0};
	struct stixel_frame f;
	size_t frame_bytes = in.left;
	unsigned which;
	void *frame;
	int r;

	if (how == 1 || how == 3) {
		/* takes the damage first, because the input often ends before its last part */
		if (!made)
			breaks.left = fuzz_copy(&in, of_breaks, sizeof(of_breaks));
		frame = frame_input_make(&in, &frame_bytes);
		if (!made)
			frame_input_break(&breaks, frame, frame_bytes);
	} else {
		frame = malloc(in.left);
		fuzz_copy(&in, frame, in.left);
	}
	r = sx_frame_check(&f, frame, frame_bytes);
	if (made && r < 0)
		fuzz_fail("a frame that was made is refused: %d", r);
	starved = fails_is(FAILS_MEMORY, &which, NULL);
	if (r == 0 && fails_is(FAILS_CALLER, &which, NULL))
		ask_wrongly(&f);
	fails_begin();
	if (r == 0)
		use(&f, &in);
	fails_end();
	free(frame);
	return 0;
}
