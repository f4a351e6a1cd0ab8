/*
 * Tests how much memory is left, from files in the kernel's format.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ftw.h>
#include <limits.h>
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

#include "base/memory_room.h"

#define MIB (1 << 20)

static char root[64], what[128];

static void put(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = 0;
		mkdir(path, 0755);
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int take_away(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

static int setup(void **state)
{
	snprintf(root, sizeof(root), "/tmp/sx-room-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
	return nftw(root, take_away, 8, FTW_DEPTH | FTW_PHYS);
}

static void nothing_is_known(void **state)
{
	assert_true(sx_memory_room(root, what, sizeof(what)) == INT64_MAX);
	assert_string_equal(what, "");
	put("/proc/self/cgroup", "0::/a\nnothing\n\n:\n");
	put("/sys/fs/cgroup/a/memory.max", "max\n");
	put("/sys/fs/cgroup/a/memory.current", "1\n");
	assert_true(sx_memory_room(root, what, sizeof(what)) == INT64_MAX);
}

static void version_2(void **state)
{
	put("/proc/self/cgroup", "0::/system.slice/stixeld@front.service\n");
	put("/proc/meminfo", "MemTotal: 8 kB\nMemAvailable:   1048576 kB\nSwapFree: 1024 kB\n");
	assert_true(sx_memory_room(root, what, sizeof(what)) == 1025LL * MIB);
	assert_string_equal(what, "this machine");
	put("/sys/fs/cgroup/system.slice/stixeld@front.service/memory.max", "314572800\n");
	put("/sys/fs/cgroup/system.slice/stixeld@front.service/memory.current", "209715200\n");
	assert_int_equal(sx_memory_room(root, what, sizeof(what)), 100 * MIB);
	assert_string_equal(what, "memory cgroup /system.slice/stixeld@front.service (memory.max)");
	put("/sys/fs/cgroup/system.slice/stixeld@front.service/memory.stat",
	    "anon 1\nactive_file 5\ninactive_file 10485760\n");
	assert_int_equal(sx_memory_room(root, what, sizeof(what)), 110 * MIB);
	/* a parent cgroup has less room */
	put("/sys/fs/cgroup/system.slice/memory.max", "1073741824\n");
	put("/sys/fs/cgroup/system.slice/memory.current", "1031798784\n");
	assert_int_equal(sx_memory_room(root, what, sizeof(what)), 40 * MIB);
	assert_string_equal(what, "memory cgroup /system.slice (memory.max)");
	/* the limit was lowered below the usage */
	put("/sys/fs/cgroup/system.slice/memory.max", "1024\n");
	assert_int_equal(sx_memory_room(root, what, sizeof(what)), 0);
}

/* A container sees its own cgroup as the root. */
static void container(void **state)
{
	put("/proc/self/cgroup", "0::/\n");
	put("/sys/fs/cgroup/memory.max", "104857600\n");
	put("/sys/fs/cgroup/memory.current", "83886080\n");
	assert_int_equal(sx_memory_room(root, what, sizeof(what)), 20 * MIB);
	assert_string_equal(what, "memory cgroup / (memory.max)");
}

static void version_1(void **state)
{
	put("/proc/self/cgroup", "9:name=systemd:/x\n5:cpu,memory,pids:/a/b\n0::/\n");
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "83886080\n");
	put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "104857600\n");
	put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "83886080\n");
	put("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
	put("/sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "83886080\n");
	put("/sys/fs/cgroup/memory/a/memory.stat", "inactive_file 5\ntotal_inactive_file 1048576\n");
	assert_int_equal(sx_memory_room(root, what, sizeof(what)), 21 * MIB);
	assert_string_equal(what, "memory cgroup /a (memory.limit_in_bytes)");
	/* a docker container: the path is the host's, the mount is the container's */
	put("/proc/self/cgroup", "5:memory:/docker/0123\n");
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "94371840\n");
	assert_int_equal(sx_memory_room(root, what, sizeof(what)), 10 * MIB);
}

/* Runs on the real files of this machine. */
static void this_machine(void **state)
{
	assert_true(sx_memory_room("", what, sizeof(what)) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(nothing_is_known), TEST(version_2), TEST(container), TEST(version_1), TEST(this_machine),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
