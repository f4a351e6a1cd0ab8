/*
 * Tests the status socket through real HTTP requests: pages, requests that change something, the right to
 * send these, and refused requests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <microhttpd.h>
#include <cmocka.h>

#include "ipc/http/status.h"
#include "tests/ipc/help.h"

#define NOBODY 65534

static char dir[64], path[100], answer[8192];
static struct sx_status_server *server;
static atomic_int written;
static _Atomic(struct sx_status_request *) waiting;

static unsigned write_plain(void *user, struct sx_text *text)
{
	sx_text_add(text, "written %d\n", atomic_fetch_add(&written, 1) + 1);
	return 200;
}

static unsigned write_long(void *user, struct sx_text *text)
{
	for (unsigned i = 0; i < SX_STATUS_PAGE_BYTES / 8; i++)
		sx_text_add(text, "%s", "123456789");
	return 200;
}

/* Keeps the server's thread busy for 150 ms. */
static unsigned write_slowly(void *user, struct sx_text *text)
{
	usleep(150000);
	return write_plain(user, text);
}

static void request_now(void *user, struct sx_status_request *o)
{
	char text[64];

	snprintf(text, sizeof(text), "got %zu\n", strlen(sx_status_request_body(o)));
	sx_status_request_answer(o, 200, text);
}

static void request_later(void *user, struct sx_status_request *o)
{
	atomic_store(&waiting, o);
}

static const struct sx_status_page pages[] = {
	{.path = "/plain", .type = "text/plain", .write = write_plain},
	{.path = "/costly", .type = "text/plain", .write = write_plain, .costly = true},
	{.path = "/slow", .type = "text/plain", .write = write_slowly},
	{.path = "/long", .type = "text/plain", .write = write_long},
	{.path = "/order", .type = "text/plain", .write = write_plain, .request = request_now},
	{.path = "/later", .type = "text/plain", .write = write_plain, .request = request_later},
};

static int start_with(const struct sx_status_page *those, size_t count)
{
	struct sx_why why = {""};
	const int fd = sx_status_listen(path, 0666, &why);

	return fd < 0 ? fd : sx_status_start(&server, fd, those, count, NULL, &why);
}

static int setup(void **state)
{
	help_dir_make(dir, sizeof(dir));
	chmod(dir, 0755);
	snprintf(path, sizeof(path), "%s/s", dir);
	return start_with(pages, sizeof(pages) / sizeof(pages[0]));
}

static int teardown(void **state)
{
	sx_status_tick(server);
	sx_status_stop(server);
	server = NULL;
	help_dir_remove(dir);
	return 0;
}

static int dial(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 ? fd : -1;
}

/* Sends a request with a body of `body` bytes. Returns the connection. */
static int send_request(const char *what, size_t body)
{
	char *text = malloc(body + 300);
	const int fd = dial();
	int n = snprintf(text, 300,
			 "%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n", what,
			 body);

	memset(text + n, 'b', body);
	if (send(fd, text, (size_t)n + body, MSG_NOSIGNAL) < 0)
		perror("send");
	free(text);
	return fd;
}

/* Receives an answer into answer[]. Returns its HTTP status. */
static int receive_answer(int fd)
{
	size_t have = 0;
	ssize_t n;
	int status = 0;

	while (have < sizeof(answer) - 1 && (n = recv(fd, answer + have, sizeof(answer) - 1 - have, 0)) > 0)
		have += (size_t)n;
	answer[have] = 0;
	close(fd);
	return sscanf(answer, "HTTP/1.1 %d", &status) == 1 ? status : -1;
}

static int ask(const char *what, size_t body)
{
	return receive_answer(send_request(what, body));
}

