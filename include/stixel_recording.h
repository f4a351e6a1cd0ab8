/*
 * Reads recordings of "stixelctl record" (docs/recording.md): the frames, and what is known of those that are
 * missing. In a library of its own, libstixel-recording.so.1, because it needs zlib and libzstd.
 *
 *	while ((r = stixel_recording_next(recording, &record, sizeof(record))) == 1 || r == -EAGAIN)
 *		if (r == 1 && record.kind == STIXEL_RECORD_FRAME)
 *			use(record.frame, record.bytes);
 *
 * A recording is used by one thread at a time; different recordings are independent. What is in a file may be
 * anything: whole chunks are read, the rest is passed over, and the work is linear in the size of the file. A
 * fault of the library itself is an error of the recording that met it (-ENOTRECOVERABLE), never the end of
 * the process.
 *
 * Errors: negative errno values, explained by stixel_recording_strerror().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STIXEL_RECORDING_H
#define STIXEL_RECORDING_H

#include "stixel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum stixel_record_kind {
	STIXEL_RECORD_FRAME = 0,
	STIXEL_RECORD_PUBLISHER = 1, /* the frames that follow are of this life of the publisher */
	STIXEL_RECORD_GAP = 2,	     /* frames are missing here, and the recorder knew */
	STIXEL_RECORD_DAMAGE = 3,    /* bytes that are no whole record */
	STIXEL_RECORD_CUT = 4	     /* the same at the end: the file was cut, or is still being written */
};

enum stixel_gap_reason {
	STIXEL_GAP_UNKNOWN = 0,
	STIXEL_GAP_OVERRUN = 1, /* the recorder was too slow: the frames were overwritten in the ring */
	STIXEL_GAP_DAMAGED = 2	/* the publisher's frame failed its check */
};

/* Fields that the kind does not name are 0. Fields may be added at the end. */
struct stixel_record {
	uint32_t kind;	   /* enum stixel_record_kind */
	uint32_t reason;   /* GAP: enum stixel_gap_reason */
	uint64_t offset;   /* offset in the file of the chunk; DAMAGE, CUT: of the bytes */
	uint64_t bytes;	   /* FRAME: of the frame; DAMAGE, CUT: how many */
	const void *frame; /* FRAME: checked, 8-byte aligned; until the next call */
	uint64_t epoch;	   /* PUBLISHER, GAP */
	uint64_t number;   /* GAP: of the first frame that is missing; 0: not known */
	uint64_t lost;	   /* GAP: frames */
	uint64_t pid;	   /* PUBLISHER */
	char version[32];  /* PUBLISHER */
	const char *why;   /* DAMAGE, CUT: what is wrong, static text */
};

/* Description of a recording. Fields may be added at the end. */
struct stixel_recording_info {
	char instance[STIXEL_INSTANCE_BYTES]; /* instance of the frames; empty: not known yet */
	char recorder[64];		      /* the program that wrote the file, and its version */
	int64_t anchor_monotonic_ns; /* the same moment on both clocks: when it began; 0: not known */
	int64_t anchor_realtime_ns;
	uint32_t indexed; /* 1: there is an index of chunks, stixel_recording_seek() */
	uint32_t ended;	  /* 1: what follows is known, from the index, or from what was read */
	uint64_t frames;
	uint64_t lost; /* frames, sum of all gaps */
	uint64_t publishers;
	int64_t first_ns, last_ns; /* published_ns of the first and of the last frame */
};

struct stixel_recording;

/*
 * Opens a recording. fd: a plain file, open for reading at its beginning, which nothing else reads. The
 * library closes it, also when it fails. name: what sentences call it. On failure why has a sentence, unless
 * it is NULL: -EBADMSG no MCAP file, -ENODATA an empty file, -ENOMSG an MCAP file without frames of stixeld;
 * else why it cannot be read. *recording is set on success only.
 */
STIXEL_API int stixel_recording_open(struct stixel_recording **recording, int fd, const char *name, char *why,
				     size_t why_bytes);
/* Accepts NULL. */
STIXEL_API void stixel_recording_close(struct stixel_recording *recording);
/* bytes: sizeof(*info), so that both sides may grow. 0; -EINVAL. */
STIXEL_API int stixel_recording_info(const struct stixel_recording *recording,
				     struct stixel_recording_info *info, size_t bytes);
/*
 * The next record. bytes: sizeof(*record). 1; 0 at the end; -EAGAIN: many megabytes were looked at without a
 * record, so that the caller may handle signals: call again, nothing is lost. Else the file cannot be read,
 * memory is short, or chunks are compressed in a way that this library does not know.
 */
STIXEL_API int stixel_recording_next(struct stixel_recording *recording, struct stixel_record *record,
				     size_t bytes);
/*
 * Goes by the index to the last chunk whose first frame was published at or before published_ns
 * (CLOCK_MONOTONIC), of a recording of which nothing was read so far. Earlier frames of that chunk come as
 * well. 0; -ESPIPE: there is no index, read on instead; -ENOMEM, or why the file cannot be sought in.
 */
STIXEL_API int stixel_recording_seek(struct stixel_recording *recording, int64_t published_ns);
/* Static text, never NULL. */
STIXEL_API const char *stixel_recording_strerror(int error);

#ifdef __cplusplus
}
#endif
#endif
