/*
 * The mailbox of pairs: daemon/channels/mailbox.c between loops that copy those of the capture thread and
 * the frame thread without their cameras and engines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "base/wake.h"
#include "capture/slots.h"
#include "daemon/channels/mailbox.h"
#include "tests/model/explore.h"

#define PAIRS model_count(3, 4)

static struct sx_mailbox mailbox;
/*
 * The images of a pair. Nothing of them is atomic, so that a race is found. Only the capture thread takes and
 * releases them.
 */
static struct images {
	bool used;
	uint64_t pixel; /* number of the pair */
} images[SX_QUEUED_PAIRS_MAX];
static atomic_bool ended;
static uint64_t done, newest, replaced; /* each is counted by one thread */

static uint64_t *mailbox_pixel(const struct sx_pair *pair)
{
	return &((struct images *)pair->slot)->pixel;
}

/* Replaces capture/source.c. */
void sx_source_release(struct sx_source *s, const struct sx_pair *pair)
{
	struct images *own = pair->slot;

	model_check(own->used && own->pixel == pair->number,
		    "images were given back that are another pair's");
	own->used = false;
}

static struct images *mailbox_images(void)
{
	for (int i = 0; i < SX_QUEUED_PAIRS_MAX; i++)
		if (!images[i].used) {
			images[i].used = true;
			return &images[i];
		}
	return NULL;
}

static void mailbox_setup(void)
{
	if (sx_mailbox_init(&mailbox) < 0)
		abort();
	mailbox.paced = true;
}

static void mailbox_put(uint64_t number)
{
	struct sx_queued_pair *queued;

	sx_mailbox_return_images(&mailbox);
	queued = sx_mailbox_free(&mailbox);
	model_check(queued != NULL, "no item is free, though all were given back");
	queued->pair.number = number;
	queued->pair.slot = mailbox_images();
	model_check(queued->pair.slot != NULL, "no images are free");
	*mailbox_pixel(&queued->pair) = number;
	queued = sx_mailbox_put(queued);
	if (!queued)
		return;
	model_check(queued->pair.number < number, "a newer pair was replaced");
	replaced++;
	sx_mailbox_release(queued);
}

static void mailbox_capture(void)
{
	model_never_waits();
	for (uint64_t n = 1; n <= PAIRS; n++)
		mailbox_put(n);
	atomic_store_explicit(&ended, true, memory_order_release);
	sx_wake(mailbox.frame_fd);
}

static void mailbox_use(const struct sx_queued_pair *queued)
{
	model_check(queued->pair.number > newest, "an older pair came after a newer one");
	model_check(*mailbox_pixel(&queued->pair) == queued->pair.number, "the images are another pair's");
	newest = queued->pair.number;
	done++;
}

/* Does the same as frame_thread.c: checks everything, then sleeps until it is woken. */
static void mailbox_frame(void)
{
	struct pollfd fd = {.fd = mailbox.frame_fd, .events = POLLIN};

	for (;;) {
		const bool over = atomic_load_explicit(&ended, memory_order_acquire);
		struct sx_queued_pair *queued;

		if (over && !sx_mailbox_waits(&mailbox))
			return;
		queued = sx_mailbox_take(&mailbox);
		if (queued) {
			mailbox_use(queued);
			sx_mailbox_release(queued);
			continue;
		}
		if (poll(&fd, 1, -1) > 0 && fd.revents)
			sx_wake_clear(mailbox.frame_fd);
	}
}

static void mailbox_end(void)
{
	model_check(done + replaced == PAIRS, "a pair is neither done nor counted as replaced");
	model_check(newest == PAIRS, "the newest pair was not the last one");
	model_check(sx_mailbox_used(&mailbox) == 0, "an item was not given back");
	sx_mailbox_return_images(&mailbox);
	for (int i = 0; i < SX_QUEUED_PAIRS_MAX; i++)
		model_check(!images[i].used, "images were not given back");
}

const struct model_scenario model_mailbox = {
	"mailbox", mailbox_setup, {mailbox_capture, mailbox_frame}, mailbox_end, NULL};

/* ---- images that are returned before their frame is done ---- */

static _Atomic(struct sx_queued_pair *) submitted;
static atomic_bool finished;
static int engine_fd, result_fd;

static void early_setup(void)
{
	mailbox_setup();
	engine_fd = eventfd(0, EFD_NONBLOCK);
	result_fd = eventfd(0, EFD_NONBLOCK);
}

