/*
 * Tests source "v4l2" with cameras that send raw pixels, or both images interleaved: the results and the
 * refusals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/capture/v4l2/raw_case.h"
#include "tests/capture/v4l2/v4l2_case.h"

#define W CASE_W
#define H CASE_H
#define SECONDS 10 /* most time for a decoder */
#define Y8I V4L2_PIX_FMT_Y8I
#define Y12I V4L2_PIX_FMT_Y12I

/* The kernel's list of formats, entered by hand. `order` is the colours in the first two rows. */
static const struct raw_format {
	const char *name;
	uint32_t fourcc;
	enum sx_source_format choice;
	enum sx_raw_packing packing;
	int bits;
	const char *order;
} formats[] = {
	{"SRGGB8", V4L2_PIX_FMT_SRGGB8, SX_FORMAT_SRGGB8, SX_RAW_8, 8, "RGGB"},
	{"SGRBG8", V4L2_PIX_FMT_SGRBG8, SX_FORMAT_SGRBG8, SX_RAW_8, 8, "GRBG"},
	{"SGBRG8", V4L2_PIX_FMT_SGBRG8, SX_FORMAT_SGBRG8, SX_RAW_8, 8, "GBRG"},
	{"SBGGR8", V4L2_PIX_FMT_SBGGR8, SX_FORMAT_SBGGR8, SX_RAW_8, 8, "BGGR"},
	{"SRGGB10", V4L2_PIX_FMT_SRGGB10, SX_FORMAT_SRGGB10, SX_RAW_16, 10, "RGGB"},
	{"SGRBG10", V4L2_PIX_FMT_SGRBG10, SX_FORMAT_SGRBG10, SX_RAW_16, 10, "GRBG"},
	{"SGBRG10", V4L2_PIX_FMT_SGBRG10, SX_FORMAT_SGBRG10, SX_RAW_16, 10, "GBRG"},
	{"SBGGR10", V4L2_PIX_FMT_SBGGR10, SX_FORMAT_SBGGR10, SX_RAW_16, 10, "BGGR"},
	{"SRGGB10P", V4L2_PIX_FMT_SRGGB10P, SX_FORMAT_SRGGB10P, SX_RAW_10P, 10, "RGGB"},
	{"SGRBG10P", V4L2_PIX_FMT_SGRBG10P, SX_FORMAT_SGRBG10P, SX_RAW_10P, 10, "GRBG"},
	{"SGBRG10P", V4L2_PIX_FMT_SGBRG10P, SX_FORMAT_SGBRG10P, SX_RAW_10P, 10, "GBRG"},
	{"SBGGR10P", V4L2_PIX_FMT_SBGGR10P, SX_FORMAT_SBGGR10P, SX_RAW_10P, 10, "BGGR"},
	{"SRGGB12", V4L2_PIX_FMT_SRGGB12, SX_FORMAT_SRGGB12, SX_RAW_16, 12, "RGGB"},
	{"SGRBG12", V4L2_PIX_FMT_SGRBG12, SX_FORMAT_SGRBG12, SX_RAW_16, 12, "GRBG"},
	{"SGBRG12", V4L2_PIX_FMT_SGBRG12, SX_FORMAT_SGBRG12, SX_RAW_16, 12, "GBRG"},
	{"SBGGR12", V4L2_PIX_FMT_SBGGR12, SX_FORMAT_SBGGR12, SX_RAW_16, 12, "BGGR"},
	{"Y12I", Y12I, SX_FORMAT_Y12I, SX_RAW_Y12I, 12, NULL},
	{"Y8I", Y8I, SX_FORMAT_Y8I, SX_RAW_NONE, 8, NULL},
};
#define FORMATS ((int)(sizeof(formats) / sizeof(formats[0])))

static const enum sx_source_memory memories[] = {SX_MEMORY_USERPTR, SX_MEMORY_DMABUF, SX_MEMORY_MMAP};

/* Cameras of one format, and the expected result of the nth picture of each side. */
struct played {
	const struct raw_format *format;
	enum sx_layout layout;
	int width, height; /* of one image, px */
	struct fake_camera *cameras[2];
	size_t row, pitch, bytes; /* of a picture, bytes */
};

static struct raw_case samples_of(const struct played *p, int side, int number)
{
	struct raw_case c;

	raw_case_init(&c, p->width, p->height, p->format->bits, (uint64_t)(2 * number + side));
	return c;
}

