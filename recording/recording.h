/*
 * Reads a recording (docs/recording.md): whole chunks only, whatever the file has been through.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_RECORDING_H
#define SX_RECORDING_RECORDING_H

#include <stdbool.h>

#include "recording/recording_messages.h"

struct sx_recording;

enum sx_record_kind {
	SX_RECORD_FRAME,
	SX_RECORD_PUBLISHER, /* the frames that follow are of this life */
	SX_RECORD_GAP,	     /* frames are missing here */
	SX_RECORD_DAMAGE     /* bytes that are no whole record */
};

struct sx_record {
	enum sx_record_kind kind;
	uint64_t offset;			     /* of the chunk it lies in */
	int64_t time_ns;			     /* CLOCK_REALTIME; of a frame: when it was published */
	struct stixel_frame frame;		     /* SX_RECORD_FRAME: checked */
	const struct sx_record_publisher *publisher; /* SX_RECORD_PUBLISHER */
	const struct sx_record_gap *gap;	     /* SX_RECORD_GAP */
	uint64_t bytes;				     /* SX_RECORD_DAMAGE: so many, from offset on */
	const char *why;			     /* SX_RECORD_DAMAGE: what is wrong, in words */
};

struct sx_recording_info {
	char instance[STIXEL_INSTANCE_BYTES]; /* whose frames these are; empty: not known yet */
	char recorder[64];		      /* the program that wrote the file, and its version */
	int64_t anchor_monotonic_ns;	      /* when it began, by both clocks; 0: not known */
	int64_t anchor_realtime_ns;
};

struct sx_recording_state {
	uint64_t offset;      /* read up to here */
	uint64_t total_bytes; /* of the file, 0 unknown: a pipe */
	uint64_t damaged_places, damaged_bytes;
	uint64_t cut_at,
		cut_bytes; /* where the last record begins that is not whole, and its bytes; 0: all are whole */
	uint64_t compressed;   /* chunks */
	uint64_t images_apart; /* images that do not follow their frame, and belong to none */
	bool ended;	       /* the end was there, in order */
	bool indexed;	       /* there is an index of chunks: sx_recording_seek() */
	bool end_known;	       /* end is set: with an index from the beginning */
	struct sx_record_end end;
};

/*
 * Opens a recording; path "-": standard input. Negative errno with a sentence: -EBADMSG no MCAP file,
 * -ENODATA an empty file, -ENOMSG an MCAP file without frames of stixeld; else why it cannot be opened or
 * read.
 */
int sx_recording_open(struct sx_recording **ret, const char *path, char *why, size_t why_bytes);
/* The same of an open file, which is closed in the end, also on failure. path: what sentences call it. */
int sx_recording_open_fd(struct sx_recording **ret, int fd, const char *path, char *why, size_t why_bytes);
void sx_recording_close(struct sx_recording *r); /* accepts NULL */
const struct sx_recording_info *sx_recording_info(const struct sx_recording *r);
const struct sx_recording_state *sx_recording_state(const struct sx_recording *r);
/*
 * The next record: 1; 0 at the end; negative errno when the file cannot be read, memory is short, or chunks
 * are compressed as nobody here knows. *record points into r, until the next call. -EINTR: a signal handler
 * ran; nothing is lost by calling again.
 */
int sx_recording_next(struct sx_recording *r, struct sx_record *record);
/*
 * Before each read, of a file or a pipe: wait(user, fd) returns 0 when there is something to read, or a
 * negative error, which sx_recording_next() then returns. With fd -1, at least after every few megabytes of
 * other work: nothing is to be read, and it only says whether to go on. A damaged place may be long, and what
 * is in a file may be anything: who reads looks here whether to stop.
 */
typedef int sx_recording_wait_fn(void *user, int fd);
void sx_recording_on_wait(struct sx_recording *r, sx_recording_wait_fn *wait, void *user);
/*
 * Goes by the index, forward to the last chunk whose first frame is of this life of the publisher (0: of
 * any) and was published at or before published_ns (CLOCK_MONOTONIC): 0. Earlier frames of that chunk come as
 * well. Where no later chunk is like that, what is being read goes on. The index only saves reading: what it
 * says is looked up in the chunks. -ESPIPE: no index, or not seekable; then nothing has changed, and the way
 * is to read on. -ENOMEM, or why the file cannot be sought in.
 */
int sx_recording_seek(struct sx_recording *r, uint64_t epoch, int64_t published_ns);
/* To the beginning. -ESPIPE: not seekable. */
int sx_recording_rewind(struct sx_recording *r);
/* Times in a file may be anything: these wrap around where plain sums would overflow. */
static inline int64_t sx_recorded_ns_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t sx_recorded_ns_since(int64_t later, int64_t earlier)
{
	return (int64_t)((uint64_t)later - (uint64_t)earlier);
}

/* What an error of next, seek or rewind means, in words. */
const char *sx_recording_strerror(int error);

#endif
