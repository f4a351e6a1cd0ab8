/*
 * Fuzz target for the reader library with a ring whose publisher writes anything at any time. The input has
 * flags, the object's header and live part, frames in its slots, and then the later writes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "include/stixel.h"
#include "ipc/check.h"
#include "tests/fuzz/frame_input.h"
#include "tests/fuzz/shared.h"

const unsigned fails_kinds =
	1u << FAILS_MEMORY | 1u << FAILS_SYSTEM | 1u << FAILS_PEER | 1u << FAILS_CALLER | 1u << FAILS_HEADER;

enum {
	FRAMES = 1,
	FOLLOW = 2,
	LEFTOVER = 4,
	SOUND = 8,
	RUNS = 16,
	ODD = 32,
	STEPS_MOST = 24,
	RESTS_MOST = 40
};
/*
 * Time between two looks. All looks together take longer than a reader waits for a frame that is being
 * written.
 */
#define REST_NS INT64_C(100000000)

/* Puts the newest frames of a valid ring into their slots. */
static void put_frames(struct fuzz_input *in, uint8_t *at)
{
	const struct stixel_ring_header *h = (const struct stixel_ring_header *)at;
	struct stixel_ring_live *live = (struct stixel_ring_live *)(at + SHARED_LIVE);
	const unsigned count = 1 + fuzz_choice(in, 3);

	live->head = live->head % 100 + 1;
	live->state %= STIXEL_STATE_REPLACED + 1;
	for (uint64_t n = live->head; n + count > live->head && n > 0; n--) {
		struct stixel_ring_slot *slot = shared_slot(n);
		size_t bytes;
		struct stixel_frame_header *frame = frame_input_make(in, &bytes);

		if (bytes <= h->frame_capacity) {
			frame->epoch = h->epoch;
			frame->number = n;
			frame->checksum = sx_frame_checksum(frame, frame);
			memcpy((uint8_t *)slot + h->slot_header_bytes, frame, bytes);
			slot->sequence = 2 * n;
			slot->frame_bytes = bytes;
		}
		free(frame);
	}
}

static void take(struct stixel_reader *r, bool next, uint64_t *taken)
{
	const struct stixel_frame *frame = NULL;
	struct stixel_frame again;
	uint64_t lost = 0;
	int e = next ? stixel_next(r, &frame, &lost) : stixel_latest(r, &frame);

	if (e == 1) {
		if (stixel_parse(&again, frame->bytes, frame->header->frame_bytes) < 0)
			fuzz_fail("a frame that is none");
		if (lost >= frame->header->number)
			fuzz_fail("%llu frames lost before the one with number %llu",
				  (unsigned long long)lost, (unsigned long long)frame->header->number);
		frame_input_touch(frame);
		++*taken;
	} else if (e > 1 || stixel_strerror(e) == NULL) {
		fuzz_fail("%d of a reader", e);
	}
}

/*
 * Reads after the last write: each frame that stixel_wait() reports can be taken, or is no longer reported.
 */
static void come_to_rest(struct stixel_reader *r, uint64_t *taken)
{
	unsigned vain = 0;

	for (int i = 0; i < RESTS_MOST; i++) {
		const uint64_t before = *taken;

		if (stixel_wait(r, 0) != 1)
			return;
		take(r, false, taken);
		vain = *taken == before ? vain + 1 : 0;
		shared_pass(REST_NS);
	}
	if (vain == RESTS_MOST)
		fuzz_fail("wait() says that there is a frame, and there is none, for %u looks", vain);
}

static void use(struct stixel_reader *r, struct fuzz_input steps)
{
	uint64_t taken = 0;
	struct stixel_status status;

	for (int i = 0; i < STEPS_MOST && steps.left; i++) {
		const unsigned step = fuzz_choice(&steps, 8);

		if (step < 5)
			take(r, step & 1, &taken);
		else if (step == 5)
			stixel_wait(r, 0);
		else if (step == 6)
			stixel_wait(r, 300);
		else
			stixel_reopen(r);
	}
	shared_rest();
	come_to_rest(r, &taken);
	if (stixel_status(r, &status, sizeof(status)) < 0 || status.taken != taken)
		fuzz_fail("%llu frames, and its status says %llu", (unsigned long long)taken,
			  (unsigned long long)status.taken);
}

/* Calls without required arguments, or with a path that does not exist, must return an error. */
static void ask_wrongly(void)
{
	static char long_path[PATH_MAX + 1];
	struct stixel_status status;
	const struct stixel_frame *frame;
	struct stixel_frame parsed;
	struct stixel_reader *r;
	uint64_t lost;

	memset(long_path, 'a', sizeof(long_path) - 1);
	if (stixel_latest(NULL, &frame) != -EINVAL || stixel_next(NULL, &frame, &lost) != -EINVAL ||
	    stixel_wait(NULL, 0) != -EINVAL || stixel_reopen(NULL) != -EINVAL ||
	    stixel_status(NULL, &status, sizeof(status)) != -EINVAL ||
	    stixel_parse(NULL, long_path, sizeof(long_path)) != -EINVAL ||
	    stixel_parse(&parsed, NULL, 0) != -EINVAL || stixel_open_path(&r, NULL, 0) != -EINVAL ||
	    stixel_open_path(&r, "", 0) != -EINVAL || stixel_open_path(&r, "a", ~0u) != -EINVAL ||
	    stixel_open_path(&r, long_path, 0) != -ENAMETOOLONG)
		fuzz_fail("what cannot be meant is taken");
	stixel_close(NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_input in = fails_input(data, bytes), steps;
	const unsigned bits = (unsigned)fuzz_number(&in, 1);
	unsigned which;
	const unsigned flags = (fails_is(FAILS_PEER, &which, NULL) ? 0 : STIXEL_OPEN_ANY_OWNER) |
			       (bits & FOLLOW ? STIXEL_OPEN_FOLLOW : 0) |
			       (bits & LEFTOVER ? STIXEL_OPEN_LEFTOVER : 0);
	uint8_t of_steps[STEPS_MOST] = {0}, *at;
	struct stixel_reader *r;

	if (fails_is(FAILS_CALLER, &which, NULL))
		ask_wrongly();
	steps = (struct fuzz_input){of_steps, fuzz_copy(&in, of_steps, sizeof(of_steps))};
	at = shared_begin(&in, bits & (FRAMES | SOUND) ? SHARED_SOUND : 0, STIXEL_RING_MAGIC);
	if (bits & RUNS) /* the publisher's heartbeat is current */
		((struct stixel_ring_live *)(at + SHARED_LIVE))->heartbeat_ns =
			SHARED_NOW_NS + INT64_C(1000000000);
	if (bits & FRAMES)
		put_frames(&in, at);
	if (bits & ODD)
		shared_break(&in);
	shared_break_layout();
	shared_write(&in);
	if (stixel_open_path(&r, SHARED_FOLDER "/stixeld.front", flags) == 0) {
		use(r, steps);
		stixel_close(r);
	}
	shared_end();
	return 0;
}
