/*
 * Requests and answers between main and the threads of the pipeline: daemon/channels/.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "base/wake.h"
#include "daemon/channels/control_channel.h"
#include "tests/model/explore.h"

#define CHANGES model_count(2, 4)

static struct sx_control_channel channel;
static struct sx_backend backend;
static struct sx_contexts *contexts; /* contexts that compute frames */
static int main_fd, other_fd;
static uint64_t made, destroyed, seen;

static void channel_setup(void)
{
	contexts = calloc(1, sizeof(*contexts));
	contexts->backend = &backend;
	main_fd = eventfd(0, EFD_NONBLOCK);
	other_fd = eventfd(0, EFD_NONBLOCK);
}

static void channel_sleep(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (poll(&p, 1, -1) > 0)
		sx_wake_clear(fd);
}

static void channel_main(void)
{
	for (uint64_t n = 1; n <= CHANGES; n++) {
		struct sx_contexts *c = calloc(1, sizeof(*c)), *old;

		c->backend = &backend;
		c->first = n;
		made++;
		sx_control_channel_give_contexts(&channel, c);
		sx_wake(other_fd);
		while (!(old = sx_control_channel_take_retired(&channel)))
			channel_sleep(main_fd);
		model_check(old != c && old->first == 100 + n - 1, "not the contexts that were left");
		old->first = 0;
		sx_contexts_destroy(old);
		destroyed++;
	}
}

static void channel_frame(void)
{
	for (uint64_t n = 1; n <= CHANGES; n++) {
		struct sx_contexts *next;

		while (!(next = sx_control_channel_take_contexts(&channel)))
			channel_sleep(other_fd);
		model_check(next->first == n, "contexts came twice, or in another order");
		contexts->first = 100 + n - 1;
		sx_control_channel_retire(&channel, contexts);
		sx_wake(main_fd);
		contexts = next;
		seen++;
	}
}

static void channel_end(void)
{
	model_check(seen == CHANGES && made == destroyed, "contexts were lost");
	model_check(!sx_control_channel_take_contexts(&channel) && !sx_control_channel_take_retired(&channel),
		    "contexts are left");
	sx_control_channel_finish(&channel);
}

const struct model_scenario model_control_channel = {
	"control-channel", channel_setup, {channel_main, channel_frame}, channel_end, NULL};

/* ---- controls of the cameras ---- */

static struct sx_camera_controls controls;
static atomic_bool ended;

static void controls_main(void)
{
	for (int n = 1; n <= (int)CHANGES; n++) {
		bool over;

		controls.params.gain = n;
		controls.result = 0;
		sx_control_channel_give_controls(&channel, &controls);
		sx_wake(other_fd);
		for (;;) {
			over = atomic_load_explicit(&ended, memory_order_acquire);
			if (sx_control_channel_take_returned_controls(&channel, over))
				break;
			channel_sleep(main_fd);
		}
		model_check(controls.result == n || (over && controls.result == 0),
			    "not the answer to this change");
	}
}

/* Answers one request, then ends as a source does: a pending request is answered first. */
static void controls_capture(void)
{
	struct sx_camera_controls *t;

	while (!(t = sx_control_channel_take_controls(&channel)))
		channel_sleep(other_fd);
	t->result = (int)t->params.gain;
	sx_control_channel_return_controls(&channel, t);
	sx_wake(main_fd);
	t = sx_control_channel_take_controls(&channel);
	if (t) {
		t->result = (int)t->params.gain;
		sx_control_channel_return_controls(&channel, t);
	}
	atomic_store_explicit(&ended, true, memory_order_release);
	sx_wake(main_fd);
}

static void controls_end(void)
{
	model_check(!sx_control_channel_take_controls(&channel), "controls are left");
}

const struct model_scenario model_controls = {
	"controls", channel_setup, {controls_main, controls_capture}, controls_end, NULL};
