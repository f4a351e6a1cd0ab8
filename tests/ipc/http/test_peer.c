/*
 * Tests which peer of a socket may change settings, and how the kernel identifies the peer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/http/peer.h"

static void test_rule(void **state)
{
	const struct sx_peer owner = {.uid = 7, .groups = {8}, .count = 1};
	const struct sx_peer root = {.uid = 0, .groups = {8}, .count = 1};
	const struct sx_peer member = {.uid = 9, .groups = {8, 20, 30}, .count = 3};
	/* membership in root's group does not make a peer root */
	const struct sx_peer wheel = {.uid = 9, .groups = {0, 20}, .count = 2};
	const struct sx_peer none = {.uid = 9, .groups = {8, 20, 31}, .count = 2};

	assert_true(sx_peer_may_change(&owner, 7, 99));
	assert_true(sx_peer_may_change(&root, 7, 99));
	assert_true(sx_peer_may_change(&member, 7, 30));
	assert_true(sx_peer_may_change(&member, 7, 8)); /* the first entry is the peer's own group */
	assert_false(sx_peer_may_change(&member, 7, 31));
	assert_false(sx_peer_may_change(&wheel, 7, 0));
	assert_false(sx_peer_may_change(&none, 7, 31));	 /* entries after count must not be read */
	assert_false(sx_peer_may_change(&member, 7, 0)); /* group 0 means that there is no such group */
	assert_true(sx_peer_may_change(&owner, 7, 0));
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
	/* 1: a kernel that does not report the other groups */
	assert_true(p.count == 1 || p.count == 1 + count);
	for (int i = 1; i < p.count; i++)
		assert_int_equal(p.groups[i], groups[i - 1]);
	close(pair[0]);
	close(pair[1]);
	assert_true(sx_peer_of(pair[0], &p) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule),
		cmocka_unit_test(test_ourselves),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
