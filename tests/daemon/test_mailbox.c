/*
 * Tests the mailbox of pairs. The newest pair wins, every pair goes back to its source exactly once, and
 * each change wakes the thread that waits for it. One test runs a capture thread, a frame thread and an
 * engine thread at full speed under ThreadSanitizer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/wake.h"
#include "daemon/channels/mailbox.h"

#define PAIRS 20000
#define SLOTS (SX_QUEUED_PAIRS_MAX)

/*
 * The fake source, which records lent slots. A slot is lent from take_pair() to sx_source_release(), which
 * must be called once. Only the capture thread uses it, as the source interface allows.
 */
struct slot {
	/* not atomic, so that ThreadSanitizer sees a missing order, or another thread, as a race */
	uint64_t number; /* number of the pair that the slot is lent for; 0: free */
	uint64_t content;
};

struct sx_source {
	struct slot slots[SLOTS];
	uint64_t releases, twice;
};

void sx_source_release(struct sx_source *s, const struct sx_pair *pair)
{
	struct slot *slot = pair->slot;

	s->releases++;
	s->twice += slot->number != pair->number;
	slot->number = 0;
}

/* Takes a pair as sx_source_next() does. The caller must have room: one slot for each queued pair. */
static void take_pair(struct sx_source *s, struct sx_queued_pair *queued, uint64_t number)
{
	for (int i = 0; i < SLOTS; i++) {
		struct slot *slot = &s->slots[i];

		if (slot->number)
			continue;
		slot->number = slot->content = number;
		queued->source = s;
		queued->pair = (struct sx_pair){.number = number, .slot = slot};
		return;
	}
	abort();
}

static struct sx_queued_pair *filled(struct sx_mailbox *h, struct sx_source *s, uint64_t number)
{
	struct sx_queued_pair *queued;

	sx_mailbox_return_images(h);
	queued = sx_mailbox_free(h);
	assert_non_null(queued);
	take_pair(s, queued, number);
	return queued;
}

/* Returns true if the thread of this eventfd was woken since the last call. */
static bool woken(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	bool yes = poll(&p, 1, 0) == 1;

	sx_wake_clear(fd);
	return yes;
}

static void expect_woken(const struct sx_mailbox *h, bool capture, bool frame)
{
	assert_int_equal(woken(h->capture_fd), capture);
	assert_int_equal(woken(h->frame_fd), frame);
}

static void test_life_of_a_pair(void **state)
{
	struct sx_source s = {0};
	struct sx_mailbox h;
	struct sx_queued_pair *queued;

	assert_int_equal(sx_mailbox_init(&h), 0);
	expect_woken(&h, false, false);
	assert_null(sx_mailbox_take(&h));
	assert_int_equal(sx_mailbox_used(&h), 0);
	queued = filled(&h, &s, 1);
	assert_int_equal(sx_mailbox_used(&h), 0); /* a pair does not count until it is put */
	assert_ptr_equal(sx_mailbox_free(&h), queued);
	assert_null(sx_mailbox_put(queued));
	expect_woken(&h, false, true);
	assert_true(sx_mailbox_waits(&h));
	assert_int_equal(sx_mailbox_used(&h), 1);
	assert_ptr_equal(sx_mailbox_take(&h), queued);
	expect_woken(&h, true, false); /* a source without a pace is asked for the next pair */
	assert_false(sx_mailbox_waits(&h));
	assert_int_equal(sx_mailbox_used(&h), 1);
	sx_mailbox_return_images(&h);
	assert_int_equal(s.releases, 0);
	sx_mailbox_release(queued);
	expect_woken(&h, true, false);
	assert_int_equal(sx_mailbox_used(&h), 0);
	assert_ptr_not_equal(sx_mailbox_free(&h), queued); /* only the capture thread returns images */
	assert_int_equal(s.releases, 0);
	sx_mailbox_return_images(&h);
	assert_int_equal(s.releases, 1);
	assert_ptr_equal(sx_mailbox_free(&h), queued);
	sx_mailbox_finish(&h);
	assert_int_equal(s.releases, 1);
}

