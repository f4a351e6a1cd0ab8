/*
 * Who may change something at a socket, and how the kernel tells who that is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/http/peer.h"

static void test_rule(void **state)
{
	const struct sx_peer owner = {.uid = 7, .groups = {8}, .count = 1};
	const struct sx_peer root = {.uid = 0, .groups = {8}, .count = 1};
	const struct sx_peer member = {.uid = 9, .groups = {8, 20, 30}, .count = 3};
	const struct sx_peer none = {.uid = 9, .groups = {8, 20, 31}, .count = 2};

	assert_true(sx_peer_may_change(&owner, 7, 99));
	assert_true(sx_peer_may_change(&root, 7, 99));
	assert_true(sx_peer_may_change(&member, 7, 30));
	assert_true(sx_peer_may_change(&member, 7, 8)); /* the first is its own group */
	assert_false(sx_peer_may_change(&member, 7, 31));
	assert_false(sx_peer_may_change(&none, 7, 31)); /* behind count lies nothing */
	assert_false(sx_peer_may_change(&member, 7, (gid_t)-1));
	assert_true(sx_peer_may_change(&owner, 7, (gid_t)-1));
}

static void test_ourselves(void **state)
{
	struct sx_peer p;
	gid_t groups[SX_PEER_GROUPS_MAX];
	int pair[2], count = getgroups(SX_PEER_GROUPS_MAX, groups);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(sx_peer_of(pair[0], &p), 0);
	assert_int_equal(p.uid, geteuid());
	assert_int_equal(p.groups[0], getegid());
	assert_true(p.count == 1 || p.count == 1 + count); /* 1: a kernel that tells no more */
	for (int i = 1; i < p.count; i++)
		assert_int_equal(p.groups[i], groups[i - 1]);
	close(pair[0]);
	close(pair[1]);
	assert_true(sx_peer_of(pair[0], &p) < 0);
}

static void test_group_of_the_file(void **state)
{
	char folder[] = "/tmp/sx-peer-XXXXXX";
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct stat st;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_non_null(mkdtemp(folder));
	assert_int_equal(sx_peer_socket_group(fd), (gid_t)-1);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/s", folder);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(stat(a.sun_path, &st), 0);
	assert_int_equal(sx_peer_socket_group(fd), st.st_gid);
	if (geteuid() == 0) {
		assert_int_equal(chown(a.sun_path, (uid_t)-1, 4711), 0);
		assert_int_equal(sx_peer_socket_group(fd), 4711);
	}
	assert_int_equal(unlink(a.sun_path), 0);
	assert_int_equal(sx_peer_socket_group(fd), (gid_t)-1);
	close(fd);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(sx_peer_socket_group(fd), (gid_t)-1);
	close(fd);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	memset(a.sun_path, 0, sizeof(a.sun_path)); /* an abstract name: no file, so no group */
	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "sx-peer-%d", (int)getpid());
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(sx_peer_socket_group(fd), (gid_t)-1);
	close(fd);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule),
		cmocka_unit_test(test_ourselves),
		cmocka_unit_test(test_group_of_the_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
