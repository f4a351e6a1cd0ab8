/*
 * Tests the log: both formats, levels, the ring of real-time threads, conditions that persist.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"

static int fd = -1;
static char text[4 << 20]; /* more than any test logs */

/* Returns everything logged since the last call. */
static const char *logged(void)
{
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	assert_true(n >= 0);
	text[n] = 0;
	assert_int_equal(ftruncate(fd, 0), 0);
	return text;
}

static void set_levels(const char *words)
{
	struct sx_log_levels levels;
	struct sx_why why;

	assert_int_equal(sx_log_levels_parse(&levels, words, &why), 0);
	sx_log_levels_set(&levels);
}

static int setup(void **state)
{
	if (fd < 0)
		fd = memfd_create("log", MFD_CLOEXEC);
	if (fd < 0 || fcntl(fd, F_SETFL, O_APPEND) < 0 || ftruncate(fd, 0) < 0)
		return -1;
	unsetenv("JOURNAL_STREAM");
	sx_log_to(fd);
	set_levels("info");
	return 0;
}

static void readable_line(void **state)
{
	int h, m, s, ms, used = 0;

	errno = EPIPE;
	sx_log(CAPTURE, WARNING, "left: %d frames", 3);
	assert_int_equal(errno, EPIPE);
	logged();
	assert_int_equal(
		sscanf(text, "%2d:%2d:%2d.%3d warning capture: left: 3 frames\n%n", &h, &m, &s, &ms, &used),
		4);
	assert_int_equal(used, strlen(text));
}

static void journal_line(void **state)
{
	char stream[64];
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	sx_log_to(fd);
	sx_log(CONFIG, ERROR, "no %s", "room");
	sx_log(CONFIG, NOTICE, "x");
	assert_string_equal(logged(), "<3>config: no room\n<5>config: x\n");

	/* a journal stream of another process, or an invalid one: not this process's stream */
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino + 1);
	setenv("JOURNAL_STREAM", stream, 1);
	sx_log_to(fd);
	sx_log(CONFIG, ERROR, "a");
	assert_null(strchr(logged(), '<'));
	setenv("JOURNAL_STREAM", "8", 1);
	sx_log_to(fd);
	sx_log(CONFIG, ERROR, "a");
	assert_null(strchr(logged(), '<'));
}

static void levels_by_topic(void **state)
{
	sx_log(CAPTURE, DEBUG, "hidden");
	assert_string_equal(logged(), "");
	set_levels("warning capture=debug,config=error");
	sx_log(CAPTURE, DEBUG, "a");
	sx_log(CONFIG, WARNING, "hidden");
	sx_log(CONFIG, ERROR, "b");
	sx_log(TOOLS, INFO, "hidden");
	sx_log(TOOLS, WARNING, "c");
	logged();
	assert_null(strstr(text, "hidden"));
	assert_non_null(strstr(text, "capture: a\n"));
	assert_non_null(strstr(text, "config: b\n"));
	assert_non_null(strstr(text, "tools: c\n"));
}

static void bad_levels_are_named(void **state)
{
	static const char *const bad[] = {"loud",     "info capture=loud", "camera=info",
					  "=info",    "capture=",	   "info;debug",
					  "gpu=info", "capture",	   "INFO"};
	struct sx_log_levels before, levels;
	struct sx_why why;

	memset(&before, 0x55, sizeof(before));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		levels = before;
		why.text[0] = 0;
		assert_int_equal(sx_log_levels_parse(&levels, bad[i], &why), -EINVAL);
		assert_non_null(strstr(why.text, "is not a log level"));
		assert_memory_equal(&levels, &before, sizeof(before));
	}
	assert_int_equal(sx_log_levels_parse(&levels, "", &why), 0);
	assert_int_equal(levels.level[SX_LOG_CONFIG], SX_LOG_INFO);
}

static void nothing_forges_lines(void **state)
{
	char big[2 * SX_LOG_TEXT_BYTES];
	const char *line;

	sx_log(DAEMON, INFO, "device '%s'", "a\n<0>kernel: panic\x1b[2J\x7f");
	logged();
	assert_non_null(strstr(text, "daemon: device 'a?<0>kernel: panic?[2J?'\n"));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	sx_log(DAEMON, INFO, "%s", big);
	line = strstr(logged(), "daemon: ");
	assert_non_null(line);
	assert_int_equal(strlen(line), strlen("daemon: ") + SX_LOG_TEXT_BYTES - 1 + 1);
	assert_string_equal(line + strlen(line) - 4, "...\n");
}

/* The threads below run one after another unless stated otherwise. Each switches to real-time logging. */
struct realtime {
	int lines, begun;
	_Atomic int ready, go;
};

