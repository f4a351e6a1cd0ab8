/*
 * Tests frames.sock across threads, processes and restarts of the publisher, as the bell of a ring, and while
 * the kernel is short of memory or descriptors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "ipc/frame.h"
#include "ipc/stream.h"
#include "tests/emulated.h"
#include "tests/ipc/help.h"

#define EPOCH 77

static const struct help_shape small = {.columns = 40};

static char dir[64];
static char path[100], ring_path[128];

static int setup(void **state)
{
	help_dir_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/frames.sock", dir);
	snprintf(ring_path, sizeof(ring_path), "%s/stixeld.a", dir);
	return 0;
}

static int teardown(void **state)
{
	help_dir_remove(dir);
	return 0;
}

/* Errors that the wrapped system calls return; 0: none. */
/* recv_good: number of good calls before recv() fails */
static int accept_error, send_error, recv_error, recv_good;
int __real_accept4(int fd, struct sockaddr *a, socklen_t *n, int flags);
int __wrap_accept4(int fd, struct sockaddr *a, socklen_t *n, int flags);
ssize_t __real_recv(int fd, void *data, size_t bytes, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t bytes, int flags);
ssize_t __real_send(int fd, const void *data, size_t bytes, int flags);
ssize_t __wrap_send(int fd, const void *data, size_t bytes, int flags);

int __wrap_accept4(int fd, struct sockaddr *a, socklen_t *n, int flags)
{
	errno = accept_error;
	return accept_error ? -1 : __real_accept4(fd, a, n, flags);
}

ssize_t __wrap_send(int fd, const void *data, size_t bytes, int flags)
{
	errno = send_error;
	return send_error ? -1 : __real_send(fd, data, bytes, flags);
}

ssize_t __wrap_recv(int fd, void *data, size_t bytes, int flags)
{
	if (recv_error && recv_good-- == 0) {
		errno = recv_error;
		recv_error = 0;
		return -1;
	}
	return __real_recv(fd, data, bytes, flags);
}

struct pace {
	struct sx_stream *stream;
	uint64_t frames;
	atomic_bool done;
};

static void *publisher(void *arg)
{
	struct pace *p = arg;

	for (uint64_t n = 1; n <= p->frames; n++)
		help_stream_publish(p->stream, &small, EPOCH, n);
	atomic_store(&p->done, true);
	return NULL;
}