/*
 * A source with a pace delivers pairs without being asked. Its thread is woken when images are given back or
 * room is made.
 */
static void test_a_pace_needs_no_waking(void **state)
{
	struct sx_source s = {0};
	struct sx_mailbox h;
	struct sx_queued_pair *queued;

	assert_int_equal(sx_mailbox_init(&h), 0);
	h.paced = true;
	queued = filled(&h, &s, 1);
	assert_null(sx_mailbox_put(queued));
	expect_woken(&h, false, true);
	assert_ptr_equal(sx_mailbox_take(&h), queued);
	expect_woken(&h, false, false);
	sx_mailbox_images_read(queued);
	expect_woken(&h, true, false);
	sx_mailbox_release(queued);
	expect_woken(&h, true, false);
	sx_mailbox_finish(&h);
}

/*
 * When the engine has read the images, the source gets them back before the frame is done. It does not get
 * them again when the frame is done.
 */
static void test_images_go_back_early(void **state)
{
	struct sx_source s = {0};
	struct sx_mailbox h;
	struct sx_queued_pair *queued, *next;

	assert_int_equal(sx_mailbox_init(&h), 0);
	sx_mailbox_put(filled(&h, &s, 1));
	queued = sx_mailbox_take(&h);
	expect_woken(&h, true, true);
	sx_mailbox_images_read(queued);
	expect_woken(&h, true, false);
	sx_mailbox_return_images(&h);
	assert_int_equal(s.releases, 1);
	assert_int_equal(sx_mailbox_used(&h),
			 1); /* the frame in flight still needs the pair's number and times */
	next = filled(&h, &s, 2);
	assert_ptr_not_equal(next, queued);
	assert_ptr_equal(next->pair.slot, queued->pair.slot);
	sx_mailbox_release(queued);
	expect_woken(&h, true, false);
	sx_mailbox_return_images(&h);
	assert_int_equal(s.releases, 1);
	assert_int_equal(sx_mailbox_used(&h), 0);
	sx_mailbox_finish(&h);
	assert_int_equal(s.twice, 0);
}

static void test_newest_wins(void **state)
{
	struct sx_source s = {0};
	struct sx_mailbox h;
	struct sx_queued_pair *old = NULL;

	assert_int_equal(sx_mailbox_init(&h), 0);
	for (uint64_t n = 1; n <= 100; n++) {
		struct sx_queued_pair *queued = filled(&h, &s, n), *replaced = sx_mailbox_put(queued);

		assert_ptr_equal(replaced, old);
		if (replaced)
			sx_mailbox_release(replaced);
		assert_int_equal(sx_mailbox_used(&h), 1);
		old = queued;
	}
	assert_int_equal(sx_mailbox_take(&h)->pair.number, 100);
	sx_mailbox_return_images(&h);
	assert_int_equal(s.releases, 99);
	sx_mailbox_release(old);
	sx_mailbox_finish(&h);
}

static void test_all_in_use(void **state)
{
	struct sx_queued_pair *pairs[SX_QUEUED_PAIRS_MAX];
	struct sx_source s = {0};
	struct sx_mailbox h;

	assert_int_equal(sx_mailbox_init(&h), 0);
	for (int i = 0; i < SX_QUEUED_PAIRS_MAX; i++) {
		assert_int_equal(sx_mailbox_used(&h), i);
		sx_mailbox_put(filled(&h, &s, (uint64_t)i + 1));
		pairs[i] = sx_mailbox_take(&h);
	}
	assert_null(sx_mailbox_free(&h));
	sx_mailbox_images_read(pairs[3]);
	assert_null(sx_mailbox_free(&h));
	sx_mailbox_return_images(&h);
	assert_null(sx_mailbox_free(&h)); /* the images are back, but the frame is in flight */
	sx_mailbox_release(pairs[3]);
	assert_ptr_equal(sx_mailbox_free(&h), pairs[3]);
	for (int i = 0; i < SX_QUEUED_PAIRS_MAX; i++)
		if (i != 3)
			sx_mailbox_release(pairs[i]);
	sx_mailbox_finish(&h);
	assert_int_equal(s.releases, SX_QUEUED_PAIRS_MAX);
}

