/*
 * Tests requests for images. A ring's readers send them over frames.sock, and the server reports the union of
 * all requests.
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
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "ipc/stream.h"
#include "tests/ipc/help.h"

#define LEFT (1u << STIXEL_PLANE_LEFT)
#define RIGHT (1u << STIXEL_PLANE_RIGHT)
#define DISPARITY (1u << STIXEL_PLANE_DISPARITY)

static const struct help_shape small = {.columns = 12};

static char dir[64], ring_path[128], stream_path[100];

struct publisher {
	struct sx_ring *ring;
	struct sx_stream *stream;
	uint64_t epoch, number;
};

static int setup(void **state)
{
	help_dir_make(dir, sizeof(dir));
	snprintf(ring_path, sizeof(ring_path), "%s/stixeld.images", dir);
	snprintf(stream_path, sizeof(stream_path), "%s/frames.sock", dir);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(help_dir_count(dir), 0);
	help_dir_remove(dir);
	return 0;
}

static struct publisher begin(uint64_t epoch)
{
	struct sx_ring_params ring = help_params(dir, epoch);
	const struct sx_stream_params stream = {.path = stream_path,
						.listen_fd = -1,
						.epoch = epoch,
						.frame_bytes = help_frame_bytes(&small),
						.group = (gid_t)-1};
	struct publisher p = {.epoch = epoch};
	struct sx_why why = {""};

	ring.instance = "images";
	ring.stream_path = stream_path;
	ring.frame_bytes = help_frame_bytes(&small);
	if (sx_stream_create(&p.stream, &stream, &why) < 0 || sx_ring_create(&p.ring, &ring, &why) < 0)
		fail_msg("%s", why.text);
	return p;
}

static void end(struct publisher *p)
{
	sx_ring_destroy(p->ring);
	sx_stream_destroy(p->stream);
}

static void publish(struct publisher *p)
{
	help_publish(p->ring, &small, p->epoch, ++p->number);
}

/* Returns the images that are requested, after the server has received every message. */
static unsigned asked(const struct publisher *p)
{
	struct pollfd fd = {.fd = sx_stream_fd(p->stream), .events = POLLIN};

	for (int i = 0; i < 100 && poll(&fd, 1, 2) == 1; i++)
		sx_stream_dispatch(p->stream);
	return sx_stream_images(p->stream);
}

static struct stixel_reader *open_reader(unsigned flags)
{
	struct stixel_reader *r = NULL;

	assert_int_equal(stixel_open_path(&r, ring_path, flags), 0);
	return r;
}

static void the_sum_of_all_readers(void **state)
{
	struct publisher p = begin(7);
	struct stixel_reader *a = open_reader(0), *b = open_reader(0);

	assert_int_equal(asked(&p), 0);
	assert_int_equal(stixel_want_images(a, LEFT), 0);
	assert_int_equal(asked(&p), LEFT);
	assert_int_equal(stixel_want_images(b, LEFT | DISPARITY), 0);
	assert_int_equal(asked(&p), LEFT | DISPARITY);
	assert_int_equal(stixel_want_images(b, DISPARITY), 0);
	assert_int_equal(stixel_want_images(a, LEFT | RIGHT), 0);
	assert_int_equal(asked(&p), LEFT | RIGHT | DISPARITY);
	assert_int_equal(stixel_want_images(a, 0), 0);
	assert_int_equal(asked(&p), DISPARITY);
	assert_int_equal(stixel_want_images(b, 1), -EINVAL);
	assert_int_equal(stixel_want_images(b, 16), -EINVAL);
	assert_int_equal(stixel_want_images(NULL, 0), -EINVAL);
	assert_int_equal(asked(&p), DISPARITY);
	stixel_close(b); /* a killed reader has the same effect */
	assert_int_equal(asked(&p), 0);
	stixel_close(a);
	end(&p);
}

