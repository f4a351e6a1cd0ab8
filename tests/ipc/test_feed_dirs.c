/*
 * Tests where writers put their rings and where the daemon looks for them. Other users must not be able to
 * hold a name that keeps the two apart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "ipc/feed/feed_dirs.h"
#include "ipc/feed/scores.h"
#include "tests/ipc/help.h"
#include "tests/ipc/scores_case.h"

enum { USER = 4243, STRANGER = 4244 };

static char top[64], own[256], shared[128], name[64];

/*
 * Runs the test as an ordinary user without groups and with a runtime folder. The folder of root's writers
 * exists, too.
 */
static int setup(void **state)
{
	char folder[128];

	if (scores_setup(state) < 0)
		return -1;
	help_dir_make(top, sizeof(top));
	snprintf(name, sizeof(name), "test-places-%d", (int)getpid());
	snprintf(own, sizeof(own), "%s/stixel-feed/" SX_SCORES_PREFIX "%s", top, name);
	snprintf(shared, sizeof(shared), "/dev/shm/" SX_SCORES_PREFIX "%s", name);
	setenv("XDG_RUNTIME_DIR", top, 1);
	if (geteuid() != 0)
		return 0;
	sx_feed_writers_dir(folder, sizeof(folder));
	return chown(top, USER, USER) < 0 || setegid(USER) < 0 || seteuid(USER) < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	if (getuid() == 0 && (seteuid(0) < 0 || setegid(0) < 0))
		return -1;
	unlink(own);
	unlink(shared);
	unsetenv("XDG_RUNTIME_DIR");
	*strrchr(own, '/') = 0;
	rmdir(own);
	help_dir_remove(top);
	return scores_teardown(state);
}

static struct stixel_scores *writer_in(const char *folder)
{
	struct stixel_scores_format f = format();
	struct stixel_scores *w = NULL;

	f.folder = folder;
	assert_int_equal(stixel_scores_create(&w, name, &f, sizeof(f)), 0);
	return w;
}

static struct sx_feed *feed_anywhere(void)
{
	struct sx_feed_params p = params();

	p.name = name;
	p.shm_dir = NULL;
	return feed_of(p);
}

/* Puts a file of another user at the name. */
static void squat(mode_t mode)
{
	int fd;

	if (getuid() != 0)
		skip();
	assert_int_equal(seteuid(0), 0);
	fd = open(shared, O_CREAT | O_EXCL | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(fchown(fd, STRANGER, STRANGER), 0);
	close(fd);
	assert_int_equal(seteuid(USER), 0);
}

static void a_held_name_is_in_nobodys_way(void **state)
{
	struct stixel_scores *w;
	struct sx_feed *in;

	squat(0600);
	w = writer_in(NULL);
	assert_int_equal(access(own, F_OK), 0);
	in = feed_anywhere();
	look(in);
	give(w, at(0));
	assert_int_equal(take(in, at(0)), 0);
	assert_string_equal(sx_feed_why(in), "");
	stixel_scores_close(w);
	assert_int_equal(access(own, F_OK), -1);
	sx_feed_destroy(in);
}

static void a_held_name_is_told(void **state)
{
	struct sx_feed *in;

	squat(0644);
	in = feed_anywhere();
	look(in);
	assert_int_equal(sx_feed_state(in, 1), SX_FEED_REFUSED);
	assert_non_null(strstr(sx_feed_why(in), "has owner 4244, group 4244, mode 644"));
	assert_non_null(strstr(sx_feed_why(in),
			       "none but members in /run/stixel-feed: systemd-tmpfiles --create "
			       "stixeld.conf"));
	sx_feed_destroy(in);
}

static void absence_names_both_ends(void **state)
{
	struct sx_feed *in = feed_anywhere();

	look(in);
	assert_int_equal(sx_feed_state(in, 1), SX_FEED_ABSENT);
	assert_non_null(strstr(sx_feed_why(in), "there is no /run/stixel-feed/stixel-scores."));
	assert_non_null(strstr(sx_feed_why(in), ", nor /dev/shm/stixel-scores."));
	sx_feed_destroy(in);
}

/* The daemon reads the ring of an older library until a ring of its successor is there. */
static void older_writers_are_read(void **state)
{
	struct stixel_scores *old = writer_in("/dev/shm"), *w;
	struct sx_feed *in = feed_anywhere();

	give(old, at(0));
	look(in);
	assert_int_equal(take(in, at(0)), 0);
	w = writer_in(NULL);
	look(in);
	give(w, at(100));
	look(in);
	assert_int_equal(take(in, at(100)), 100);
	assert_int_equal(counters(in).restarts, 1);
	/* the feed returns to the older writer */
	stixel_scores_close(w);
	look(in);
	give(old, at(200));
	look(in);
	assert_int_equal(take(in, at(200)), 200);
	/* a ring whose name is gone, although its writer has not ended */
	w = writer_in(NULL);
	give(w, at(300));
	look(in);
	assert_int_equal(take(in, at(300)), 300);
	assert_int_equal(unlink(own), 0);
	give(old, at(400));
	look(in);
	look(in);
	assert_int_equal(take(in, at(400)), 400);
	stixel_scores_close(w);
	stixel_scores_close(old);
	sx_feed_destroy(in);
}

/*
 * A ring that must not be read in the preferred place does not hide the other place, and is not
 * counted again.
 */
static void garbage_in_the_better_dir(void **state)
{
	struct stixel_scores *w = writer_in("/dev/shm");
	struct sx_feed *in;
	char folder[128];
	int fd;

	snprintf(folder, sizeof(folder), "%s/stixel-feed", top);
	mkdir(folder, 0700);
	fd = open(own, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "garbage", 7), 7);
	close(fd);
	in = feed_anywhere();
	give(w, at(0));
	for (int i = 0; i < 5; i++)
		look(in);
	assert_int_equal(take(in, at(0)), 0);
	assert_int_equal(counters(in).received, 1);
	assert_int_equal(counters(in).restarts, 0);
	stixel_scores_close(w);
	sx_feed_destroy(in);
}

int main(void)
{
#define DIRS(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		DIRS(a_held_name_is_in_nobodys_way), DIRS(a_held_name_is_told),
		DIRS(absence_names_both_ends),	     DIRS(older_writers_are_read),
		DIRS(garbage_in_the_better_dir),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
