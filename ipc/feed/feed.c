/*
 * Reads class scores and disparity maps of another process, without trust.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/feed/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/read_at.h"
#include "base/why.h"
#include "ipc/check.h"
#include "ipc/feed/feed_kind.h"
#include "ipc/feed/feed_ring.h"
#include "ipc/instance.h"
#include "ipc/writers.h"

#define RETRY_NS (SX_NS_PER_S / 5)   /* time between two attempts to open a ring */
#define RENAME_NS (SX_NS_PER_S / 50) /* time between two checks whether the name leads to another object */
#define SILENT_NS SX_NS_PER_S	     /* least time without data until a writer is silent */
#define SILENT_PERIODS 3
#define AHEAD_NS SX_NS_PER_S /* a capture time more than this in the future is a mistake */
#define MISSED 16
#define TRIES 3

struct entry {
	uint64_t number; /* 0: none, or refused */
	union sx_feed_header header;
};

struct sx_feed {
	struct sx_feed_params p;
	const struct sx_feed_words *words;
	struct sx_feed_dirs dirs;
	const char *path; /* path in dirs of the ring that is read, or whose opening was tried last */
	struct sx_why why;
	bool there;		   /* an object exists at path */
	struct sx_feed_ring found; /* fd -1: no ring */
	uint64_t seen, lives;
	struct entry entries[STIXEL_SCORES_SLOTS_MAX];
	/* times of the last attempt to open the ring, and of the last check of its name */
	int64_t tried_ns, named_ns;
	int64_t silent_ns; /* a writer without new data for this long is silent */
	int64_t begun_ns;  /* time when the writer created this ring */
	int64_t heard_ns;  /* time of the last accepted scores; 0: never */
	int64_t newest_ns; /* latest capture time of this writer's scores */
	bool unfit;	   /* the newest scores were refused */
	bool exact;	   /* the last scores taken as an image's own had exactly its capture time */
	int64_t missed[MISSED];
	unsigned missed_count;
	struct sx_feed_counters count;
};

int sx_feed_create(struct sx_feed **ret, const struct sx_feed_params *p)
{
	struct sx_feed *f;
	int n = 0;

	if (sx_instance_check(p->name, NULL) < 0 || sx_feed_bytes(p) == 0)
		return -EINVAL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->p = *p;
	if (!f->p.writers)
		n = sx_writers_group(&f->p.writers);
	if (n < 0) {
		free(f);
		return n;
	}
	f->words = sx_feed_words(p->kind);
	f->silent_ns = SILENT_PERIODS * p->period_ns > SILENT_NS ? SILENT_PERIODS * p->period_ns : SILENT_NS;
	f->found.fd = -1;
	if (!sx_feed_dirs_init(&f->dirs, p, f->p.writers)) {
		free(f);
		return -ENAMETOOLONG;
	}
	*ret = f;
	return 0;
}

static void detach(struct sx_feed *f)
{
	if (f->found.fd >= 0)
		close(f->found.fd);
	f->found.fd = -1;
	f->seen = 0;
	f->newest_ns = 0;
	f->unfit = f->exact = false;
	memset(f->entries, 0, sizeof(f->entries));
}

void sx_feed_destroy(struct sx_feed *f)
{
	if (!f)
		return;
	detach(f);
	free(f);
}

/* ---- the ring ---- */

/* Returns a time of the writer's clock if it is in the past, else now_ns. A writer may give any time. */
static int64_t past(int64_t t_ns, int64_t now_ns)
{
	sx_must(now_ns, >, 0);
	return t_ns > 0 && t_ns < now_ns ? t_ns : now_ns;
}

static void attach(struct sx_feed *f, int64_t now_ns)
{
	sx_must(f->found.fd, ==, -1);
	f->tried_ns = f->named_ns = now_ns;
	f->there = sx_feed_find(&f->dirs, &f->found, &f->path, &f->why);
	if (f->found.fd < 0) {
		detach(f);
		return;
	}
	sx_why_clear(&f->why);
	f->begun_ns = past(f->found.header.started_ns, now_ns);
	f->count.restarts += f->lives++ > 0;
}

