/*
 * Tests that result files appear complete or not at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
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

#include "tools/common/outfile.h"

static char folder[] = "/tmp/stixel-outfile-XXXXXX";

static int entries(void)
{
	DIR *d = opendir(folder);
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static const char *inside(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void test_commit(void **state)
{
	struct sx_outfile o;
	struct stat st;
	char text[8] = "";
	mode_t mask = umask(027);
	FILE *f;

	assert_int_equal(sx_outfile_open(&o, inside("a")), 0);
	fputs("whole", o.f);
	assert_int_equal(access(inside("a"), F_OK), -1);
	assert_int_equal(sx_outfile_commit(&o), 0);
	assert_null(o.f);
	assert_int_equal(stat(inside("a"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	f = fopen(inside("a"), "r");
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_string_equal(text, "whole");
	assert_int_equal(entries(), 1);
	unlink(inside("a"));
	umask(mask);
}

static void test_abort_leaves_the_old_file(void **state)
{
	struct sx_outfile o;
	char text[8] = "";
	FILE *f = fopen(inside("b"), "w");

	fputs("old", f);
	fclose(f);
	assert_int_equal(sx_outfile_open(&o, inside("b")), 0);
	fputs("new", o.f);
	sx_outfile_abort(&o);
	sx_outfile_abort(&o);
	f = fopen(inside("b"), "r");
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_string_equal(text, "old");
	assert_int_equal(entries(), 1);
	unlink(inside("b"));
}

static void test_no_folder(void **state)
{
	struct sx_outfile o = {0};

	assert_int_equal(sx_outfile_open(&o, inside("none/c")), -ENOENT);
	assert_null(o.f);
	sx_outfile_abort(&o);
}

static void test_too_long(void **state)
{
	static char path[PATH_MAX + 8];
	struct sx_outfile o = {0};

	memset(path, 'x', sizeof(path) - 1);
	assert_int_equal(sx_outfile_open(&o, path), -ENAMETOOLONG);
}

/* a rename over a folder fails: the temporary file must be deleted */
static void test_failed_commit_leaves_nothing(void **state)
{
	struct sx_outfile o;

	assert_int_equal(mkdir(inside("d"), 0700), 0);
	assert_int_equal(sx_outfile_open(&o, inside("d")), 0);
	assert_int_equal(sx_outfile_commit(&o), -EISDIR);
	assert_int_equal(entries(), 1);
	rmdir(inside("d"));
}

static void test_full_disk(void **state)
{
	struct sx_outfile o;

	assert_int_equal(sx_outfile_open(&o, inside("e")), 0);
	fclose(o.f);
	o.f = fopen("/dev/full", "w");
	assert_non_null(o.f);
	fputs("too much", o.f);
	assert_int_equal(sx_outfile_commit(&o), -ENOSPC);
	assert_int_equal(entries(), 0);
}

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void assert_file(const char *path, const char *text)
{
	char got[16] = "";
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_non_null(fgets(got, sizeof(got), f));
	fclose(f);
	assert_string_equal(got, text);
}

static void test_new_alone(void **state)
{
	struct sx_outfile o;

	assert_int_equal(sx_outfile_open_new(&o, inside("n")), 0);
	fputs("first", o.f);
	assert_int_equal(sx_outfile_commit(&o), 0);
	assert_file(inside("n"), "first");
	assert_int_equal(sx_outfile_open_new(&o, inside("n")), -EEXIST);
	assert_null(o.f);
	assert_int_equal(sx_outfile_open(&o, inside("n")), 0); /* the most recent open decides */
	fputs("second", o.f);
	assert_int_equal(sx_outfile_commit(&o), 0);
	assert_file(inside("n"), "second");
	assert_int_equal(unlink(inside("n")), 0);
	assert_int_equal(entries(), 0);
}

static void test_new_that_comes_late(void **state)
{
	struct sx_outfile o;

	assert_int_equal(sx_outfile_open_new(&o, inside("l")), 0);
	fputs("late", o.f);
	put_file(inside("l"), "there");
	assert_int_equal(sx_outfile_commit(&o), -EEXIST);
	assert_file(inside("l"), "there");
	assert_int_equal(entries(), 1);
	assert_int_equal(unlink(inside("l")), 0);
}

static int make_folder(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commit),
		cmocka_unit_test(test_abort_leaves_the_old_file),
		cmocka_unit_test(test_no_folder),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_failed_commit_leaves_nothing),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_new_alone),
		cmocka_unit_test(test_new_that_comes_late),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
