/*
 * libstixel-recording: the reader of recordings for other programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/why.h"
#include "capture/image/jpeg.h"
#include "include/stixel_recording.h"
#include "recording/library.h"
#include "recording/recording.h"

/* Most reads, and most megabytes of other work, in one call. Together they take some milliseconds. */
#define ASKED_MAX 16u

struct stixel_recording {
	struct sx_recording *r;
	unsigned asked; /* calls of pause_now() in this call */
	bool broken, cut_reported;
};

/*
 * The place to which a call returns when it breaks a contract. In our programs, a broken contract ends the
 * program. This library runs inside of other programs, so only the call returns, and its recording stays
 * unusable. Memory that the call had allocated may be lost.
 */
static __thread jmp_buf *leave;

void sx_contract_broken(const char *file, int line, const char *what, long long a, long long b)
{
	longjmp(*leave, 1);
}

void sx_contract_broken_state(const char *file, int line, const char *what)
{
	longjmp(*leave, 1);
}

int sx_library_guard(bool *broken, int (*work)(void *object, void *arg), void *object, void *arg)
{
	jmp_buf here;

	if (*broken)
		return -ENOTRECOVERABLE;
	leave = &here;
	if (setjmp(here)) {
		*broken = true;
		return -ENOTRECOVERABLE;
	}
	return work(object, arg);
}

static int pause_now(void *user, int fd)
{
	struct stixel_recording *recording = user;

	return ++recording->asked > ASKED_MAX ? -EAGAIN : 0;
}

int stixel_recording_open(struct stixel_recording **ret, int fd, const char *name, char *why,
			  size_t why_bytes)
{
	struct stixel_recording *recording = ret && name ? calloc(1, sizeof(*recording)) : NULL;
	struct sx_why sentence = {""};
	jmp_buf here;
	int e;

	if (!recording) {
		close(fd);
		return ret && name ? -ENOMEM : -EINVAL;
	}
	leave = &here;
	if (setjmp(here)) {
		free(recording);
		return -ENOTRECOVERABLE;
	}
	e = sx_recording_open_fd(&recording->r, fd, name, &sentence);
	if (why && !sx_why_is_empty(&sentence))
		snprintf(why, why_bytes, "%s", sentence.text);
	if (e == 0)
		*ret = recording;
	else
		free(recording);
	return e;
}

void stixel_recording_close(struct stixel_recording *recording)
{
	jmp_buf here;

	if (!recording)
		return;
	leave = &here;
	if (!setjmp(here))
		sx_recording_close(recording->r);
	free(recording);
}

int stixel_recording_info(const struct stixel_recording *recording, struct stixel_recording_info *to,
			  size_t bytes)
{
	struct stixel_recording_info all = {0};
	const struct sx_recording_info *info;
	const struct sx_recording_state *state;

	if (!recording || !to)
		return -EINVAL;
	info = sx_recording_info(recording->r);
	state = sx_recording_state(recording->r);
	memcpy(all.instance, info->instance, sizeof(all.instance));
	memcpy(all.recorder, info->recorder, sizeof(all.recorder));
	all.anchor_monotonic_ns = info->anchor_monotonic_ns;
	all.anchor_realtime_ns = info->anchor_realtime_ns;
	all.indexed = state->indexed;
	all.ended = state->end_known;
	if (all.ended) {
		all.frames = state->end.frames;
		all.lost = state->end.lost;
		all.publishers = state->end.publishers;
		all.first_ns = state->end.first_ns;
		all.last_ns = state->end.last_ns;
	}
	memset(to, 0, bytes);
	memcpy(to, &all, bytes < sizeof(all) ? bytes : sizeof(all));
	return 0;
}

static uint32_t reason_of(enum sx_gap_reason reason)
{
	return reason == SX_GAP_OVERRUN	  ? STIXEL_GAP_OVERRUN
	       : reason == SX_GAP_DAMAGED ? STIXEL_GAP_DAMAGED
					  : STIXEL_GAP_UNKNOWN;
}

static void record_fill(struct stixel_record *to, const struct sx_record *record)
{
	to->offset = record->offset;
	switch (record->kind) {
	case SX_RECORD_FRAME:
		to->kind = STIXEL_RECORD_FRAME;
		to->frame = record->frame.bytes;
		to->bytes = record->frame.header->frame_bytes;
		break;
	case SX_RECORD_PUBLISHER:
		to->kind = STIXEL_RECORD_PUBLISHER;
		to->epoch = record->publisher->epoch;
		to->pid = record->publisher->pid;
		memcpy(to->version, record->publisher->version, sizeof(to->version));
		if (record->publisher->classes[0])
			to->classes = record->publisher->classes;
		break;
	case SX_RECORD_GAP:
		to->kind = STIXEL_RECORD_GAP;
		to->reason = reason_of(record->gap->reason);
		to->epoch = record->gap->epoch;
		to->number = record->gap->number;
		to->lost = record->gap->lost;
		break;
	case SX_RECORD_DAMAGE:
		to->kind = STIXEL_RECORD_DAMAGE;
		to->bytes = record->bytes;
		to->why = record->why;
		break;
	}
}

/* Reports once that the file was cut. Returns 1 then, else 0. */
static int record_cut(struct stixel_recording *recording, struct stixel_record *to)
{
	const struct sx_recording_state *state = sx_recording_state(recording->r);

	if (!state->cut_bytes || recording->cut_reported)
		return 0;
	recording->cut_reported = true;
	to->kind = STIXEL_RECORD_CUT;
	to->offset = state->cut_at;
	to->bytes = state->cut_bytes;
	to->why = "the file ends within a record";
	return 1;
}

static int take_next(void *object, void *to)
{
	struct stixel_recording *recording = object;
	struct sx_record record;
	int e;

	recording->asked = 0;
	sx_recording_on_wait(recording->r, pause_now, recording);
	e = sx_recording_next(recording->r, &record);
	sx_recording_on_wait(recording->r, NULL, NULL);
	if (e == 1)
		record_fill(to, &record);
	return e ? e : record_cut(recording, to);
}

int stixel_recording_next(struct stixel_recording *recording, struct stixel_record *to, size_t bytes)
{
	struct stixel_record all = {0};
	int e;

	if (!recording || !to)
		return -EINVAL;
	e = sx_library_guard(&recording->broken, take_next, recording, &all);
	if (e < 0)
		return e;
	memset(to, 0, bytes);
	memcpy(to, &all, bytes < sizeof(all) ? bytes : sizeof(all));
	return e;
}

int stixel_recording_on_jpeg(struct stixel_recording *recording, stixel_recording_jpeg_fn *decode, void *user)
{
	struct sx_why why;

	if (!recording)
		return -EINVAL;
	sx_recording_on_jpeg(recording->r, decode, user);
	return sx_jpeg_check(&why) == 0;
}

static int seek(void *object, void *published_ns)
{
	struct stixel_recording *recording = object;

	return sx_recording_seek(recording->r, 0, *(const int64_t *)published_ns);
}

int stixel_recording_seek(struct stixel_recording *recording, int64_t published_ns)
{
	return recording ? sx_library_guard(&recording->broken, seek, recording, &published_ns) : -EINVAL;
}

const char *stixel_recording_strerror(int error)
{
	return error == -ENOTRECOVERABLE ? "a fault of libstixel-recording: please report it"
					 : sx_recording_strerror(error);
}
