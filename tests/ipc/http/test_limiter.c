/*
 * Tests how long HTTP connections may stay and which one is closed when all slots are taken. The server and
 * its peers are simulated, so that the test controls the time of each event.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "ipc/http/limiter.h"
#include "ipc/http/peer.h"

#define FIRST 5000 /* first of the descriptors, which are not open: shutdown() of them does nothing */
#define SLOTS 24
#define S SX_NS_PER_S

struct MHD_Connection {
	union MHD_ConnectionInfo info;
	void *context;
	bool unknown;
};

/* Process of each connection. Process 10 * n + m belongs to user n. */
static pid_t process_of[64];
static struct sx_limiter p;

void sx_peer_process(int fd, uid_t *uid, pid_t *pid)
{
	*pid = process_of[fd - FIRST];
	*uid = (uid_t)*pid / 10;
}

/* Replaces MHD's own function, for the connections of this test. */
const union MHD_ConnectionInfo *MHD_get_connection_info(struct MHD_Connection *c,
							enum MHD_ConnectionInfoType type, ...)
{
	if (c->unknown)
		return NULL;
	if (type == MHD_CONNECTION_INFO_SOCKET_CONTEXT)
		c->info.socket_context = c->context;
	return &c->info;
}

static int setup(void **state)
{
	return sx_limiter_init(&p, SLOTS, 3, S);
}

static int teardown(void **state)
{
	sx_limiter_finish(&p);
	sx_limiter_finish(&p); /* a zeroed struct */
	return 0;
}

static int admit(int i, pid_t process)
{
	process_of[i] = process;
	return sx_limiter_admit(&p, FIRST + i);
}

static struct sx_limiter_slot *slot_of(int i)
{
	for (size_t k = 0; k < p.count; k++)
		if (p.slot[k].fd == FIRST + i)
			return &p.slot[k];
	return NULL;
}

static struct MHD_Connection start(int i)
{
	struct MHD_Connection c = {.info.connect_fd = FIRST + i};

	sx_limiter_notify(&p, &c, &c.context, MHD_CONNECTION_NOTIFY_STARTED);
	return c;
}

/* Adds a connection that was admitted, was started by the server, and has stayed for ago_ns. */
static void come(int i, pid_t process, int64_t ago_ns)
{
	assert_int_equal(admit(i, process), 1);
	start(i);
	assert_non_null(slot_of(i));
	slot_of(i)->since_ns -= ago_ns;
}

static bool was_let_go(int i)
{
	return slot_of(i) && slot_of(i)->gone;
}

static void a_slot_is_taken_and_given_back(void **state)
{
	struct MHD_Connection c, stranger = {.unknown = true};

	assert_int_equal(admit(0, 10), 1);
	assert_true(slot_of(0)->arriving);
	c = start(0);
	assert_ptr_equal(c.context, slot_of(0));
	assert_true(slot_of(0)->waiting && !slot_of(0)->arriving);
	sx_limiter_rest(&p, &c);
	assert_false(slot_of(0)->waiting);
	sx_limiter_hold(&p, &c);
	assert_true(slot_of(0)->ours);
	sx_limiter_wait(&p, &c);
	assert_true(slot_of(0)->waiting && !slot_of(0)->ours);
	sx_limiter_notify(&p, &c, &c.context, MHD_CONNECTION_NOTIFY_CLOSED);
	assert_null(slot_of(0));

	/* admitted but never started; forgetting it a second time does nothing */
	assert_int_equal(admit(1, 10), 1);
	sx_limiter_forget(&p, FIRST + 1);
	assert_null(slot_of(1));
	sx_limiter_forget(&p, FIRST + 1);

	/* a connection without information from MHD */
	stranger.context = &stranger;
	sx_limiter_notify(&p, &stranger, &stranger.context, MHD_CONNECTION_NOTIFY_STARTED);
	assert_null(stranger.context);
	sx_limiter_wait(&p, &stranger);
	stranger.unknown = false;
	sx_limiter_wait(&p, &stranger);
	sx_limiter_notify(&p, &stranger, &stranger.context, MHD_CONNECTION_NOTIFY_CLOSED);
}

static void a_connection_beyond_all_slots_is_served(void **state)
{
	struct MHD_Connection c;

	p.most = SLOTS;
	for (int i = 0; i < SLOTS; i++) {
		c = start(i); /* a server that starts connections without asking first */
		assert_non_null(c.context);
	}
	c = start(SLOTS);
	assert_null(c.context);
	assert_int_equal(admit(SLOTS + 1, 10), -EAGAIN);
	sx_limiter_wait(&p, &c);
}