/*
 * True if the feed has to leave this ring: its name leads to another object now. If the name is gone without
 * a successor, the feed stays until the writer has set an end state.
 */
static bool must_leave(struct sx_feed *f, uint32_t state, int64_t now_ns)
{
	struct stat st;

	sx_must(f->found.fd, >=, 0);
	if (now_ns - f->named_ns < RENAME_NS)
		return false;
	f->named_ns = now_ns;
	if (lstat(f->path, &st) == 0)
		return st.st_ino != f->found.inode || st.st_dev != f->found.device ||
		       sx_feed_find_other(&f->dirs, &f->found, false);
	return sx_feed_find_other(&f->dirs, &f->found, true) || state == STIXEL_STATE_CLOSED ||
	       state == STIXEL_STATE_REPLACED;
}

static uint64_t slot_at(const struct sx_feed *f, uint64_t n)
{
	sx_must(f->found.header.slot_count, <=, STIXEL_SCORES_SLOTS_MAX);
	return f->found.header.slots_offset +
	       (n & (f->found.header.slot_count - 1)) * f->found.header.slot_stride;
}

/* Call after a copy. True if the slot still has number n. */
static bool still(const struct sx_feed *f, uint64_t n)
{
	uint64_t sequence;

#ifdef STIXEL_TEST_NO_RECHECK
	/* Positive control of the kill test: without the second check the test must see damage. */
	return true;
#endif
	/* This pread() must read later than the copy. The fence orders them for compiler and processor. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return sx_read_whole_at(f->found.fd, &sequence, sizeof(sequence), slot_at(f, n)) && sequence == 2 * n;
}

/* ---- content of the ring ---- */

static bool fits(struct sx_feed *f, const union sx_feed_header *h, int64_t now_ns)
{
	const int64_t capture_ns = h->common.capture_ns;

	if (!sx_feed_fits(&f->p, h, &f->why))
		return false;
	if (capture_ns <= 0 || capture_ns > now_ns + AHEAD_NS) {
		sx_why_set(&f->why,
			   "%s of a picture captured at %lld ns, now is %lld: times are CLOCK_MONOTONIC",
			   f->words->many, (long long)capture_ns, (long long)now_ns);
		return false;
	}
	return true;
}

/* Returns 1 accepted, 0 refused, -EAGAIN overwritten meanwhile. */
static int read_header(struct sx_feed *f, uint64_t n, union sx_feed_header *h, int64_t now_ns)
{
	struct stixel_ring_slot slot;

	sx_must(n, >, 0);
	if (!sx_read_whole_at(f->found.fd, &slot, sizeof(slot), slot_at(f, n)) || slot.sequence < 2 * n)
		goto damaged;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!sx_read_whole_at(f->found.fd, h, sizeof(*h), slot_at(f, n) + f->found.header.slot_header_bytes))
		goto damaged;
	if (slot.sequence != 2 * n || !still(f, n))
		return -EAGAIN;
	if (slot.frame_bytes <= f->found.header.frame_capacity &&
	    sx_feed_agrees(f->p.kind, h, slot.frame_bytes) && h->common.number == n &&
	    h->common.epoch == f->found.header.epoch)
		return fits(f, h, now_ns);
damaged:
	sx_why_set(&f->why, "%s is damaged: %s %llu contradict themselves", f->path, f->words->one,
		   (unsigned long long)n);
	return 0;
}

static void note(struct sx_feed *f, const struct sx_feed_common *h, int64_t now_ns)
{
	f->count.received++;
	/* commit time and not now_ns: the data of a dead writer is no sign of life */
	f->heard_ns = past(h->committed_ns, now_ns);
	f->newest_ns = h->capture_ns > f->newest_ns ? h->capture_ns : f->newest_ns;
	for (unsigned i = 0; i < MISSED; i++)
		if (f->missed[i] && llabs(h->capture_ns - f->missed[i]) <= f->p.tolerance_ns) {
			sx_must(f->count.late, <, f->count.received);
			f->count.late++;
			f->missed[i] = 0;
			break;
		}
}