static size_t row_bytes(const struct raw_format *f, int width)
{
	const size_t w = (size_t)width;

	return f->bits == 8 && f->order	   ? w
	       : f->packing == SX_RAW_10P  ? (w + 3) / 4 * 5
	       : f->packing == SX_RAW_Y12I ? 3 * w
					   : 2 * w;
}

static struct sx_source *open_played(struct played *p, const struct sx_source_params *params, bool mplane,
				     uint32_t wider)
{
	const bool beside = p->layout == SX_LAYOUT_SIDE_BY_SIDE, below = p->layout == SX_LAYOUT_TOP_BOTTOM;
	const struct fake_mode modes[] = {
		{p->format->fourcc, beside ? 2 * p->width : p->width, below ? 2 * p->height : p->height, 30},
		{0}};

	case_cameras(p->cameras, modes);
	for (int i = 0; i < 2; i++) {
		p->cameras[i]->mplane = mplane;
		p->cameras[i]->data_offset = mplane ? 64 : 0;
		p->cameras[i]->wider_by = wider;
	}
	p->cameras[0][2].wider_by = wider + 8; /* the exporter: its buffers are large enough */
	p->row = row_bytes(p->format, modes[0].width);
	p->pitch = p->row + wider;
	p->bytes = p->pitch * (size_t)modes[0].height;
	return case_open(params, CASE_SLOTS);
}

static void fill_camera(const struct played *p, int camera, const uint8_t *data, int number, uint32_t missing)
{
	const struct fake_frame f = {
		.ns = CASE_TIME(number), .data = data, .bytes = p->bytes, .missing = missing};

	assert_true(fake_fill(p->cameras[camera], &f));
}

/* Fills the nth picture of one camera or of two. */
static void fill_played(const struct played *p, int number, uint32_t missing)
{
	uint8_t *data = calloc(2, p->bytes), *second = data;
	const bool interleaved = sx_layout_is_interleaved(p->layout);
	const int first = p->layout == SX_LAYOUT_RIGHT_FIRST;
	struct raw_case c[2];

	assert_non_null(data);
	for (int side = 0; side < 2; side++)
		c[side] = samples_of(p, side, number);
	if (p->layout == SX_LAYOUT_TWO)
		second += p->bytes;
	else if (p->layout == SX_LAYOUT_TOP_BOTTOM)
		second += p->bytes / 2;
	else
		second += p->row / 2;
	if (interleaved && p->format->bits == 8)
		raw_case_y8i(&c[first], &c[!first], data, p->pitch);
	else if (interleaved)
		raw_case_y12i(&c[first], &c[!first], data, p->pitch);
	else
		for (int side = 0; side < 2; side++)
			raw_case_pack(&c[side], p->format->packing, side ? second : data, p->pitch);
	fill_camera(p, 0, data, number, missing);
	if (p->layout == SX_LAYOUT_TWO)
		fill_camera(p, 1, second, number, 0);
	for (int side = 0; side < 2; side++)
		raw_case_finish(&c[side]);
	free(data);
}

/* Checks the grey values of a YUYV image: its luminance is every second byte, and these are the samples of c. */
static bool shows_luminance(const struct sx_image *img, const struct raw_case *c)
{
	struct sx_image grey;
	bool same;

	assert_int_equal(sx_image_init(&grey, SX_PIXEL_U8, img->width, img->height), 0);
	for (int y = 0; y < img->height; y++)
		for (int x = 0; x < img->width; x++)
			((uint8_t *)sx_image_row(&grey, y))[x] =
				((const uint8_t *)sx_image_row(img, y))[2 * x];
	same = raw_case_shows(&grey, c, NULL);
	sx_image_finish(&grey);
	return same;
}

static void expect_played(struct sx_source *s, const struct played *p, int number, struct sx_pair *pair)
{
	const struct sx_image *images[2] = {&pair->left, &pair->right};
	const bool luminance = p->format->fourcc == Y8I;

	if (case_next(s, pair, SECONDS) != 1)
		fail_msg("%s: no pair: '%s'", p->format->name, case_why.text);
	assert_int_equal(pair->left_ns, CASE_TIME(number) / 1000 * 1000);
	for (int side = 0; side < 2; side++) {
		struct raw_case c = samples_of(p, side, number);

		assert_int_equal(images[side]->pixel, luminance		     ? SX_PIXEL_YUYV
						      : p->format->bits == 8 ? SX_PIXEL_U8
									     : SX_PIXEL_Y16);
		assert_int_equal(images[side]->pixel, sx_source_info(s)->pixel);
		assert_true(case_in_blocks(s, images[side]));
		if (luminance ? !shows_luminance(images[side], &c)
			      : !raw_case_shows(images[side], &c, p->format->order))
			fail_msg("%s, layout %d, %s", p->format->name, (int)p->layout,
				 side ? "right" : "left");
		raw_case_finish(&c);
	}
}

