/*
 * What goes to browsers: messages of a header and a payload, one after the other. docs/web.md describes them
 * for other programs; tools/web/page/wire.js reads them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_WIRE_H
#define SX_TOOLS_WEB_WIRE_H

#include <stdint.h>

#define WEB_MESSAGE_MAGIC 0x57585453u /* "STXW" */
#define WEB_MESSAGE_TYPE "application/x-stixel-stream"

enum web_message_kind {
	WEB_MESSAGE_FRAME = 1,	   /* a frame as in stixel.h, without planes unless they were asked for */
	WEB_MESSAGE_LEFT = 2,	   /* left image, JPEG */
	WEB_MESSAGE_DISPARITY = 3, /* disparity in colours, PNG */
	WEB_MESSAGE_NOTICE = 4,	   /* what is known of the publisher, JSON */
	WEB_MESSAGE_FREE = 5	   /* struct web_free, and what follows it */
};

/* Little endian, as all of stixel.h. The payload follows, bytes long. */
struct web_message {
	uint32_t magic; /* WEB_MESSAGE_MAGIC */
	uint32_t kind;	/* enum web_message_kind: pass over others */
	uint32_t bytes;
	/* frames: that were due since the stream began, and not sent because the viewer was slow */
	uint32_t skipped;
	uint64_t number; /* of the frame that it belongs to; 0 notices */
	uint32_t age_us; /* of the picture, when it was taken up for sending */
	uint32_t reserved;
};
_Static_assert(sizeof(struct web_message) == 32, "the format of the stream");

/*
 * How far each column of a frame is free: columns times struct stixel_free_column (stixel.h), then
 * absent times uint32_t: the numbers of those object stixels that are no obstacle anywhere.
 */
struct web_free {
	uint32_t columns;
	uint32_t absent;
};

#endif