/* Waits for room as capture_thread.c does. Every change of a queued pair wakes the thread. */
static void early_capture(void)
{
	struct pollfd fd = {.fd = mailbox.capture_fd, .events = POLLIN};

	mailbox_put(1);
	while (sx_mailbox_used(&mailbox) > 0)
		if (poll(&fd, 1, -1) > 0) {
			sx_wake_clear(mailbox.capture_fd);
			sx_mailbox_return_images(&mailbox);
		}
	mailbox_put(2);
	atomic_store_explicit(&ended, true, memory_order_release);
	sx_wake(mailbox.frame_fd);
}

static void early_engine(void)
{
	struct pollfd fd = {.fd = engine_fd, .events = POLLIN};
	struct sx_queued_pair *queued;

	poll(&fd, 1, -1);
	sx_wake_clear(engine_fd);
	queued = atomic_load_explicit(&submitted, memory_order_acquire);
	mailbox_use(queued);
	sx_mailbox_images_read(queued);
	/* computes the rest of the frame, then signals the result as an engine's contract requires */
	atomic_store_explicit(&finished, true, memory_order_release);
	sx_wake(result_fd);
}

static void early_frame(void)
{
	struct pollfd fd = {.fd = mailbox.frame_fd, .events = POLLIN},
		      result = {.fd = result_fd, .events = POLLIN};
	struct sx_queued_pair *queued;

	while (!(queued = sx_mailbox_take(&mailbox)))
		if (poll(&fd, 1, -1) > 0)
			sx_wake_clear(mailbox.frame_fd);
	atomic_store_explicit(&submitted, queued, memory_order_release);
	sx_wake(engine_fd);
	poll(&result, 1, -1);
	sx_wake_clear(result_fd);
	model_check(atomic_load_explicit(&finished, memory_order_acquire), "woken without a result");
	sx_mailbox_release(queued);
	mailbox_frame();
}

static void early_end(void)
{
	model_check(done == 2 && replaced == 0, "a pair was not done");
	model_check(sx_mailbox_used(&mailbox) == 0, "an item was not given back");
}

const struct model_scenario model_mailbox_early = {
	"mailbox-early", early_setup, {early_capture, early_frame, early_engine}, early_end, NULL};

/* ---- slots that another thread releases than the one that takes them, as in stixel-bench ---- */

enum { SLOTS = 2 };
static struct sx_slots slots;
static struct sx_slot *taken[SLOTS];
static atomic_bool filled;
static int filled_fd;

static void slots_setup(void)
{
	struct sx_why why;

	if (sx_slots_init(&slots, SLOTS, SX_LAYOUT_TWO, 8, 1, SX_PIXEL_U8, &why) < 0 ||
	    sx_slots_pace(&slots, 0, &why) < 0)
		abort();
	filled_fd = eventfd(0, EFD_NONBLOCK);
}

static struct sx_slot *slots_fill(uint64_t number)
{
	struct sx_slot *slot = sx_slots_take(&slots);

	model_check(slot != NULL, "no slot is free");
	*(uint64_t *)slot->left.data = number;
	return slot;
}

static void slots_take(void)
{
	struct pollfd fd = {.fd = slots.fd, .events = POLLIN};

	for (int i = 0; i < SLOTS; i++)
		taken[i] = slots_fill((uint64_t)i + 1);
	atomic_store_explicit(&filled, true, memory_order_release);
	sx_wake(filled_fd);
	poll(&fd, 1, -1);
	slots_fill(SLOTS + 1);
}

/* Releases the last slot first, so that the first one may be found free before its semaphore is posted. */
static void slots_release(void)
{
	struct pollfd fd = {.fd = filled_fd, .events = POLLIN};

	poll(&fd, 1, -1);
	sx_wake_clear(filled_fd);
	model_check(atomic_load_explicit(&filled, memory_order_acquire), "woken without slots");
	for (int i = SLOTS - 1; i >= 0; i--) {
		model_check(*(uint64_t *)taken[i]->left.data == (uint64_t)i + 1, "another pair's images");
		sx_slots_release(&slots, taken[i]);
	}
}

static void slots_end(void)
{
	int busy = 0;

	for (int i = 0; i < SLOTS; i++)
		busy += atomic_load(&slots.slot[i].busy);
	model_check(busy == 1, "a slot is used twice, or was not released");
}

const struct model_scenario model_slots = {
	"slots", slots_setup, {slots_take, slots_release}, slots_end, NULL};