static void time_that_is_over(void **state)
{
	struct MHD_Connection c;

	p.most = SLOTS;
	come(0, 10, 2 * S);
	come(1, 10, 0);
	come(2, 10, 0);
	c = start(2);
	sx_limiter_rest(&p, &c);
	slot_of(2)->since_ns -= 2 * S;
	assert_int_equal(admit(3, 10), 1);
	slot_of(3)->since_ns -= 2 * S;
	sx_limiter_tick(&p);
	assert_true(was_let_go(0));  /* has waited for too long */
	assert_false(was_let_go(1)); /* has just come */
	assert_false(was_let_go(2)); /* is receiving a long answer */
	assert_null(slot_of(3));     /* was never started */
	sx_limiter_tick(&p);
	assert_true(was_let_go(0));
}

static void who_holds_most_gives_way(void **state)
{
	come(0, 10, 3 * S);
	come(1, 20, 5 * S);
	come(2, 20, 4 * S);
	assert_int_equal(admit(3, 30), 1);
	/* the oldest connection of the user that holds most slots, not the oldest of all */
	assert_true(was_let_go(1));
	assert_false(was_let_go(0) || was_let_go(2) || was_let_go(3));
}

static void of_a_user_the_process_that_holds_most(void **state)
{
	p.most = 4;
	come(0, 11, 9 * S);
	come(1, 12, 3 * S);
	come(2, 12, 4 * S);
	come(3, 20, 9 * S);
	assert_int_equal(admit(4, 30), 1);
	assert_true(was_let_go(2));
	assert_false(was_let_go(0) || was_let_go(1) || was_let_go(3));
}

static void what_we_work_for_stays(void **state)
{
	struct MHD_Connection c;

	come(0, 10, 0);
	c = start(0);
	sx_limiter_hold(&p, &c);
	slot_of(0)->since_ns -= 9 * S;
	come(1, 10, 5 * S);
	come(2, 20, 6 * S);
	assert_int_equal(admit(3, 30), 1);
	assert_false(was_let_go(0));
	/* each user holds one slot, because the held connection does not count */
	assert_true(was_let_go(2));
}

static void a_storm_keeps_itself_out(void **state)
{
	for (int i = 0; i < 3; i++)
		come(i, 10, 0);
	assert_int_equal(admit(3, 10), 0);
	assert_null(slot_of(3));
	/* older than the connections of a process that opens many at once: this connection may be replaced */
	slot_of(1)->since_ns -= S;
	assert_int_equal(admit(3, 10), 1);
	assert_true(was_let_go(1));
	/* another process of the same user gets a slot in spite of the many connections of the first one */
	assert_int_equal(admit(4, 11), 1);
}

static void who_is_arriving_cannot_go_yet(void **state)
{
	for (int i = 0; i < 3; i++)
		assert_int_equal(admit(i, 10), 1);
	assert_int_equal(admit(3, 20), -EAGAIN);
	assert_null(slot_of(3));
	start(1); /* of equal candidates, the started one can be closed */
	assert_int_equal(admit(3, 20), 1);
	assert_true(was_let_go(1));
}

static void the_one_that_can_go_stays_the_choice(void **state)
{
	come(0, 10, S);
	assert_int_equal(admit(1, 10), 1);
	assert_int_equal(admit(2, 10), 1);
	slot_of(1)->since_ns -= 5 * S; /* older, but not started yet */
	assert_int_equal(admit(3, 20), 1);
	assert_true(was_let_go(0));
}

static void arriving_of_one_process_are_bounded(void **state)
{
	p.most = SLOTS;
	for (int i = 0; i < 16; i++)
		assert_int_equal(admit(i, 10), 1);
	assert_int_equal(admit(16, 10), 0);
	assert_int_equal(admit(17, 11), 1); /* another process of the user */
	start(0);
	assert_int_equal(admit(16, 10), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_slot_is_taken_and_given_back),
		TEST(a_connection_beyond_all_slots_is_served),
		TEST(time_that_is_over),
		TEST(who_holds_most_gives_way),
		TEST(of_a_user_the_process_that_holds_most),
		TEST(what_we_work_for_stays),
		TEST(a_storm_keeps_itself_out),
		TEST(who_is_arriving_cannot_go_yet),
		TEST(the_one_that_can_go_stays_the_choice),
		TEST(arriving_of_one_process_are_bounded),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
