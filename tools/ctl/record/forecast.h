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

/* Forecast of the size of a recording, from its first frames. All zero at the beginning. */
struct record_forecast {
	uint64_t frames;	   /* frames so far */
	uint64_t first_bytes;	   /* bytes up to the end of the first frame */
	int64_t first_ns, last_ns; /* times when the first and the last frame were published, ns */
	int64_t began_ns;	   /* time when the recorder got the first frame, ns */
	bool done;		   /* the forecast was made */
};

/*
 * Takes a frame. Returns true if the caller must write the frame's chunk to the file and then call
 * record_forecast_tell().
 */
bool record_forecast_frame(struct record_forecast *f, const struct stixel_frame_header *h);
/*
 * Takes the size of the file after record_forecast_frame() returned true. Returns true once, with the
 * forecast as a sentence in text. images: words for the recorded images. room_bytes: free bytes of the disk;
 * 0: unknown.
 */
bool record_forecast_tell(struct record_forecast *f, uint64_t bytes, const char *images, uint64_t room_bytes,
			  char *text, size_t text_bytes);

#endif
