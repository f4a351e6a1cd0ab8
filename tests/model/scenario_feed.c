/*
 * Class scores: libstixel writes them into its ring, and ipc/feed reads the ring with pread().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "include/stixel.h"
#include "ipc/feed/feed.h"
#include "tests/ipc/help.h"
#include "tests/model/explore.h"

#define FIRST 1 /* scores that are committed before the threads begin */
#define CAPTURED_NS(n) (1000 * (int64_t)(n))
#define SIDE 16 /* side of the image, px; the image has one score */

static char folder[64], path[128];
static struct stixel_scores *writer;
static struct sx_feed *feed;
static uint8_t copy[4096];
static int64_t last_ns;

static uint64_t feed_scores(void)
{
	return model_count(3, 4);
}

static void feed_write(uint64_t n)
{
	struct stixel_scores_planes planes;

	model_check(stixel_scores_begin(writer, &planes) == 0, "the writer failed");
	memset(planes.data, (int)n, planes.classes * planes.plane_bytes);
	model_check(stixel_scores_commit(writer, CAPTURED_NS(n), 1, n) == 0, "the writer failed");
}

static void feed_witnesses(void)
{
	const struct stixel_ring_header *h = model_object(path);
	uint8_t *slot = (uint8_t *)model_object(path) + h->slots_offset;
	const size_t live = h->live_offset;

	for (uint32_t i = 0; i < h->slot_count; i++, slot += h->slot_stride) {
		uint8_t *scores = slot + h->slot_header_bytes;

		model_filler(scores, h->frame_capacity);
		model_filler(slot + offsetof(struct stixel_ring_slot, reserved), 48);
		model_witness(scores + offsetof(struct stixel_scores_header, number));
		model_witness(scores + offsetof(struct stixel_scores_header, capture_ns));
		model_witness(scores + sizeof(struct stixel_scores_header) + 8);
	}
	model_atomic((uint8_t *)model_object(path) + live + offsetof(struct stixel_ring_live, bell), 4);
	model_atomic((uint8_t *)model_object(path) + live + offsetof(struct stixel_ring_live, state), 4);
}

static void feed_setup(void)
{
	const struct stixel_scores_format format = {.classes = 1,
						    .image_width = SIDE,
						    .image_height = SIDE,
						    .scale = SIDE,
						    .slots = 2,
						    .folder = NULL};
	struct stixel_scores_format f = format;
	struct sx_feed_params p = {.kind = SX_FEED_SCORES,
				   .name = "a",
				   .image_width = SIDE,
				   .image_height = SIDE,
				   .classes = 1,
				   .scale = SIDE,
				   .tolerance_ns = 10};

	help_dir_make(folder, sizeof(folder));
	snprintf(path, sizeof(path), "%s/stixel-scores.a", folder);
	f.folder = p.shm_dir = folder;
	if (stixel_scores_create(&writer, "a", &f, sizeof(f)) < 0 || sx_feed_create(&feed, &p) < 0)
		abort();
	sx_feed_look(feed, sx_now_ns());
	for (uint64_t n = 1; n <= FIRST; n++)
		feed_write(n);
	feed_witnesses();
}

static void feed_teardown(void)
{
	sx_feed_destroy(feed);
	stixel_scores_close(writer);
	help_dir_remove(folder);
}

static void feed_writer(void)
{
	model_never_waits();
	for (uint64_t n = FIRST + 1; n <= feed_scores(); n++)
		feed_write(n);
}

static void feed_take(void)
{
	struct sx_feed_counters c;
	struct sx_scores scores;

	sx_feed_look(feed, sx_now_ns());
	sx_feed_counters(feed, &c);
	model_check(c.refused == 0, "scores were taken for damaged ones");
	for (uint64_t n = FIRST; n <= feed_scores(); n++) {
		if (sx_feed_take(feed, CAPTURED_NS(n), false, copy, &scores) == SX_FEED_NONE)
			continue;
		model_check(scores.captured_ns == CAPTURED_NS(n), "scores of another picture");
		for (int i = 0; i < 16; i++)
			model_check(copy[i] == n, "the scores are not those of their header");
		last_ns = scores.captured_ns;
	}
}

static void feed_reader(void)
{
	for (unsigned i = 0; i < model_count(1, 2); i++)
		feed_take();
}

static void feed_end(void)
{
	struct sx_feed_counters c;

	feed_take();
	sx_feed_counters(feed, &c);
	model_check(c.received + c.lost >= feed_scores(), "scores were lost without being counted");
	model_check(last_ns == CAPTURED_NS(feed_scores()), "the newest scores were not found");
}

const struct model_scenario model_feed = {
	"feed", feed_setup, {feed_writer, feed_reader}, feed_end, feed_teardown};
