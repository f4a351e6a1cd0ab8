/*
 * Tests the folders of an instance: the three runtime directories, their order, and invalid ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/runtime_dirs.h"
#include "tests/emulated.h"

static void three_runtime_dirs_in_their_order(void **state)
{
	char folder[128], want[128];

	assert_int_equal(setenv("XDG_RUNTIME_DIR", "/somewhere/else", 1), 0);
	assert_int_equal(SX_RUNTIME_DIRS, 3);
	assert_true(sx_runtime_dir_name((enum sx_runtime_dir)0, folder, sizeof(folder)));
	assert_string_equal(folder, "/run/stixeld");
	assert_true(sx_runtime_dir_name((enum sx_runtime_dir)1, folder, sizeof(folder)));
	assert_string_equal(folder, "/somewhere/else/stixeld");
	assert_true(sx_runtime_dir_name((enum sx_runtime_dir)2, folder, sizeof(folder)));
	snprintf(want, sizeof(want), "/run/user/%u/stixeld", (unsigned)geteuid());
	assert_string_equal(folder, want);
	assert_true(sx_runtime_dir_path(SX_RUNTIME_DIR_XDG, "cam", NULL, folder, sizeof(folder)));
	assert_string_equal(folder, "/somewhere/else/stixeld/cam");
	assert_true(
		sx_runtime_dir_path(SX_RUNTIME_DIR_SYSTEM, "cam", SX_FRAMES_SOCKET, folder, sizeof(folder)));
	assert_string_equal(folder, "/run/stixeld/cam/frames.sock");
}

static void what_the_variable_must_not_say(void **state)
{
	char folder[128] = "old";

	assert_int_equal(unsetenv("XDG_RUNTIME_DIR"), 0);
	assert_false(sx_runtime_dir_name(SX_RUNTIME_DIR_XDG, folder, sizeof(folder)));
	assert_string_equal(folder, "");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(setenv("XDG_RUNTIME_DIR", i ? "relative/path" : "", 1), 0);
		snprintf(folder, sizeof(folder), "old");
		assert_false(sx_runtime_dir_path(SX_RUNTIME_DIR_XDG, "cam", SX_STATUS_SOCKET, folder,
						 sizeof(folder)));
		assert_string_equal(folder, "");
	}
	assert_true(sx_runtime_dir_name(SX_RUNTIME_DIR_USER, folder, sizeof(folder)));
}

/* Tests every buffer size. The buffer gets the whole path or nothing. */
static void a_short_buffer_gets_nothing(void **state)
{
	static const char want[] = "/a/stixeld/cam/status.sock";

	assert_int_equal(setenv("XDG_RUNTIME_DIR", "/a", 1), 0);
	for (size_t bytes = 1; bytes < sizeof(want) + 3; bytes++) {
		char *path = malloc(bytes); /* heap memory, so that the sanitizer detects one byte too many */

		assert_non_null(path);
		assert_int_equal(
			sx_runtime_dir_path(SX_RUNTIME_DIR_XDG, "cam", SX_STATUS_SOCKET, path, bytes),
			bytes >= sizeof(want));
		assert_string_equal(path, bytes >= sizeof(want) ? want : "");
		free(path);
	}
}

static void who_is_passed(void **state)
{
	static const int passed[] = {ENOENT, ENOTDIR, ENAMETOOLONG, ECONNREFUSED, EACCES, EPERM};
	static const int ends[] = {0, EAGAIN, EBUSY, ETIMEDOUT, EPROTO, EPIPE, ENOMEM};

	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
		assert_true(sx_runtime_dir_passed(passed[i]));
		assert_true(sx_runtime_dir_passed(-passed[i]));
	}
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		assert_false(sx_runtime_dir_passed(-ends[i]));
}

/* A set-user-ID copy of this program, started by another user, must ignore the variable. */
static void a_privileged_program_does_not_believe_it(void **state)
{
	const char *self = *state;
	char copy[] = "/tmp/stixel-places-XXXXXX", command[8192];
	int fd, status;
	pid_t pid;

	if (geteuid() != 0)
		skip(); /* only root can create a program that runs as another user */
	if (EMULATED("the kernel cannot start the copy"))
		return;
	fd = mkstemp(copy);
	assert_true(fd >= 0);
	close(fd);
	snprintf(command, sizeof(command), "cp '%s' '%s' && chmod 4755 '%s'", self, copy, copy);
	pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	for (int other = 0; other < 2; other++) {
		pid = fork();
		if (pid == 0) {
			setenv("XDG_RUNTIME_DIR", "/a", 1);
			if (other && setresuid(65534, 65534, 65534) < 0)
				_exit(126);
			execl(copy, copy, "believes", (char *)NULL);
			_exit(127);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		if (other && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 3)) {
			unlink(copy);
			skip(); /* no other user exists, or the file system ignores set-user-ID */
		}
		assert_int_equal(WEXITSTATUS(status), other ? 1 : 0);
	}
	assert_int_equal(unlink(copy), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_runtime_dirs_in_their_order),
		cmocka_unit_test(what_the_variable_must_not_say),
		cmocka_unit_test(a_short_buffer_gets_nothing),
		cmocka_unit_test(who_is_passed),
		cmocka_unit_test_prestate(a_privileged_program_does_not_believe_it, argv[0]),
	};
	char folder[128];

	if (argc == 2 && strcmp(argv[1], "believes") == 0) {
		if (getuid() != 0 && geteuid() != 0)
			return 3;
		return sx_runtime_dir_name(SX_RUNTIME_DIR_XDG, folder, sizeof(folder)) ? 0 : 1;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
