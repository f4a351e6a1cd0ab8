/*
 * Reads a recording (docs/use/recording.md). Returns the records of whole chunks, however damaged the file is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_RECORDING_H
#define SX_RECORDING_RECORDING_H

#include <stdbool.h>

#include "base/why.h"
#include "recording/recording_messages.h"

struct sx_recording;

enum sx_record_kind {
	SX_RECORD_FRAME,
	SX_RECORD_PUBLISHER, /* the frames that follow are of this publisher */
	SX_RECORD_GAP,	     /* frames are missing here */
	SX_RECORD_DAMAGE     /* bytes that are not a whole record */
};

struct sx_record {
	enum sx_record_kind kind;
	uint64_t offset;	   /* offset of the record's chunk, bytes */
	int64_t time_ns;	   /* CLOCK_REALTIME; of a frame: time of publication */
	struct stixel_frame frame; /* SX_RECORD_FRAME: checked */
	/* SX_RECORD_FRAME: the JPEG from which an image of this kind was decoded; empty: none */
	struct sx_span jpeg[STIXEL_PLANE_RIGHT + 1];
	const struct sx_record_publisher *publisher; /* SX_RECORD_PUBLISHER */
	const struct sx_record_gap *gap;	     /* SX_RECORD_GAP */
	/* SX_RECORD_DAMAGE: number of damaged bytes from offset on */
	uint64_t bytes;
	const char *why; /* SX_RECORD_DAMAGE: description of the damage */
};

struct sx_recording_info {
	char instance[STIXEL_INSTANCE_BYTES]; /* name of the recorded instance; empty: not known yet */
	char recorder[64];		      /* name and version of the program that wrote the file */
	int64_t anchor_monotonic_ns;	      /* start of the recording on both clocks; 0: not known */
	int64_t anchor_realtime_ns;
};

struct sx_recording_state {
	uint64_t offset;      /* position of reading, bytes */
	uint64_t total_bytes; /* size of the file; 0: unknown, a pipe */
	uint64_t damaged_places, damaged_bytes;
	/* first byte and length of an incomplete record at the end; 0: all records are whole */
	uint64_t cut_at, cut_bytes;
	uint64_t compressed;   /* number of compressed chunks */
	uint64_t jpeg_images;  /* images that are JPEG; without libjpeg, their frames come without images */
	uint64_t images_apart; /* images that do not follow their frame, and are therefore not used */
	bool ended;	       /* a correct end of the file was read */
	bool indexed;	       /* there is an index of chunks for sx_recording_seek() */
	bool end_known;	       /* `end` is set; with an index from the beginning */
	struct sx_record_end end;
};

/*
 * Opens a recording; path "-": standard input. Returns a negative errno and a sentence in `why`: -EBADMSG not
 * an MCAP file, -ENODATA an empty file, -ENOMSG an MCAP file without frames of stixeld, or the error of
 * opening or reading.
 */
int sx_recording_open(struct sx_recording **ret, const char *path, struct sx_why *why);
/*
 * Opens a recording from an open file. Takes ownership of fd, even on failure. path: name of the file in
 * sentences.
 */
int sx_recording_open_fd(struct sx_recording **ret, int fd, const char *path, struct sx_why *why);
void sx_recording_close(struct sx_recording *r); /* accepts NULL */
const struct sx_recording_info *sx_recording_info(const struct sx_recording *r);
const struct sx_recording_state *sx_recording_state(const struct sx_recording *r);
/*
 * Reads the next record. Returns 1, 0 at the end, or a negative errno: the file cannot be read, there is no
 * memory, or chunks have an unsupported compression. *record points into r and is valid until the next call.
 * -EINTR: a signal handler ran; call again, nothing is lost.
 */
int sx_recording_next(struct sx_recording *r, struct sx_record *record);
/*
 * Sets the callback before each read of a file or a pipe. wait(user, fd) returns 0 when data can be read, or
 * a negative error, which sx_recording_next() then returns. It is also called with fd -1, at least after
 * every few megabytes of other work. Then nothing is to be read, and the callback only decides whether to go
 * on. This lets the program stop reading, since a damaged place may be long and a file may contain anything.
 */
typedef int sx_recording_wait_fn(void *user, int fd);
void sx_recording_on_wait(struct sx_recording *r, sx_recording_wait_fn *wait, void *user);
/*
 * Sets a decoder for JPEG images instead of libjpeg; NULL: libjpeg, if the program has it. decode(user, jpeg,
 * bytes, pixels, width, height, pitch) writes height rows of width grey levels and returns 0, or a negative
 * error.
 */
typedef int sx_recording_decode_fn(void *user, const void *jpeg, uint64_t bytes, uint8_t *pixels,
				   uint32_t width, uint32_t height, uint32_t pitch);
void sx_recording_on_jpeg(struct sx_recording *r, sx_recording_decode_fn *decode, void *user);
/*
 * Goes forward, by the index, to the last chunk whose first frame has this epoch (0: any) and was published
 * at or before published_ns (CLOCK_MONOTONIC). Returns 0. Earlier frames of that chunk are returned as well.
 * If no later chunk meets these conditions, reading continues at its present place. The index only saves
 * reading, since the times and epochs are read from the chunks. -ESPIPE: there is no index, or the file is
 * not seekable. Then nothing has changed; read on instead. -ENOMEM, or the error of seeking in the file.
 */
int sx_recording_seek(struct sx_recording *r, uint64_t epoch, int64_t published_ns);
/* Goes to the beginning. -ESPIPE: not seekable. */
int sx_recording_rewind(struct sx_recording *r);
/* Adds times that wrap around on overflow, because times in a file may have any value. */
static inline int64_t sx_recorded_ns_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t sx_recorded_ns_since(int64_t later, int64_t earlier)
{
	return (int64_t)((uint64_t)later - (uint64_t)earlier);
}

/* Returns the text of an error of next, seek or rewind. */
const char *sx_recording_strerror(int error);

#endif
