/*
 * Tests broken contracts. Each ends the process with exit code 70 and one sentence as the last line of the
 * log, from any thread and in any state of the log.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/log.h"

static int failing_clocks; /* number of the next calls that fail */

/* Replaces the C library's function. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	if (failing_clocks && failing_clocks--) {
		errno = EPERM;
		return -1;
	}
	return (int)syscall(SYS_clock_gettime, id, t);
}

static void break_small(void)
{
	const unsigned slots = 3;
	const int64_t taken = -4;

	sx_must(taken, <, slots); /* compares by value: as unsigned the contract would fail */
	sx_must(taken * 2, >=, slots);
}

static void break_large(void)
{
	const uint64_t head = UINT64_MAX;

	sx_must(head, >, INT64_MAX);
	sx_must(INT64_MIN, ==, INT64_MAX);
}

/* Breaks only the last contract. The others hold by value. */
static void break_narrow(void)
{
	const struct {
		unsigned three : 3;
		int minus : 3;
	} bits = {5, -1};
	const uint8_t byte = 255;
	const bool yes = true;

	sx_must(bits.three, ==, 5);
	sx_must(bits.minus, <, bits.three);
	sx_must(bits.minus, <, UINT64_MAX);
	sx_must(INT64_MIN, <, 0u);
	sx_must(byte, >, (int8_t)-1);
	sx_must(UINT32_MAX, !=, -1);
	sx_must(UINT64_MAX, !=, -1);
	sx_must(yes, ==, 1);
	sx_must_index(UINT64_MAX - 1, UINT64_MAX);
	sx_must(bits.minus, >=, byte);
}

static void break_index(void)
{
	const size_t room = 4;
	int i = 3;

	sx_must_index(i++, room);
	sx_must_index(i, room);
}

static void break_negative(void)
{
	sx_must_index(-1, SIZE_MAX);
}

static void break_state(void)
{
	bool joined = true;

	sx_must_be(joined);
	sx_must_be(!joined);
}

static int or_leaves(int n)
{
	sx_must_or(return -EINVAL, n, >, 0);
	return n;
}

static void break_or(void)
{
	or_leaves(1);
	or_leaves(0);
}

static void break_clock(void)
{
	failing_clocks = 1000;
	sx_now_ns();
}

static void break_long(void)
{
	sx_contract_broken(
		"../../../some/file.c", 7,
		"an expression that goes on and on, and on: that is longer than any line of the log may "
		"be, so that something of it has to be left out; which is better than what comes "
		"behind it in memory, or nothing at all of all this",
		1, 2);
}

static void *in_thread(void *run)
{
	assert_int_equal(sx_log_realtime_begin(), 0);
	sx_log(TOOLS, WARNING, "lies in the ring");
	((void (*)(void))(uintptr_t)run)();
	return NULL;
}

static void (*of_realtime)(void);
static void from_realtime(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, in_thread, (void *)(uintptr_t)of_realtime);
	pthread_join(thread, NULL);
}

/*
 * Runs a function in a child process and returns what the child logs to a pipe, or to fd. Checks how the
 * child ends.
 */
static const char *last_words(void (*run)(void), int fd)
{
	static char text[4096];
	int ends[2], status = 0;
	size_t used = 0;
	ssize_t n;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sx_log_to(fd >= 0 ? fd : ends[1]);
		run();
		_exit(1);
	}
	close(ends[1]);
	while ((n = read(ends[0], text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)n;
	close(ends[0]);
	text[used] = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 70);
	return text;
}

/* Returns the beginning of a line about this file, relative to the source root. */
static const char *begins_with(const char *level)
{
	static char text[512];
	const char *file = __FILE__;

	while (!strncmp(file, "../", 3))
		file += 3;
	assert_non_null(strstr(file, "tests/base/test_contract.c"));
	snprintf(text, sizeof(text), "%sbase: %s:", level, file);
	return text;
}

