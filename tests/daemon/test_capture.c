/*
 * Tests the capture thread on a V4L2 source with fake drivers. Every pair from the cameras becomes a frame or
 * is counted in frames.dropped, wherever it was dropped. When the capture thread waits in poll(), the script
 * plays its next step. So everything happens in one thread and in one order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/pipeline.h"
#include "tests/capture/v4l2/v4l2_case.h"

#define HELD_MAX 4

/* --- functions of a pipeline that the capture thread calls --- */

int sx_pipeline_slots(const struct sx_settings *s)
{
	return s->engine.contexts + 2;
}

bool sx_pipeline_fits(const struct sx_source_info *a, const struct sx_source_info *b)
{
	return a->width == b->width && a->height == b->height && a->pixel == b->pixel;
}

void sx_pipeline_pin(struct sx_pipeline *p)
{
}

void sx_pipeline_unpin(struct sx_pipeline *p)
{
}

void sx_pipeline_end(struct sx_pipeline *p, enum sx_end end, const char *why)
{
	fail_msg("the pipeline ends: %s", why);
}

/* --- the script: one character for each wait of the capture thread --- */

static struct {
	struct sx_pipeline p;
	struct fake_camera *cameras[2];
	int cameras_count;
	const char *script;
	int picture;
	struct sx_queued_pair *held[HELD_MAX];
	int held_count;
	uint64_t published;
	struct sx_camera_controls *controls;
	int64_t gain; /* gain of both cameras at the end; -1: no cameras, or gains differ */
} play;

static void fill(int count)
{
	for (; count > 0; count--, play.picture++) {
		const struct fake_frame f = {.pattern = play.picture, .ns = CASE_TIME(play.picture)};

		for (int i = 0; i < play.cameras_count; i++)
			fake_fill(play.cameras[i], &f); /* the driver loses this frame if it has no buffer */
	}
}

/* Ends the frame, whose pair was published. */
static void publish_all(void)
{
	while (play.held_count > 0) {
		sx_mailbox_release(play.held[--play.held_count]);
		play.published++;
	}
}

static void take_and_hold(void)
{
	struct sx_queued_pair *queued = sx_mailbox_take(&play.p.mailbox);

	assert_non_null(queued);
	assert_true(play.held_count < HELD_MAX);
	play.held[play.held_count++] = queued;
}

/*
 * Plays one character. 1 to 9: all cameras deliver this many frames. t: the frame thread takes the waiting
 * pair. r: the frame thread has finished all its pairs. c: the main thread hands over new controls.
 */
static void step(void)
{
	const char what = *play.script;

	if (what)
		play.script++;
	if (what >= '1' && what <= '9')
		fill(what - '0');
	else if (what == 't')
		take_and_hold();
	else if (what == 'r')
		publish_all();
	else if (what == 'c')
		sx_control_channel_give_controls(&play.p.channel, play.controls);
	else
		atomic_store(&play.p.stop, true);
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	step();
	return __real_poll(fds, count, 0);
}

/* Records the gain before the cameras are released. */
static void note_gain(void)
{
	const struct fake_control *left = fake_control(play.cameras[0], V4L2_CID_GAIN);
	const struct fake_control *right =
		play.cameras_count == 2 ? fake_control(play.cameras[1], V4L2_CID_GAIN) : left;

	play.gain = left && right && left->value == right->value ? left->value : -1;
}

/* --- tests --- */

/*
 * Opens the source with `slots` slots, plays the script, and checks the totals. `of_source` of the `overload`
 * pairs were dropped by the source.
 */