static void pages_are_given(void **state)
{
	assert_int_equal(ask("GET /plain", 0), 200);
	assert_non_null(strstr(answer, "\r\n\r\nwritten "));
	assert_int_equal(ask("HEAD /plain", 0), 200);
	assert_null(strstr(answer, "written "));
	assert_int_equal(ask("GET /long", 0), 500);
	assert_int_equal(ask("GET /nothing", 0), 404);
	assert_non_null(strstr(answer, "/plain /costly /slow /long /order /later\n"));
	assert_int_equal(ask("PUT /plain", 0), 405);
	assert_non_null(strstr(answer, "Allow: GET, HEAD\r\n"));
	assert_int_equal(ask("PUT /order", 0), 405);
	assert_non_null(strstr(answer, "Allow: GET, HEAD, POST\r\n"));
	assert_int_equal(ask("POST /plain", 0), 405);
}

static void a_costly_page_is_given_again(void **state)
{
	const int before = atomic_load(&written);

	/* within its lifetime a costly page is reused at least once in 20 requests */
	for (int i = 0; i < 20; i++)
		assert_int_equal(ask("GET /costly", 0), 200);
	assert_in_range(atomic_load(&written) - before, 1, 19);
	usleep(SX_STATUS_FRESH_NS / 1000 + 1000);
	ask("GET /costly", 0);
	assert_in_range(atomic_load(&written) - before, 2, 20);
}

static void requests_are_taken(void **state)
{
	struct sx_status_request *o;
	int fd;

	assert_int_equal(ask("POST /order", 0), 200);
	assert_non_null(strstr(answer, "got 0\n"));
	assert_int_equal(ask("POST /order", SX_STATUS_REQUEST_BYTES), 200);
	assert_non_null(strstr(answer, "got 16384\n"));
	assert_int_equal(ask("POST /order", SX_STATUS_REQUEST_BYTES + 1), 413);
	assert_int_equal(ask("POST /order", 3 * SX_STATUS_REQUEST_BYTES), 413);
	fd = send_request("POST /later", 3);
	while (!(o = atomic_load(&waiting)))
		usleep(100);
	assert_int_equal(ask("GET /plain", 0), 200); /* the server answers other requests meanwhile */
	sx_status_request_answer(o, 503, "not now\n");
	assert_int_equal(receive_answer(fd), 503);
	assert_non_null(strstr(answer, "not now\n"));
}

static void strangers_may_not_request(void **state)
{
	pid_t pid;
	int status;

	if (geteuid() != 0)
		skip();
	CHILD(pid, {
		if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
			_exit(2);
		if (ask("POST /order", 100) != 403 || ask("GET /plain", 0) != 200)
			_exit(3);
	});
	waitpid(pid, &status, 0);
	assert_int_equal(WEXITSTATUS(status), 0);
}

/*
 * Other clients are served even if some clients send nothing, some leave at once, and there are more clients
 * than connection slots.
 */
static void crowds_do_not_shut_others_out(void **state)
{
	int fds[SX_STATUS_CLIENTS + 8], left;
	pid_t pid;

	for (int i = 0; i < 20; i++)
		close(dial());
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		fds[i] = dial();
	usleep(20000);
	/* another process of the same user */
	CHILD(pid, _exit(ask("GET /plain", 0) == 200 ? 0 : 1));
	waitpid(pid, &left, 0);
	assert_int_equal(WEXITSTATUS(left), 0);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		close(fds[i]);
}

/*
 * There are more connections than may stay, and none of them can be closed before the server has seen it. The
 * next client waits until the server takes it, or until the server ends.
 */
static void waiting_at_the_acceptor(void **state)
{
	for (int ends = 0; ends < 2; ends++) {
		const int slow = send_request("GET /slow", 0);
		pid_t pid[2];
		int fd;

		usleep(20000); /* the server is busy with it */
		for (int i = 0; i < 2; i++)
			CHILD(pid[i], {
				for (int k = 0; k < SX_STATUS_CLIENTS / 2; k++)
					dial();
				pause();
			});
		usleep(20000);
		fd = send_request("GET /plain", 0);
		usleep(10000);
		if (ends) {
			sx_status_stop(server);
			server = NULL;
			close(fd);
			close(slow);
		} else {
			assert_int_equal(receive_answer(fd), 200);
			assert_int_equal(receive_answer(slow), 200);
		}
		for (int i = 0; i < 2; i++) {
			kill(pid[i], SIGKILL);
			waitpid(pid[i], NULL, 0);
		}
	}
}

