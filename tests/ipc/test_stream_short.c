/*
 * frames.sock while the kernel is short of memory or descriptors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/stream.h"
#include "tests/ipc/help.h"

#define EPOCH 77

static const struct help_shape small = {.columns = 8};
static char dir[64], path[100];

/* The kernel's: what it is short of; 0 nothing. */
static int accept_error, send_error;
int __real_accept4(int fd, struct sockaddr *a, socklen_t *n, int flags);
int __wrap_accept4(int fd, struct sockaddr *a, socklen_t *n, int flags);
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

static int setup(void **state)
{
	help_dir_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/s", dir);
	return 0;
}

static int teardown(void **state)
{
	help_dir_remove(dir);
	return 0;
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

/* Who comes meanwhile waits, and who is there misses frames, and both are served when it is over. */
static void a_kernel_that_is_short(void **state)
{
	static const int of_accept[] = {EMFILE, ENFILE, ENOMEM, ENOBUFS},
			 of_send[] = {EAGAIN, ENOBUFS, ENOMEM, EINTR};
	struct sx_stream_params p = help_stream_params(path, &small, EPOCH);
	struct sx_stream_counters c;
	struct sx_stream *s = NULL;
	char why[200];
	int fd[4];

	p.heartbeat_period_ms = 20;
	assert_int_equal(sx_stream_create(&s, &p, why, sizeof(why)), 0);
	for (int i = 0; i < 4; i++) {
		fd[i] = dial(STIXEL_WANT_FRAMES);
		accept_error = of_accept[i];
		sx_stream_dispatch(s);
		accept_error = 0;
		sx_stream_dispatch(s); /* it is not looked at again before the timer says so */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_kernel_that_is_short, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