static void *log_lines(void *arg)
{
	struct realtime *r = arg;

	r->begun = sx_log_realtime_begin();
	if (r->begun == 0)
		for (int i = 0; i < r->lines; i++)
			sx_log(CAPTURE, INFO, "line %d", i);
	atomic_store(&r->ready, 1);
	while (!atomic_load(&r->go))
		sched_yield();
	sx_log_realtime_end();
	return NULL;
}

static void finish(struct realtime *r, pthread_t thread)
{
	atomic_store(&r->go, 1);
	pthread_join(thread, NULL);
}

static void start(struct realtime *r, int lines, pthread_t *thread)
{
	memset(r, 0, sizeof(*r));
	r->lines = lines;
	assert_int_equal(pthread_create(thread, NULL, log_lines, r), 0);
	while (!atomic_load(&r->ready))
		sched_yield();
}

static void realtime_lines_wait_for_the_main_thread(void **state)
{
	struct pollfd p = {.fd = sx_log_fd(), .events = POLLIN};
	struct realtime r;
	pthread_t thread;

	assert_true(p.fd >= 0);
	assert_int_equal(sx_log_fd(), p.fd);
	assert_int_equal(sx_log_drain(), 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	start(&r, 3, &thread);
	assert_int_equal(r.begun, 0);
	assert_string_equal(logged(), "");
	assert_int_equal(poll(&p, 1, 0), 1);
	finish(&r, thread);
	assert_int_equal(sx_log_drain(), 3);
	assert_int_equal(poll(&p, 1, 0), 0);
	logged();
	assert_non_null(strstr(text, "line 0\n"));
	assert_true(strstr(text, "line 0\n") < strstr(text, "line 1\n"));
	assert_true(strstr(text, "line 1\n") < strstr(text, "line 2\n"));
}

static void a_full_ring_counts_what_it_loses(void **state)
{
	uint64_t before = sx_log_lost(), lines = sx_log_lines();
	struct realtime r;
	pthread_t thread;

	start(&r, 100, &thread);
	assert_int_equal(sx_log_lost() - before, 100 - 64);
	assert_int_equal(sx_log_drain(), 64);
	assert_int_equal(sx_log_lines() - lines, 64 + 1); /* a further line reports the loss */
	logged();
	assert_non_null(strstr(text, "line 63\n"));
	assert_null(strstr(text, "line 64\n"));
	assert_non_null(strstr(text, "36 log lines of a real-time thread were lost"));
	finish(&r, thread);
	assert_int_equal(sx_log_drain(), 0);
	assert_string_equal(logged(), ""); /* reported once */
}

static void rings_are_used_again(void **state)
{
	struct realtime r[9], late;
	pthread_t thread[9], late_thread;

	sx_log_drain();
	for (int i = 0; i < 9; i++) {
		start(&r[i], 1, &thread[i]);
		assert_int_equal(r[i].begun, i < 8 ? 0 : -EAGAIN);
		assert_int_equal(sx_log_drain(),
				 i < 8); /* an empty ring is not free while its thread lives */
	}
	for (int i = 0; i < 9; i++)
		finish(&r[i], thread[i]);
	/* the main thread has not checked since, so the ring is not free yet */
	start(&late, 1, &late_thread);
	finish(&late, late_thread);
	assert_int_equal(late.begun, -EAGAIN);
	assert_int_equal(sx_log_drain(), 0);
	start(&late, 2, &late_thread);
	finish(&late, late_thread);
	assert_int_equal(late.begun, 0);
	assert_int_equal(sx_log_drain(), 2);
	logged();
}

static void *log_for_part(void *part)
{
	struct sx_log_levels levels;
	struct sx_why why;

	sx_log_join(part);
	assert_ptr_equal(sx_log_part(), part);
	assert_int_equal(sx_log_levels_parse(&levels, "debug", &why), 0);
	sx_log_levels_set(&levels);
	sx_log(TOOLS, DEBUG, "at once");
	if (sx_log_realtime_begin() == 0)
		for (int i = 0; i < 70; i++)
			sx_log(TOOLS, DEBUG, "by a ring");
	assert_int_equal(sx_log_lost(), 70 - 64);
	sx_log_last(SX_LOG_TOOLS, "the end");
	sx_log_realtime_end();
	return NULL;
}

/* Lines of a part have its name and its levels, and it counts them; lines of other threads do not change. */
static void a_part_has_its_own_lines(void **state)
{
	static struct sx_log_part part = {.name = "front"};
	const uint64_t lost = sx_log_lost();
	pthread_t thread;
	const char *lines;

	assert_int_equal(pthread_create(&thread, NULL, log_for_part, &part), 0);
	pthread_join(thread, NULL);
	assert_null(sx_log_part());
	assert_int_equal(sx_log_drain(), 64);
	sx_log(TOOLS, DEBUG, "not to be seen");
	sx_log(TOOLS, INFO, "of the process");
	lines = logged();
	assert_non_null(strstr(lines, "debug   front: tools: at once\n"));
	assert_non_null(strstr(lines, "debug   front: tools: by a ring\n"));
	assert_non_null(strstr(lines, "front: base: 6 log lines of a real-time thread were lost"));
	assert_non_null(strstr(lines, "error front: tools: the end\n"));
	assert_non_null(strstr(lines, "info    tools: of the process\n"));
	assert_null(strstr(lines, "not to be seen"));
	assert_int_equal(part.lines, 1 + 64 + 1);
	assert_int_equal(part.lost, 6);
	assert_int_equal(sx_log_lost() - lost, 6);
}

/* The rings stay for the tests below. */
static void rings_are_added_once(void **state)
{
	struct realtime r[11];
	pthread_t thread[11];

	sx_log_drain();
	assert_int_equal(sx_log_add_rings(2), 0);
	assert_int_equal(sx_log_add_rings(2), -EALREADY);
	for (int i = 0; i < 11; i++) {
		start(&r[i], 1, &thread[i]);
		assert_int_equal(r[i].begun, i < 10 ? 0 : -EAGAIN);
	}
	for (int i = 0; i < 11; i++)
		finish(&r[i], thread[i]);
	assert_int_equal(sx_log_drain(), 10);
	logged();
}

static void *log_paced(void *arg)
{
	if (sx_log_realtime_begin() < 0)
		return NULL;
	for (int i = 0; i < 20000; i++)
		sx_log(TOOLS, INFO, "%d %d", (int)(intptr_t)arg, i);
	sx_log_realtime_end();
	return arg;
}

static void several_threads_at_once_lose_nothing_uncounted(void **state)
{
	uint64_t lost = sx_log_lost(), printed = 0;
	pthread_t thread[3];
	int done = 0, next[4] = {0};
	char *line, *rest = text;

	for (intptr_t i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, log_paced, (void *)(i + 1)), 0);
	for (int64_t end = sx_now_ns() + SX_NS_PER_S / 4; sx_now_ns() < end;)
		printed += (uint64_t)sx_log_drain();
	for (int i = 0; i < 3; i++) {
		void *ret;

		pthread_join(thread[i], &ret);
		done += ret != NULL;
	}
	printed += (uint64_t)sx_log_drain();
	assert_int_equal(done, 3);
	assert_int_equal(printed + sx_log_lost() - lost, 3 * 20000);
	logged();
	while ((line = strsep(&rest, "\n")) && *line) {
		int who, number;
		char *cpu = strstr(line, "tools: ");

		if (!cpu) {
			assert_non_null(strstr(line, "were lost"));
			continue;
		}
		assert_int_equal(sscanf(cpu, "tools: %d %d", &who, &number), 2);
		assert_in_range(who, 1, 3);
		assert_true(number >= next[who]); /* lines are in order; gaps are lost lines */
		next[who] = number + 1;
	}
}

