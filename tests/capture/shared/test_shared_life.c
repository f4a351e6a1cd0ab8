/*
 * Tests a connection to a writer of pairs: pairs that come and go back, silence, wrong
 * messages, a second writer, the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/capture/shared/shared_case.h"

static void newest_wins(void **state)
{
	struct sx_source_counters c;
	struct sx_source *s;
	struct sx_pair pair[SLOTS], none;
	int fd;

	(void)state;
	s = open_usual(&fd);
	for (uint64_t n = 1; n <= 5; n++)
		give_pair(fd, n);
	pair[0] = take_pair(s);
	for (uint64_t n = 1; n <= 4; n++)
		expect_answer(fd, STIXEL_PAIRS_RETURNED, n, STIXEL_PAIR_OVERLOAD);
	expect_no_answer(fd);
	sx_source_counters(s, &c);
	assert_int_equal(c.captured[0], 5);
	assert_int_equal(c.dropped[0][SX_DROP_OVERLOAD], 4);
	assert_int_equal(c.dropped[1][SX_DROP_OVERLOAD], 4);
	/* the engine uses every slot */
	for (int i = 1; i < SLOTS; i++) {
		give_pair(fd, (uint64_t)(5 + i));
		pair[i] = take_pair(s);
	}
	give_pair(fd, 100);
	assert_int_equal(sx_source_next(s, &none, &why), 0);
	expect_no_answer(fd);
	for (int i = SLOTS - 1; i >= 0; i--) {
		sx_source_release(s, &pair[i]);
		expect_answer(fd, STIXEL_PAIRS_RETURNED, (uint64_t)(5 + i), STIXEL_PAIR_TAKEN);
	}
	pair[0] = take_pair(s);
	sx_source_release(s, &pair[0]);
	expect_answer(fd, STIXEL_PAIRS_RETURNED, 100, STIXEL_PAIR_TAKEN);
	finish_source(s, fd);
}

/* A writer that does not wait for its buffers: each pair comes back once, in order. */
static void a_thousand_pairs(void **state)
{
	uint64_t given = 0, back = 0;
	struct sx_source *s;
	struct sx_pair pair;
	struct answer a;
	int fd;

	(void)state;
	s = open_usual(&fd);
	while (given < 1000) {
		for (int i = 0; i < 100; i++)
			give_pair(fd, ++given);
		while (sx_source_next(s, &pair, &why) == 1)
			sx_source_release(s, &pair);
		while (back < given) {
			assert_true(take_answer(fd, &a));
			assert_int_equal(a.is.number, ++back);
		}
	}
	finish_source(s, fd);
}

static void a_writer_that_takes_nothing_back(void **state)
{
	struct stixel_pairs_pair p = good_pair(0);
	struct sx_source *s;
	struct sx_pair pair;
	int fd, r = 1;

	(void)state;
	s = open_usual(&fd);
	while (r > 0 && p.number++ < 5000 && send(fd, &p, sizeof(p), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
		r = sx_source_next(s, &pair, &why);
		if (r > 0)
			sx_source_release(s, &pair);
	}
	assert_in_range(p.number, 10, 4999);
	expect_end(s, "the writer test (process ");
	assert_non_null(strstr(why.text, "does not take its pairs back"));
	finish_source(s, fd);
}

static void ends_while_pairs_are_read(void **state)
{
	struct sx_source *s;
	struct sx_pair pair[2];
	int fd;

	(void)state;
	s = open_usual(&fd);
	give_pair(fd, 1);
	pair[0] = take_pair(s);
	give_pair(fd, 2); /* the writer's last pair */
	close(fd);
	pair[1] = take_pair(s);
	for (int i = 0; i < 2; i++) /* the memory of both pairs stays mapped */
		assert_int_equal(((const uint8_t *)pair[i].right.data)[W - 1 + PITCH * (H - 1)], 0);
	expect_end(s, "has ended");
	expect_end(s, "has ended");
	sx_source_release(s, &pair[0]);
	sx_source_release(s, &pair[1]);
	finish_source(s, -1);
}

static void other_messages(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();

	(void)state;
	for (int how = 0; how < 6; how++) {
		struct stixel_pairs_pair p = good_pair(2);
		struct sx_source *s;
		struct sx_pair pair;
		int fd;

		s = open_usual(&fd);
		give_pair(fd, 1);
		p.magic += how == 0;
		p.kind = how == 1 ? STIXEL_PAIRS_RETURNED : p.kind;
		if (how < 3) /* 2: with a descriptor */
			give_message(fd, &p, sizeof(p), listener.fd, how == 2);
		else if (how == 3)
			give_message(fd, &p, sizeof(p) - 1, -1, 0);
		else if (how == 4)
			give_message(fd, &p, 0, -1, 0);
		else
			give_message(fd, &hello, sizeof(hello), -1, 0);
		give_pair(fd, 3);
		pair = take_pair(s); /* pair 1 was good */
		expect_end(s, how == 4 ? "has ended" : "another message than a pair");
		sx_source_release(s, &pair);
		expect_refused(fd);
		finish_source(s, fd);
	}
}

static void silence(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();
	struct sx_source_params p = shared_params();
	struct sx_source *s;
	struct sx_pair pair;
	int fd = connect_writer();

	(void)state;
	p.timeout_ms = 100;
	introduce(fd, &hello, -1, BYTES);
	s = open_with(&p);
	expect_answer(fd, STIXEL_PAIRS_WELCOME, SLOTS, 0);
	give_pair(fd, 1);
	pair = take_pair(s);
	usleep(150000);
	assert_int_equal(sx_source_next(s, &pair, &why), 0); /* the engine has the writer's buffers */
	finish_source(s, fd);

	fd = connect_writer();
	introduce(fd, &hello, -1, BYTES);
	s = open_with(&p);
	expect_answer(fd, STIXEL_PAIRS_WELCOME, SLOTS, 0);
	assert_int_equal(sx_source_next(s, &pair, &why), 0);
	assert_int_equal(poll(&(struct pollfd){.fd = sx_source_fd(s), .events = POLLIN}, 1, 10000), 1);
	usleep(150000);
	expect_end(s, "has given no pair for 0.");
	expect_refused(fd);
	finish_source(s, fd);
}

static void a_second_writer(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();
	struct sx_source *s;
	struct sx_pair pair;
	struct answer a;
	int fd, second;

	(void)state;
	s = open_usual(&fd);
	second = connect_writer();
	introduce(second, &hello, -1, BYTES);
	assert_int_equal(sx_source_next(s, &pair, &why), 0);
	assert_true(take_answer(second, &a));
	assert_int_equal(a.is.kind, STIXEL_PAIRS_REFUSED);
	assert_non_null(strstr(a.text, "another writer has this instance: test (process "));
	assert_false(take_answer(second, &a));
	give_pair(fd, 1);
	pair = take_pair(s);
	sx_source_release(s, &pair);
	close(second);
	finish_source(s, fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHARED_TEST(newest_wins),
		SHARED_TEST(a_thousand_pairs),
		SHARED_TEST(a_writer_that_takes_nothing_back),
		SHARED_TEST(ends_while_pairs_are_read),
		SHARED_TEST(other_messages),
		SHARED_TEST(silence),
		SHARED_TEST(a_second_writer),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("shared source: life", tests, NULL, NULL);
}
