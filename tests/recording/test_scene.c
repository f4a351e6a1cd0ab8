/*
 * Tests what a scene shows of a frame: obstacles, and the ground that was seen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "recording/messages/scene.h"

enum { STIXELS = 5 };

/*
 * Camera 1 m above a flat road, with disparity = 120 px m / distance. The horizon is row 40, and the ground
 * at a distance is in row 40 + 300 / metres.
 */
static const struct stixel_frame_header camera = {
	.header_bytes = sizeof(camera),
	.image_width = 50,
	.image_height = 120,
	.columns = STIXELS,
	.column_width = 10,
	.disparities = 64,
	.fx = 300,
	.fy = 300,
	.cx = 25,
	.cy = 40,
	.baseline_m = 0.4,
	.height_m = 1.0,
	.road_slope = 0.4,
	.road_offset = -16,
	.road_origin = STIXEL_ROAD_MEASURED,
	.horizon_row = 40,
	.stixel_count = STIXELS,
};
static const uint32_t offsets[STIXELS + 1] = {0, 1, 2, 3, 4, 5};

static struct stixel of(uint16_t column, uint8_t kind, int top, int bottom, double metres)
{
	return (struct stixel){.column = column,
			       .row_top = (uint16_t)top,
			       .row_bottom = (uint16_t)bottom,
			       .disparity_q7 = (uint16_t)lrint(128.0 * 120.0 / metres),
			       .slope_q14 = kind == STIXEL_GROUND ? -6554 : 0,
			       .kind = kind};
}

static struct sx_scene scene_of(uint32_t flags)
{
	const struct stixel stixels[STIXELS] = {
		of(0, STIXEL_OBJECT, 20, 69, 10),    /* a wall */
		of(1, STIXEL_OBJECT, 42, 45, 6),     /* a table, which has no part on the ground */
		of(2, STIXEL_OBJECT, 0, 119, 150),   /* a covered lens: no valid position */
		of(3, STIXEL_OBJECT, 62, 77, 14),    /* a floor below the road */
		of(4, STIXEL_GROUND, 45, 119, 3.81), /* 31.5 px in row 119 */
	};
	struct stixel_frame_header h = camera;
	const struct stixel_frame frame = {.header = &h, .offsets = offsets, .stixels = stixels};
	const struct sx_palette_range range = {20.0, 2.0};
	struct sx_scene s = {0};

	h.flags = flags;
	assert_int_equal(sx_scene_fill(&s, &frame, &range), 0);
	return s;
}

static void test_what_stands_there(void **state)
{
	struct sx_scene s = scene_of(0);

	assert_int_equal(s.box_count, 2);
	assert_float_equal(s.boxes[0].centre.z, 10.0, 0.05);
	assert_float_equal(s.boxes[1].centre.z, 6.0, 0.05);
	assert_int_equal(s.quad_count, 1);
	for (size_t i = 0; i < s.dot_count; i++)
		assert_true(s.dots[i].z < 35.0f &&
			    (s.dots[i].z < 13.5f || s.dots[i].z > 14.5f || s.dots[i].r == 150));
	sx_scene_finish(&s);
}

static void test_a_blind_frame_has_no_ground(void **state)
{
	struct sx_scene s = scene_of(STIXEL_FRAME_BLIND);

	assert_int_equal(s.quad_count, 0);
	for (size_t i = 0; i < s.dot_count; i++)
		assert_int_not_equal(s.dots[i].r, sx_palette_class(STIXEL_GROUND).r);
	assert_int_equal(s.box_count, 2);
	sx_scene_finish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_stands_there),
		cmocka_unit_test(test_a_blind_frame_has_no_ground),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
