/*
 * Tests the messages of a frame through the public functions: which messages exist, and which calls are
 * refused. Their content is read by the packages of viewers in tests/tools/ctl/test_export.py and
 * tests/bridge/test_foxglove.py.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "include/stixel_messages.h"

enum { WIDTH = 16, HEIGHT = 8, PIXELS = WIDTH * HEIGHT };

/* A frame of one stixel, one column, what is known of motion if the offsets say so, and a left image. */
static struct whole_frame {
	struct stixel_frame_header h;
	uint32_t offsets[2];
	struct stixel stixel;
	struct stixel_object objects[3];
	struct stixel_motion motion;
	uint8_t left[PIXELS];
} whole;
static struct stixel_frame frame = {
	.header = &whole.h, .offsets = whole.offsets, .stixels = &whole.stixel, .bytes = &whole};

static int setup(void **state)
{
	memset(&whole, 0, sizeof(whole));
	whole.h = (struct stixel_frame_header){
		.header_bytes = sizeof(whole.h),
		.frame_bytes = sizeof(whole),
		.epoch = 7,
		.number = 1,
		.image_width = WIDTH,
		.image_height = HEIGHT,
		.columns = 1,
		.column_width = WIDTH,
		.disparities = 64,
		.stixel_count = 1,
		.fx = 300,
		.fy = 300,
		.baseline_m = 0.4,
		.plane_kind = STIXEL_PLANE_LEFT,
		.plane_width = WIDTH,
		.plane_height = HEIGHT,
		.plane_pitch = WIDTH,
		.plane_offset = offsetof(struct whole_frame, left),
		.plane_bytes = PIXELS,
	};
	whole.offsets[1] = 1;
	whole.stixel = (struct stixel){.row_bottom = HEIGHT - 1, .disparity_q7 = 1280, .kind = STIXEL_OBJECT};
	return stixel_messages_create((struct stixel_messages **)state, "front");
}

static int teardown(void **state)
{
	stixel_messages_destroy(*state);
	return 0;
}

static int make(struct stixel_messages *m, unsigned kind, struct stixel_message *message)
{
	memset(message, 0xA5, sizeof(*message));
	return stixel_messages_make(m, kind, message, sizeof(*message));
}

static void test_every_kind_has_a_topic(void **state)
{
	const char *const names[] = {
		"frame", "scene", "points",    "transform", "calibration", "calibration_right",
		"left",	 "right", "disparity", "events",    "stixel",	   "scan"};
	struct stixel_message_topic topic;

	for (unsigned i = 0; i <= STIXEL_MESSAGE_SCAN; i++) {
		assert_int_equal(stixel_messages_topic(*state, i, &topic, sizeof(topic)), 0);
		assert_string_equal(topic.name, names[i]);
		assert_string_equal(topic.encoding, i == STIXEL_MESSAGE_STIXEL ? "stixel" : "protobuf");
		assert_true(strchr(topic.schema, '.') && topic.descriptor && topic.descriptor_bytes > 60);
	}
	assert_int_equal(stixel_messages_topic(*state, STIXEL_MESSAGE_SCAN + 1, &topic, sizeof(topic)),
			 -EINVAL);
}

static void test_messages_of_a_frame(void **state)
{
	struct stixel_message m;

	assert_int_equal(stixel_messages_frame(*state, &frame), 1);
	for (unsigned i = 0; i <= STIXEL_MESSAGE_SCAN; i++) {
		const bool none = i == STIXEL_MESSAGE_RIGHT || i == STIXEL_MESSAGE_DISPARITY ||
				  i == STIXEL_MESSAGE_SCAN;

		if (i == STIXEL_MESSAGE_EVENTS)
			continue;
		assert_int_equal(make(*state, i, &m), none ? 0 : 1);
		if (none)
			continue;
		assert_true(m.head && m.head_bytes > 20);
		assert_ptr_equal(m.data, i == STIXEL_MESSAGE_LEFT ? whole.left : NULL);
		assert_int_equal(m.data_bytes, i == STIXEL_MESSAGE_LEFT ? PIXELS : 0);
	}
	assert_int_equal(make(*state, STIXEL_MESSAGE_STIXEL, &m), 1);
	assert_ptr_equal(m.head, &whole); /* the frame's own bytes, without the image */
	assert_int_equal(m.head_bytes, whole.h.plane_offset);
}

/* Without a camera, messages that need distances are left out. They return with the camera. */
static void test_without_a_camera(void **state)
{
	struct stixel_message m;

	for (int camera = 0; camera <= 1; camera++) {
		whole.h.baseline_m = camera ? 0.4 : 0;
		stixel_messages_frame(*state, &frame);
		for (unsigned i = STIXEL_MESSAGE_SCENE; i <= STIXEL_MESSAGE_TRANSFORM; i++)
			assert_int_equal(make(*state, i, &m), camera);
		assert_int_equal(make(*state, STIXEL_MESSAGE_FRAME, &m), 1);
	}
}

