/*
 * Tests the queue in front of a file: order, room, and what happens when the file accepts no data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "recording/file_queue.h"

/*
 * Reads until at least `least` bytes are in got, after n bytes that were there before. Returns their number.
 */
static size_t read_at_least(int fd, uint8_t got[5000], size_t n, size_t least)
{
	while (n < least) {
		ssize_t more = read(fd, got + n, 5000 - n);

		assert_true(more > 0);
		n += (size_t)more;
	}
	return n;
}

static void test_queue_keeps_order(void **state)
{
	struct sx_file_queue *q;
	uint8_t got[5000];
	size_t n = 0;
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(fcntl(pipes[1], F_SETPIPE_SZ, 4096), 4096);
	assert_int_equal(sx_file_queue_create(&q, pipes[1], 1000, NULL), 0);
	for (int i = 0; i < 500; i++) {
		uint8_t ten[10];

		memset(ten, i, sizeof(ten));
		/*
		 * The pipe takes at least 3097 bytes, because it waits for room for a whole write, and the
		 * queue takes 1000 bytes. Read from the pipe before both are full, because no other thread
		 * does, and leave enough room for the rest.
		 */
		if (i == 400)
			n = read_at_least(pipes[0], got, 0, 2500);
		assert_int_equal(sx_file_queue_put(q, ten, sizeof(ten)), 0);
	}
	read_at_least(pipes[0], got, n, sizeof(got));
	assert_int_equal(sx_file_queue_flush(q), 0);
	assert_int_equal(sx_file_queue_written(q), sizeof(got));
	for (size_t i = 0; i < sizeof(got); i++)
		assert_int_equal(got[i], (uint8_t)(i / 10));
	sx_file_queue_destroy(q);
	close(pipes[0]);
	close(pipes[1]);
}

/* Creates a queue that guards a new file, and writes 6 bytes to the file with put(). */
static struct sx_file_queue *guarded(char path[64], int *fd)
{
	struct sx_file_queue *q;

	snprintf(path, 64, "/tmp/stixel-queue-XXXXXX");
	*fd = mkstemp(path);
	assert_true(*fd >= 0);
	assert_int_equal(sx_file_queue_create(&q, *fd, 1000, NULL), 0);
	sx_file_queue_guard(q);
	assert_int_equal(sx_file_queue_put(q, "frames", 6), 0);
	assert_int_equal(sx_file_queue_flush(q), 0);
	assert_false(sx_file_queue_touched(q));
	return q;
}

static void test_queue_guards_its_file(void **state)
{
	enum { UNLINK, CUT, GROW, OVERWRITE, RENAME, HARMS };
	static const int want[HARMS] = {-ENOENT, -ESTALE, -ESTALE, 0, 0};
	const struct timespec later[2] = {{1, 0}, {1, 0}};

	for (int harm = 0; harm < HARMS; harm++) {
		char path[64], other[80];
		int fd;
		struct sx_file_queue *q = guarded(path, &fd);

		snprintf(other, sizeof(other), "%s.other", path);
		if (harm == UNLINK)
			assert_int_equal(unlink(path), 0);
		else if (harm == RENAME)
			assert_int_equal(rename(path, other), 0);
		else if (harm == CUT || harm == GROW)
			assert_int_equal(truncate(path, harm == CUT ? 3 : 7), 0);
		else /* sets the times as a write would, whatever the resolution of the file system's clock */
			assert_int_equal(utimensat(AT_FDCWD, path, later, 0), 0);
		sx_file_queue_put(q, "more", 4);
		assert_int_equal(sx_file_queue_flush(q), want[harm]);
		assert_int_equal(sx_file_queue_touched(q), harm == OVERWRITE);
		assert_int_equal(sx_file_queue_written(q), want[harm] ? 6 : 10);
		sx_file_queue_destroy(q);
		close(fd);
		unlink(path);
		unlink(other);
	}
}

/* No data follows the damage: the check at the end must find it. */
static void test_queue_guards_its_file_at_the_end(void **state)
{
	char path[64];
	int fd;
	struct sx_file_queue *q = guarded(path, &fd);

	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(sx_file_queue_flush(q), -ESTALE);
	assert_int_equal(sx_file_queue_put(q, "more", 4), -ESTALE);
	sx_file_queue_destroy(q);
	close(fd);
	unlink(path);
}

static void test_queue_tells_a_full_disk(void **state)
{
	int fd = open("/dev/full", O_WRONLY);
	struct sx_file_queue *q;
	char text[100] = "";
	int r = 0;

	assert_true(fd >= 0);
	assert_int_equal(sx_file_queue_create(&q, fd, 1000, NULL), 0);
	for (int i = 0; i < 1000 && r == 0; i++)
		r = sx_file_queue_put(q, text, sizeof(text));
	assert_int_equal(r, -ENOSPC);
	assert_int_equal(sx_file_queue_flush(q), -ENOSPC);
	sx_file_queue_destroy(q);
	close(fd);
}

static void *read_late(void *user)
{
	const struct timespec late = {.tv_nsec = 500000000};
	uint8_t got[5000];

	nanosleep(&late, NULL);
	read_at_least(*(int *)user, got, 0, sizeof(got));
	return NULL;
}

/* A queue that had nothing to write must not count as slow. */
static void check_timeout_with_an_idle_one(struct sx_file_queue *q, int fd)
{
	static char some[2000];
	pthread_t reader;

	assert_int_equal(pthread_create(&reader, NULL, read_late, &fd), 0);
	assert_int_equal(sx_file_queue_put(q, some, sizeof(some)), 0);
	assert_int_equal(sx_file_queue_flush(q), 0);
	pthread_join(reader, NULL);
}

/* After a request to stop, the queue does not wait for a reader that no longer reads. */
static void test_queue_gives_up(void **state)
{
	volatile sig_atomic_t stop = 0;
	struct sx_file_queue *q, *idle;
	static char much[200000];
	int pipes[2], idle_pipes[2];

	assert_int_equal(pipe(idle_pipes), 0);
	assert_int_equal(fcntl(idle_pipes[1], F_SETPIPE_SZ, 4096), 4096);
	assert_int_equal(write(idle_pipes[1], much, 4096), 4096); /* the pipe is full */
	assert_int_equal(sx_file_queue_create(&idle, idle_pipes[1], 500, &stop), 0);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(sx_file_queue_create(&q, pipes[1], 1000, &stop), 0);
	stop = 1;
	assert_int_equal(sx_file_queue_put(q, much, sizeof(much)), -ETIMEDOUT);
	sx_file_queue_destroy(q);
	close(pipes[0]);
	close(pipes[1]);
	/* the idle queue had nothing to do during all that time */
	check_timeout_with_an_idle_one(idle, idle_pipes[0]);
	sx_file_queue_destroy(idle);
	close(idle_pipes[0]);
	close(idle_pipes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue_keeps_order),
		cmocka_unit_test(test_queue_guards_its_file),
		cmocka_unit_test(test_queue_guards_its_file_at_the_end),
		cmocka_unit_test(test_queue_tells_a_full_disk),
		cmocka_unit_test(test_queue_gives_up),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
