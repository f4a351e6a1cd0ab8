/*
 * The log rings: base/log.c and base/spsc.c, one or two real-time threads, and main, which prints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/spsc.h"
#include "tests/model/explore.h"

#define OUTPUT 900 /* an unused descriptor */
#define FILLED 63  /* lines in a ring that has room for one more */

static int printed, newest, counted, written;

/* Checks a printed line: "line N" of a thread, or main's count of lost lines. */
static void log_take(const char *text, size_t bytes)
{
	const char *line = memmem(text, bytes, "line ", 5), *base = memmem(text, bytes, "base: ", 6);
	int n;

	if (base) {
		counted += (int)strtol(base + 6, NULL, 10);
		return;
	}
	model_check(line != NULL && text[bytes - 1] == '\n', "a line is torn");
	n = (int)strtol(line + 5, NULL, 10);
	model_check(n > newest, "lines are out of order");
	newest = n;
	printed++;
}

static void log_setup(void)
{
	if (sx_log_fd() < 0)
		abort();
	sx_log_to(OUTPUT);
	model_output(OUTPUT, log_take);
}

static void log_line(int n)
{
	written++;
	sx_log(CAPTURE, WARNING, "line %d", n);
}

static void log_wait(void)
{
	struct pollfd fd = {.fd = sx_log_fd(), .events = POLLIN};

	if (poll(&fd, 1, -1) > 0)
		model_check(sx_log_drain() >= 0, "the rings cannot be printed");
}

/* ---- a thread from its first line to its end ---- */

static void log_thread(void)
{
	model_never_waits();
	model_check(sx_log_realtime_begin() == 0, "there is no ring for the thread");
	log_line(1);
	log_line(2);
	sx_log_realtime_end();
}

static void log_main(void)
{
	while (printed < 2)
		log_wait();
}

static void log_end(void)
{
	sx_log_drain();
	model_check(printed + (int)sx_log_lost() == written, "a line is neither printed nor counted");
	model_check(counted == (int)sx_log_lost(), "lost lines were not reported");
}

const struct model_scenario model_log = {"log", log_setup, {log_main, log_thread}, log_end, NULL};

/* ---- a full ring ---- */

static void full_setup(void)
{
	log_setup();
	if (sx_log_realtime_begin() < 0)
		abort();
	for (int n = 1; n <= FILLED; n++)
		log_line(n);
}

static void full_thread(void)
{
	model_never_waits();
	for (unsigned i = 1; i <= model_count(2, 3); i++)
		log_line(FILLED + (int)i);
	sx_log_realtime_end();
}

static void full_main(void)
{
	sx_log_drain();
	sx_log_drain();
}

const struct model_scenario model_log_full = {
	"log-full", full_setup, {full_thread, full_main}, log_end, NULL};

/* ---- a ring that is passed from thread to thread ---- */

static void life_setup(void)
{
	log_setup();
	for (int i = 0; i < 7; i++) {
		if (sx_log_realtime_begin() < 0)
			abort();
		model_other_thread();
	}
}

/* Logs a line. The second of two threads gets the ring only after the first one's lines are printed. */
static void life_thread(void)
{
	if (sx_log_realtime_begin() < 0)
		return;
	sx_log(CAPTURE, WARNING, "line 1");
	sx_log_realtime_end();
}

static void life_main(void)
{
	for (int i = 0; i < 2; i++) {
		newest = 0; /* each thread begins with line 1 */
		sx_log_drain();
	}
}

static void life_end(void)
{
	newest = 0;
	sx_log_drain();
	model_check(sx_log_lost() == 0 && sx_log_realtime_begin() == 0, "the ring was not given back");
}

const struct model_scenario model_log_life = {
	"log-life", life_setup, {life_thread, life_thread, life_main}, life_end, NULL};

/* ---- the queue of a ring, and a third thread that counts its entries ---- */

#define PUT 2 /* entries that are put; fewer than there are slots */

static struct sx_spsc queue;
static uint64_t slots[4], got;

static void queue_setup(void)
{
	if (sx_spsc_init(&queue, slots, sizeof(slots[0]), 4) < 0)
		abort();
}

static void queue_producer(void)
{
	for (uint64_t n = 1; n <= PUT; n++) {
		uint64_t *to = sx_spsc_reserve(&queue);

		model_check(to != NULL, "a queue with room has none");
		*to = n;
		sx_spsc_commit(&queue);
	}
}

static void queue_take(void)
{
	const uint64_t *from = sx_spsc_peek(&queue);

	if (!from)
		return;
	model_check(*from == ++got, "an element is not what was put there");
	sx_spsc_release(&queue);
}

static void queue_consumer(void)
{
	queue_take();
	queue_take();
}

static void queue_observer(void)
{
	model_check(sx_spsc_count(&queue) <= PUT, "more is counted than was ever put there");
}

static void queue_end(void)
{
	queue_consumer();
	model_check(got == PUT && sx_spsc_count(&queue) == 0, "an element was lost");
}

const struct model_scenario model_log_queue = {
	"log-queue", queue_setup, {queue_producer, queue_consumer, queue_observer}, queue_end, NULL};