static bool has_text(const struct stixel_message *m, const char *text)
{
	return memmem(m->head, m->head_bytes, text, strlen(text)) != NULL;
}

/* A blind frame shows neither objects nor arrows. without: bytes of a scene without them. */
static void check_blind(struct stixel_messages *messages, uint64_t without)
{
	struct stixel_message m;

	whole.h.flags = STIXEL_FRAME_BLIND;
	stixel_messages_frame(messages, &frame);
	assert_int_equal(make(messages, STIXEL_MESSAGE_SCENE, &m), 1);
	assert_true(has_text(&m, "moving"));
	assert_int_equal(m.head_bytes, without);
	whole.h.flags = 0;
}

/*
 * Objects that do not stand have boxes with their identity. Without objects, stixels that move have arrows. The entity
 * "moving" is in every scene, without parts if nothing moves: it replaces what a viewer shows of the frame before.
 */
static void test_what_moves(void **state)
{
	struct stixel_message m;
	uint64_t without, arrow;

	whole.h.baseline_m = 0.4;
	stixel_messages_frame(*state, &frame);
	assert_int_equal(make(*state, STIXEL_MESSAGE_SCENE, &m), 1);
	assert_true(has_text(&m, "moving"));
	without = m.head_bytes;
	whole.motion = (struct stixel_motion){
		.vx = 300, .vz = -400, .sigma_x = 9, .sigma_z = 9, .state = STIXEL_MOTION_STANDS};
	whole.h.motion_offset = offsetof(struct whole_frame, motion);
	stixel_messages_frame(*state, &frame);
	assert_int_equal(make(*state, STIXEL_MESSAGE_SCENE, &m), 1);
	assert_int_equal(m.head_bytes, without);
	whole.motion.state = STIXEL_MOTION_MOVES;
	stixel_messages_frame(*state, &frame);
	assert_int_equal(make(*state, STIXEL_MESSAGE_SCENE, &m), 1);
	arrow = m.head_bytes - without;
	assert_in_range(arrow, 80, 250);
	check_blind(*state, without);
	for (uint32_t k = 0; k < 3; k++)
		whole.objects[k] = (struct stixel_object){.id = 70 + k,
							  .state = (uint8_t)k,
							  .z = 10,
							  .width = 2,
							  .height = 1.5f,
							  .vx = 3,
							  .vz = -4};
	whole.h.objects_offset = offsetof(struct whole_frame, objects);
	whole.h.object_bytes = sizeof(whole.objects[0]);
	for (uint16_t count = 0; count <= 3; count++) {
		whole.h.object_count = count;
		stixel_messages_frame(*state, &frame);
		assert_int_equal(make(*state, STIXEL_MESSAGE_SCENE, &m), 1);
		assert_true(has_text(&m, "70 ?") == (count > 0));
		assert_false(has_text(&m, "71")); /* stands */
		assert_true(has_text(&m, "72 \xc2\xb7 5.0 m/s") == (count > 2));
		if (count < 1)
			assert_int_equal(m.head_bytes, without);
		if (count > 2)
			assert_true(m.head_bytes > without + arrow);
	}
	check_blind(*state, without);
	whole.h.objects_offset = whole.h.motion_offset = whole.h.object_count = 0;
}

/* A scan needs a road. It has a range for each angle. */
static void test_a_scan_needs_a_road(void **state)
{
	struct stixel_message m;

	whole.h.baseline_m = 0.4;
	stixel_messages_frame(*state, &frame);
	assert_int_equal(make(*state, STIXEL_MESSAGE_SCAN, &m), 0);
	whole.h.road_origin = STIXEL_ROAD_MEASURED;
	whole.h.road_slope = 0.25;
	whole.h.height_m = 1.5;
	stixel_messages_frame(*state, &frame);
	assert_int_equal(make(*state, STIXEL_MESSAGE_SCAN, &m), 1);
	assert_true(m.head_bytes > 20);
	whole.h.road_origin = STIXEL_ROAD_NONE;
	whole.h.road_slope = whole.h.height_m = 0;
}