/* The descriptor for poll() and the request for images share a connection, whichever comes first. */
static void together_with_a_bell(void **state)
{
	for (int first = 0; first < 2; first++) {
		struct publisher p = begin(7);
		struct stixel_reader *r = open_reader(0);
		const struct stixel_frame *frame;
		struct sx_stream_client client;
		struct pollfd fd = {.events = POLLIN};

		if (first == 0)
			assert_int_equal(stixel_want_images(r, LEFT), 0);
		fd.fd = stixel_fd(r);
		assert_true(fd.fd >= 0);
		assert_int_equal(stixel_want_images(r, LEFT), 0);
		assert_int_equal(stixel_fd(r), fd.fd);
		assert_int_equal(asked(&p), LEFT);
		assert_int_equal(sx_stream_clients(p.stream, &client, 1), 1);
		assert_int_equal(client.want, STIXEL_WANT_NOTICES | STIXEL_WANT_BELL | STIXEL_WANT_LEFT);
		publish(&p);
		assert_int_equal(stixel_latest(r, &frame), 1);
		assert_int_equal(stixel_want_images(r, 0), 0);
		assert_int_equal(asked(&p), 0);
		assert_int_equal(stixel_fd(r), fd.fd); /* the descriptor still signals frames */
		stixel_close(r);
		end(&p);
	}
}

static void who_cannot_be_asked(void **state)
{
	struct sx_ring_params ring = help_params(dir, 7);
	struct stixel_reader *r = NULL;
	struct publisher p = begin(7);
	struct sx_ring *mute;
	struct sx_why why = {""};

	assert_int_equal(stixel_open_path(&r, stream_path, STIXEL_OPEN_STREAM), 0);
	assert_int_equal(stixel_want_images(r, LEFT), -ENOTSUP);
	assert_int_equal(stixel_want_images(r, 0), 0);
	stixel_close(r);
	end(&p);

	ring.instance = "images";
	ring.frame_bytes = help_frame_bytes(&small);
	assert_int_equal(sx_ring_create(&mute, &ring, &why), 0);
	r = open_reader(0);
	assert_int_equal(stixel_want_images(r, LEFT), -ENOTCONN);
	stixel_close(r);
	sx_ring_destroy(mute);
}

/* Reads frames until the server has received the request, or for two seconds. */
static unsigned asked_by(struct stixel_reader *r, struct publisher *p)
{
	const int64_t end_ns = sx_now_ns() + 2 * SX_NS_PER_S;
	const struct stixel_frame *frame;

	while (!asked(p) && sx_now_ns() < end_ns) {
		publish(p);
		stixel_wait(r, 10);
		stixel_latest(r, &frame);
	}
	return asked(p);
}

static void each_new_publisher_is_asked_again(void **state)
{
	struct stixel_reader *r = open_reader(STIXEL_OPEN_FOLLOW);
	struct publisher p;

	assert_int_equal(stixel_want_images(r, LEFT), 0); /* no publisher is there yet */
	p = begin(7);
	assert_int_equal(asked_by(r, &p), LEFT);
	end(&p);
	p = begin(8);
	assert_int_equal(asked_by(r, &p), LEFT);
	stixel_close(r);
	assert_int_equal(asked(&p), 0);
	end(&p);
}

/* A server may close a connection when it is full. The reader asks again while frames arrive. */
static void a_broken_connection_is_mended(void **state)
{
	struct publisher p = begin(7);
	struct stixel_reader *r = open_reader(0);
	const struct sx_stream_params again = {.path = stream_path,
					       .listen_fd = -1,
					       .epoch = 7,
					       .frame_bytes = help_frame_bytes(&small),
					       .group = (gid_t)-1};
	struct sx_why why = {""};

	assert_int_equal(stixel_want_images(r, DISPARITY), 0);
	assert_int_equal(asked(&p), DISPARITY);
	sx_stream_destroy(p.stream);
	assert_int_equal(sx_stream_create(&p.stream, &again, &why), 0);
	assert_int_equal(asked(&p), 0);
	assert_int_equal(asked_by(r, &p), DISPARITY);
	stixel_close(r);
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sum_of_all_readers),
		cmocka_unit_test(together_with_a_bell),
		cmocka_unit_test(who_cannot_be_asked),
		cmocka_unit_test(each_new_publisher_is_asked_again),
		cmocka_unit_test(a_broken_connection_is_mended),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
