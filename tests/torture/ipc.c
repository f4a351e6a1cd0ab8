/*
 * Fails each call of base and ipc, one at a time, in this process. Lives: a publisher with its ring and its
 * socket, a reader with both, a feed with its writer, a writer of pairs, a status socket with its clients,
 * the log with its rings. Each life ends well or with a negative errno, and descriptors and files are as
 * before.
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
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/image.h"
#include "base/log.h"
#include "include/stixel_disparity.h"
#include "include/stixel_pairs.h"
#include "ipc/feed/disparity.h"
#include "ipc/feed/feed.h"
#include "ipc/feed/scores.h"
#include "ipc/frame.h"
#include "ipc/http/status.h"
#include "ipc/instance.h"
#include "ipc/listener.h"
#include "ipc/process.h"
#include "ipc/ring.h"
#include "ipc/stream.h"
#include "tests/ipc/help.h"
#include "tests/torture/torture.h"

#define EPOCH 77
#define MOST 400 /* limit of calls of a kind in a life, which no life reaches */

static const struct help_shape small = {.columns = 8};
static char dir[64], path[100];
static uint8_t frame[16384];

/* Calls outside of base and ipc may use any resources. */
static void make_frame(uint64_t number)
{
	torture_begin_own();
	help_frame(frame, &small, EPOCH, number);
	torture_end_own();
}

static int publish(struct sx_ring *r, uint64_t number)
{
	make_frame(number);
	return sx_ring_publish(r, frame, ((struct stixel_frame_header *)frame)->frame_bytes);
}

static int live_ring_of(const struct sx_ring_params *p)
{
	struct sx_ring *r = NULL;
	struct sx_why why = {""};
	int e = sx_ring_create(&r, p, &why);

	if (e < 0) {
		assert_true(why.text[0]);
		return e;
	}
	e = publish(r, 1);
	sx_ring_beat(r);
	sx_ring_look(r, &why);
	sx_ring_destroy(r);
	return e;
}

static int live_ring(void)
{
	struct sx_ring_params p = help_params(dir, EPOCH);

	return live_ring_of(&p);
}

static int live_ring_of_a_group(void)
{
	struct sx_ring_params p = help_params(dir, EPOCH);

	p.group = getegid();
	p.mode = 0600;
	return live_ring_of(&p);
}