/* Each frame has the names of the classes from the moment when they are known; so has the publisher's event. */
static void test_classes(void **state)
{
	struct stixel_record record = {.kind = STIXEL_RECORD_PUBLISHER, .epoch = 7, .classes = "road car"};
	char text[1100];
	struct stixel_message m;
	uint64_t without;

	stixel_messages_frame(*state, &frame);
	assert_int_equal(make(*state, STIXEL_MESSAGE_FRAME, &m), 1);
	without = m.head_bytes;
	assert_int_equal(stixel_messages_classes(*state, " road  traffic-light"), 0);
	assert_int_equal(make(*state, STIXEL_MESSAGE_FRAME, &m), 1);
	assert_int_equal(m.head_bytes, without + 2 * 3 + strlen("road") + strlen("traffic-light"));
	assert_memory_equal((const char *)m.head + without, "\xe2\x01\x04road\xe2\x01\x0dtraffic-light", 23);
	memset(text, 'x', sizeof(text));
	text[1024] = 0;
	assert_int_equal(stixel_messages_classes(*state, text), -EINVAL);
	for (int i = 0; i < 80; i += 2)
		memcpy(text + i, "a ", 2);
	text[80] = 0; /* 40 names */
	assert_int_equal(stixel_messages_classes(*state, text), 0);
	assert_int_equal(make(*state, STIXEL_MESSAGE_FRAME, &m), 1);
	assert_int_equal(m.head_bytes, without + 4 * STIXEL_CLASSES_MAX);
	assert_int_equal(stixel_messages_classes(*state, NULL), 0);
	assert_int_equal(make(*state, STIXEL_MESSAGE_FRAME, &m), 1);
	assert_int_equal(m.head_bytes, without);
	assert_int_equal(stixel_messages_classes(NULL, "road"), -EINVAL);
	assert_int_equal(stixel_messages_event(*state, &record, sizeof(record), &m, sizeof(m)), 1);
	without = m.head_bytes;
	assert_int_equal(stixel_messages_event(*state, &record, offsetof(struct stixel_record, classes), &m,
					       sizeof(m)),
			 1);
	assert_int_equal(m.head_bytes, without - 2 - strlen("road car"));
}

/* Distances have the same colours as the scene's points, and follow given ends. */
static void test_colours(void **state)
{
	const double metres[] = {0.5, 3.0, 5000.0, (double)INFINITY};
	uint8_t rgb[4][3], given[4][3];

	whole.h.baseline_m = 0.4;
	stixel_messages_frame(*state, &frame);
	assert_int_equal(stixel_messages_scale(*state, 1.0, 10.0), 0);
	assert_int_equal(stixel_messages_colours(*state, metres, 4, rgb[0]), 0);
	assert_true(rgb[0][0] == 240 && rgb[0][1] == 249 && rgb[0][2] == 33);
	assert_true(rgb[2][0] == 80 && rgb[2][1] == 2 && rgb[2][2] == 162);
	assert_memory_equal(rgb[2], rgb[3], 3);
	assert_memory_not_equal(rgb[0], rgb[1], 3);
	assert_int_equal(stixel_messages_scale(*state, 3.0, 10.0), 0);
	assert_int_equal(stixel_messages_colours(*state, metres, 4, given[0]), 0);
	assert_memory_equal(given[1], rgb[0], 3);
	assert_int_equal(stixel_messages_scale(*state, 0.0, 0.0), 0);
	assert_int_equal(stixel_messages_scale(*state, 3.0, 3.0), -EINVAL);
	assert_int_equal(stixel_messages_scale(*state, -1.0, 0.0), -EINVAL);
	assert_int_equal(stixel_messages_scale(*state, (double)NAN, 0.0), -EINVAL);
	assert_int_equal(stixel_messages_scale(*state, 0.0, 1e9), -EINVAL);
	assert_int_equal(stixel_messages_scale(NULL, 1.0, 2.0), -EINVAL);
	assert_int_equal(stixel_messages_colours(*state, NULL, 4, rgb[0]), -EINVAL);
	assert_int_equal(stixel_messages_colours(*state, NULL, 0, NULL), 0);
	whole.h.baseline_m = 0.0;
	stixel_messages_frame(*state, &frame);
	assert_int_equal(stixel_messages_colours(*state, metres, 4, rgb[0]), -EINVAL);
	whole.h.baseline_m = 0.4;
}

/* The scene belongs to the last frame. */
static void test_next_frame(void **state)
{
	struct stixel_message m;
	uint64_t with;

	stixel_messages_frame(*state, &frame);
	assert_int_equal(make(*state, STIXEL_MESSAGE_SCENE, &m), 1);
	with = m.head_bytes;
	whole.stixel.kind = STIXEL_SKY;
	stixel_messages_frame(*state, &frame);
	assert_int_equal(make(*state, STIXEL_MESSAGE_SCENE, &m), 1);
	assert_true(m.head_bytes < with);
}

static void test_calibrations_that_are_due(void **state)
{
	assert_int_equal(stixel_messages_frame(*state, &frame), 1);
	assert_int_equal(stixel_messages_frame(*state, &frame), 0);
	whole.h.fx = 301;
	assert_int_equal(stixel_messages_frame(*state, &frame), 1);
	whole.h.epoch++;
	assert_int_equal(stixel_messages_frame(*state, &frame), 1);
	whole.h.fx = 0; /* the loss of the camera model is also reported once */
	assert_int_equal(stixel_messages_frame(*state, &frame), 1);
	assert_int_equal(stixel_messages_frame(*state, &frame), 0);
}