static void check_played(const struct raw_format *f, enum sx_layout layout, enum sx_source_memory memory,
			 bool mplane, uint32_t wider)
{
	/* a picture of Y8I is whole pages: the right image ends one byte after it */
	struct played p = {f, layout, f->fourcc == Y8I ? 64 : W, f->fourcc == Y8I ? 32 : H, {0}, 0, 0, 0};
	struct sx_source_params params = case_params();
	struct sx_pair pair[CASE_SLOTS + 1];
	struct sx_source *s;

	params.width = p.width;
	params.height = p.height;
	params.format = mplane ? SX_FORMAT_AUTO : f->choice;
	params.memory = memory;
	params.layout = layout;
	params.dmabuf_from = CASE_EXPORTER;
	params.decoders = wider ? 2 : 0;
	s = open_played(&p, &params, mplane, wider);
	assert_string_equal(sx_source_info(s)->format, f->name);
	fill_played(&p, 0, 0); /* the source drops the first picture */
	case_expect(s, 0, "");
	for (int k = 1; k <= CASE_SLOTS; k++) {
		fill_played(&p, k, 0);
		expect_played(s, &p, k, &pair[k]);
	}
	for (int k = 1; k <= CASE_SLOTS; k++) {
		sx_source_release(s, &pair[k]);
		fill_played(&p, CASE_SLOTS + k, 0);
		expect_played(s, &p, CASE_SLOTS + k, &pair[k]);
	}
	/* the image is where the driver wrote it, or in one copy */
	if (f->fourcc == Y8I) {
		assert_int_equal(case_inside(s)->direct, memory != SX_MEMORY_MMAP);
		assert_ptr_equal((uint8_t *)pair[1].left.data + (layout == SX_LAYOUT_RIGHT_FIRST ? -1 : 1),
				 pair[1].right.data);
	}
	for (int k = 1; k <= CASE_SLOTS; k++)
		sx_source_release(s, &pair[k]);
	case_balanced(s, 0, 0);
	case_close(s);
}

static void test_played(void **state)
{
	for (int f = 0; f < FORMATS; f++)
		for (int how = 0; how < 6; how++) {
			int layout = formats[f].order ? how % 3 : SX_LAYOUT_INTERLEAVED + how % 2;

			check_played(&formats[f], (enum sx_layout)layout, memories[how / 2], how % 2,
				     how > 2 ? 24 : 0);
		}
}

/* A picture that lacks a byte is dropped. The next picture is good again. */
static void test_short(void **state)
{
	for (int f = 0; f < FORMATS; f++) {
		struct played p = {&formats[f], formats[f].order ? SX_LAYOUT_TWO : SX_LAYOUT_INTERLEAVED,
				   W,		H,
				   {0},		0,
				   0,		0};
		struct sx_source_params params = case_params();
		struct sx_source *s;
		struct sx_pair pair;
		char words[80];

		params.layout = p.layout;
		s = open_played(&p, &params, false, 0);
		fill_played(&p, 0, 0);
		case_expect(s, 0, "");
		snprintf(words, sizeof(words), CASE_LEFT ": short image (%zu bytes)", p.bytes - 1);
		fill_played(&p, 1, 1);
		case_expect(s, -EBADMSG, words);
		case_dropped(s, SX_DROP_SHORT, 1, 0);
		fill_played(&p, 2, 0);
		expect_played(s, &p, 2, &pair);
		sx_source_release(s, &pair);
		case_close(s);
	}
}

/* The camera is disconnected while decoders may have pictures of it. */
static void test_lost(void **state)
{
	for (int round = 0; round < 10; round++) {
		struct played p = {&formats[round], SX_LAYOUT_TWO, W, H, {0}, 0, 0, 0};
		struct sx_source_params params = case_params();
		struct sx_source *s = open_played(&p, &params, false, 0);
		struct sx_pair pair;

		for (int k = 0; k <= 2; k++) {
			fill_played(&p, k, 0);
			if (case_next(s, &pair, 0) == 1)
				sx_source_release(s, &pair);
		}
		fake_unplug(p.cameras[round % 2]);
		case_expect(s, -ENODEV, "No such device");
		case_balanced(s, 0, 0);
		case_close(s);
	}
}

