/*
 * Functions shared by the tests of source "v4l2".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/capture/v4l2/v4l2_case.h"
#include "tests/check.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"

struct sx_why case_why;
static int descriptors;

struct sx_source_params case_params(void)
{
	return (struct sx_source_params){
		.kind = SX_SOURCE_V4L2,
		.layout = SX_LAYOUT_TWO,
		.left = CASE_LEFT,
		.right = CASE_RIGHT,
		.width = CASE_W,
		.height = CASE_H,
		.fps = 30,
		.timeout_ms = 1000.0 * CASE_TIMEOUT_S,
		.exposure_ms = SX_CONTROL_KEEP,
		.gain = SX_CONTROL_KEEP,
	};
}

void case_cameras(struct fake_camera *cameras[2], const struct fake_mode *modes)
{
	cameras[0] = fake_add(CASE_LEFT, modes);
	cameras[1] = fake_add(CASE_RIGHT, modes);
	fake_add(CASE_EXPORTER, modes)->exporter = true;
}

void case_grey(struct fake_camera *cameras[2])
{
	const struct fake_mode grey[] = {{V4L2_PIX_FMT_GREY, CASE_W, CASE_H, 30}, {0}};

	case_cameras(cameras, grey);
}

struct sx_source *case_open(const struct sx_source_params *p, int slots)
{
	struct sx_source *s = NULL;

	descriptors = check_descriptors();
	case_why.text[0] = 0;
	if (sx_source_open(&s, p, slots, &case_why) < 0)
		fail_msg("%s", case_why.text);
	return s;
}

void case_refused(const struct sx_source_params *p, int error, const char *words)
{
	const int before = check_descriptors();
	struct sx_source *s = NULL;

	case_why.text[0] = 0;
	assert_int_equal(sx_source_open(&s, p, 3, &case_why), error);
	assert_null(s);
	if (!strstr(case_why.text, words))
		fail_msg("'%s' does not say '%s'", case_why.text, words);
	assert_int_equal(check_descriptors(), before);
}

const struct sx_v4l2 *case_inside(const struct sx_source *s)
{
	return s->own;
}

bool case_in_blocks(const struct sx_source *s, const struct sx_image *img)
{
	const char *first = img->data, *last = (char *)sx_image_row(img, img->height - 1);
	struct sx_block b;

	last += (size_t)img->width * sx_pixel_bytes(img->pixel);
	for (int i = 0; sx_source_block(s, i, &b); i++)
		if (first >= (char *)b.memory && last <= (char *)b.memory + b.bytes)
			return true;
	return false;
}

void case_close(struct sx_source *s)
{
	sx_source_close(s);
	assert_int_equal(check_descriptors(), descriptors);
	fake_reset();
}

void case_fill(struct fake_camera *cameras[2], int pattern, int64_t ns)
{
	const struct fake_frame f = {.pattern = pattern, .ns = ns};

	for (int i = 0; i < 2; i++)
		assert_true(fake_fill(cameras[i], &f));
}

int case_next(struct sx_source *s, struct sx_pair *pair, double seconds)
{
	const int64_t until = sx_now_ns() + (int64_t)(seconds * 1e9);
	int r;

	do {
		struct pollfd p = {.fd = sx_source_fd(s), .events = POLLIN};
		int64_t left_ns = until - sx_now_ns();

		case_why.text[0] = 0;
		r = sx_source_next(s, pair, &case_why);
		if (r == 0 && left_ns > 0)
			poll(&p, 1, (int)(left_ns / CASE_MS) + 1);
	} while (r == 0 && sx_now_ns() < until);
	return r;
}

void case_expect(struct sx_source *s, int result, const char *words)
{
	struct sx_pair pair;

	case_why.text[0] = 0;
	assert_int_equal(sx_source_next(s, &pair, &case_why), result);
	if (result == 1)
		sx_source_release(s, &pair);
	if (!strstr(case_why.text, words) || (result < 0 && !case_why.text[0]))
		fail_msg("'%s' does not say '%s'", case_why.text, words);
}

void case_wait(struct sx_source *s, int seconds)
{
	struct sx_v4l2 *v = s->own;

	v->last_pair_ns -= seconds * SX_NS_PER_S;
	for (int i = 0; i < v->count; i++)
		v->cameras[i].last_ns -= seconds * SX_NS_PER_S;
}

void case_balanced(const struct sx_source *s, int on_way_left, int on_way_right)
{
	const int on_way[2] = {on_way_left, on_way_right};
	struct sx_source_counters c;

	sx_source_counters(s, &c);
	for (int side = 0; side < case_inside(s)->count; side++) {
		uint64_t gone = s->number + (uint64_t)on_way[side];

		for (int i = 0; i < SX_DROP_COUNT; i++)
			gone += c.dropped[side][i];
		assert_int_equal(c.captured[side], gone);
	}
	/* A dropped pair counts as two images, or as the one image of a camera that has both sides. */
	assert_true(case_inside(s)->count == 1 ||
		    c.dropped[0][SX_DROP_OVERLOAD] == c.dropped[1][SX_DROP_OVERLOAD]);
	assert_int_equal(c.unpaired, c.dropped[0][SX_DROP_UNPAIRED] + c.dropped[1][SX_DROP_UNPAIRED]);
	assert_int_equal(c.corrupt, c.dropped[0][SX_DROP_ERROR_FLAG] + c.dropped[1][SX_DROP_ERROR_FLAG] +
					    c.dropped[0][SX_DROP_SHORT] + c.dropped[1][SX_DROP_SHORT] +
					    c.dropped[0][SX_DROP_BROKEN] + c.dropped[1][SX_DROP_BROKEN]);
}

void case_dropped(const struct sx_source *s, enum sx_image_drop why_dropped, int left, int right)
{
	struct sx_source_counters c;

	sx_source_counters(s, &c);
	if (c.dropped[0][why_dropped] != (uint64_t)left || c.dropped[1][why_dropped] != (uint64_t)right)
		fail_msg("%s: %d left, %d right expected, counted %d and %d", sx_image_drop_name(why_dropped),
			 left, right, (int)c.dropped[0][why_dropped], (int)c.dropped[1][why_dropped]);
}

struct sx_source *case_begin(struct fake_camera *cameras[2], const struct sx_source_params *p)
{
	struct sx_source *s = case_open(p, CASE_SLOTS);

	case_fill(cameras, 0, CASE_TIME(0));
	case_expect(s, 0, "");
	case_dropped(s, SX_DROP_FIRST, 1, 1);
	return s;
}

struct sx_source *case_begin_grey(struct fake_camera *cameras[2])
{
	const struct sx_source_params p = case_params();

	case_grey(cameras);
	return case_begin(cameras, &p);
}
