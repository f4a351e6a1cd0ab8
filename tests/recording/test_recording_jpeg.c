/*
 * Tests images that a recording has as JPEG: the frame around them is the one that was written, and a message
 * that is no JPEG of that frame costs this frame alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "recording/recording.h"
#include "recording/recording_write.h"
#include "tests/ipc/help.h"
#include "tools/draw/jpeg.h"

enum { FRAMES = 4, WIDTH = 37, HEIGHT = 21 };

static const struct help_shape shape = {
	.columns = 3, .plane_width = WIDTH, .plane_height = HEIGHT, .left = true};
static char path[64];
static FILE *file;

/* Fault that the coder makes in the JPEG of the second frame. */
static enum odd { ODD_NONE, ODD_NOISE, ODD_OTHER_SIZE, ODD_CUT } odd;
static int coded, quality;

static int sink(void *user, const void *data, size_t bytes)
{
	return fwrite(data, 1, bytes, file) == bytes ? 0 : -1;
}

static int code(void *user, unsigned kind, const struct sx_image *image, unsigned char **data, size_t *bytes)
{
	struct sx_image other = *image;

	assert_int_equal(kind, STIXEL_PLANE_LEFT);
	assert_int_equal(image->width, WIDTH);
	assert_int_equal(image->height, HEIGHT);
	other.width -= odd == ODD_OTHER_SIZE && coded == 1;
	*data = sx_jpeg_code(&other, quality, false, bytes);
	assert_non_null(*data);
	if (odd == ODD_NOISE && coded == 1)
		memset(*data + *bytes / 2, 0x5a, *bytes - *bytes / 2);
	if (odd == ODD_CUT && coded == 1)
		*bytes /= 2;
	coded++;
	return 1;
}

/* Writes a recording. The first bytes of a left image are grey levels that change slowly. */
static void make(enum odd what, int of_quality)
{
	const struct sx_recording_params params = {
		.instance = "front", .chunk_bytes = 1 << 20, .period_ns = 3600 * SX_NS_PER_S, .jpeg = code};
	struct sx_recording_writer w;
	struct stixel_frame frame;
	uint64_t bytes[2048];

	odd = what;
	quality = of_quality;
	coded = 0;
	snprintf(path, sizeof(path), "/tmp/test_recording_jpeg.%d", (int)getpid());
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(sx_recording_begin(&w, sink, NULL, &params), 0);
	assert_true(help_frame_bytes(&shape) <= sizeof(bytes));
	for (unsigned i = 0; i < FRAMES; i++) {
		size_t n = help_frame(bytes, &shape, 7, i + 1);
		struct stixel_frame_header *h = (struct stixel_frame_header *)bytes;

		for (unsigned y = 0; y < HEIGHT; y++)
			for (unsigned x = 0; x < WIDTH; x++)
				((uint8_t *)bytes)[h->plane2_offset + y * h->plane2_pitch + x] =
					(uint8_t)(3 * x + 2 * y + i);
		assert_int_equal(stixel_parse(&frame, bytes, n), 0);
		assert_int_equal(sx_recording_frame(&w, &frame), 0);
	}
	assert_int_equal(sx_recording_end(&w), 0);
	sx_recording_finish(&w);
	fclose(file);
	assert_int_equal(coded, FRAMES);
}

/*
 * Checks a frame: the bytes before its images and its disparity are as written, its left image is about as
 * written.
 */
static void check(const struct stixel_frame *frame)
{
	const unsigned i = (unsigned)frame->header->number - 1;
	struct stixel_image left = {0}, disparity = {0}, written = {0};
	uint64_t bytes[2048];
	struct stixel_frame want;
	size_t n = help_frame(bytes, &shape, 7, i + 1);

	assert_int_equal(stixel_parse(&want, bytes, n), 0);
	assert_int_equal(frame->header->plane_offset, want.header->plane_offset);
	assert_memory_equal((const uint8_t *)frame->bytes +
				    sizeof(*frame->header), /* the header has the clocks */
			    (const uint8_t *)want.bytes + sizeof(*want.header),
			    want.header->plane_offset - sizeof(*want.header));
	assert_int_equal(stixel_image(frame, STIXEL_PLANE_DISPARITY, &disparity), 1);
	assert_int_equal(stixel_image(&want, STIXEL_PLANE_DISPARITY, &written), 1);
	assert_memory_equal(disparity.data, written.data, written.pitch * (size_t)written.height);
	assert_int_equal(stixel_image(frame, STIXEL_PLANE_LEFT, &left), 1);
	assert_int_equal(left.width, WIDTH);
	for (unsigned y = 0; y < HEIGHT; y++) {
		const uint8_t *row = (const uint8_t *)left.data + (size_t)y * left.pitch;

		for (unsigned x = 0; x < WIDTH; x++)
			assert_in_range(row[x] + 8, 3 * x + 2 * y + i, 3 * x + 2 * y + i + 16);
		for (unsigned x = WIDTH; x < left.pitch; x++)
			assert_int_equal(row[x], 0);
	}
}

/* Reads the recording. Returns its frames and damages. */
static void read_back(int *frames, int *damages)
{
	struct sx_recording *r;
	struct sx_record record;
	struct sx_why why;
	int e;

	*frames = *damages = 0;
	assert_int_equal(sx_recording_open(&r, path, &why), 0);
	unlink(path);
	while ((e = sx_recording_next(r, &record)) > 0) {
		if (record.kind == SX_RECORD_FRAME) {
			check(&record.frame);
			assert_true(record.jpeg[STIXEL_PLANE_LEFT].bytes >
				    100); /* copies need not code again */
			assert_memory_equal(record.jpeg[STIXEL_PLANE_LEFT].at, "\xff\xd8\xff", 3);
			assert_int_equal(record.jpeg[STIXEL_PLANE_DISPARITY].bytes, 0);
			++*frames;
		} else if (record.kind == SX_RECORD_DAMAGE) {
			assert_non_null(strstr(record.why, "image"));
			++*damages;
		}
	}
	assert_int_equal(e, 0);
	assert_int_equal(sx_recording_state(r)->jpeg_images, FRAMES);
	sx_recording_close(r);
}

static void test_frames_come_back(void **state)
{
	int frames, damages;

	make(ODD_NONE, 95);
	read_back(&frames, &damages);
	assert_int_equal(frames, FRAMES);
	assert_int_equal(damages, 0);
}

/*
 * A left image that is no JPEG, or no JPEG of this frame, is damage and loses its frame. The other frames are
 * whole.
 */
static void test_what_is_no_image_costs_its_frame(void **state)
{
	int frames, damages;

	for (enum odd what = ODD_NOISE; what <= ODD_CUT; what++) {
		make(what, 95);
		read_back(&frames, &damages);
		assert_int_equal(frames, FRAMES - 1);
		assert_int_equal(damages, 1);
	}
}

/* A lower quality takes fewer bytes. */
static void test_quality(void **state)
{
	int frames, damages;
	long good, poor;

	make(ODD_NONE, 98);
	file = fopen(path, "rb");
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	good = ftell(file);
	fclose(file);
	read_back(&frames, &damages);
	make(ODD_NONE, 60);
	file = fopen(path, "rb");
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	poor = ftell(file);
	fclose(file);
	unlink(path);
	assert_true(poor < good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames_come_back),
		cmocka_unit_test(test_what_is_no_image_costs_its_frame),
		cmocka_unit_test(test_quality),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
