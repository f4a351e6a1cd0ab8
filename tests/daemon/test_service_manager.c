/*
 * Tests messages to the service manager and sockets from it. The test has its own environment, and the
 * manager is a socket. It is built twice: with libsystemd (SX_HAVE_SYSTEMD), and without, as on a machine
 * that lacks it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "daemon/instance/service_manager.h"

static const char *const variables[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
					"LISTEN_FDS",	 "LISTEN_PID",	  "LISTEN_FDNAMES"};

static int set_up(void **state)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
	return 0;
}

static void test_nobody_listens(void **state)
{
	struct sx_why why = {""};
	struct sx_service n;

	assert_int_equal(sx_service_init(&n, &why), 0);
	assert_int_equal(n.watchdog_ns, 0);
	sx_service_send(&n, "READY=%d", 1);
	assert_false(n.failed);
	assert_int_equal(sx_service_listen_fd("status"), -1);
	assert_string_equal(why.text, "");
}

#ifdef SX_HAVE_SYSTEMD

static void set_pid(const char *name, pid_t pid)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", (int)pid);
	setenv(name, text, 1);
}

/* Opens a socket that receives, under an abstract name that only this process uses. */
static int open_manager(char name[64])
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int bytes = snprintf(name, 64, "@stixeld-test-notify-%d", (int)getpid());

	assert_true(fd >= 0);
	memcpy(to.sun_path + 1, name + 1, (size_t)bytes - 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&to,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)bytes)),
			 0);
	return fd;
}

static void test_messages_arrive(void **state)
{
	char name[64], got[600] = "", text[600];
	struct sx_why why;
	int fd = open_manager(name);
	struct sx_service n;

	setenv("NOTIFY_SOCKET", name, 1);
	assert_int_equal(sx_service_init(&n, &why), 0);
	sx_service_send(&n, "READY=1\nSTATUS=%s, %d frames", "running", 7);
	assert_int_equal(recv(fd, got, sizeof(got), 0), strlen("READY=1\nSTATUS=running, 7 frames"));
	assert_string_equal(got, "READY=1\nSTATUS=running, 7 frames");
	/* a text that is too long is dropped, not truncated */
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	sx_service_send(&n, "STATUS=%s", text);
	assert_int_equal(recv(fd, got, sizeof(got), 0), -1);
	assert_int_equal(errno, EAGAIN);
	assert_false(n.failed);
	close(fd);
}

/* Work without pings is announced once the manager counts them: after READY=1, if there is a watchdog. */
static void test_a_longer_watchdog(void **state)
{
	char name[64], got[600] = "";
	struct sx_why why;
	int fd = open_manager(name);
	struct sx_service n;

	setenv("NOTIFY_SOCKET", name, 1);
	for (int watched = 0; watched < 2; watched++) {
		if (watched)
			setenv("WATCHDOG_USEC", "400000", 1);
		sx_service_init(&n, &why);
		sx_service_extend(&n, 7000);
		sx_service_ready(&n, NULL);
		assert_int_equal(recv(fd, got, sizeof(got), 0), strlen("READY=1"));
		sx_service_extend(&n, INT64_C(90000000000));
		memset(got, 0, sizeof(got));
		if (watched) {
			assert_true(recv(fd, got, sizeof(got), 0) > 0);
			assert_string_equal(got, "WATCHDOG=1\nWATCHDOG_USEC=90400000");
		}
		assert_int_equal(recv(fd, got, sizeof(got), 0), -1);
	}
	close(fd);
}

/* A manager that is gone, or an invalid name, gives one line in the log. */
static void test_failure_is_logged_once(void **state)
{
	static const char *const names[] = {"/nowhere/notify", "nonsense"};
	char text[4096];
	struct sx_why why;
	struct sx_service n;

	for (size_t i = 0; i < 2; i++) {
		int pipes[2];
		ssize_t bytes;

		assert_int_equal(pipe(pipes), 0);
		setenv("NOTIFY_SOCKET", names[i], 1);
		assert_int_equal(sx_service_init(&n, &why), 0);
		sx_log_to(pipes[1]);
		sx_service_send(&n, "READY=1");
		sx_service_send(&n, "WATCHDOG=1");
		sx_log_to(STDERR_FILENO);
		close(pipes[1]);
		bytes = read(pipes[0], text, sizeof(text) - 1);
		close(pipes[0]);
		assert_true(bytes > 0);
		text[bytes] = 0;
		assert_non_null(strstr(text, names[i]));
		assert_ptr_equal(strchr(text, '\n'), text + bytes - 1);
		assert_true(n.failed);
	}
}

