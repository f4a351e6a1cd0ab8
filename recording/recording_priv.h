/*
 * The inside of a reader: the window on the file (recording_window.c), what messages mean
 * (recording_content.c), the index (recording_summary.c), what work is worth it (recording_budget.c).
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
/* What a record in a chunk counts for there: many that are small take time, too. */
#define VAIN_RECORD 256u

struct sx_recording {
	int fd;
	bool seekable;
	sx_recording_wait_fn *wait;
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
	/* work that may have been for nothing: sx_affordable() */
	uint64_t checked_to; /* bytes were looked at up to here */
	uint64_t looked_at;  /* this chunk was looked at, and comes again */
	uint64_t vain;	     /* bytes that were looked at once more, and records in chunks */
	uint64_t expanded;   /* bytes that chunks were expanded to */
	uint64_t given;	     /* bytes of frames that came of both */
	uint64_t unasked;    /* bytes of work since r->wait was asked */
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

/* ---- recording_budget.c ---- */

/*
 * Whether bytes [offset, end) of the file are worth a look, and so many more that were looked at before. Only
 * a file that was made for it has its bytes looked at over and over, or expands to far more than it has: this
 * bounds the work by its size. Chunks that do not overlap cost nothing here as long as they are plain.
 */
bool sx_affordable(const struct sx_recording *r, uint64_t end, uint64_t bytes);
/* The same of a chunk that expands to so many bytes. */
bool sx_affords_expansion(const struct sx_recording *r, uint64_t plain_bytes);
/* That look was taken. */
void sx_spend(struct sx_recording *r, uint64_t end, uint64_t plain_bytes);
/* One more record in a chunk that is so long in the file. */
bool sx_affords_record(const struct sx_recording *r, uint64_t bytes);
/* Now and then: whether to stop. 0 or what r->wait says. */
int sx_ask(struct sx_recording *r, uint64_t work_bytes);

/* ---- recording_window.c ---- */

/* So many bytes in the window, if there are: how many there are; fewer only at the end. Negative errno. */
int64_t sx_window_need(struct sx_recording *r, uint64_t bytes);
const uint8_t *sx_window_at(const struct sx_recording *r);
/* Over bytes that are in the window. */
void sx_window_pass(struct sx_recording *r, uint64_t bytes);
/* Over bytes that need not be; fewer only at the end of the file. How many, or negative errno. */
int64_t sx_window_skip(struct sx_recording *r, uint64_t bytes);
/* To another place of a file that can be sought in; what memory has of it is not read again. */
int sx_window_back(struct sx_recording *r, uint64_t offset);
/* To a chunk, or the beginning: nothing is known from before. */
int sx_window_jump(struct sx_recording *r, uint64_t offset);

/* ---- recording_content.c ---- */

void sx_content_channel(struct sx_recording *r, struct sx_span content);
/* 1: *record is set; 0: nothing to give out; 2: *record is set, and the message is to be taken again. */
int sx_content_message(struct sx_recording *r, struct sx_span content, struct sx_record *record);
/* No more messages follow, or what follows is no record: 1: *record is set; 0: nothing to give out. */
int sx_content_end(struct sx_recording *r, struct sx_record *record);
/* Memory that the next one takes, bytes: 0 for a plain chunk, or one that is refused before. */
uint64_t sx_content_expands_to(const struct sx_mcap_chunk *c);
/* The records of a chunk; compressed ones in memory of the codec. -EBADMSG, -ENOTSUP, -ENOPKG, -ENOMEM. */
int sx_content_records(struct sx_recording *r, const struct sx_mcap_chunk *c, struct sx_cursor *records);

/* ---- recording_summary.c ---- */

/* Of a file that can be sought in: what its end says. Where that is damaged, nothing. */
void sx_summary_read(struct sx_recording *r);

#endif