/* A pair that still waits when both threads have ended goes back to the source, too. */
static void test_end_with_a_waiting_pair(void **state)
{
	struct sx_source s = {0};
	struct sx_mailbox h;

	assert_int_equal(sx_mailbox_init(&h), 0);
	sx_mailbox_put(filled(&h, &s, 1));
	sx_mailbox_finish(&h);
	assert_int_equal(s.releases, 1);
	assert_int_equal(h.capture_fd, -1);
	assert_int_equal(h.frame_fd, -1);
}

/* --- threads: the test itself is the capture thread, beside a frame thread and an engine thread --- */

struct threads {
	struct sx_mailbox h;
	struct sx_source source;
	_Atomic(struct sx_queued_pair *)
		computing; /* the engine's pair; NULL: the engine has read the images */
	atomic_bool over;
	uint64_t published, out_of_order, wrong; /* written by the frame thread */
	uint64_t misread;			 /* written by the engine thread */
};

static void *engine(void *threads)
{
	struct threads *t = threads;

	while (!atomic_load(&t->over)) {
		struct sx_queued_pair *queued = atomic_load(&t->computing);

		if (!queued) {
			sched_yield();
			continue;
		}
		t->misread += ((struct slot *)queued->pair.slot)->content != queued->pair.number;
		sx_mailbox_images_read(queued);
		atomic_store(&t->computing, NULL);
	}
	return NULL;
}

/*
 * Runs the frame thread. The engine reads every second pair first. The other pairs are released as the cuda
 * engine releases them.
 */
static void *frame(void *threads)
{
	struct threads *t = threads;
	uint64_t last = 0;

	while (last != PAIRS) {
		struct pollfd p = {.fd = t->h.frame_fd, .events = POLLIN};
		struct sx_queued_pair *queued = sx_mailbox_take(&t->h);

		if (!queued) {
			poll(&p, 1, 100);
			sx_wake_clear(t->h.frame_fd);
			continue;
		}
		t->out_of_order += queued->pair.number <= last;
		last = queued->pair.number;
		if (last % 2) {
			atomic_store(&t->computing, queued);
			while (atomic_load(&t->computing))
				sched_yield();
		} else {
			t->wrong += ((struct slot *)queued->pair.slot)->content != last;
		}
		t->wrong += queued->pair.number != last; /* the queued pair still belongs to this frame */
		sx_mailbox_release(queued);
		t->published++;
		sched_yield(); /* the pair may be filled again before an access orders the threads */
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct threads t = {.wrong = 0};
	uint64_t replaced = 0;
	pthread_t threads[2];

	assert_int_equal(sx_mailbox_init(&t.h), 0);
	assert_int_equal(pthread_create(&threads[0], NULL, engine, &t), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, frame, &t), 0);
	for (uint64_t n = 1; n <= PAIRS; n++) {
		struct sx_queued_pair *old = sx_mailbox_put(filled(&t.h, &t.source, n));

		if (old)
			sx_mailbox_release(old);
		replaced += old != NULL;
		if (n % 16 == 0) /* the frame thread catches up every 16 pairs */
			while (sx_mailbox_waits(&t.h))
				sched_yield();
	}
	pthread_join(threads[1], NULL);
	atomic_store(&t.over, true);
	pthread_join(threads[0], NULL);
	assert_int_equal(sx_mailbox_used(&t.h), 0);
	assert_int_equal(t.published + replaced, PAIRS);
	assert_true(t.published >= PAIRS / 16);
	sx_mailbox_finish(&t.h);
	assert_int_equal(t.source.releases, PAIRS);
	assert_int_equal(t.source.twice + t.out_of_order + t.wrong + t.misread, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life_of_a_pair),
		cmocka_unit_test(test_a_pace_needs_no_waking),
		cmocka_unit_test(test_images_go_back_early),
		cmocka_unit_test(test_newest_wins),
		cmocka_unit_test(test_all_in_use),
		cmocka_unit_test(test_end_with_a_waiting_pair),
		cmocka_unit_test(test_threads),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