static void a_publisher_in_its_own_thread(void **state)
{
	struct pace pace = {.stream = help_stream(path, &small, EPOCH), .frames = 20000};
	struct pollfd p = {.fd = sx_stream_fd(pace.stream), .events = POLLIN};
	pthread_t thread;
	pid_t pid[3];
	int seen[2], status;
	char bytes[3];

	assert_int_equal(pipe2(seen, O_NONBLOCK), 0);
	for (int i = 0; i < 3; i++)
		CHILD(pid[i], {
			struct stixel_reader *r = NULL;
			const struct stixel_frame *frame;
			uint64_t last = 0, taken = 0, lost = 0;
			int e;

			if (stixel_open_path(&r, path, STIXEL_OPEN_STREAM) < 0)
				_exit(2);
			while ((e = stixel_wait(r, 5000)) == 1) {
				if (stixel_next(r, &frame, &lost) != 1)
					continue;
				if (!help_frame_good(frame, &small) ||
				    frame->header->number != last + 1 + lost)
					_exit(3);
				last = frame->header->number;
				taken++;
				if (last == 20000)
					(void)!write(seen[1], "x", 1);
				if (i == 1)
					usleep(2000);
			}
			_exit(e == -EPIPE && last == 20000 && taken > 10 ? 0 : 4);
		});
	for (int greeted = 0; greeted < 3;) {
		struct sx_stream_client who[3] = {0};

		help_pump(pace.stream);
		greeted = 0;
		for (int i = 0; i < sx_stream_clients(pace.stream, who, 3); i++)
			greeted += (who[i].want & STIXEL_WANT_NOTICES) != 0;
	}
	pthread_create(&thread, NULL, publisher, &pace);
	while (!atomic_load(&pace.done))
		if (poll(&p, 1, 10) == 1)
			sx_stream_dispatch(pace.stream);
	pthread_join(thread, NULL);
	/*
	 * The slow reader gets its last frame after it has read the others. The limit is 10 s, which is
	 * enough on a busy machine.
	 */
	for (int i = 0, ends = 0; i < 5000 && ends < 3; i++) {
		int n = (int)read(seen[0], bytes, sizeof(bytes));

		ends += n > 0 ? n : 0;
		help_pump(pace.stream), usleep(2000);
	}
	sx_stream_destroy(pace.stream);
	close(seen[0]);
	close(seen[1]);
	for (int i = 0; i < 3; i++) {
		waitpid(pid[i], &status, 0);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

/* Runs a publisher with ring and bell in a child process, in the daemon's order of calls. */
static void ring_and_bell(uint64_t frames)
{
	struct sx_ring_params rp = help_params(dir, EPOCH);
	struct sx_stream *s = help_stream(path, &small, EPOCH);
	struct sx_ring *ring = NULL;

	rp.frame_bytes = help_frame_bytes(&small);
	rp.slots = 8;
	rp.stream_path = path;
	if (sx_ring_create(&ring, &rp, NULL) < 0)
		_exit(1);
	for (uint64_t n = 1; n <= frames; n++) {
		int64_t until = sx_now_ns() + 3000000;

		help_publish(ring, &small, EPOCH, n); /* first the ring, then the bell */
		help_stream_publish(s, &small, EPOCH, n);
		while (sx_now_ns() < until) {
			struct pollfd p = {.fd = sx_stream_fd(s), .events = POLLIN};

			if (poll(&p, 1, 1) == 1)
				sx_stream_dispatch(s);
		}
	}
	sx_ring_destroy(ring);
	sx_stream_destroy(s);
	_exit(0);
}

static void a_ring_can_be_polled(void **state)
{
	struct stixel_reader *r = NULL;
	const struct stixel_frame *frame;
	struct pollfd p = {.events = POLLIN};
	uint64_t taken = 0, lost, sum = 0;
	int64_t t;
	pid_t pid;
	int e = 0;

	if (EMULATED("its /proc/PID/stat has another start time than that of the kernel"))
		return;
	CHILD(pid, ring_and_bell(1000000));
	while (stixel_open_path(&r, ring_path, 0) < 0)
		usleep(1000);
	while (taken < 100) {
		p.fd = stixel_fd(r);
		assert_true(p.fd >= 0);
		assert_int_equal(poll(&p, 1, 2000), 1);
		while ((e = stixel_next(r, &frame, &lost)) == 1) {
			assert_true(help_frame_good(frame, &small));
			taken++;
			sum += lost;
		}
		assert_int_equal(e, 0);
	}
	assert_in_range(sum, 0, 50);
	/* The publisher dies: the descriptor signals it at once. */
	kill(pid, SIGKILL);
	t = sx_now_ns();
	while ((e = stixel_next(r, &frame, NULL)) >= 0) {
		if (e == 1)
			continue;
		p.fd = stixel_fd(r);
		if (p.fd >= 0)
			assert_int_equal(poll(&p, 1, 2000), 1);
	}
	assert_int_equal(e, -EPIPE);
	assert_in_range(sx_now_ns() - t, 0, 1800000000);
	waitpid(pid, NULL, 0);
	stixel_close(r);
	/* Without a socket there is no descriptor to poll. */
	{
		struct sx_ring *ring = help_ring(dir, "a", &small, 4, 5);

		assert_int_equal(stixel_open_path(&r, ring_path, 0), 0);
		assert_int_equal(stixel_fd(r), -ENOTCONN);
		stixel_close(r);
		sx_ring_destroy(ring);
	}
}

static void a_stream_is_followed_to_the_next_publisher(void **state)
{
	struct stixel_reader *r = NULL;
	const struct stixel_frame *frame;
	struct sx_stream *s;
	struct stixel_status status;
	uint64_t lost;

	assert_int_equal(stixel_open_path(&r, path, STIXEL_OPEN_STREAM | STIXEL_OPEN_FOLLOW), 0);
	assert_int_equal(stixel_wait(r, 20), 0);
	assert_int_equal(stixel_fd(r), -ENOTCONN);
	stixel_status(r, &status, sizeof(status));
	assert_int_equal(status.publisher, STIXEL_PUBLISHER_ABSENT);
	s = help_stream(path, &small, EPOCH);
	assert_int_equal(stixel_wait(r, 60), 0);
	assert_true(stixel_fd(r) >= 0);
	help_pump(s);
	help_stream_publish(s, &small, EPOCH, 1);
	help_pump(s);
	assert_int_equal(stixel_next(r, &frame, &lost), 1);
	sx_stream_destroy(s);
	assert_int_equal(stixel_wait(r, 20), 0);
	s = help_stream(path, &small, EPOCH);
	assert_int_equal(stixel_wait(r, 60), 0);
	help_pump(s);
	/* The same epoch and number again is not a new frame. The next number is. */
	help_stream_publish(s, &small, EPOCH, 1);
	help_pump(s);
	assert_int_equal(stixel_next(r, &frame, &lost), 0);
	help_stream_publish(s, &small, EPOCH, 4);
	help_pump(s);
	assert_int_equal(stixel_next(r, &frame, &lost), 1);
	assert_int_equal(lost, 2);
	stixel_close(r);
	sx_stream_destroy(s);
}

static int dial(unsigned want)
{
	const struct stixel_hello hello = {STIXEL_HELLO_MAGIC, want};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	if (want)
		assert_int_equal(send(fd, &hello, sizeof(hello), 0), sizeof(hello));
	return fd;
}

/*
 * While the kernel is short, a new client waits and an old client misses frames. Both are served afterwards.
 */
static void a_kernel_that_is_short(void **state)
{
	static const int of_accept[] = {EMFILE, ENFILE, ENOMEM, ENOBUFS},
			 of_send[] = {EAGAIN, ENOBUFS, ENOMEM, EINTR};
	struct sx_stream_params p = help_stream_params(path, &small, EPOCH);
	struct sx_stream_counters c;
	struct sx_stream *s = NULL;
	struct sx_why why;
	int fd[4];

	p.heartbeat_period_ms = 20;
	assert_int_equal(sx_stream_create(&s, &p, &why), 0);
	for (int i = 0; i < 4; i++) {
		fd[i] = dial(STIXEL_WANT_FRAMES);
		accept_error = of_accept[i];
		sx_stream_dispatch(s);
		accept_error = 0;
		sx_stream_dispatch(s); /* the listening socket is not tried again before the timer fires */
		sx_stream_counters(s, &c);
		assert_int_equal(c.clients, i);
		usleep(30000);
		help_pump(s);
		sx_stream_counters(s, &c);
		assert_int_equal(c.clients, i + 1);
	}
	for (uint64_t i = 0; i < 4; i++) {
		send_error = of_send[i];
		help_stream_publish(s, &small, EPOCH, 2 * i + 1);
		sx_stream_dispatch(s);
		send_error = 0;
		help_stream_publish(s, &small, EPOCH, 2 * i + 2);
		sx_stream_dispatch(s);
		sx_stream_counters(s, &c);
		assert_int_equal(c.clients, 4);
		assert_int_equal(c.sent, 4 * (i + 1));
		assert_int_equal(c.dropped, 4 * (i + 1));
	}
	for (int i = 0; i < 4; i++)
		close(fd[i]);
	sx_stream_destroy(s);
}

/*
 * A reader that wants the newest frame has already taken older ones when a call fails. It returns the last of
 * these.
 */
static void a_call_that_fails_on_the_way_to_the_newest(void **state)
{
	static const int errors[] = {EAGAIN, EINTR, ENOBUFS};
	/* the frame at which the call fails is larger each time, so that the reader's memory grows */
	static const struct help_shape larger[] = {{.columns = 400}, {.columns = 900}, {.columns = 2000}};
	const struct stixel_frame *frame;
	struct stixel_reader *r = NULL;
	struct sx_stream *s = help_stream(path, &larger[2], EPOCH);

	assert_int_equal(stixel_open_path(&r, path, STIXEL_OPEN_STREAM), 0);
	help_pump(s);
	for (uint64_t i = 0; i < 3; i++) {
		for (uint64_t n = 1; n <= 3; n++) {
			help_stream_publish(s, n == 2 ? &larger[i] : &small, EPOCH, 3 * i + n);
			help_pump(s);
		}
		assert_int_equal(stixel_wait(r, 1000), 1);
		recv_error = errors[i];
		recv_good = 3; /* a peek, a packet, and another peek */
		assert_int_equal(stixel_latest(r, &frame), 1);
		assert_int_equal(recv_error, 0);
		assert_int_equal(frame->header->number, 3 * i + 1);
		assert_true(help_frame_good(frame, &small));
		assert_int_equal(stixel_latest(r, &frame), 1);
		assert_int_equal(frame->header->number, 3 * i + 3);
	}
	stixel_close(r);
	sx_stream_destroy(s);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_publisher_in_its_own_thread),
		T(a_ring_can_be_polled),
		T(a_stream_is_followed_to_the_next_publisher),
		T(a_kernel_that_is_short),
		T(a_call_that_fails_on_the_way_to_the_newest),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