/* Creates a ring while a stale ring still has the name, and an unfinished ring is left over. */
static int live_ring_after_another(void)
{
	const struct sx_ring_params p = help_params(dir, EPOCH);
	struct sx_ring *stale = NULL;
	char orphan[128];
	int e;

	torture_begin_own();
	snprintf(orphan, sizeof(orphan), "%s/.stixeld.a.0123456789abcdef", dir);
	close(open(orphan, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	if (sx_ring_create(&stale, &p, NULL) < 0)
		abort();
	close(open(orphan, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	torture_end_own();
	e = live_ring_of(&p);
	torture_begin_own();
	sx_ring_destroy(stale);
	torture_end_own();
	unlink(orphan);
	return e;
}

static int read_all(struct stixel_reader *r)
{
	const struct stixel_frame *f;
	struct stixel_status status;
	uint64_t lost = 0;
	int e = stixel_next(r, &f, &lost);

	stixel_status(r, &status, sizeof(status));
	if (e >= 0)
		e = stixel_wait(r, 1);
	if (e >= 0)
		e = stixel_latest(r, &f);
	return e;
}

/* A reader of an existing ring, with its bell. */
static int live_reader(void)
{
	struct sx_ring_params p = help_params(dir, EPOCH);
	struct sx_stream *s = NULL;
	struct sx_ring *r = NULL;
	struct stixel_reader *reader = NULL;
	char ring[128];
	int e;

	torture_begin_own();
	p.stream_path = path;
	s = help_stream(path, &small, EPOCH);
	if (sx_ring_create(&r, &p, NULL) < 0 || !s)
		abort();
	publish(r, 1);
	snprintf(ring, sizeof(ring), "%s/stixeld.a", dir);
	torture_end_own();
	e = stixel_open_path(&reader, ring, STIXEL_OPEN_FOLLOW | STIXEL_OPEN_ANY_OWNER);
	if (e >= 0) {
		e = stixel_fd(reader);
		if (e >= 0)
			e = read_all(reader);
		stixel_reopen(reader);
		read_all(reader);
		torture_begin_own();
		sx_ring_destroy(r);
		r = NULL;
		torture_end_own();
		read_all(reader);
		stixel_close(reader);
	}
	torture_begin_own();
	sx_ring_destroy(r);
	sx_stream_destroy(s);
	torture_end_own();
	return e;
}

static void dispatch(struct sx_stream *s)
{
	for (int i = 0; i < 4; i++)
		sx_stream_dispatch(s);
}

static int make_stream(struct sx_stream **ret, const struct sx_stream_params *p)
{
	struct sx_why why = {""};
	const int e = sx_stream_create(ret, p, &why);

	assert_true(e >= 0 || why.text[0]);
	return e;
}

/* Both ends of a frame socket. */
static int live_stream(void)
{
	struct sx_stream_params p = help_stream_params(path, &small, EPOCH);
	struct stixel_reader *reader = NULL;
	struct sx_stream *s = NULL;
	int e;

	p.heartbeat_period_ms = 1;
	e = make_stream(&s, &p);
	if (e < 0)
		return e;
	e = stixel_open_path(&reader, path, STIXEL_OPEN_STREAM | STIXEL_OPEN_FOLLOW);
	dispatch(s);
	for (uint64_t n = 1; n < 3; n++) {
		make_frame(n);
		sx_stream_publish(s, frame);
		dispatch(s);
		if (e >= 0)
			e = read_all(reader);
	}
	sx_stream_set_state(s, STIXEL_STATE_RUNNING);
	usleep(1100); /* a heartbeat, at which the stream tries again what it gave up */
	dispatch(s);
	if (reader)
		stixel_close(reader);
	dispatch(s);
	sx_stream_destroy(s);
	return e;
}

static int live_stream_of_a_group(void)
{
	struct sx_stream_params p = help_stream_params(path, &small, EPOCH);
	struct sx_stream *s = NULL;
	int e;

	p.group = getegid();
	e = make_stream(&s, &p);
	sx_stream_destroy(s);
	return e;
}

/* Returns a listening socket to pass to the stream. It replaces a dead socket at the same path. */
static int live_listener(void)
{
	struct sx_why why = {""};
	int fd, e;

	torture_begin_own();
	close(sx_listener_make(path, 0600, (gid_t)-1, NULL));
	torture_end_own();
	e = fd = sx_listener_make(path, 0600, (gid_t)-1, &why);
	if (fd >= 0) {
		e = sx_listener_check(fd, &why);
		close(fd);
	}
	assert_true(e >= 0 || why.text[0]);
	unlink(path);
	return e;
}

static int live_feed(void)
{
	struct stixel_scores_format f = {
		.classes = 3, .image_width = 8, .image_height = 8, .scale = 4, .slots = 4, .folder = dir};
	const struct sx_feed_params p = {.name = "a",
					 .shm_dir = dir,
					 .classes = 3,
					 .image_width = 8,
					 .image_height = 8,
					 .scale = 1,
					 .tolerance_ns = 1000};
	const int64_t now = sx_now_ns();
	struct stixel_scores_planes planes;
	struct stixel_scores *w = NULL;
	struct sx_feed *feed = NULL;
	struct sx_scores scores;
	uint8_t to[3 * 64 * 8];
	int e = stixel_scores_create(&w, "a", &f, sizeof(f));

	if (e >= 0)
		e = stixel_scores_begin(w, &planes);
	if (e >= 0)
		e = stixel_scores_commit(w, now - 1000, 7, 1);
	if (e >= 0)
		e = sx_feed_create(&feed, &p);
	if (e >= 0) {
		sx_feed_look(feed, now);
		sx_feed_take(feed, now - 1000, true, to, &scores);
		sx_feed_look(feed, now + SX_NS_PER_S);
		sx_feed_state(feed, now);
		sx_feed_destroy(feed);
	}
	if (w)
		stixel_scores_close(w);
	return e;
}

static int live_disparity(void)
{
	const struct stixel_disparity_format f = {.width = 8, .height = 8, .slots = 4, .folder = dir};
	struct stixel_disparity_map map;
	struct stixel_disparity *w = NULL;
	int e = stixel_disparity_create(&w, "a", &f, sizeof(f));

	if (e >= 0)
		e = stixel_disparity_begin(w, &map);
	if (e >= 0)
		e = stixel_disparity_commit(w, sx_now_ns(), 7, 1);
	stixel_disparity_close(w);
	return e;
}

/* Plays the daemon of live_pairs(): accepts the writer if it came, and returns the first pair. */
static int welcome_writer(int listener)
{
	const struct stixel_pairs_answer welcome = {STIXEL_PAIRS_MAGIC, STIXEL_PAIRS_WELCOME, 4, 0, 0},
					 returned = {STIXEL_PAIRS_MAGIC, STIXEL_PAIRS_RETURNED, 1, 0, 0};
	int peer;

	torture_begin_own();
	peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (peer >= 0) {
		(void)send(peer, &welcome, sizeof(welcome), MSG_NOSIGNAL);
		(void)send(peer, &returned, sizeof(returned), MSG_NOSIGNAL);
	}
	torture_end_own();
	return peer;
}

static int give_pair(struct stixel_pairs *w)
{
	struct stixel_pairs_images to;
	int e = stixel_pairs_begin(w, &to, 0);

	if (e == 1)
		e = stixel_pairs_commit(w, &to, 1, 1);
	assert_true(e == 0 || (e < 0 && (e != -ENOTCONN || *stixel_pairs_why(w))));
	return e;
}

static int live_pairs(void)
{
	const struct stixel_pairs_format f = {.width = 32, .height = 32, .pixel = STIXEL_PIXEL_GREY8};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stixel_pairs *w = NULL;
	int listener, peer, e;

	torture_begin_own();
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(listener, 4) < 0)
		abort();
	torture_end_own();
	e = stixel_pairs_create_path(&w, path, &f, sizeof(f));
	assert_true((e == 0) == (w != NULL));
	if (e == 0) {
		stixel_pairs_connect(w, 0);
		peer = welcome_writer(listener);
		e = give_pair(w);
		if (peer >= 0)
			close(peer);
		give_pair(w); /* after the end of the connection */
	}
	stixel_pairs_close(w);
	close(listener);
	unlink(path);
	return e;
}

static int live_instance(void)
{
	char runtime[256];
	struct sx_why why = {""};
	uid_t user;
	int fd, e;

	torture_begin_own();
	setenv("RUNTIME_DIRECTORY", dir, 1);
	torture_end_own();
	e = sx_runtime_dir("a", runtime, sizeof(runtime), &why);
	if (e >= 0) {
		e = fd = sx_instance_lock(runtime, NULL, &why);
		if (fd >= 0) {
			pid_t owner;

			/* a second daemon is refused, whatever else fails */
			assert_true(sx_instance_lock(runtime, &owner, &why) < 0);
			close(fd);
		}
		torture_begin_own();
		help_dir_remove(runtime);
		torture_end_own();
	}
	assert_true(e >= 0 || why.text[0]);
	(void)sx_process_namespace();
	(void)sx_process_start(getpid());
	(void)sx_process_user(getpid(), &user);
	(void)sx_epoch_new();
	return e;
}

static unsigned page(void *user, struct sx_text *text)
{
	sx_text_add(text, "a page\n");
	return 200;
}

static void answer_request(void *user, struct sx_status_request *o)
{
	sx_status_request_answer(o, 200, "done\n");
}

static const struct sx_status_page pages[] = {
	{.path = "/", .type = "text/plain", .write = page},
	{.path = "/o", .type = "text/plain", .write = page, .request = answer_request}};

/* Sends a request. An answer is not required, and the wait is limited. */
static void ask(const char *request)
{
	const struct timeval timeout_s = {.tv_usec = 50000};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char answer[1000];
	int fd;

	torture_begin_own();
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout_s, sizeof(timeout_s));
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 &&
	    send(fd, request, strlen(request), MSG_NOSIGNAL) > 0)
		while (recv(fd, answer, sizeof(answer), 0) > 0)
			;
	close(fd);
	torture_end_own();
}

static int live_status(void)
{
	struct sx_status_server *s = NULL;
	struct sx_why why = {""};
	int e, fd = sx_status_listen(path, 0600, &why);

	e = fd;
	if (fd >= 0)
		e = sx_status_start(&s, fd, pages, 2, NULL, &why);
	assert_true(e >= 0 || why.text[0]);
	if (s) {
		ask("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
		ask("PUT / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
		ask("POST /o HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
	}
	sx_status_tick(s);
	sx_status_stop(s);
	unlink(path);
	return e;
}

static int live_log(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	torture_begin_own();
	setenv("JOURNAL_STREAM", "1:2", 1);
	torture_end_own();
	sx_log_to(fd);
	sx_log(TOOLS, INFO, "a line");
	if (sx_log_fd() >= 0 && sx_log_realtime_begin() == 0) {
		sx_log(TOOLS, INFO, "a line from its ring");
		sx_log_drain();
		sx_log_realtime_end();
		sx_log_drain();
	}
	sx_log_last(SX_LOG_TOOLS, "the last one");
	unsetenv("JOURNAL_STREAM");
	sx_log_to(STDERR_FILENO);
	close(fd);
	return 0;
}

/* Opens a reader by name while there is no publisher. */
static int live_name(void)
{
	struct stixel_reader *reader = NULL;
	int e = stixel_open(&reader, "of-nobody", STIXEL_OPEN_FOLLOW);

	stixel_close(reader);
	return e;
}

static int live_image(void)
{
	struct sx_image image = {0};
	int e = sx_image_init(&image, SX_PIXEL_U8, 8, 8);

	sx_image_finish(&image);
	return e;
}

/* True if a life leaves unexpected files. A ring stays if its name, and so its owner, cannot be checked. */
static bool leaves_files(const char *kind)
{
	const int count = help_dir_count(dir);
	char name[160];

	if (count != 1 || strcmp(kind, "file") != 0)
		return count != 0;
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = {"stixeld.a", SX_SCORES_PREFIX "a",
						    SX_DISPARITY_PREFIX "a"};

		snprintf(name, sizeof(name), "%s/%s", dir, names[i]);
		unlink(name);
	}
	return help_dir_count(dir) != 0;
}

/* Repeats a life with the Nth call of a kind failing, for N from 1 until the life makes fewer calls. */
static int fail_all(const char *kind, int error, int (*life)(void))
{
	for (int n = 1; n < MOST; n++) {
		const int descriptors = help_fd_count();
		char order[64];
		int e;

		snprintf(order, sizeof(order), "%s:%d/%d", kind, n, error);
		torture_order(order);
		torture_arm();
		e = life();
		torture_disarm();
		if (e < -4095 || help_fd_count() != descriptors || leaves_files(kind))
			fail_msg("%s: returns %d, leaves %d files and %d descriptors", order, e,
				 help_dir_count(dir), help_fd_count() - descriptors);
		if (!torture_reached())
			return n - 1;
	}
	fail_msg("%s: more than %d calls", kind, MOST);
	return 0;
}

static void torment(void **state)
{
	static const struct {
		const char *name;
		int errors; /* largest number of errors that wraps.c has for a call of this kind */
	} kinds[] = {{"malloc", 1}, {"mmap", 2},  {"open", 2},	 {"descriptor", 2}, {"socket", 3},
		     {"thread", 1}, {"read", 3},  {"write", 3},	 {"file", 2},	    {"wait", 2},
		     {"futex", 3},  {"clock", 1}, {"library", 1}};
	int (*life)(void) = (int (*)(void))(uintptr_t)*state;
	int failed = 0;

	assert_true(life() >= 0); /* if no call fails, the life must succeed */
	assert_int_equal(help_dir_count(dir), 0);
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (int error = 0; error < kinds[k].errors; error++)
			failed += fail_all(kinds[k].name, error, life);
	assert_true(failed > 0);
}

static int setup(void **state)
{
	help_dir_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/s", dir);
	sx_log_fd();
	return 0;
}

static int teardown(void **state)
{
	help_dir_remove(dir);
	return 0;
}

#define LIFE(name)                                                         \
	{                                                                  \
#name, torment, NULL, NULL, (void *)(uintptr_t)live_##name \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIFE(image),
		LIFE(name),
		LIFE(log),
		LIFE(instance),
		LIFE(listener),
		LIFE(ring),
		LIFE(ring_of_a_group),
		LIFE(ring_after_another),
		LIFE(reader),
		LIFE(stream),
		LIFE(stream_of_a_group),
		LIFE(feed),
		LIFE(disparity),
		LIFE(pairs),
		LIFE(status),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
