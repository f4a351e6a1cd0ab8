/*
 * Internals of a reader: the window on the file (recording_window.c), the meaning of messages
 * (recording_content.c), the index (recording_summary.c), the limits of work (recording_budget.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_RECORDING_PRIV_H
#define SX_RECORDING_RECORDING_PRIV_H

#include "recording/codec.h"
#include "recording/mcap.h"
#include "recording/recording.h"

/* Content of a channel. Images are ROLE_IMAGE + enum stixel_plane, and ROLE_JPEG + enum stixel_plane. */
enum role { ROLE_NONE, ROLE_FRAMES, ROLE_EVENTS, ROLE_IMAGE, ROLE_JPEG = ROLE_IMAGE + 16 };

/* More than the largest frame with its images. A record that claims to be larger is damaged. */
#define CHUNK_MAX (UINT64_C(320) << 20)
#define HEADER_MAX 4096u
/* Bytes charged for each record in a chunk, because many small records take time, too. */
#define VAIN_RECORD 256u

struct sx_recording {
	int fd;
	bool seekable;
	sx_recording_wait_fn *wait;
	void *user;
	sx_recording_decode_fn *decode; /* NULL: libjpeg */
	void *decode_user;
	uint8_t *window; /* memory of the window; the data are [begin, end) of room bytes */
	size_t room, begin, end;
	bool eof;
	struct sx_recording_info info;
	struct sx_recording_state state; /* state.offset: offset of window[begin] in the file */
	struct sx_codec *codec;
	/* position in the file */
	bool fresh;	  /* a file begins here with its magic */
	bool lost;	  /* the next bytes are no record: search for a chunk */
	bool after_chunk; /* a chunk or a message index came before, so that a message index may follow */
	/* offset of the previous record if its length may be wrong; 0: its length is certain */
	uint64_t before_at;
	struct sx_cursor chunk; /* records not yet taken of the chunk at the window's begin */
	/* bytes of the whole chunk in the file, head and content; 0: not in a chunk */
	uint64_t chunk_bytes;
	/* bytes of the chunk's records if they are uncompressed, with checksum chunk_crc; 0: otherwise */
	uint64_t chunk_plain;
	uint32_t chunk_crc;
	uint64_t skip_at, skip_bytes; /* a record that is being passed over; skip_bytes 0: none */
	/* checksum of the bytes passed since the beginning of the file or of its summary */
	uint32_t crc;
	bool crc_good; /* the checksum covers all these bytes */
	uint64_t summary_at;
	/* damage that is being passed over, from here on; bad_why NULL: none */
	uint64_t bad_at;
	const char *bad_why;
	/*
	 * The length of the record at this offset, before the damage, may be wrong. If the search finds a
	 * chunk, the damage begins here. 0: the damage begins at bad_at.
	 */
	uint64_t bad_before_at;
	/* The work budget: sx_recording_can_afford(). */
	uint64_t checked_to; /* bytes up to this offset were scanned */
	uint64_t looked_at;  /* offset of the chunk that was scanned last; its next scan is not charged */
	/* bytes charged to the budget: bytes scanned again, and VAIN_RECORD for each record in a chunk */
	uint64_t vain;
	uint64_t expanded; /* bytes that chunks were expanded to */
	uint64_t given;	   /* bytes of the frames that the caller got */
	uint64_t unasked;  /* bytes of work since the last call of r->wait */
	/* meaning of messages */
	uint8_t role[65536];		    /* enum role of each channel */
	char topics[STIXEL_INSTANCE_BYTES]; /* beginning of the topics: "/INSTANCE/" */
	bool channels_seen;
	uint8_t *frame; /* frame that is being put together */
	size_t frame_room;
	uint8_t *bare; /* frame without its images */
	struct sx_bytes
		jpeg[STIXEL_PLANE_RIGHT + 1]; /* JPEGs of that frame, by enum stixel_plane; empty: none */
	unsigned missing; /* images of the frame that have not come: bits 1u << enum stixel_plane */
	int64_t frame_time_ns;
	uint64_t frame_at;	    /* offset of the frame's chunk */
	size_t frame_message_bytes; /* content of the frame's message, without its images */
	struct sx_event event;
	/* index */
	bool summarized;  /* there is a whole summary */
	uint64_t *places; /* offsets of chunks, in the order of the file */
	size_t place_count;
};