/* Returns the sentence after the file and its line. */
static const char *sentence(const char *text)
{
	const char *begins = begins_with("error "), *at;

	assert_memory_equal(text, begins, strlen(begins));
	at = strstr(text, ": contract broken: ");
	assert_non_null(at);
	assert_true(strtol(text + strlen(begins), NULL, 10) > 30);
	return at + strlen(": contract broken: ");
}

static void says_expression_and_values(void **state)
{
	assert_string_equal(sentence(last_words(break_small, -1)), "taken * 2 >= slots, with -8 and 3\n");
	assert_string_equal(sentence(last_words(break_large, -1)),
			    "INT64_MIN == INT64_MAX, with -9223372036854775808 and 9223372036854775807\n");
	assert_string_equal(sentence(last_words(break_narrow, -1)), "bits.minus >= byte, with -1 and 255\n");
	assert_string_equal(sentence(last_words(break_index, -1)), "0 <= i < room, with 4 and 4\n");
	assert_string_equal(sentence(last_words(break_negative, -1)), "0 <= -1 < SIZE_MAX, with -1 and -1\n");
	assert_string_equal(sentence(last_words(break_state, -1)), "!joined\n");
	assert_string_equal(sentence(last_words(break_or, -1)), "n > 0, with 0 and 0\n");
}

static void a_lost_clock_is_an_end(void **state)
{
	const int64_t before = sx_now_ns();

	failing_clocks = 1; /* a single failure does no harm */
	assert_true(sx_now_ns() >= before);
	assert_string_equal(last_words(break_clock, -1),
			    "error base: CLOCK_MONOTONIC cannot be read (errno 1): "
			    "nothing can go on without it\n");
	of_realtime = break_clock;
	assert_non_null(strstr(last_words(from_realtime, -1), "CLOCK_MONOTONIC cannot be read"));
}

static void a_line_is_bounded(void **state)
{
	const char *text = last_words(break_long, -1);

	assert_memory_equal(text, "error base: some/file.c:7: contract broken: an expression", 57);
	assert_in_range(strlen(text), SX_LOG_TEXT_BYTES, SX_LOG_TEXT_BYTES + 32);
	assert_int_equal(text[strlen(text) - 1], '\n');
}

static void a_realtime_thread_needs_nobody(void **state)
{
	of_realtime = break_state;
	assert_string_equal(sentence(last_words(from_realtime, -1)), "!joined\n");
}

static void the_journal_gets_its_level(void **state)
{
	char name[] = "/tmp/contract-XXXXXX", stream[64], text[256] = "";
	const int fd = mkstemp(name);
	struct stat st;

	unlink(name);
	assert_int_equal(fstat(fd, &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	assert_string_equal(last_words(break_state, fd), "");
	unsetenv("JOURNAL_STREAM");
	assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
	assert_memory_equal(text, begins_with("<3>"), strlen(begins_with("<3>")));
	close(fd);
}

/* The log's pipe has no reader. The process ends anyway, after at most one second. */
static void a_full_pipe_holds_nothing_up(void **state)
{
	const int64_t began = sx_now_ns();
	char byte = 'x';
	int ends[2];

	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	while (write(ends[1], &byte, 1) == 1)
		;
	assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
	last_words(break_state, ends[1]);
	assert_in_range((sx_now_ns() - began) / 1000000, 900, 10000);
	close(ends[0]);
	close(ends[1]);
}

static void a_closed_stderr_changes_nothing(void **state)
{
	last_words(break_state, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_expression_and_values),
		cmocka_unit_test(a_lost_clock_is_an_end),
		cmocka_unit_test(a_line_is_bounded),
		cmocka_unit_test(a_realtime_thread_needs_nobody),
		cmocka_unit_test(the_journal_gets_its_level),
		cmocka_unit_test(a_full_pipe_holds_nothing_up),
		cmocka_unit_test(a_closed_stderr_changes_nothing),
	};

	unsetenv("JOURNAL_STREAM");
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