static void test_watchdog_of_this_process(void **state)
{
	struct sx_why why;
	struct sx_service n;

	setenv("WATCHDOG_USEC", "400000", 1);
	sx_service_init(&n, &why);
	assert_int_equal(n.watchdog_ns, 400000000);
	set_pid("WATCHDOG_PID", getpid());
	sx_service_init(&n, &why);
	assert_int_equal(n.watchdog_ns, 400000000);
	set_pid("WATCHDOG_PID", getppid());
	sx_service_init(&n, &why);
	assert_int_equal(n.watchdog_ns, 0);
}

static void test_watchdog_that_is_none(void **state)
{
	static const char *const values[] = {"0", "-1", "many", "18446744073709551614", "9300000000000000"};
	struct sx_why why;
	struct sx_service n;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		setenv("WATCHDOG_USEC", values[i], 1);
		sx_service_init(&n, &why);
		assert_int_equal(n.watchdog_ns, 0);
	}
}

/* Runs in a child process, which may replace its descriptors 3 and 4. */
static int child_of_sockets(void)
{
	if (dup2(STDERR_FILENO, 3) < 0 || dup2(STDERR_FILENO, 4) < 0)
		return 1;
	setenv("LISTEN_FDS", "2", 1);
	setenv("LISTEN_FDNAMES", "status:frames", 1);
	if (sx_service_listen_fd("status") != -1) /* no LISTEN_PID: the sockets are for no process */
		return 2;
	set_pid("LISTEN_PID", getppid());
	if (sx_service_listen_fd("status") != -1)
		return 3;
	set_pid("LISTEN_PID", getpid());
	if (sx_service_listen_fd("status") != 3 || sx_service_listen_fd("frames") != 4)
		return 4;
	if (sx_service_listen_fd("stat") != -1 || sx_service_listen_fd("statuses") != -1)
		return 5;
	if (!(fcntl(3, F_GETFD) & FD_CLOEXEC) || !(fcntl(4, F_GETFD) & FD_CLOEXEC))
		return 6;
	setenv("LISTEN_FDNAMES", "status", 1); /* two sockets, one name */
	if (sx_service_listen_fd("status") != -1)
		return 7;
	unsetenv("LISTEN_FDNAMES");
	return sx_service_listen_fd("status") != -1 ? 8 : 0;
}

static void test_sockets_by_name(void **state)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(child_of_sockets());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

#else

static void test_missing_library_is_named(void **state)
{
	static const char *const names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "LISTEN_FDS"};

	for (size_t i = 0; i < 3; i++) {
		struct sx_why why = {""};
		struct sx_service n;

		set_up(state);
		setenv(names[i], "1", 1);
		assert_int_equal(sx_service_init(&n, &why), -ENOTSUP);
		assert_ptr_equal(strstr(why.text, names[i]), why.text);
		assert_non_null(strstr(why.text, "libsystemd"));
		assert_true(strlen(why.text) < SX_LOG_TEXT_BYTES);
		assert_int_equal(n.watchdog_ns, 0);
		sx_service_send(&n, "READY=1");
		assert_int_equal(sx_service_listen_fd("status"), -1);
	}
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_nobody_listens, set_up),
#ifdef SX_HAVE_SYSTEMD
		cmocka_unit_test_setup(test_messages_arrive, set_up),
		cmocka_unit_test_setup(test_a_longer_watchdog, set_up),
		cmocka_unit_test_setup(test_failure_is_logged_once, set_up),
		cmocka_unit_test_setup(test_watchdog_of_this_process, set_up),
		cmocka_unit_test_setup(test_watchdog_that_is_none, set_up),
		cmocka_unit_test_setup(test_sockets_by_name, set_up),
#else
		cmocka_unit_test_setup(test_missing_library_is_named, set_up),
#endif
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
