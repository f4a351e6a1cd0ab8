/*
 * Tests frames.sock: the same frames as packets, and clients that are slow or send garbage.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/frame.h"
#include "ipc/stream.h"
#include "tests/ipc/help.h"

#define EPOCH 77

static const struct help_shape small = {.columns = 40};
static const struct help_shape pictured = {.columns = 40, .plane_width = 97, .plane_height = 31};

static char dir[64];
static char path[100];

static int setup(void **state)
{
	help_dir_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/frames.sock", dir);
	return 0;
}

static int teardown(void **state)
{
	help_dir_remove(dir);
	return 0;
}

static struct stixel_reader *join(struct sx_stream *s)
{
	struct stixel_reader *r = NULL;

	assert_int_equal(stixel_open_path(&r, path, STIXEL_OPEN_STREAM), 0);
	help_pump(s);
	return r;
}

static int plain_client(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void frames_arrive_as_packets(void **state)
{
	struct sx_stream *s = help_stream(path, &small, EPOCH);
	struct stixel_reader *r = join(s);
	const struct stixel_frame *frame;
	struct stixel_status status;
	uint64_t lost;

	assert_int_equal(stixel_wait(r, 0), 0);
	for (uint64_t n = 1; n <= 30; n++) {
		help_stream_publish(s, &small, EPOCH, n);
		help_pump(s);
		assert_int_equal(stixel_wait(r, 1000), 1);
		assert_int_equal(stixel_next(r, &frame, &lost), 1);
		assert_int_equal(frame->header->number, n);
		assert_int_equal(lost, 0);
		assert_true(help_frame_good(frame, &small));
		assert_int_equal(stixel_next(r, &frame, &lost), 0);
	}
	sx_stream_set_state(s, STIXEL_STATE_NO_CAMERA);
	help_pump(s);
	assert_int_equal(stixel_wait(r, 0), 0); /* reads notices */
	assert_int_equal(stixel_status(r, &status, sizeof(status)), 0);
	assert_int_equal(status.state, STIXEL_STATE_NO_CAMERA);
	assert_int_equal(status.publisher, STIXEL_PUBLISHER_ALIVE);
	assert_int_equal(status.epoch, EPOCH);
	assert_int_equal(status.head, 30);
	assert_int_equal(status.pid, getpid());
	/* Another frame before the end: the reader gets it, then the end is reported. */
	help_stream_publish(s, &small, EPOCH, 31);
	sx_stream_destroy(s);
	assert_int_equal(stixel_wait(r, 1000), 1);
	assert_int_equal(stixel_next(r, &frame, NULL), 1);
	assert_int_equal(frame->header->number, 31);
	assert_int_equal(stixel_wait(r, 1000), -EPIPE);
	assert_int_equal(stixel_next(r, &frame, NULL), -EPIPE);
	stixel_status(r, &status, sizeof(status));
	assert_int_equal(status.publisher, STIXEL_PUBLISHER_ENDED);
	assert_int_equal(stixel_reopen(r), -ENOENT);
	stixel_close(r);
	assert_int_equal(help_dir_count(dir), 0);
}

static void who_comes_late_gets_the_newest(void **state)
{
	struct sx_stream *s = help_stream(path, &small, EPOCH);
	const struct stixel_frame *frame;
	struct stixel_reader *r;
	uint64_t lost;
	uint8_t *bytes;
	int fd;

	for (uint64_t n = 1; n <= 9; n++) {
		help_stream_publish(s, &small, EPOCH, n);
		help_pump(s);
	}
	r = join(s);
	assert_int_equal(stixel_next(r, &frame, &lost), 1);
	assert_int_equal(frame->header->number, 9);
	assert_int_equal(lost, 0);
	assert_int_equal(stixel_next(r, &frame, &lost), 0);
	/* A client that sends no hello begins with the next frame. */
	fd = plain_client();
	help_pump(s);
	bytes = malloc(65536);
	assert_int_equal(recv(fd, bytes, 65536, 0), -1);
	help_stream_publish(s, &small, EPOCH, 10);
	help_pump(s);
	assert_true(recv(fd, bytes, 65536, 0) > 700);
	assert_int_equal(((struct stixel_frame_header *)bytes)->number, 10);
	assert_int_equal(recv(fd, bytes, 65536, 0), -1);
	free(bytes);
	close(fd);
	stixel_close(r);
	sx_stream_destroy(s);
}