static int lines_logged(void)
{
	int n = 0;

	for (const char *c = logged(); *c; c++)
		n += *c == '\n';
	return n;
}

static void hit(struct sx_condition *c, int64_t now)
{
	sx_condition_hit(c, now, SX_LOG_CAPTURE, SX_LOG_WARNING, "left: late by %d us", 40);
}

static void a_condition_is_told_when_it_begins_and_ends(void **state)
{
	struct sx_condition c = {0};
	int64_t t = 100 * SX_NS_PER_S;

	sx_condition_clear(&c, t, SX_LOG_CAPTURE, "left: in time");
	assert_int_equal(lines_logged(), 0);
	hit(&c, t);
	logged();
	assert_non_null(strstr(text, "warning capture: left: late by 40 us\n"));
	for (int i = 1; i <= 50; i++) { /* the condition alternates for 5 s */
		sx_condition_clear(&c, t + i * (SX_NS_PER_S / 10) - 1, SX_LOG_CAPTURE, "left: in time");
		hit(&c, t + i * (SX_NS_PER_S / 10));
	}
	assert_int_equal(lines_logged(), 0);
	t += 5 * SX_NS_PER_S;
	sx_condition_clear(&c, t + 2 * SX_NS_PER_S - 1, SX_LOG_CAPTURE, "left: in time");
	assert_int_equal(lines_logged(), 0);
	sx_condition_clear(&c, t + 2 * SX_NS_PER_S, SX_LOG_CAPTURE, "left: in time");
	logged();
	assert_non_null(strstr(text, "capture: left: in time (after 51 times in 5 s)\n"));
	sx_condition_clear(&c, t + 9 * SX_NS_PER_S, SX_LOG_CAPTURE, "left: in time");
	assert_int_equal(lines_logged(), 0);
	hit(&c, t + 10 * SX_NS_PER_S); /* a new condition starts at 1 */
	assert_null(strstr(logged(), "times"));
}