static void test_events(void **state)
{
	struct stixel_record gap = {
		.kind = STIXEL_RECORD_GAP, .reason = STIXEL_GAP_OVERRUN, .number = 5, .lost = 3};
	struct stixel_record life = {
		.kind = STIXEL_RECORD_PUBLISHER, .epoch = 1, .pid = 9, .version = "1.2.3"};
	static const char gap_bytes[] = "\n\003gap\021\0\0\0\0\0\0\0\0(\0050\003:\007overrun";
	static const char life_bytes[] = "\n\tpublisher\021\1\0\0\0\0\0\0\0\030\t\"\0051.2.3";
	struct stixel_message m;

	assert_int_equal(stixel_messages_event(*state, &gap, sizeof(gap), &m, sizeof(m)), 1);
	assert_int_equal(m.head_bytes, sizeof(gap_bytes) - 1);
	assert_memory_equal(m.head, gap_bytes, sizeof(gap_bytes) - 1);
	assert_int_equal(stixel_messages_event(*state, &life, sizeof(life), &m, sizeof(m)), 1);
	assert_int_equal(m.head_bytes, sizeof(life_bytes) - 1);
	assert_memory_equal(m.head, life_bytes, sizeof(life_bytes) - 1);
	life.pid = 0; /* unknown values are left out */
	life.version[0] = 0;
	assert_int_equal(stixel_messages_event(*state, &life, sizeof(life), &m, sizeof(m)), 1);
	assert_int_equal(m.head_bytes, 20);
	gap.reason = STIXEL_GAP_DAMAGED + 1;
	assert_int_equal(stixel_messages_event(*state, &gap, sizeof(gap), &m, sizeof(m)), -EINVAL);
	gap.kind = STIXEL_RECORD_FRAME;
	assert_int_equal(stixel_messages_event(*state, &gap, sizeof(gap), &m, sizeof(m)), -EINVAL);
}

/* A program built with another release passes shorter or longer structures. */
static void test_sizes_of_others(void **state)
{
	struct {
		struct stixel_message message;
		char more[8];
	} longer;
	struct stixel_message m;
	const void *shorter = NULL;

	stixel_messages_frame(*state, &frame);
	assert_int_equal(
		stixel_messages_make(*state, STIXEL_MESSAGE_STIXEL, (void *)&shorter, sizeof(shorter)), 1);
	assert_ptr_equal(shorter, &whole);
	memset(&longer, 1, sizeof(longer));
	m = longer.message;
	assert_int_equal(stixel_messages_make(*state, STIXEL_MESSAGE_STIXEL, (void *)&longer, sizeof(longer)),
			 1);
	assert_ptr_not_equal(longer.message.head, m.head);
	for (size_t i = 0; i < sizeof(longer.more); i++)
		assert_int_equal(longer.more[i], 0);
}

static void test_wrong_arguments(void **state)
{
	struct stixel_messages *other = NULL;
	struct stixel_message m;

	assert_int_equal(stixel_messages_create(NULL, "a"), -EINVAL);
	assert_int_equal(stixel_messages_create(&other, NULL), -EINVAL);
	assert_null(other);
	assert_int_equal(make(*state, STIXEL_MESSAGE_FRAME, &m), -EINVAL); /* no frame was passed yet */
	assert_int_equal(stixel_messages_frame(*state, NULL), -EINVAL);
	assert_int_equal(stixel_messages_frame(NULL, &frame), -EINVAL);
	assert_int_equal(stixel_messages_frame(*state, &frame), 1);
	assert_int_equal(make(*state, STIXEL_MESSAGE_EVENTS, &m), -EINVAL);
	assert_int_equal(make(*state, STIXEL_MESSAGE_SCAN + 1, &m), -EINVAL);
	assert_int_equal(make(NULL, STIXEL_MESSAGE_FRAME, &m), -EINVAL);
	stixel_messages_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_kind_has_a_topic, setup, teardown),
		cmocka_unit_test_setup_teardown(test_messages_of_a_frame, setup, teardown),
		cmocka_unit_test_setup_teardown(test_without_a_camera, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_scan_needs_a_road, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_moves, setup, teardown),
		cmocka_unit_test_setup_teardown(test_classes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_colours, setup, teardown),
		cmocka_unit_test_setup_teardown(test_next_frame, setup, teardown),
		cmocka_unit_test_setup_teardown(test_calibrations_that_are_due, setup, teardown),
		cmocka_unit_test_setup_teardown(test_events, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sizes_of_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrong_arguments, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
