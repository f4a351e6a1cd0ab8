/*
 * Tests instance names, runtime folders, and the lock that keeps a second daemon out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/instance.h"
#include "tests/ipc/help.h"

static void names(void **state)
{
	static const char *const good[] = {"a", "front", "Rear-2", "x_y.z", "0", "-"};
	static const char *const bad[] = {"", ".", "..", ".a", "a/b", "a b", "a\n", "\xc3\xa4", "a:b", "a*"};
	char longest[66];
	struct sx_why why;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(sx_instance_check(good[i], &why), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		why.text[0] = 0;
		assert_int_equal(sx_instance_check(bad[i], &why), -EINVAL);
		assert_true(strlen(why.text) > 10);
	}
	assert_int_equal(sx_instance_check(NULL, NULL), -EINVAL);
	memset(longest, 'a', sizeof(longest));
	longest[65] = 0;
	assert_int_equal(sx_instance_check(longest, NULL), -EINVAL);
	longest[64] = 0;
	assert_int_equal(sx_instance_check(longest, NULL), 0);
}

static void folders(void **state)
{
	char base[64], want[256], dir[256], text[300];
	struct sx_why why;
	struct stat st;

	help_dir_make(base, sizeof(base));
	/*
	 * The variable as systemd sets it: with and without the instance at the end, and with several
	 * folders.
	 */
	snprintf(text, sizeof(text), "%s/x:/nowhere", base);
	setenv("RUNTIME_DIRECTORY", text, 1);
	assert_int_equal(sx_runtime_dir("cam", dir, sizeof(dir), &why), 0);
	snprintf(want, sizeof(want), "%s/x/cam", base);
	assert_string_equal(dir, want);
	assert_int_equal(stat(dir, &st), 0);
	setenv("RUNTIME_DIRECTORY", dir, 1);
	assert_int_equal(sx_runtime_dir("cam", dir, sizeof(dir), &why), 0);
	assert_string_equal(dir, want);
	/* the folders of several instances: each has its own */
	snprintf(text, sizeof(text), "/nowhere/other:%s", dir);
	setenv("RUNTIME_DIRECTORY", text, 1);
	assert_int_equal(sx_runtime_dir("cam", dir, sizeof(dir), &why), 0);
	assert_string_equal(dir, want);
	setenv("RUNTIME_DIRECTORY", want, 1);
	assert_int_equal(sx_runtime_dir("cam", dir, 8, &why), -ENAMETOOLONG);
	/* a file at the place of the folder */
	snprintf(text, sizeof(text), "%s/file", base);
	close(open(text, O_CREAT | O_WRONLY, 0600));
	setenv("RUNTIME_DIRECTORY", text, 1);
	assert_int_equal(sx_runtime_dir("cam", dir, sizeof(dir), &why), -ENOTDIR);
	assert_non_null(strstr(why.text, text));
	assert_int_equal(sx_runtime_dir("a/b", dir, sizeof(dir), &why), -EINVAL);
	unsetenv("RUNTIME_DIRECTORY");
	if (geteuid() != 0) {
		setenv("XDG_RUNTIME_DIR", base, 1);
		assert_int_equal(sx_runtime_dir("cam", dir, sizeof(dir), &why), 0);
		snprintf(want, sizeof(want), "%s/stixeld/cam", base);
		assert_string_equal(dir, want);
		rmdir(dir);
		snprintf(want, sizeof(want), "%s/stixeld", base);
		rmdir(want);
	}
	snprintf(want, sizeof(want), "%s/x/cam", base);
	rmdir(want);
	help_dir_remove(base);
	assert_int_equal(access(base, F_OK), -1);
}

static void a_second_one_is_refused(void **state)
{
	char dir[64], text[32];
	struct sx_why why;
	int fd, other, status, ready[2];
	pid_t pid, owner;
	struct stat st;
	char byte;

	help_dir_make(dir, sizeof(dir));
	assert_int_equal(pipe(ready), 0);
	CHILD(pid, {
		if (sx_instance_lock(dir, NULL, NULL) < 0)
			_exit(1);
		(void)!write(ready[1], "x", 1);
		pause();
	});
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(sx_instance_lock(dir, &owner, &why), -EADDRINUSE);
	assert_int_equal(owner, pid);
	snprintf(text, sizeof(text), "process %d ", (int)pid);
	assert_non_null(strstr(why.text, text));
	/* However the owner ends, the lock is free at once, even before the process is reaped. */
	kill(pid, SIGKILL);
	fd = -1;
	for (int i = 0; i < 2000 && fd < 0; i++) {
		fd = sx_instance_lock(dir, &owner, &why);
		usleep(1000);
	}
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	waitpid(pid, &status, 0);
	other = sx_instance_lock(dir, &owner, &why);
	assert_int_equal(other, -EADDRINUSE);
	assert_int_equal(owner, getpid());
	close(fd);
	fd = sx_instance_lock(dir, NULL, NULL);
	assert_true(fd >= 0);
	close(fd);
	close(ready[0]);
	close(ready[1]);
	help_dir_remove(dir);
	assert_int_equal(sx_instance_lock(dir, NULL, &why), -ENOENT);
	assert_non_null(strstr(why.text, dir));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(folders),
		cmocka_unit_test(a_second_one_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
