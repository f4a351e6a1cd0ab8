/*
 * Tests the single-producer single-consumer ring: full, empty, wrap-around, and order with two threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/spsc.h"

static bool push(struct sx_spsc *q, int value)
{
	int *to = sx_spsc_reserve(q);

	if (!to)
		return false;
	*to = value;
	sx_spsc_commit(q);
	return true;
}

static bool pop(struct sx_spsc *q, int *value)
{
	const int *from = sx_spsc_peek(q);

	if (!from)
		return false;
	*value = *from;
	sx_spsc_release(q);
	return true;
}

static void refuses_bad_sizes(void **state)
{
	struct sx_spsc q;
	int storage[8];

	assert_int_equal(sx_spsc_init(&q, NULL, 4, 8), -EINVAL);
	assert_int_equal(sx_spsc_init(&q, storage, 0, 8), -EINVAL);
	assert_int_equal(sx_spsc_init(&q, storage, 4, 0), -EINVAL);
	assert_int_equal(sx_spsc_init(&q, storage, 4, 6), -EINVAL);
	assert_int_equal(sx_spsc_init(&q, storage, SIZE_MAX / 4, 8), -EINVAL);
	assert_int_equal(sx_spsc_init(&q, storage, 4, 8), 0);
}

static void fills_every_slot_and_wraps(void **state)
{
	struct sx_spsc q;
	int storage[4], out = -1, next_in = 0, next_out = 0;

	assert_int_equal(sx_spsc_init(&q, storage, sizeof(int), 4), 0);
	assert_false(pop(&q, &out));
	assert_int_equal(out, -1);
	for (int round = 0; round < 50; round++) {
		int fill = round % 5;

		for (int i = 0; i < fill; i++) {
			assert_true(push(&q, next_in));
			next_in++;
		}
		assert_int_equal(sx_spsc_count(&q), fill);
		if (fill == 4) {
			assert_false(push(&q, next_in));
			assert_null(sx_spsc_reserve(&q));
		}
		for (int i = 0; i < fill; i++) {
			assert_true(pop(&q, &out));
			assert_int_equal(out, next_out++);
		}
		assert_null(sx_spsc_peek(&q));
	}
}

static void in_place_keeps_what_is_not_committed(void **state)
{
	struct sx_spsc q;
	int storage[2], *a;

	assert_int_equal(sx_spsc_init(&q, storage, sizeof(int), 2), 0);
	a = sx_spsc_reserve(&q);
	assert_ptr_equal(a, sx_spsc_reserve(&q));
	assert_null(sx_spsc_peek(&q));
	*a = 7;
	sx_spsc_commit(&q);
	assert_int_equal(*(int *)sx_spsc_peek(&q), 7);
	assert_int_equal(*(int *)sx_spsc_peek(&q), 7);
	assert_int_equal(sx_spsc_count(&q), 1);
	sx_spsc_release(&q);
	assert_null(sx_spsc_peek(&q));
}

/*
 * If other processes need the processor, each full ring costs a scheduler turn. After a second, fewer
 * messages suffice.
 */
#define MESSAGES 300000u
#define LEAST 200u

/* Eight copies of one number. A torn element has two different numbers. */
struct message {
	uint32_t copy[8];
};

struct producer {
	struct sx_spsc *q;
	int64_t end_ns;
	_Atomic uint32_t sent; /* number of messages sent; UINT32_MAX until the thread has ended */
};

static void *produce(void *arg)
{
	struct producer *p = arg;
	uint32_t n = 0;

	while (n < MESSAGES) {
		struct message *m = sx_spsc_reserve(p->q);

		if (!m) {
			if (n >= LEAST && sx_now_ns() > p->end_ns)
				break;
			sched_yield();
			continue;
		}
		for (int i = 0; i < 8; i++)
			m->copy[i] = n;
		sx_spsc_commit(p->q);
		n++;
	}
	atomic_store(&p->sent, n);
	return NULL;
}

static void keeps_order_between_threads(void **state)
{
	struct message storage[16];
	struct sx_spsc q;
	struct producer producer = {.q = &q, .end_ns = sx_now_ns() + SX_NS_PER_S, .sent = UINT32_MAX};
	pthread_t thread;
	uint32_t next = 0, torn = 0, disordered = 0;

	assert_int_equal(sx_spsc_init(&q, storage, sizeof(storage[0]), 16), 0);
	assert_int_equal(pthread_create(&thread, NULL, produce, &producer), 0);
	while (next < atomic_load(&producer.sent)) {
		if (sx_spsc_count(&q) > 16)
			disordered++;
		const struct message *m = sx_spsc_peek(&q);

		if (!m) {
			sched_yield();
			continue;
		}
		for (int i = 1; i < 8; i++)
			torn += m->copy[i] != m->copy[0];
		disordered += m->copy[0] != next;
		sx_spsc_release(&q);
		next++;
	}
	pthread_join(thread, NULL);
	assert_in_range(next, LEAST, MESSAGES);
	assert_int_equal(next, producer.sent);
	assert_int_equal(torn, 0);
	assert_int_equal(disordered, 0);
	assert_int_equal(sx_spsc_count(&q), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_bad_sizes),
		cmocka_unit_test(fills_every_slot_and_wraps),
		cmocka_unit_test(in_place_keeps_what_is_not_committed),
		cmocka_unit_test(keeps_order_between_threads),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
