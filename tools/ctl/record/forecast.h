/*
 * Says at the beginning of a recording how many frames a second it gets and how fast the file will grow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_RECORD_FORECAST_H
#define SX_TOOLS_CTL_RECORD_FORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/stixel.h"

/* All zero at the beginning. */
struct record_forecast {
	uint64_t frames;	   /* frames so far */
	uint64_t first_bytes;	   /* bytes up to the end of the first frame */
	int64_t first_ns, last_ns; /* when the first and the last frame were published */
	int64_t began_ns;	   /* when the first frame came */
	bool told;
};

/* Takes a frame. Returns true if its chunk must be written, so that the bytes of the file are known. */
bool record_forecast_frame(struct record_forecast *f, const struct stixel_frame_header *h);
/*
 * Takes the size of the file after record_forecast_frame() returned true. Returns true, once, with the
 * sentence. images: what is recorded of them. room_bytes: free bytes of the disk; 0: unknown.
 */
bool record_forecast_tell(struct record_forecast *f, uint64_t bytes, const char *images, uint64_t room_bytes,
			  char *text, size_t text_bytes);

#endif
