/*
 * Reads recordings of "stixelctl record" (docs/use/recording.md): the frames, and the known facts about missing
 * frames. The functions have a separate library, libstixel-recording.so.1, because they need zlib and
 * libzstd.
 *
 *	while ((r = stixel_recording_next(recording, &record, sizeof(record))) == 1 || r == -EAGAIN)
 *		if (r == 1 && record.kind == STIXEL_RECORD_FRAME)
 *			use(record.frame, record.bytes);
 *
 * One thread at a time uses a recording. Different recordings are independent. A file may have any content:
 * the library reads whole chunks and skips the rest, and its work is linear in the size of the file. A fault
 * of the library itself is an error of the recording that met it (-ENOTRECOVERABLE) and never ends the
 * process.
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
	STIXEL_RECORD_PUBLISHER = 1, /* the following frames are from this run of the publisher */
	STIXEL_RECORD_GAP = 2,	     /* frames are missing here, and the recorder noted that */
	STIXEL_RECORD_DAMAGE = 3,    /* bytes that are not a whole record */
	/* Such bytes at the end: the file was cut, or is still being written. */
	STIXEL_RECORD_CUT = 4
};

enum stixel_gap_reason {
	STIXEL_GAP_UNKNOWN = 0,
	/* The recorder was too slow: the publisher overwrote the frames in the ring. */
	STIXEL_GAP_OVERRUN = 1,
	STIXEL_GAP_DAMAGED = 2 /* the publisher's frame failed its check */
};

/* A record. Fields that its kind does not use are 0. Later versions may add fields at the end. */
struct stixel_record {
	uint32_t kind;	   /* enum stixel_record_kind */
	uint32_t reason;   /* GAP: enum stixel_gap_reason */
	uint64_t offset;   /* offset of the chunk in the file; DAMAGE, CUT: offset of the bytes */
	uint64_t bytes;	   /* FRAME: size of the frame; DAMAGE, CUT: number of bytes */
	const void *frame; /* FRAME: the checked frame, 8-byte aligned; valid until the next call */
	uint64_t epoch;	   /* PUBLISHER, GAP */
	uint64_t number;   /* GAP: number of the first missing frame; 0: not known */
	uint64_t lost;	   /* GAP: number of missing frames */
	uint64_t pid;	   /* PUBLISHER */
	char version[32];  /* PUBLISHER */
	const char *why;   /* DAMAGE, CUT: what is wrong, static text */
	/*
	 * Since 1.7. PUBLISHER: names of the semantic classes in the order of their labels, with a space
	 * between them; valid until the next call. NULL: not known.
	 */
	const char *classes;
};

/* Description of a recording. Later versions may add fields at the end. */
struct stixel_recording_info {
	char instance[STIXEL_INSTANCE_BYTES]; /* instance of the frames; empty: not known yet */
	char recorder[64];		      /* name and version of the program that wrote the file */
	/* Start of the recording: the same moment on both clocks. 0: not known. */
	int64_t anchor_monotonic_ns;
	int64_t anchor_realtime_ns;
	uint32_t indexed; /* 1: the file has an index of chunks, which stixel_recording_seek() uses */
	/* 1: the fields below are known, from the index or from reading the file. */
	uint32_t ended;
	uint64_t frames;
	uint64_t lost; /* missing frames, sum of all gaps */
	uint64_t publishers;
	int64_t first_ns, last_ns; /* published_ns of the first and the last frame */
};

struct stixel_recording;

/*
 * Opens a recording. fd: a regular file, open for reading at its beginning, that no other code reads. The
 * library closes it, also on failure. name: name of the recording in messages. On failure why receives a
 * sentence, unless it is NULL. -EBADMSG: not an MCAP file. -ENODATA: an empty file. -ENOMSG: an MCAP file
 * without frames of stixeld. Other errors: why the file cannot be read. *recording is set on success only.
 */
STIXEL_API int stixel_recording_open(struct stixel_recording **recording, int fd, const char *name, char *why,
				     size_t why_bytes);
/* Accepts NULL. */
STIXEL_API void stixel_recording_close(struct stixel_recording *recording);
/* Describes the recording. bytes: sizeof(*info), so that the struct may grow on both sides. 0; -EINVAL. */
STIXEL_API int stixel_recording_info(const struct stixel_recording *recording,
				     struct stixel_recording_info *info, size_t bytes);
/*
 * Reads the next record. bytes: sizeof(*record). 1: read. 0: end of the file. -EAGAIN: many megabytes were
 * read without a record. The caller may handle signals and must call again; no data is lost. Other errors:
 * the file cannot be read, memory is short, or chunks have a compression that this library does not know.
 */
STIXEL_API int stixel_recording_next(struct stixel_recording *recording, struct stixel_record *record,
				     size_t bytes);
/*
 * (since 1.7) Decodes a JPEG image of a recording: writes height rows of width grey levels, each pitch bytes
 * after the previous one. Returns 0, or a negative errno value: the image is damaged. It must not call
 * functions of this library.
 */
typedef int stixel_recording_jpeg_fn(void *user, const void *jpeg, uint64_t bytes, uint8_t *pixels,
				     uint32_t width, uint32_t height, uint32_t pitch);
/*
 * (since 1.7) Sets the decoder of JPEG images; NULL: the decoder inside the library. The library of a Python
 * wheel contains no decoder. Without a decoder, frames come without images, with STIXEL_FRAME_PLANE_LEFT_OUT.
 * Returns 1 if the library contains a decoder, else 0, or -EINVAL.
 */
STIXEL_API int stixel_recording_on_jpeg(struct stixel_recording *recording, stixel_recording_jpeg_fn *decode,
					void *user);
/*
 * Uses the index to go to the last chunk whose first frame was published at or before published_ns
 * (CLOCK_MONOTONIC). Call it before anything is read from the recording. Earlier frames of that chunk are
 * read as well. 0; -ESPIPE: there is no index, read on instead; -ENOMEM; other errors: why the library cannot
 * seek in the file.
 */
STIXEL_API int stixel_recording_seek(struct stixel_recording *recording, int64_t published_ns);
/* Returns static text, never NULL. */
STIXEL_API const char *stixel_recording_strerror(int error);

#ifdef __cplusplus
}
#endif
#endif