static void check(const struct sx_source_params *p, const char *script, int slots, uint64_t published,
		  uint64_t overload, uint64_t of_source)
{
	struct sx_settings settings = {.source = *p, .engine = {.contexts = 2}};
	struct sx_telemetry *t;
	struct sx_source_counters c;
	uint64_t pairs, captured, dropped;

	assert_int_equal(sx_telemetry_create(&t), 0);
	play.p = (struct sx_pipeline){
		.c = {.settings = &settings, .telemetry = t, .main_fd = eventfd(0, EFD_NONBLOCK)}};
	sx_camera_controls_set(&play.p.opens, p);
	play.script = script;
	play.picture = 0;
	play.published = 0;
	play.p.source = case_open(p, slots);
	assert_int_equal(sx_mailbox_init(&play.p.mailbox), 0);
	play.p.info = *sx_source_info(play.p.source);
	sx_capture_thread(&play.p);
	publish_all();
	assert_null(sx_mailbox_take(&play.p.mailbox));
	sx_mailbox_return_images(&play.p.mailbox);

	case_balanced(play.p.source, 0, 0);
	sx_source_counters(play.p.source, &c);
	pairs = c.captured[0] - c.dropped[0][SX_DROP_FIRST];
	captured = sx_telemetry_count(t, SX_METRIC_FRAMES_CAPTURED);
	dropped = sx_telemetry_count(t, SX_METRIC_DROPPED_OVERLOAD);
	if (captured != pairs || captured != play.published + dropped)
		fail_msg("%s: %d pairs, captured %d, published %d, dropped %d", script, (int)pairs,
			 (int)captured, (int)play.published, (int)dropped);
	assert_int_equal(play.published, published);
	assert_int_equal(dropped, overload);
	assert_int_equal(c.dropped[0][SX_DROP_OVERLOAD], of_source);
	sx_mailbox_finish(&play.p.mailbox);
	note_gain();
	case_close(play.p.source);
	close(play.p.c.main_fd);
	sx_telemetry_destroy(t);
}

/*
 * Drops pairs at three places, one after the other: in the source by newer pairs, in the mailbox, and for lack
 * of a lease (two slots, both in frames).
 */
static void check_memory(enum sx_source_memory memory)
{
	struct sx_source_params p = case_params();

	p.memory = memory;
	p.buffers = 8;
	play.cameras_count = 2;
	case_grey(play.cameras);
	check(&p, "113tr", 3, 1, 3, 2);
	case_grey(play.cameras);
	check(&p, "11111tr1tr", 3, 2, 3, 0);
	case_grey(play.cameras);
	check(&p, "11t1t111rr1tr", 2, 3, 3, 3);
	case_grey(play.cameras);
	check(&p, "11t1t3r1111tr", 2, 3, 6, 3);
}

static void test_two_cameras(void **state)
{
	check_memory(SX_MEMORY_USERPTR);
	check_memory(SX_MEMORY_MMAP);
}

static void test_one_camera(void **state)
{
	const struct fake_mode modes[] = {{V4L2_PIX_FMT_GREY, 2 * CASE_W, CASE_H, 30}, {0}};
	struct sx_source_params p = case_params();

	p.layout = SX_LAYOUT_SIDE_BY_SIDE;
	p.right = NULL;
	p.buffers = 8;
	play.cameras_count = 1;
	play.cameras[0] = fake_add(CASE_LEFT, modes);
	check(&p, "14tr", 3, 1, 3, 3);
	play.cameras[0] = fake_add(CASE_LEFT, modes);
	check(&p, "11t1t2r1tr", 2, 3, 2, 2);
}

static const struct fake_control gain = {.name = "Gain", .id = V4L2_CID_GAIN, .maximum = 100, .value = 50};

/* Plays frames around a change of the gain. Returns what the capture thread handed back in t. */
static void change_gain(double value, struct sx_camera_controls *t)
{
	struct sx_source_params p = case_params();

	p.buffers = 8;
	play.cameras_count = 2;
	case_grey(play.cameras);
	for (int i = 0; i < 2; i++)
		fake_add_control(play.cameras[i], &gain);
	sx_camera_controls_set(t, &p);
	t->params.gain = value;
	t->params.path = "of the change"; /* this text is gone when the change is over */
	play.controls = t;
	check(&p, "11tc1r1tr", 3, 2, 1, 0);
}

static void test_controls(void **state)
{
	struct sx_camera_controls t;

	change_gain(7, &t);
	assert_true(sx_control_channel_take_returned_controls(&play.p.channel, false));
	assert_false(sx_control_channel_take_returned_controls(&play.p.channel, true));
	assert_int_equal(t.result, 0);
	assert_int_equal(play.gain, 7);
	assert_true(play.p.opens.params.gain == 7); /* cameras that come back get it, too */
	assert_ptr_equal(play.p.opens.params.path, case_params().path);
	change_gain(101, &t);
	assert_int_equal(t.result, -EINVAL);
	assert_non_null(strstr(t.why.text, "Gain = 101: the camera takes 0 to 100"));
	assert_int_equal(play.gain, 50);
	assert_true(play.p.opens.params.gain == SX_CONTROL_KEEP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_cameras),
		cmocka_unit_test(test_one_camera),
		cmocka_unit_test(test_controls),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
