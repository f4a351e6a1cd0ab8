/*
 * Format of the data for browsers: a sequence of messages, each with a header and a payload. docs/use/web.md
 * describes it for other programs, and tools/web/page/wire.js reads it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_WIRE_H
#define SX_TOOLS_WEB_WIRE_H

#include <stdint.h>

#define WEB_MESSAGE_MAGIC 0x57585453u /* "STXW" */
#define WEB_MESSAGE_TYPE "application/x-stixel-stream"

enum web_message_kind {
	WEB_MESSAGE_FRAME = 1, /* a frame as in stixel.h, without planes unless the viewer requested them */
	WEB_MESSAGE_LEFT = 2,  /* left image, JPEG */
	WEB_MESSAGE_DISPARITY = 3, /* disparity in colours, PNG */
	WEB_MESSAGE_NOTICE = 4,	   /* state of the publisher, JSON */
	WEB_MESSAGE_FREE = 5,	   /* struct web_free and the arrays that follow it */
	WEB_MESSAGE_SCALE = 6	   /* colour scale of the distances of a frame, JSON */
};

/* Header of a message, little endian as all of stixel.h. A payload of `bytes` bytes follows. */
struct web_message {
	uint32_t magic; /* WEB_MESSAGE_MAGIC */
	uint32_t kind;	/* enum web_message_kind; readers skip unknown kinds */
	uint32_t bytes;
	/*
	 * frames only: number of frames due since the stream began and not sent because the viewer was slow
	 */
	uint32_t skipped;
	uint64_t number; /* number of the frame that the message belongs to; 0 for notices */
	uint32_t age_us; /* age of the picture when its sending began */
	uint32_t reserved;
};
_Static_assert(sizeof(struct web_message) == 32, "the format of the stream");

/*
 * Free space of each column of a frame. After this struct come columns times struct stixel_free_column
 * (stixel.h), then absent times uint32_t: the numbers of the object stixels that are no obstacle.
 */
struct web_free {
	uint32_t columns;
	uint32_t absent;
};

#endif
