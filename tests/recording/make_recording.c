/*
 * Writes a recording of frames that follow from their number, to standard output.
 *
 *	make-recording FRAMES FPS COLUMNS PLANE LIVES plain|zstd|jpeg [1.2|set]
 *
 * PLANE: width of a disparity image in px, 0: none. Its height is half of that. jpeg: also a left image as
 * JPEG, with the grey levels 2 * column + 3 * row, at most 64 px wide. LIVES: number of publisher lives within
 * the recording. One frame is lost at each start except the first. 1.2: frames of that ABI. set:
 * CLOCK_REALTIME was set back by an hour after 200 frames of each life, and forward by a day after 400.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/frame.h"
#include "recording/recording_write.h"
#include "tests/ipc/help.h"
#include "tools/draw/jpeg.h"

/* Time span of a chunk. It is short, so that damage to a small file leaves most of it readable. */
#define CHUNK_NS INT64_C(20000000)

static int sink(void *user, const void *data, size_t bytes)
{
	return fwrite(data, 1, bytes, stdout) == bytes ? 0 : -1;
}

static int code(void *user, unsigned kind, const struct sx_image *image, unsigned char **data, size_t *bytes)
{
	*data = sx_jpeg_code(image, 90, false, bytes);
	return *data ? 1 : -ENOMEM;
}

/* Draws the left image. */
static void draw_left(uint8_t *bytes)
{
	struct stixel_frame_header h;

	memcpy(&h, bytes, sizeof(h));
	for (uint32_t y = 0; y < h.plane2_height; y++)
		for (uint32_t x = 0; x < h.plane2_width; x++)
			bytes[h.plane2_offset + y * h.plane2_pitch + x] = (uint8_t)(2 * x + 3 * y);
}

/* Gives a frame a plausible camera and plausible times. help_frame() leaves noise there. */
static void make_sensible(uint8_t *bytes, uint64_t epoch, uint64_t number, int64_t published_ns,
			  int64_t set_ns)
{
	struct stixel_frame_header h;

	memcpy(&h, bytes, sizeof(h));
	h.published_ns = published_ns;
	h.submitted_ns = published_ns - 9000000;
	h.capture_left_ns = h.capture_right_ns = published_ns - 30000000;
	h.anchor_monotonic_ns = 0;
	h.anchor_realtime_ns = INT64_C(1700000000000000000) + set_ns;
	h.fx = h.fy = 700.0;
	h.cx = 620.5;
	h.cy = 180.25;
	h.baseline_m = 0.5;
	h.disparities = 128;
	h.road_origin = STIXEL_ROAD_MEASURED;
	h.road_slope = 0.25;
	h.road_offset = -40.0;
	h.pitch_rad = 0.02 + 0.001 * (double)(number % 7);
	h.height_m = 1.5;
	h.road_cross = 0.003 * (double)(number % 5);
	h.road_axis = h.cx;
	h.road_bend = 0.01;
	h.road_bend_row = 200.0;
	h.roll_rad = 0.01 * (double)(number % 5);
	h.pitch_sigma_rad = 0.001;
	h.roll_sigma_rad = 0.002;
	h.height_sigma_m = 0.03;
	h.captured = h.published = number;
	memcpy(bytes, &h, sizeof(h));
	sx_frame_restamp(bytes, epoch, number);
}

static int64_t clock_set_ns(uint64_t frame)
{
	return frame < 200 ? 0 : (frame < 400 ? -3600 : 86400) * SX_NS_PER_S;
}

static int write_life(struct sx_recording_writer *w, const struct help_shape *shape, uint64_t life,
		      uint64_t frames, int64_t first_ns, double step_ns, const char *variant)
{
	size_t room = help_frame_bytes(shape);
	struct sx_record_publisher publisher = {.epoch = 1000 + life, .pid = 77, .version = "0.0.test"};
	struct sx_record_gap gap = {.epoch = 1000 + life, .lost = 1, .reason = SX_GAP_OVERRUN};
	uint8_t *bytes = malloc(room);
	struct stixel_frame frame;
	int64_t chunk_ns = first_ns;
	int r = bytes ? 0 : -1;

	for (uint64_t i = 0; r == 0 && i < frames; i++) {
		size_t n = help_frame(bytes, shape, 1000 + life, i + 1);

		if (shape->left)
			draw_left(bytes);
		make_sensible(bytes, 1000 + life, i + 1 + (life != 0),
			      first_ns + (int64_t)((double)i * step_ns),
			      strcmp(variant, "set") == 0 ? clock_set_ns(i) : 0);
		if (strcmp(variant, "1.2") == 0)
			n = help_frame_of_1_2(bytes);
		r = stixel_parse(&frame, bytes, n);
		if (r == 0 && i == 0)
			r = sx_recording_publisher(
				w, &publisher, "{}",
				sx_recorded_realtime_ns(frame.header, frame.header->published_ns));
		if (r == 0 && i == 0 && life)
			r = sx_recording_gap(w, &gap, 0);
		if (r == 0)
			r = sx_recording_frame(w, &frame);
		if (r == 0 && frame.header->published_ns - chunk_ns >= CHUNK_NS) {
			r = sx_recording_flush(w);
			chunk_ns = frame.header->published_ns;
		}
	}
	free(bytes);
	return r;
}

int main(int argc, char **argv)
{
	struct sx_recording_params params = {
		.instance = "front", .chunk_bytes = 1 << 20, .period_ns = 3600 * SX_NS_PER_S};
	struct sx_recording_writer w;
	struct help_shape shape = {0};
	uint64_t frames, lives;
	double step_ns;
	int r;

	if (argc != 7 && argc != 8)
		return 64;
	frames = strtoull(argv[1], NULL, 10);
	step_ns = 1e9 / strtod(argv[2], NULL);
	shape.columns = (uint32_t)strtoul(argv[3], NULL, 10);
	shape.plane_width = (uint32_t)strtoul(argv[4], NULL, 10);
	shape.plane_height = shape.plane_width / 2;
	lives = strtoull(argv[5], NULL, 10);
	params.compress = strcmp(argv[6], "zstd") == 0;
	shape.left = strcmp(argv[6], "jpeg") == 0;
	params.jpeg = shape.left ? code : NULL;
	r = sx_recording_begin(&w, sink, NULL, &params);
	for (uint64_t i = 0; r == 0 && i < lives; i++)
		r = write_life(&w, &shape, i, frames / lives,
			       (int64_t)(1e12 + (double)(i * (frames / lives)) * step_ns), step_ns,
			       argc == 8 ? argv[7] : "");
	if (r == 0)
		r = sx_recording_end(&w);
	sx_recording_finish(&w);
	return r == 0 && fflush(stdout) == 0 ? 0 : 1;
}