static void a_slow_reader_loses_frames_and_the_newest_comes_next(void **state)
{
	struct sx_stream *s = help_stream(path, &small, EPOCH);
	struct stixel_reader *r = join(s), *fast = join(s);
	const struct stixel_frame *frame;
	struct sx_stream_counters c;
	struct sx_stream_client who[2];
	struct stixel_status status;
	uint64_t taken = 0, lost, sum = 0, last = 0;

	for (uint64_t n = 1; n <= 300; n++) {
		help_stream_publish(s, &small, EPOCH, n);
		help_pump(s);
		assert_int_equal(stixel_latest(fast, &frame), 1);
		assert_int_equal(frame->header->number, n);
	}
	sx_stream_counters(s, &c);
	assert_int_equal(c.clients, 2);
	assert_in_range(c.dropped, 250, 299);
	assert_int_equal(sx_stream_clients(s, who, 2), 2);
	assert_int_equal(who[0].pid, getpid());
	assert_int_equal(who[0].uid, geteuid());
	assert_int_equal(who[0].dropped, c.dropped);
	assert_int_equal(who[1].dropped, 0);
	assert_int_equal(who[1].sent, 300);
	for (;;) {
		int e = stixel_next(r, &frame, &lost);

		if (e == 0 && last == 300)
			break;
		if (e == 0) {
			help_pump(s); /* there is room again */
			continue;
		}
		assert_int_equal(e, 1);
		assert_true(help_frame_good(frame, &small));
		assert_int_equal(frame->header->number, last + 1 + lost);
		last = frame->header->number;
		taken++;
		sum += lost;
	}
	assert_int_equal(taken + sum, 300);
	assert_in_range(taken, 2, 20);
	sx_stream_counters(s, &c);
	assert_int_equal(c.dropped, sum);
	assert_int_equal(c.sent, 300 + taken);
	stixel_status(r, &status, sizeof(status));
	assert_int_equal(status.lost, sum);
	stixel_close(r);
	stixel_close(fast);
	help_pump(s);
	sx_stream_counters(s, &c);
	assert_int_equal(c.clients, 0);
	sx_stream_destroy(s);
}

static void garbage_closes_the_connection(void **state)
{
	static const struct stixel_hello wrong[] = {
		{0, 1}, {STIXEL_HELLO_MAGIC, 0}, {STIXEL_HELLO_MAGIC, 64}, {STIXEL_FRAME_MAGIC, 1}};
	static uint8_t large[100000];
	const struct stixel_hello good = {STIXEL_HELLO_MAGIC, STIXEL_WANT_FRAMES};
	struct sx_stream *s = help_stream(path, &small, EPOCH);
	struct sx_stream_counters c;
	uint8_t byte[64];
	int fd;

	for (size_t i = 0; i < 4; i++) {
		fd = plain_client();
		assert_int_equal(send(fd, &wrong[i], sizeof(wrong[i]), 0), sizeof(wrong[i]));
		help_pump(s);
		assert_int_equal(recv(fd, byte, sizeof(byte), 0), 0);
		close(fd);
	}
	for (size_t n = 1; n <= sizeof(large); n = n * 3 + 1) {
		fd = plain_client();
		assert_int_equal(send(fd, large, n, 0), (ssize_t)n);
		help_pump(s);
		assert_int_equal(recv(fd, byte, sizeof(byte), 0), 0);
		close(fd);
	}
	fd = plain_client();
	assert_int_equal(send(fd, &good, sizeof(good), 0), sizeof(good));
	help_pump(s);
	/* the connection is open, and the server has nothing to send */
	assert_int_equal(recv(fd, byte, sizeof(byte), 0), -1);
	assert_int_equal(send(fd, &good, sizeof(good), 0), sizeof(good));
	help_pump(s);
	/* a client may send its hello twice, and the second one counts */
	assert_int_equal(recv(fd, byte, sizeof(byte), 0), -1);
	assert_int_equal(send(fd, &wrong[2], sizeof(good), 0), sizeof(good));
	help_pump(s);
	assert_int_equal(recv(fd, byte, sizeof(byte), 0), 0);
	close(fd);
	sx_stream_counters(s, &c);
	assert_int_equal(c.clients, 0);
	assert_int_equal(c.garbage, 4 + 11 + 1);
	sx_stream_destroy(s);
}

