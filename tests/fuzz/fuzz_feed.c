/*
 * Fuzz target for the feeds. Another process writes class scores or disparity maps in any form at any time,
 * and the target takes them as the frame thread does. The input has the expected format, the object's header
 * and live part, entries in its slots, and then the later writes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "ipc/feed/disparity.h"
#include "ipc/feed/feed.h"
#include "ipc/feed/feed_kind.h"
#include "ipc/feed/scores.h"
#include "tests/fuzz/shared.h"

const unsigned fails_kinds = 1u << FAILS_MEMORY | 1u << FAILS_SYSTEM | 1u << FAILS_PEER | 1u << FAILS_HEADER;

enum { ENTRIES = 1, SOUND = 2, MAPS = 4, ODD = 32, STEPS_MOST = 24, WIDTH = 40, HEIGHT = 12, SCALE = 4 };

/*
 * Makes a header as a writer would, with times and other changes from the input. False if the layout is
 * impossible.
 */
static bool make_header(struct fuzz_input *in, const struct sx_feed_params *p, union sx_feed_header *h)
{
	const unsigned how = (unsigned)fuzz_number(in, 1);
	const uint32_t width = WIDTH - (how & 1), height = HEIGHT;

	if (p->kind == SX_FEED_SCORES) {
		if (!sx_scores_layout(&h->scores, (uint32_t)p->classes + (how >> 4 & 1) - (how >> 5 & 1),
				      width, height, (how & 2 ? 2 * SCALE : SCALE) - (how >> 2 & 1)))
			return false;
	} else if (!sx_disparity_layout(&h->disparity, width, height, how & 2)) {
		return false;
	}
	h->common.capture_ns = SHARED_NOW_NS + (int16_t)fuzz_number(in, 2) * INT64_C(100000);
	h->common.committed_ns = h->common.capture_ns + (int64_t)fuzz_number(in, 2) * 1000;
	if (how & 8) /* changes one word of the header */
		memcpy((uint8_t *)h + fuzz_choice(in, sizeof(*h) / 8) * 8, &(uint64_t){fuzz_number(in, 8)},
		       8);
	return true;
}

static void put_entries(struct fuzz_input *in, const struct sx_feed_params *p, uint8_t *at)
{
	const struct stixel_ring_header *ring = (const struct stixel_ring_header *)at;
	struct stixel_ring_live *live = (struct stixel_ring_live *)(at + SHARED_LIVE);
	const unsigned count = 1 + fuzz_choice(in, 4);

	live->head = live->head % 100 + 1;
	for (uint64_t n = live->head; n + count > live->head && n > 0; n--) {
		struct stixel_ring_slot *slot = shared_slot(n);
		union sx_feed_header h;

		if (!make_header(in, p, &h))
			continue;
		h.common.epoch = ring->epoch;
		h.common.number = n;
		slot->sequence = 2 * n;
		slot->frame_bytes = h.common.frame_bytes;
		memcpy((uint8_t *)slot + ring->slot_header_bytes, &h, sizeof(h));
	}
}

/* Reads the rows as the daemon's computation does, and checks that the sizes are those requested. */
static void check_scores(const struct sx_feed_params *p, const struct sx_scores *s)
{
	if (s->classes != p->classes || s->scale < p->scale ||
	    s->width != (p->image_width + s->scale - 1) / s->scale ||
	    s->height != (p->image_height + s->scale - 1) / s->scale)
		fuzz_fail("%d classes of %dx%d at %d", s->classes, s->width, s->height, s->scale);
	for (int c = 0; c < s->classes; c++)
		for (int y = 0; y < s->height; y++)
			fuzz_touch(s->data + (size_t)c * s->plane_bytes + (size_t)y * s->pitch,
				   (size_t)s->width);
}

static void check_map(const struct sx_feed_params *p, const struct sx_disparity *d)
{
	if (d->width != p->image_width || d->height != p->image_height || d->pitch % 2)
		fuzz_fail("a map of %dx%d, rows of %zu", d->width, d->height, d->pitch);
	for (int y = 0; y < d->height; y++) {
		fuzz_touch((const uint8_t *)d->data + (size_t)y * d->pitch, 2 * (size_t)d->width);
		if (d->confidence)
			fuzz_touch(d->confidence + (size_t)y * d->confidence_pitch, (size_t)d->width);
	}
}

static void take(struct sx_feed *f, const struct sx_feed_params *p, int64_t captured_ns, bool older)
{
	/* exactly this size, so that the sanitizer sees a byte too many */
	void *to = malloc(sx_feed_bytes(p));
	struct sx_scores scores;
	struct sx_disparity map;

	if (!to) /* the target's own allocation failed */
		return;
	if (p->kind == SX_FEED_SCORES && sx_feed_take(f, captured_ns, older, to, &scores) != SX_FEED_NONE)
		check_scores(p, &scores);
	if (p->kind == SX_FEED_DISPARITY && sx_feed_take_disparity(f, captured_ns, to, &map) != SX_FEED_NONE)
		check_map(p, &map);
	free(to);
}

static void use(struct sx_feed *f, const struct sx_feed_params *p, struct fuzz_input steps)
{
	struct sx_feed_counters count;

	for (int i = 0; i < STEPS_MOST && steps.left; i++) {
		const unsigned step = (unsigned)fuzz_number(&steps, 1);
		const int64_t captured_ns = shared_now_ns() - (step >> 4) * INT64_C(10000000);

		if (step % 8 < 3) {
			sx_feed_look(f, shared_now_ns());
		} else if (step % 8 < 6) {
			take(f, p, captured_ns, step & 1);
		} else if (step % 8 == 6) {
			sx_feed_missed(f, captured_ns);
			sx_feed_awaits_same(f, captured_ns);
			sx_feed_expects(f, captured_ns, shared_now_ns());
		}
		shared_pass((step >> 4) * INT64_C(20000000));
		if (sx_feed_state_name(sx_feed_state(f, shared_now_ns())) == NULL ||
		    strlen(sx_feed_why(f)) >= SX_FEED_WHY_BYTES)
			fuzz_fail("no state, or a long sentence");
	}
	sx_feed_counters(f, &count);
	fuzz_touch(&count, sizeof(count));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_input in = fails_input(data, bytes), steps;
	const unsigned bits = (unsigned)fuzz_number(&in, 1);
	const struct sx_feed_params p = {
		.kind = bits & MAPS ? SX_FEED_DISPARITY : SX_FEED_SCORES,
		.name = "front",
		.shm_dir = SHARED_FOLDER,
		.image_width = WIDTH,
		.image_height = HEIGHT,
		.classes = 1 + (int)(bits >> 6),
		.scale = SCALE,
		.tolerance_ns = 5000000,
		.max_age_ns = bits & 8 ? 100000000 : 0,
		.period_ns = bits & 16 ? 33000000 : 0,
	};
	uint8_t of_steps[STEPS_MOST] = {0}, *at;
	struct sx_feed *f;
	int r;

	steps = (struct fuzz_input){of_steps, fuzz_copy(&in, of_steps, sizeof(of_steps))};
	at = shared_begin(&in, bits & (ENTRIES | SOUND) ? SHARED_SOUND : 0, sx_feed_words(p.kind)->magic);
	if (bits & ENTRIES)
		put_entries(&in, &p, at);
	if (bits & ODD)
		shared_break(&in);
	shared_break_layout();
	shared_write(&in);
	r = sx_feed_create(&f, &p);
	if (r == 0) {
		use(f, &p, steps);
		sx_feed_destroy(f);
	}
	if (!shared_end() && r < 0)
		fuzz_fail("no feed: %d", r);
	return 0;
}
