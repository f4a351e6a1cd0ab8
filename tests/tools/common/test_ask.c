/*
 * Tests requests to servers at a Unix socket that behave well, behave badly, or do not answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/common/ask.h"

static char folder[] = "/tmp/stixel-http-XXXXXX";
static char path[64];

/*
 * A server for one connection. It reads the request, sends `answer` (repeated), and closes the connection
 * unless it has to hang.
 */
struct server {
	int listener;
	const char *answer;
	int repeat, hang;
	char request[512];
	pthread_t thread;
};

static void *serve(void *arg)
{
	struct server *s = arg;
	int fd = accept(s->listener, NULL, NULL);
	size_t got = 0;

	while (got < sizeof(s->request) - 1 && !strstr(s->request, "\r\n\r\n")) {
		ssize_t n = recv(fd, s->request + got, sizeof(s->request) - 1 - got, 0);

		if (n <= 0)
			break;
		got += (size_t)n;
	}
	for (int i = 0; i < s->repeat; i++)
		if (send(fd, s->answer, strlen(s->answer), MSG_NOSIGNAL) < 0)
			break;
	if (s->hang)
		recv(fd, s->request, 1, 0); /* waits until the client gives up */
	close(fd);
	return NULL;
}

static void start(struct server *s)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	memcpy(at.sun_path, path, strlen(path) + 1);
	unlink(path);
	s->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(s->listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(s->listener, 1), 0);
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static int ask(struct server *s, int timeout_ms, struct sx_reply *reply)
{
	const struct sx_question q = {.target = "/status", .timeout_ms = timeout_ms};
	int r;

	start(s);
	r = sx_socket_ask_at(path, &q, reply);
	pthread_join(s->thread, NULL);
	close(s->listener);
	unlink(path);
	return r;
}

static void test_good(void **state)
{
	struct server s = {.answer = "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{\"a\":1}", .repeat = 1};
	struct sx_reply reply;

	assert_int_equal(ask(&s, 2000, &reply), 200);
	assert_string_equal(reply.body, "{\"a\":1}");
	assert_non_null(strstr(s.request, "GET /status HTTP/1.1\r\n"));
	sx_reply_finish(&reply);
}

static void test_code_is_passed_on(void **state)
{
	struct server s = {.answer = "HTTP/1.1 503 Service Unavailable\r\n\r\nno_camera\n", .repeat = 1};
	struct sx_reply reply;

	assert_int_equal(ask(&s, 2000, &reply), 503);
	assert_string_equal(reply.body, "no_camera\n");
	sx_reply_finish(&reply);
}

static void test_not_http(void **state)
{
	struct server s = {.answer = "hello\r\n\r\n", .repeat = 1};
	struct sx_reply reply;

	assert_int_equal(ask(&s, 2000, &reply), -EPROTO);
	assert_null(reply.body);
	assert_non_null(strstr(reply.why, path));
}

static void test_cut_short(void **state)
{
	struct server s = {.answer = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf", .repeat = 1};
	struct sx_reply reply;

	assert_int_equal(ask(&s, 2000, &reply), -EPROTO);
}

static void test_endless(void **state)
{
	struct server s = {.answer = "HTTP/1.1 200 OK\r\n\r\n0123456789012345678901234567890123456789",
			   .repeat = 1000000};
	struct sx_reply reply;

	assert_int_equal(ask(&s, 20000, &reply), -EMSGSIZE);
}

static void test_silent(void **state)
{
	struct server s = {.answer = "", .repeat = 0, .hang = 1};
	struct sx_reply reply;

	assert_int_equal(ask(&s, 100, &reply), -ETIMEDOUT);
}

static void test_nobody(void **state)
{
	const struct sx_question q = {.target = "/status", .timeout_ms = 100};
	struct sx_reply reply;

	assert_int_equal(sx_socket_ask_at(path, &q, &reply), -ENOENT);
	assert_non_null(strstr(reply.why, path));
}

static void test_long_path(void **state)
{
	const struct sx_question q = {.target = "/", .timeout_ms = 100};
	struct sx_reply reply;
	char longest[200];

	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(sx_socket_ask_at(longest, &q, &reply), -ENAMETOOLONG);
}

static int make_folder(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/s", folder);
	return 0;
}

static int remove_folder(void **state)
{
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	 cmocka_unit_test(test_code_is_passed_on),
		cmocka_unit_test(test_not_http), cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_endless),	 cmocka_unit_test(test_silent),
		cmocka_unit_test(test_nobody),	 cmocka_unit_test(test_long_path),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