static void places_are_limited(void **state)
{
	struct sx_stream_params p = help_stream_params(path, &small, EPOCH);
	struct stixel_reader *r[3] = {0};
	const struct stixel_frame *frame;
	struct sx_stream_counters c;
	struct sx_stream *s;
	struct sx_why why = {""};

	p.clients = 2;
	p.stall_ms = 100;
	assert_int_equal(sx_stream_create(&s, &p, &why), 0);
	r[0] = join(s);
	r[1] = join(s);
	r[2] = join(s);
	assert_int_equal(stixel_wait(r[2], 1000), -EAGAIN);
	stixel_close(r[2]);
	sx_stream_counters(s, &c);
	assert_int_equal(c.refused, 1);
	/* r[1] reads and r[0] does not. When a third client comes, the idle one loses its place. */
	for (uint64_t n = 1; n <= 50; n++) {
		help_stream_publish(s, &small, EPOCH, n);
		help_pump(s);
		assert_int_equal(stixel_latest(r[1], &frame), 1);
	}
	usleep(120000);
	r[2] = join(s);
	help_stream_publish(s, &small, EPOCH, 51);
	help_pump(s);
	assert_int_equal(stixel_latest(r[2], &frame), 1);
	assert_int_equal(stixel_latest(r[1], &frame), 1);
	for (int i = 0; i < 60 && stixel_next(r[0], &frame, NULL) == 1;)
		i++;
	assert_int_equal(stixel_next(r[0], &frame, NULL), -EPIPE);
	for (int i = 0; i < 3; i++)
		stixel_close(r[i]);
	sx_stream_destroy(s);
}

static void what_lies_at_the_path(void **state)
{
	struct sx_stream_params p = help_stream_params(path, &small, EPOCH);
	struct sx_stream *s = help_stream(path, &small, EPOCH), *other = NULL;
	char longer[200];
	struct sx_why why = {""};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct stat st;
	int fd;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0660);
	assert_int_equal(sx_stream_create(&other, &p, &why), -EADDRINUSE);
	assert_non_null(strstr(why.text, path));
	sx_stream_destroy(s);
	assert_int_equal(access(path, F_OK), -1);
	/* The socket of a dead publisher: bound, closed, never removed. */
	fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	close(fd);
	s = help_stream(path, &small, EPOCH);
	sx_stream_destroy(s);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	close(fd);
	assert_int_equal(sx_stream_create(&other, &p, &why), -EADDRINUSE);
	assert_non_null(strstr(why.text, "not a socket"));
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	p.path = longer;
	assert_int_equal(sx_stream_create(&other, &p, &why), -ENAMETOOLONG);
	p.path = "/nowhere/at/all";
	assert_int_equal(sx_stream_create(&other, &p, &why), -ENOENT);
	assert_null(other);
}

