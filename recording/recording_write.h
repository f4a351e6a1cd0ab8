/*
 * Writes a recording (docs/use/recording.md) from front to back, into a file or a pipe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_RECORDING_WRITE_H
#define SX_RECORDING_RECORDING_WRITE_H

#include <stdbool.h>

#include "base/image.h"
#include "recording/mcap_write.h"
#include "recording/recording_messages.h"

#define SX_RECORDING_KINDS 4 /* number of known kinds of enum stixel_plane */

/*
 * Makes the JPEG of an image of a frame: *data of *bytes, which the caller frees with free(). image: its
 * pixels, U8. kind: enum stixel_plane. Returns 1; 0: the caller writes the pixels instead; -ENOMEM.
 */
typedef int sx_recording_jpeg_fn(void *user, unsigned kind, const struct sx_image *image,
				 unsigned char **data, size_t *bytes);

struct sx_recording_params {
	const char *instance;
	bool compress;
	size_t chunk_bytes; /* messages wait until they have this size, bytes, */
	int64_t period_ns;  /* or until the first of them has waited for this time, ns */
	sx_recording_jpeg_fn
		*jpeg; /* makes the JPEG of left and right images; NULL: their pixels are written */
};

struct sx_recording_writer {
	struct sx_mcap *mcap;
	struct sx_bytes message; /* message that the writer is making */
	char instance[STIXEL_INSTANCE_BYTES], camera[STIXEL_INSTANCE_BYTES + 8];
	int frame_channel, event_channel, calibration_channel[2], image_channel[SX_RECORDING_KINDS],
		jpeg_channel[SX_RECORDING_KINDS]; /* id of a channel; 0: none */
	int schema[SX_SCHEMAS];
	struct stixel_frame_header calibration; /* calibration written last; fx 0: none */
	sx_recording_jpeg_fn *jpeg;
	void *user; /* user pointer of sink and jpeg */
	/* began_ns: time when the first waiting message was put; 0: nothing waits */
	int64_t period_ns, began_ns;
	/* CLOCK_REALTIME of the latest frame, as written to the file */
	uint64_t time_ns;
	struct sx_record_end end; /* content of the event that is written last */
	int error;		  /* error of the sink, or -ENOMEM; all later calls return it */
};

/* Writes the header and the name of the instance. -ENOTSUP: compress, but built without zstd. -ENOMEM. */
int sx_recording_begin(struct sx_recording_writer *w, sx_mcap_sink_fn *sink, void *user,
		       const struct sx_recording_params *params);
/* Writes a frame that has been checked. */
int sx_recording_frame(struct sx_recording_writer *w, const struct stixel_frame *frame);
/* Writes a message about the last frame to a channel that the caller has added to w->mcap. */
int sx_recording_message(struct sx_recording_writer *w, int channel, const void *data, size_t bytes);
/*
 * Writes the publisher of the frames that follow. config: its configuration, or NULL if it is not known.
 * time_ns: CLOCK_REALTIME of the first of these frames.
 */
int sx_recording_publisher(struct sx_recording_writer *w, const struct sx_record_publisher *p,
			   const char *config, int64_t time_ns);
/*
 * Writes that frames are missing after the last one. time_ns: CLOCK_REALTIME; 0: the time of the previous
 * record.
 */
int sx_recording_gap(struct sx_recording_writer *w, const struct sx_record_gap *gap, int64_t time_ns);
/* Writes the waiting messages if period_ns has passed. sx_recording_frame() calls this itself. */
int sx_recording_tick(struct sx_recording_writer *w);
/* Writes the waiting messages. */
int sx_recording_flush(struct sx_recording_writer *w);
/* Writes the end. The file is then complete. */
int sx_recording_end(struct sx_recording_writer *w);
/* Frees memory and writes nothing. Accepts a zeroed writer. */
void sx_recording_finish(struct sx_recording_writer *w);

#endif