/* ---- recording_budget.c ---- */

/*
 * Returns whether the budget allows to scan bytes [offset, end) of the file, and `bytes` more that were
 * scanned before. The budget limits the work in proportion to the size of the file. Only a file made for that
 * purpose makes the reader scan its bytes again and again, or expands to far more than its size. Uncompressed
 * chunks that do not overlap cost nothing.
 */
bool sx_recording_can_afford(const struct sx_recording *r, uint64_t end, uint64_t bytes);
/* Returns whether the budget allows a chunk that expands to plain_bytes. */
bool sx_affords_expansion(const struct sx_recording *r, uint64_t plain_bytes);
/* Charges the budget with the scan of bytes [offset, end) and the expansion to plain_bytes. */
void sx_recording_spend(struct sx_recording *r, uint64_t end, uint64_t plain_bytes);
/* Returns whether the budget allows one more record of a chunk. bytes: size of the chunk in the file. */
bool sx_affords_record(const struct sx_recording *r, uint64_t bytes);
/*
 * Counts work_bytes, and calls r->wait after every few megabytes to learn whether to stop. Returns 0 or the
 * error of r->wait.
 */
int sx_recording_request(struct sx_recording *r, uint64_t work_bytes);

/* ---- recording_window.c ---- */

/*
 * Reads until the window has `bytes`, if the file has them. Returns the bytes in the window, fewer only at
 * the end of the file, or a negative errno.
 */
int64_t sx_window_need(struct sx_recording *r, uint64_t bytes);
const uint8_t *sx_window_at(const struct sx_recording *r);
/* Passes over bytes that are in the window. */
void sx_window_pass(struct sx_recording *r, uint64_t bytes);
/*
 * Passes over bytes that need not be in the window. Returns their number, fewer only at the end of the file,
 * or a negative errno.
 */
int64_t sx_window_skip(struct sx_recording *r, uint64_t bytes);
/* Goes to another offset of a seekable file. Bytes in the window are not read again. */
int sx_window_back(struct sx_recording *r, uint64_t offset);
/* Goes to a chunk or to the beginning, and forgets all state of the previous position. */
int sx_window_jump(struct sx_recording *r, uint64_t offset);

/* ---- recording_content.c ---- */

void sx_content_channel(struct sx_recording *r, struct sx_span content);
/*
 * Takes a message. 1: *record is set; 0: no record; 2: *record is set, and the caller must pass the message
 * again.
 */
int sx_content_message(struct sx_recording *r, struct sx_span content, struct sx_record *record);
/*
 * Ends a frame that waits for images, because no messages follow, or the next bytes are no record. 1: *record
 * is set; 0: no record.
 */
int sx_content_end(struct sx_recording *r, struct sx_record *record);
/*
 * Returns the bytes of memory that sx_content_records() takes for a chunk. 0: the chunk is uncompressed, or
 * will be refused before.
 */
uint64_t sx_content_expands_to(const struct sx_mcap_chunk *c);
/*
 * Returns the records of a chunk. Compressed records are in memory of the codec. -EBADMSG, -ENOTSUP, -ENOPKG,
 * -ENOMEM.
 */
int sx_content_records(struct sx_recording *r, const struct sx_mcap_chunk *c, struct sx_cursor *records);

/* ---- recording_summary.c ---- */

/*
 * Returns whether the head of a chunk begins in bytes [from, to) of a seekable file: 1, 0, or a negative
 * errno, also that of r->wait.
 */
int sx_recording_hides_chunk(struct sx_recording *r, uint64_t from, uint64_t to);
/* Reads the summary at the end of a seekable file. Does nothing if it is damaged. */
void sx_summary_read(struct sx_recording *r);

#endif
