/*
 * Reads a recording (recording/recording_format.h): whole records only, whatever the file has been through.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_RECORDING_H
#define SX_RECORDING_RECORDING_H

#include <stdbool.h>

#include "recording/recording_format.h"

struct sx_recording;

/* Beside the kinds of the format: bytes that are no whole record. */
#define SX_RECORD_DAMAGE 1000u

struct sx_record {
	unsigned kind; /* enum sx_record_kind: frame, publisher, gap or damage */
	uint64_t offset;
	int64_t time_ns;
	struct stixel_frame frame;		     /* SX_RECORD_FRAME: checked */
	const struct sx_record_publisher *publisher; /* SX_RECORD_PUBLISHER */
	const struct sx_record_gap *gap;	     /* SX_RECORD_GAP */
	uint64_t bytes;	 /* of the record in the file; of the damage, which begins at offset */
	const char *why; /* SX_RECORD_DAMAGE: what is wrong, in words */
};

struct sx_recording_state {
	uint64_t offset;      /* read up to here */
	uint64_t total_bytes; /* of the file, 0 unknown: a pipe */
	uint64_t damaged_places, damaged_bytes;
	uint64_t cut_at,
		cut_bytes; /* the file ends in a record that begins here and has only so much; 0 no */
	uint64_t index_records, compressed; /* records */
	bool ended;			    /* the record of the end was there */
	struct sx_record_end end; /* from the file's end, as soon as it is known; file_bytes 0 before */
};

/*
 * Opens a recording; path "-": standard input. Negative errno with a sentence: -EBADMSG no recording, or a
 * header that is damaged; -ENODATA an empty file; -EPROTONOSUPPORT another major version; else why it cannot
 * be opened or read. A seekable, finished file has state.end from the beginning.
 */
int sx_recording_open(struct sx_recording **ret, const char *path, char *why, size_t why_bytes);
void sx_recording_close(struct sx_recording *r); /* accepts NULL */
const struct sx_recording_header *sx_recording_header(const struct sx_recording *r);
const struct sx_recording_state *sx_recording_state(const struct sx_recording *r);
/*
 * The next record: 1; 0 at the end; negative errno when the file cannot be read or memory is
 * short. *record points into r,
 * until the next call. -EINTR: a signal handler ran; nothing is lost by calling again.
 */
int sx_recording_next(struct sx_recording *r, struct sx_record *record);
/*
 * For a pipe, before each read that might wait: wait(user, fd) returns 0 when there is something to read, or
 * a negative error, which sx_recording_next() then returns.
 */
void sx_recording_on_wait(struct sx_recording *r, int (*wait)(void *user, int fd), void *user);
/*
 * By the index, to the last frame at or before time_ns, or the first there is: 0. -ESPIPE: no index, or not
 * seekable; then nothing has changed, and the way is to read on.
 */
int sx_recording_seek(struct sx_recording *r, int64_t time_ns);
/* To the first record. -ESPIPE: not seekable. */
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
