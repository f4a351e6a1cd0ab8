/*
 * The inside of a reader: the window on the file (recording_window.c), what messages mean
 * (recording_content.c), the index (recording_summary.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_RECORDING_PRIV_H
#define SX_RECORDING_RECORDING_PRIV_H

#include "recording/codec.h"
#include "recording/mcap.h"
#include "recording/recording.h"

/* What a channel has: images are ROLE_IMAGE + enum stixel_plane. */
enum role { ROLE_NONE, ROLE_FRAMES, ROLE_EVENTS, ROLE_IMAGE };

/* More than the largest frame with its images: whatever says it is larger is damaged. */
#define CHUNK_MAX (UINT64_C(320) << 20)
#define HEADER_MAX 4096u

struct sx_recording {
	int fd;
	bool seekable;
	int (*wait)(void *user, int fd);
	void *user;
	uint8_t *window; /* what lies in memory: [begin, end) of room */
	size_t room, begin, end;
	bool eof;
	struct sx_recording_info info;
	struct sx_recording_state state; /* state.offset: of window[begin] in the file */
	struct sx_codec *codec;
	/* where we are */
	bool fresh;	    /* a file begins here: its magic comes first */
	bool lost;	    /* what follows is no record: look for a chunk */
	bool after_chunk;   /* a message index may follow */
	uint64_t before_at; /* the record before begins here, and its length may be wrong; 0: it is sure */
	struct sx_cursor chunk; /* what was not taken yet of the chunk at the window's begin */
	uint64_t chunk_bytes;	/* all of it in the file, head and content; 0: in no chunk */
	uint64_t chunk_plain;	/* of these, records that lie there plain, with this checksum; 0: none */
	uint32_t chunk_crc;
	uint64_t skip_at, skip_bytes; /* a record that is being passed over; bytes 0: none */
	/* checksum of what was passed over since the file, or its summary, began */
	uint32_t crc;
	bool crc_good; /* nothing is missing in it */
	uint64_t summary_at;
	/* damage that is being passed over: from here on; why: NULL without any */
	uint64_t bad_at;
	const char *bad_why;
	uint64_t bad_before_at; /* or from here, if a chunk is found; 0: no */
	uint64_t checked_to;	/* the contents of damaged chunks were looked at up to here */
	uint64_t checked_again; /* of these bytes, so many once more: another chunk might have begun there */
	/* what messages mean */
	uint8_t role[65536];		    /* of channels */
	char topics[STIXEL_INSTANCE_BYTES]; /* how their topics begin: "/INSTANCE/" */
	bool channels_seen;
	uint8_t *frame; /* being put together */
	size_t frame_room;
	uint8_t *bare;	  /* one without its images */
	unsigned missing; /* its images that have not come: bits 1u << enum stixel_plane */
	int64_t frame_time_ns;
	uint64_t frame_at;	    /* the chunk it lies in */
	size_t frame_message_bytes; /* content of its message, without its images */
	struct sx_event event;
	/* the index */
	bool summarized;  /* there is a summary, and it is whole */
	uint64_t *places; /* of chunks, in the order of the file */
	size_t place_count;
};

/* ---- recording_window.c ---- */

/* So many bytes in the window, if there are: how many there are; fewer only at the end. Negative errno. */
int64_t sx_window_need(struct sx_recording *r, uint64_t bytes);
const uint8_t *sx_window_at(const struct sx_recording *r);
/* Over bytes that are in the window. */
void sx_window_pass(struct sx_recording *r, uint64_t bytes);
/* Over bytes that need not be; fewer only at the end of the file. How many, or negative errno. */
int64_t sx_window_skip(struct sx_recording *r, uint64_t bytes);
/* Back to a place that was passed over, of a file that can be sought in. */
int sx_window_back(struct sx_recording *r, uint64_t offset);
/* To a chunk, or the beginning: nothing is known from before. */
int sx_window_jump(struct sx_recording *r, uint64_t offset);

/* ---- recording_content.c ---- */

void sx_content_channel(struct sx_recording *r, struct sx_span content);
/* 1: *record is set; 0: nothing to give out; 2: *record is set, and the message is to be taken again. */
int sx_content_message(struct sx_recording *r, struct sx_span content, struct sx_record *record);
/* No more messages follow, or what follows is no record: 1: *record is set; 0: nothing to give out. */
int sx_content_end(struct sx_recording *r, struct sx_record *record);
/* The records of a chunk; compressed ones in memory of the codec. -EBADMSG, -ENOTSUP, -ENOPKG, -ENOMEM. */
int sx_content_records(struct sx_recording *r, const struct sx_mcap_chunk *c, struct sx_cursor *records);

/* ---- recording_summary.c ---- */

/* Of a file that can be sought in: what its end says. Where that is damaged, nothing. */
void sx_summary_read(struct sx_recording *r);

#endif