static void a_socket_can_be_passed_in(void **state)
{
	struct sx_stream_params p = help_stream_params(path, &small, EPOCH);
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	const struct stixel_frame *frame;
	struct sx_stream *s = NULL;
	struct stixel_reader *r;
	struct sx_why why = {""};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), wrong = socket(AF_UNIX, SOCK_STREAM, 0), before;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	p.path = NULL;
	p.listen_fd = wrong;
	assert_int_equal(sx_stream_create(&s, &p, &why), -EINVAL);
	p.listen_fd = fd; /* right type, but not listening */
	assert_int_equal(sx_stream_create(&s, &p, &why), -EINVAL);
	close(wrong);
	p.listen_fd = wrong; /* closed */
	assert_int_equal(sx_stream_create(&s, &p, &why), -EBADF);
	assert_true(strlen(why.text) > 10);
	before = help_fd_count();
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 5), 0);
	p.listen_fd = fd;
	assert_int_equal(sx_stream_create(&s, &p, &why), 0);
	r = join(s);
	help_stream_publish(s, &small, EPOCH, 1);
	help_pump(s);
	assert_int_equal(stixel_latest(r, &frame), 1);
	stixel_close(r);
	sx_stream_destroy(s);
	assert_int_equal(help_fd_count(), before - 1);
	assert_int_equal(access(path, F_OK), 0); /* the owner of the path removes it */
}

static void what_does_not_fit_is_left_out_and_said(void **state)
{
	struct sx_stream *s = help_stream(path, &small, EPOCH), *tiny = NULL;
	struct stixel_reader *r = join(s);
	const struct stixel_frame *frame;
	struct sx_stream_params p = help_stream_params(path, &small, EPOCH);
	struct sx_stream_counters c;
	struct sx_why why;

	help_stream_publish(s, &pictured, EPOCH, 1);
	help_pump(s);
	assert_int_equal(stixel_next(r, &frame, NULL), 1);
	assert_int_equal(frame->header->flags, STIXEL_FRAME_PLANE_LEFT_OUT);
	assert_null(frame->plane);
	assert_true(help_frame_good(frame, &pictured));
	sx_stream_counters(s, &c);
	assert_int_equal(c.shrunk, 1);
	stixel_close(r);
	sx_stream_destroy(s);
	p.frame_bytes = 1000;
	assert_int_equal(sx_stream_create(&tiny, &p, &why), 0);
	r = join(tiny);
	help_stream_publish(tiny, &small, EPOCH, 2);
	help_pump(tiny);
	assert_int_equal(stixel_next(r, &frame, NULL), 1);
	assert_int_equal(frame->header->flags, STIXEL_FRAME_STIXELS_LEFT_OUT);
	assert_int_equal(frame->header->columns, 0);
	assert_int_equal(frame->header->number, 2);
	stixel_close(r);
	sx_stream_destroy(tiny);
}

static void large_frames_fit_into_packets(void **state)
{
	const struct help_shape wide = {.columns = 1240}; /* about 70 kB per frame */
	struct sx_stream_params p = help_stream_params(path, &small, EPOCH);
	const struct stixel_frame *frame;
	struct sx_stream *s = NULL;
	struct stixel_reader *r;
	struct sx_why why;

	p.frame_bytes = help_frame_bytes(&wide);
	assert_int_equal(sx_stream_create(&s, &p, &why), 0);
	assert_int_equal(sx_stream_packet_bytes(s), p.frame_bytes);
	r = join(s);
	for (uint64_t n = 1; n <= 20; n++) {
		help_stream_publish(s, &wide, EPOCH, n);
		help_pump(s);
		assert_int_equal(stixel_next(r, &frame, NULL), 1);
		assert_true(help_frame_good(frame, &wide));
	}
	stixel_close(r);
	sx_stream_destroy(s);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(frames_arrive_as_packets),
		T(who_comes_late_gets_the_newest),
		T(a_slow_reader_loses_frames_and_the_newest_comes_next),
		T(garbage_closes_the_connection),
		T(places_are_limited),
		T(what_lies_at_the_path),
		T(a_socket_can_be_passed_in),
		T(what_does_not_fit_is_left_out_and_said),
		T(large_frames_fit_into_packets),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
