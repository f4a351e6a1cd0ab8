/*
 * Tests how the watch notices that a camera is back: events that wake, events that do not, and events during
 * an attempt.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/v4l2/watch.h"
#include "tests/capture/image_files.h"

struct fixture {
	char folder[256];
	const char *left, *right;
	struct sx_source_params p;
	int fd;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	folder_make(f->folder);
	/*
	 * The names are below the working folder, because other processes are busy in the folders above it.
	 */
	assert_int_equal(chdir(f->folder), 0);
	assert_int_equal(mkdir("dev", 0700), 0);
	f->left = "dev/by-path/left";
	f->right = "dev/right";
	f->p = (struct sx_source_params){.kind = SX_SOURCE_V4L2, .left = f->left, .right = f->right};
	f->fd = sx_watch_open(&f->p);
	assert_true(f->fd >= 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	close(f->fd);
	assert_int_equal(chdir("/"), 0);
	folder_remove(f->folder);
	free(f);
	return 0;
}

static bool woken(const struct fixture *f)
{
	struct pollfd p = {.fd = f->fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* Checks that the event asks for another attempt and is then cleared. */
static void expect_change(const struct fixture *f)
{
	assert_true(woken(f));
	assert_true(sx_watch_rearm(f->fd, &f->p));
	assert_false(woken(f));
	assert_false(sx_watch_rearm(f->fd, &f->p));
}

static void touch(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void test_names(void **state)
{
	const struct fixture *f = *state;
	assert_false(woken(f));
	touch(f->right);
	expect_change(f);
	assert_int_equal(chmod(f->right, 0660), 0); /* as udev does */
	expect_change(f);
	assert_int_equal(rename(f->right, "dev/other"), 0);
	expect_change(f);
	assert_int_equal(rename("dev/other", f->right), 0); /* links are moved into place */
	expect_change(f);
	assert_int_equal(unlink(f->right), 0);
	expect_change(f);
	assert_int_equal(symlink("/dev/null", f->right), 0);
	expect_change(f);
}

/* /dev/v4l/by-path is created with the first camera. */
static void test_folder_that_comes(void **state)
{
	const struct fixture *f = *state;
	const char *folder = "dev/by-path";

	assert_int_equal(mkdir(folder, 0700), 0);
	expect_change(f);
	touch(f->left);
	expect_change(f);
	assert_int_equal(unlink(f->left), 0);
	assert_int_equal(rmdir(folder), 0);
	expect_change(f);
	assert_int_equal(mkdir(folder, 0700), 0);
	expect_change(f);
	touch(f->left);
	expect_change(f);
}

/*
 * Another process closes the device, which wakes the watch. The kernel reports our own attempt in the same
 * way; it is cleared.
 */
static void test_device_in_use(void **state)
{
	const struct fixture *f = *state;

	touch(f->right);
	expect_change(f);
	touch(f->right);
	assert_true(woken(f));
	assert_false(sx_watch_rearm(f->fd, &f->p));
	assert_false(woken(f));
	/* a name that appears during the attempt is an event, too */
	touch(f->right);
	assert_int_equal(chmod(f->right, 0660), 0);
	touch(f->right);
	assert_true(sx_watch_rearm(f->fd, &f->p));
	assert_false(woken(f));
}

/* Sends more events than one read holds. */
static void test_many(void **state)
{
	const struct fixture *f = *state;

	for (int i = 0; i < 300; i++) {
		char name[64];

		snprintf(name, sizeof(name), "dev/a-name-that-is-rather-long-%d", i);
		touch(name);
	}
	touch(f->right);
	expect_change(f);
}

static void test_nothing_to_watch(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .left = "/tmp"};
	char *empty = malloc(1); /* ASan detects a read past the end */
	char *endless = malloc(2000);
	int fd;

	assert_int_equal(sx_watch_open(&p), -1);
	p.kind = SX_SOURCE_SYNTHETIC;
	assert_int_equal(sx_watch_open(&p), -1);
	assert_false(sx_watch_rearm(-1, &p));
	assert_non_null(empty);
	assert_non_null(endless);
	*empty = 0;
	memset(endless, 'a', 1999);
	endless[0] = '/';
	endless[1999] = 0;
	p = (struct sx_source_params){.kind = SX_SOURCE_V4L2, .left = empty, .right = endless};
	fd = sx_watch_open(&p);
	assert_true(fd >= 0);
	close(fd);
	p.left = "no-folder";
	p.right = NULL;
	fd = sx_watch_open(&p);
	assert_true(fd >= 0);
	close(fd);
	free(empty);
	free(endless);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_folder_that_comes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_device_in_use, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
		cmocka_unit_test(test_nothing_to_watch),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
