/*
 * The ring of frames: ipc/ring.c writes, and libstixel reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "include/stixel.h"
#include "ipc/client/reader.h"
#include "ipc/ring.h"
#include "tests/ipc/help.h"
#include "tests/model/explore.h"

#define EPOCH 77
#define FRAMES 5
#define FIRST 1 /* frames that are published before the threads begin */

static const struct help_shape shape = {.columns = 1};
static char folder[64], path[128];
static struct sx_ring *ring;
static struct stixel_reader *reader;
static uint64_t *frames[FRAMES + 1];
static uint64_t frame_bytes[FRAMES + 1];
static uint64_t last; /* number of the newest frame that the reader has received */
static uint64_t taken, lost;

/*
 * Selects two words of a frame as witnesses. They differ between frames and are far from each other: the
 * frame's number, and the first word after the header.
 */
static void ring_witnesses(void)
{
	uint8_t *slot = (uint8_t *)model_object(path) + STIXEL_RING_SLOTS_OFFSET;
	const struct stixel_ring_header *h = model_object(path);

	for (uint32_t i = 0; i < h->slot_count; i++, slot += h->slot_stride) {
		uint8_t *frame = slot + h->slot_header_bytes;

		model_filler(frame, h->frame_capacity);
		model_witness(frame + (offsetof(struct stixel_frame_header, number) & ~7u));
		model_witness(frame + (sizeof(struct stixel_frame_header) & ~7u));
	}
	model_atomic((uint8_t *)model_object(path) + h->live_offset + offsetof(struct stixel_ring_live, bell),
		     4);
	model_atomic(
		(uint8_t *)model_object(path) + h->live_offset + offsetof(struct stixel_ring_live, state), 4);
}

static void ring_setup(void)
{
	help_dir_make(folder, sizeof(folder));
	snprintf(path, sizeof(path), "%s/stixeld.a", folder);
	ring = help_ring(folder, "a", &shape, 2, EPOCH);
	for (uint64_t n = 1; n <= FRAMES; n++) {
		frames[n] = malloc(help_frame_bytes(&shape));
		frame_bytes[n] = help_frame(frames[n], &shape, EPOCH, n);
	}
	if (!ring || stixel_open_path(&reader, path, 0) < 0)
		abort();
	for (uint64_t n = 1; n <= FIRST; n++)
		sx_ring_publish(ring, frames[n], frame_bytes[n]);
	ring_witnesses();
}

static void ring_teardown(void)
{
	stixel_close(reader);
	sx_ring_destroy(ring);
	help_dir_remove(folder);
}

static void ring_publish(uint64_t to)
{
	model_never_waits();
	for (uint64_t n = FIRST + 1; n <= to; n++) {
		model_check(sx_ring_publish(ring, frames[n], frame_bytes[n]) == 0, "publishing failed");
		sx_ring_pass_wake(ring);
	}
}

static void ring_take(bool next)
{
	const struct stixel_frame *frame = NULL;
	uint64_t missed = 0;
	int r = next ? stixel_next(reader, &frame, &missed) : stixel_latest(reader, &frame);

	model_check(r != -EBADMSG, "a frame was taken for a damaged one");
	model_check(r >= 0, "the reader failed");
	if (r == 0)
		return;
	model_check(frame->header->number > last, "a number came again, or ran backwards");
	model_check(help_frame_good(frame, &shape), "a frame is not what was published");
	if (next)
		model_check(missed == frame->header->number - last - 1, "lost frames were not counted");
	last = frame->header->number;
	taken++;
	lost += missed;
}

static void ring_end(void)
{
	struct stixel_status s = {0};

	stixel_status(reader, &s, sizeof(s));
	model_check(s.taken == taken && s.corrupt == 0, "frames taken were miscounted");
	model_check(s.taken + s.lost + s.skipped == last,
		    "of the frames up to the last some are not counted");
	ring_take(true);
}

/* ---- every frame ---- */

static void next_writer(void)
{
	ring_publish(model_count(3, 4));
}

static void next_reader(void)
{
	for (unsigned i = 0; i < model_count(2, 3); i++)
		ring_take(true);
}

const struct model_scenario model_ring_next = {
	"ring-next", ring_setup, {next_writer, next_reader}, ring_end, ring_teardown};

/* ---- the newest frame ---- */

static void latest_reader(void)
{
	for (unsigned i = 0; i < model_count(2, 3); i++)
		ring_take(false);
}

const struct model_scenario model_ring_latest = {
	"ring-latest", ring_setup, {next_writer, latest_reader}, ring_end, ring_teardown};

/* ---- sleeping ---- */

static void wait_writer(void)
{
	ring_publish(FIRST + 1);
}

static void wait_reader(void)
{
	while (last < FIRST + 1) {
		model_check(stixel_wait(reader, -1) == 1, "the wait ended without a frame");
		ring_take(false);
	}
}

const struct model_scenario model_ring_wait = {
	"ring-wait", ring_setup, {wait_writer, wait_reader}, ring_end, ring_teardown};

/* ---- sleeping, with wake-ups by a third thread as in daemon/waker.c ---- */

static int waker_fd;

static void bell_setup(void)
{
	ring_setup();
	waker_fd = eventfd(0, EFD_NONBLOCK);
	sx_ring_set_waker(ring, waker_fd);
}

static void bell_waker(void)
{
	struct pollfd fd = {.fd = waker_fd, .events = POLLIN};
	uint64_t wakes;

	poll(&fd, 1, -1);
	model_check(read(waker_fd, &wakes, sizeof(wakes)) == sizeof(wakes), "the bell was not rung");
	sx_ring_wake(ring, 8);
}

const struct model_scenario model_ring_bell = {
	"ring-bell", bell_setup, {wait_writer, wait_reader, bell_waker}, ring_end, ring_teardown};

/* ---- the publisher's end ---- */

/* Starts without the ring's name, because the name would be missing after the first execution. */
static void close_setup(void)
{
	ring_setup();
	unlink(path);
}

static void close_writer(void)
{
	ring_publish(FIRST + 1);
	sx_ring_destroy(ring);
}

static void close_reader(void)
{
	int e;

	do { /* 0: the last check of the publisher's health was long ago */
		reader->health_ns = 0;
		e = stixel_wait(reader, -1);
		if (e == 1)
			ring_take(true);
	} while (e == 1);
	model_check(e == -EPIPE, "the end was not reported");
}

static void close_end(void)
{
	model_check(last == FIRST + 1, "the end came before the last frame");
}

const struct model_scenario model_ring_close = {
	"ring-close", close_setup, {close_writer, close_reader}, close_end, ring_teardown};

/* ---- one slot, for a reader that learned a frame's number in another way than from head ---- */

static void slot_reader(void)
{
	const struct sx_map *m = &reader->map;
	const struct stixel_ring_slot *slot =
		(const struct stixel_ring_slot *)(m->base + m->header.slots_offset);
	struct stixel_frame frame;

	if (__atomic_load_n(&slot->sequence, __ATOMIC_RELAXED) == 2 * 2)
		if (sx_map_read(m, 2, &reader->buffer, &frame) != -EAGAIN)
			model_check(help_frame_good(&frame, &shape), "a frame is not what was published");
}

const struct model_scenario model_ring_slot = {
	"ring-slot", ring_setup, {next_writer, slot_reader}, ring_end, ring_teardown};