/* The error for an unknown page lists the pages. 40 names do not fit and must be cut. */
static void many_pages(void **state)
{
	static char names[40][32];
	struct sx_status_page many[40];

	sx_status_stop(server);
	for (int i = 0; i < 40; i++) {
		snprintf(names[i], sizeof(names[i]), "/page-number-%d", i);
		many[i] =
			(struct sx_status_page){.path = names[i], .type = "text/plain", .write = write_plain};
	}
	assert_int_equal(start_with(many, 40), 0);
	assert_int_equal(ask("GET /nothing", 0), 404);
	assert_non_null(strstr(answer, "/page-number-0 "));
	assert_null(strstr(answer, "/page-number-39"));
	sx_status_stop(server);
	assert_int_equal(start_with(NULL, 0), 0);
	assert_int_equal(ask("GET /nothing", 0), 404);
	assert_non_null(strstr(answer, "not found; there are\n"));
}

/*
 * The path was removed. The server moves to another socket, and keeps this one if it cannot have the other.
 */
static void the_socket_is_made_anew(void **state)
{
	struct sx_why why;
	int fd;

	assert_int_equal(sx_status_move(server, 1000000), -EBADF);
	assert_int_equal(ask("GET /plain", 0), 200);
	unlink(path);
	assert_int_equal(dial(), -1);
	fd = sx_status_listen(path, 0666, &why);
	assert_true(fd >= 0);
	assert_int_equal(sx_status_move(server, fd), 0);
	assert_int_equal(ask("GET /plain", 0), 200);
}

/*
 * Replaces libmicrohttpd's function, which may refuse a connection that it is handed and has then closed it.
 */
static atomic_bool refuses;
enum MHD_Result __real_MHD_add_connection(struct MHD_Daemon *d, int fd, const struct sockaddr *a,
					  socklen_t n);
enum MHD_Result __wrap_MHD_add_connection(struct MHD_Daemon *d, int fd, const struct sockaddr *a,
					  socklen_t n);

enum MHD_Result __wrap_MHD_add_connection(struct MHD_Daemon *d, int fd, const struct sockaddr *a, socklen_t n)
{
	if (!atomic_exchange(&refuses, false))
		return __real_MHD_add_connection(d, fd, a, n);
	close(fd);
	return MHD_NO;
}

static void a_connection_is_refused(void **state)
{
	char byte;
	int fd;

	atomic_store(&refuses, true);
	fd = dial();
	assert_true(fd >= 0);
	assert_int_equal(read(fd, &byte, 1), 0);
	close(fd);
	assert_int_equal(ask("GET /plain", 0), 200);
}

static void what_is_no_socket(void **state)
{
	struct sx_status_server *none = NULL;
	struct sx_why why;
	int fd;

	for (int kind = 0; kind < 4; kind++) {
		fd = kind == 0	 ? open("/dev/null", O_RDWR)
		     : kind == 1 ? socket(AF_INET, SOCK_STREAM, 0)
		     : kind == 2 ? socket(AF_UNIX, SOCK_DGRAM, 0)
				 : socket(AF_UNIX, SOCK_STREAM, 0);
		assert_true(fd >= 0);
		assert_int_equal(sx_status_start(&none, fd, pages, 1, NULL, &why), -ENOTSOCK);
		assert_non_null(strstr(why.text, "is not a listening Unix stream socket"));
		assert_int_equal(fcntl(fd, F_GETFD), -1); /* the refused descriptor was closed */
	}
	assert_null(none);
	sx_status_tick(NULL);
	sx_status_stop(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(pages_are_given),
		TEST(a_costly_page_is_given_again),
		TEST(requests_are_taken),
		TEST(strangers_may_not_request),
		TEST(crowds_do_not_shut_others_out),
		TEST(waiting_at_the_acceptor),
		TEST(many_pages),
		TEST(the_socket_is_made_anew),
		TEST(a_connection_is_refused),
		TEST(what_is_no_socket),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