static void read_new(struct sx_feed *f, uint64_t head, int64_t now_ns)
{
	/* the writer may be storing into the slot of head + 1 */
	uint64_t kept = f->found.header.slot_count - 1, first = head > kept ? head - kept + 1 : 1;

	sx_must(head, >, f->seen);
	if (first > f->seen + 1)
		f->count.lost = sx_feed_sum(f->count.lost, first - f->seen - 1);
	else
		first = f->seen + 1;
	/* a writer may set head to UINT64_MAX, so end may wrap to 0 */
	for (uint64_t n = first, end = head + 1; n != end; n++) {
		struct entry *e = &f->entries[n & (f->found.header.slot_count - 1)];
		int r = read_header(f, n, &e->header, now_ns);

		e->number = r == 1 ? n : 0;
		f->count.lost = sx_feed_sum(f->count.lost, r == -EAGAIN);
		f->count.refused += r == 0;
		f->unfit = r == 0;
		if (r != 0)
			sx_why_clear(&f->why);
		if (r == 1)
			note(f, &e->header.common, now_ns);
	}
	f->seen = head;
}

/*
 * Reads the live part. False: the object was cut short, or head went backwards. Tries twice, because a system
 * call may copy a word in several pieces.
 */
static bool read_live(const struct sx_feed *f, struct stixel_ring_live *live)
{
	for (int try = 0; try < 2; try++)
		if (sx_read_whole_at(f->found.fd, live, sizeof(*live), f->found.header.live_offset) &&
		    live->head >= f->seen)
			return true;
	return false;
}

