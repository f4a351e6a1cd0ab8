/*
 * Says at the beginning of a recording how many frames a second it gets and how fast the file will grow.
 *
 * The first frame's chunk has what comes only once (schemas, calibrations). The frames after it, written as a
 * chunk of their own, show the size of a frame as the file has it, coded and compressed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/ctl/record/forecast.h"

#include <stdio.h>

#include "base/clock.h"

/* The measurement ends after this number of frames that follow the first one, or after this time. */
#define FRAMES 30
#define WAIT_NS SX_NS_PER_S

bool record_forecast_frame(struct record_forecast *f, const struct stixel_frame_header *h)
{
	if (f->done)
		return false;
	f->last_ns = h->published_ns;
	if (f->frames++ == 0) {
		f->first_ns = h->published_ns;
		f->began_ns = sx_now_ns();
		return true;
	}
	return f->frames > FRAMES || sx_now_ns() - f->began_ns >= WAIT_NS;
}

static int add_room(char *text, size_t bytes, double seconds)
{
	if (seconds < 120.0)
		return snprintf(text, bytes, "; the disk has room for %.0f s", seconds);
	if (seconds < 7200.0)
		return snprintf(text, bytes, "; the disk has room for %.0f min", seconds / 60.0);
	if (seconds < 2 * 86400.0)
		return snprintf(text, bytes, "; the disk has room for %.0f h", seconds / 3600.0);
	return snprintf(text, bytes, "; the disk has room for %.0f days", seconds / 86400.0);
}

bool record_forecast_tell(struct record_forecast *f, uint64_t bytes, const char *images, uint64_t room_bytes,
			  char *text, size_t text_bytes)
{
	const double seconds = (double)(f->last_ns - f->first_ns) / 1e9;
	double rate, speed;
	int n;

	if (f->frames == 1) {
		f->first_bytes = bytes;
		return false;
	}
	f->done = true;
	if (!(seconds > 0.0) || bytes <= f->first_bytes)
		return false; /* the frames have the same time of publication, or added nothing */
	rate = (double)(f->frames - 1) / seconds;
	speed = (double)(bytes - f->first_bytes) / seconds;
	n = snprintf(text, text_bytes, "%.1f frames a second, %s: about %.*f MB a minute", rate, images,
		     speed * 60.0 < 10e6, speed * 60.0 / 1e6);
	if (room_bytes && n > 0 && (size_t)n < text_bytes)
		add_room(text + n, text_bytes - (size_t)n, (double)room_bytes / speed);
	return true;
}