static void a_long_condition_is_told_every_minute(void **state)
{
	struct sx_condition c = {0};
	int64_t t = 100 * SX_NS_PER_S;
	int lines = 0;

	for (int i = 0; i < 300; i++)
		hit(&c, t + i * SX_NS_PER_S);
	for (const char *l = logged(); (l = strchr(l, '\n')); l++)
		lines++;
	assert_int_equal(lines, 5); /* at 0, 60, 120, 180, 240 s */
	assert_non_null(strstr(text, "late by 40 us (241 times in 240 s)\n"));
}

/* Makes libc's function fail, for a test whose clock is beyond all years. */
static bool no_time_of_day;

struct tm *localtime_r(const time_t *t, struct tm *tm)
{
	return no_time_of_day ? NULL : gmtime_r(t, tm);
}

static void lines_that_cannot_be_as_they_should(void **state)
{
	const wchar_t beyond[] = {0x110000, 0};
	char last[600];
	struct sx_why why;
	struct sx_log_levels levels;
	struct sx_condition c = {0};

	sx_log(TOOLS, INFO, "%ls", beyond);
	assert_non_null(strstr(logged(), "tools: (format error) %ls\n"));
	no_time_of_day = true;
	sx_log(TOOLS, INFO, "when");
	no_time_of_day = false;
	assert_string_equal(logged(), "info tools: when\n");
	memset(last, 'x', sizeof(last) - 1);
	last[sizeof(last) - 1] = 0;
	sx_log_last(SX_LOG_TOOLS, last);
	assert_in_range(strlen(logged()), SX_LOG_TEXT_BYTES, SX_LOG_TEXT_BYTES + 32);
	assert_int_equal(sx_log_levels_parse(&levels, last, &why), -EINVAL);
	assert_int_equal(strcspn(why.text + 1, "'"), 64);
	sx_condition_hit(&c, 1, SX_LOG_TOOLS, SX_LOG_DEBUG, "not to be seen");
	assert_true(c.on);
	assert_string_equal(logged(), "");
	/* a stream with more than two numbers is invalid */
	setenv("JOURNAL_STREAM", "1:2:3", 1);
	sx_log_to(fd);
	sx_log(TOOLS, INFO, "plain");
	assert_null(strchr(logged(), '<'));
	unsetenv("JOURNAL_STREAM");
}

/*
 * The counter is full, or its descriptor was closed. Lines are kept anyway. This test runs last, because the
 * counter does not recover.
 */
static void the_counter_of_lines(void **state)
{
	const uint64_t full = UINT64_MAX - 1;

	assert_int_equal(sx_log_realtime_begin(), 0);
	assert_int_equal(sx_log_realtime_begin(), 0); /* the thread already has a ring */
	assert_int_equal(write(sx_log_fd(), &full, sizeof(full)), sizeof(full));
	sx_log(TOOLS, INFO, "kept");
	assert_int_equal(sx_log_drain(), 1);
	assert_non_null(strstr(logged(), "kept"));
	close(sx_log_fd());
	sx_log(TOOLS, INFO, "kept for long");
	assert_int_equal(sx_log_drain(), -EBADF);
	sx_log_realtime_end();
}

/* Runs first, before any call has set the target of log lines. */
static void before_anything_is_set(void **state)
{
	struct rlimit limit, none;

	sx_log(TOOLS, INFO, "a line to stderr");
	assert_int_equal(sx_log_drain(), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(sx_log_fd(), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(sx_log_fd() >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_anything_is_set),
		cmocka_unit_test_setup(readable_line, setup),
		cmocka_unit_test_setup(journal_line, setup),
		cmocka_unit_test_setup(levels_by_topic, setup),
		cmocka_unit_test_setup(bad_levels_are_named, setup),
		cmocka_unit_test_setup(nothing_forges_lines, setup),
		cmocka_unit_test_setup(realtime_lines_wait_for_the_main_thread, setup),
		cmocka_unit_test_setup(a_full_ring_counts_what_it_loses, setup),
		cmocka_unit_test_setup(rings_are_used_again, setup),
		cmocka_unit_test_setup(several_threads_at_once_lose_nothing_uncounted, setup),
		cmocka_unit_test_setup(a_part_has_its_own_lines, setup),
		cmocka_unit_test_setup(rings_are_added_once, setup),
		cmocka_unit_test_setup(a_condition_is_told_when_it_begins_and_ends, setup),
		cmocka_unit_test_setup(a_long_condition_is_told_every_minute, setup),
		cmocka_unit_test_setup(lines_that_cannot_be_as_they_should, setup),
		cmocka_unit_test_setup(the_counter_of_lines, setup),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