/* --- choice and refusal of formats --- */

static void check_choice(const struct fake_mode *modes, enum sx_layout layout, const char *format)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s;

	case_cameras(cameras, modes);
	p.layout = layout;
	s = case_open(&p, CASE_SLOTS);
	assert_string_equal(sx_source_info(s)->format, format);
	assert_int_equal(sx_source_info(s)->cameras, layout == SX_LAYOUT_TWO ? 2 : 1);
	assert_int_equal(sx_source_info(s)->width, W);
	case_close(s);
}

static void test_automatic(void **state)
{
	static const struct fake_mode infrared[] = {
		{Y12I, W, H, 30}, {Y8I, W, H, 30}, {V4L2_PIX_FMT_YUYV, W, H, 30}, {0}};
	static const struct fake_mode slow[] = {{Y8I, W, H, 15}, {Y12I, W, H, 30}, {0}};
	static const struct fake_mode sensor[] = {{V4L2_PIX_FMT_SRGGB12, W, H, 30},
						  {V4L2_PIX_FMT_SRGGB10P, W, H, 30},
						  {V4L2_PIX_FMT_SGBRG8, W, H, 15},
						  {0}};
	static const struct fake_mode camera[] = {
		{V4L2_PIX_FMT_SRGGB8, W, H, 30}, {V4L2_PIX_FMT_RGB24, W, H, 30}, {0}};

	check_choice(infrared, SX_LAYOUT_INTERLEAVED, "Y8I");
	check_choice(infrared, SX_LAYOUT_RIGHT_FIRST, "Y8I");
	check_choice(infrared, SX_LAYOUT_TWO, "YUYV");
	check_choice(slow, SX_LAYOUT_INTERLEAVED, "Y12I");
	check_choice(sensor, SX_LAYOUT_TWO, "SRGGB10P");
	check_choice(camera, SX_LAYOUT_TWO, "RGB3");
}

static void test_refused(void **state)
{
	static const struct fake_mode modes[] = {{Y8I, W, H, 30},
						 {V4L2_PIX_FMT_GREY, W, H, 30},
						 {V4L2_PIX_FMT_SRGGB8, 2 * 47, 34, 30},
						 {V4L2_PIX_FMT_SRGGB10P, 2 * 46, 34, 30},
						 {V4L2_PIX_FMT_SRGGB8, 48, 2 * 33, 30},
						 {0}};
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];

	case_cameras(cameras, modes);
	p.format = SX_FORMAT_Y8I;
	for (int layout = SX_LAYOUT_TWO; layout <= SX_LAYOUT_TOP_BOTTOM; layout++) {
		p.layout = (enum sx_layout)layout;
		case_refused(&p, -EINVAL,
			     CASE_LEFT
			     ": format Y8I has both images of one camera: it needs layout = interleaved");
	}
	p.layout = SX_LAYOUT_INTERLEAVED;
	p.format = SX_FORMAT_GREY;
	case_refused(&p, -EINVAL,
		     CASE_LEFT ": format GREY has one image, layout = interleaved needs Y8I, Y12I or auto");
	p.format = SX_FORMAT_Y12I;
	case_refused(&p, -EINVAL, CASE_LEFT ": no 48x34 in Y12I (stixelctl doctor");
	p.kind = SX_SOURCE_SYNTHETIC;
	case_refused(&p, -EINVAL, "images that are interleaved come from cameras only (kind = v4l2)");
	p.kind = SX_SOURCE_V4L2;
	p.layout = SX_LAYOUT_SIDE_BY_SIDE;
	p.width = 47;
	p.format = SX_FORMAT_SRGGB8;
	case_refused(&p, -EINVAL,
		     CASE_LEFT
		     ": two images of 47x34 in one picture of SRGGB8: width has to be a multiple of 2, "
		     "height of 2");
	p.width = 46;
	p.format = SX_FORMAT_SRGGB10P;
	case_refused(&p, -EINVAL,
		     CASE_LEFT
		     ": two images of 46x34 in one picture of SRGGB10P: width has to be a multiple of 4");
	p.layout = SX_LAYOUT_TOP_BOTTOM;
	p.width = 48;
	p.height = 33;
	p.format = SX_FORMAT_AUTO;
	case_refused(&p, -EINVAL, CASE_LEFT ": two images of 48x33 in one picture of SRGGB8: ");
	fake_reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_played),	  cmocka_unit_test(test_short),	  cmocka_unit_test(test_lost),
		cmocka_unit_test(test_automatic), cmocka_unit_test(test_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