void sx_feed_look(struct sx_feed *f, int64_t now_ns)
{
	struct stixel_ring_live live;

	if (f->found.fd < 0 && (!f->tried_ns || now_ns - f->tried_ns >= RETRY_NS))
		attach(f, now_ns);
	if (f->found.fd < 0)
		return;
	if (!read_live(f, &live)) {
		sx_why_set(&f->why, "%s is damaged: it was cut short or runs backwards", f->path);
		f->count.refused++;
		detach(f);
		return;
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	sx_must(live.head, >=, f->seen);
	if (live.head > f->seen)
		read_new(f, live.head, now_ns);
	else if (must_leave(f, live.state, now_ns)) {
		detach(f);
		attach(f, now_ns);
	}
}

/* ---- scores of one image ---- */

static struct entry *best_of(struct sx_feed *f, int64_t captured_ns, bool older)
{
	struct entry *best = NULL;
	int64_t distance, least = 0;

	sx_must_be(f->found.fd < 0 || f->found.header.slot_count <= STIXEL_SCORES_SLOTS_MAX);
	for (uint32_t i = 0; f->found.fd >= 0 && i < f->found.header.slot_count; i++) {
		struct entry *e = &f->entries[i];

		if (!e->number)
			continue;
		distance = captured_ns - e->header.common.capture_ns;
		if (older ? distance < 0 || distance > f->p.max_age_ns : llabs(distance) > f->p.tolerance_ns)
			continue;
		distance = llabs(distance);
		if (!best || distance < least || (distance == least && e->number > best->number)) {
			best = e;
			least = distance;
		}
	}
	return best;
}

static bool copy(struct sx_feed *f, struct entry *e, void *to)
{
	const uint64_t at =
		slot_at(f, e->number) + f->found.header.slot_header_bytes + e->header.common.data_offset;

	sx_must(e->number, !=, 0);
	sx_must(sx_feed_data_bytes(f->p.kind, &e->header), <=, sx_feed_bytes(&f->p));
	if (sx_read_whole_at(f->found.fd, to, sx_feed_data_bytes(f->p.kind, &e->header), at) &&
	    still(f, e->number))
		return true;
	e->number = 0;
	f->count.lost = sx_feed_sum(f->count.lost, 1);
	return false;
}

/* Copies the best match. *h: header of the copied scores. */
static enum sx_feed_match feed_take(struct sx_feed *f, int64_t captured_ns, bool older, void *to,
				    union sx_feed_header *h)
{
	struct entry *e;

	for (int try = 0; try < TRIES; try++) {
		bool stands_in = false;

		e = best_of(f, captured_ns, false);
		if (!e && older && f->p.max_age_ns > 0) {
			e = best_of(f, captured_ns, true);
			stands_in = true;
		}
		if (!e)
			break;
		if (copy(f, e, to)) {
			*h = e->header;
			if (!stands_in)
				f->exact = h->common.capture_ns == captured_ns;
			return stands_in ? SX_FEED_OLDER : SX_FEED_SAME;
		}
	}
	return SX_FEED_NONE;
}

enum sx_feed_match sx_feed_take(struct sx_feed *f, int64_t captured_ns, bool older, void *to,
				struct sx_scores *scores)
{
	union sx_feed_header header;
	const struct stixel_scores_header *h = &header.scores;
	enum sx_feed_match match;

	sx_must(f->p.kind, ==, SX_FEED_SCORES);
	match = feed_take(f, captured_ns, older, to, &header);
	if (match != SX_FEED_NONE)
		*scores = (struct sx_scores){
			.data = to,
			.pitch = h->pitch,
			.plane_bytes = (size_t)h->plane_bytes,
			.classes = (int)h->classes,
			.width = (int)h->width,
			.height = (int)h->height,
			.scale = (int)h->scale,
			.captured_ns = h->capture_ns,
		};
	return match;
}

enum sx_feed_match sx_feed_take_disparity(struct sx_feed *f, int64_t captured_ns, void *to,
					  struct sx_disparity *disparity)
{
	union sx_feed_header header;
	const struct stixel_disparity_header *h = &header.disparity;
	enum sx_feed_match match;

	sx_must(f->p.kind, ==, SX_FEED_DISPARITY);
	match = feed_take(f, captured_ns, false, to, &header);
	if (match != SX_FEED_NONE)
		*disparity = (struct sx_disparity){
			.data = to,
			.confidence = h->confidence_offset
					      ? (const uint8_t *)to + (h->confidence_offset - h->data_offset)
					      : NULL,
			.pitch = h->pitch,
			.confidence_pitch = h->confidence_pitch,
			.width = (int)h->width,
			.height = (int)h->height,
			.captured_ns = h->capture_ns,
		};
	return match;
}

bool sx_feed_expects(const struct sx_feed *f, int64_t captured_ns, int64_t now_ns)
{
	/* the new ring itself is a sign of life until the first scores come */
	const int64_t alive_ns = f->seen == 0 && f->begun_ns > f->heard_ns ? f->begun_ns : f->heard_ns;

	return f->found.fd >= 0 && alive_ns && now_ns - alive_ns < f->silent_ns &&
	       f->newest_ns <= captured_ns + f->p.tolerance_ns;
}

bool sx_feed_awaits_same(const struct sx_feed *f, int64_t captured_ns)
{
	if (!f->exact)
		return false;
	sx_must(f->found.fd, >=, 0);
	for (uint32_t i = 0; i < f->found.header.slot_count; i++)
		if (f->entries[i].number && f->entries[i].header.common.capture_ns == captured_ns)
			return false;
	return true;
}

void sx_feed_missed(struct sx_feed *f, int64_t captured_ns)
{
	f->missed[f->missed_count++ % MISSED] = captured_ns;
}

/* ---- state ---- */

enum sx_feed_state sx_feed_state(const struct sx_feed *f, int64_t now_ns)
{
	if (f->found.fd < 0)
		return f->there ? SX_FEED_REFUSED : SX_FEED_ABSENT;
	if (f->unfit)
		return SX_FEED_REFUSED;
	return f->heard_ns && now_ns - f->heard_ns < f->silent_ns ? SX_FEED_READING : SX_FEED_SILENT;
}

const char *sx_feed_why(const struct sx_feed *f)
{
	return f->why.text;
}

void sx_feed_counters(const struct sx_feed *f, struct sx_feed_counters *ret)
{
	*ret = f->count;
}
