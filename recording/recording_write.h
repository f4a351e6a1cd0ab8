/*
 * Writes a recording (docs/recording.md), front to back: into a file or a pipe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_RECORDING_WRITE_H
#define SX_RECORDING_RECORDING_WRITE_H

#include <stdbool.h>

#include "recording/mcap_write.h"
#include "recording/recording_messages.h"

#define SX_RECORDING_KINDS 4 /* enum stixel_plane, as far as it is known here */

struct sx_recording_params {
	const char *instance;
	bool compress;
	size_t chunk_bytes; /* what is put waits until it is so much, */
	int64_t period_ns;  /* and no longer than that */
};

struct sx_recording_writer {
	struct sx_mcap *mcap;
	struct sx_bytes message; /* being made */
	char instance[STIXEL_INSTANCE_BYTES], camera[STIXEL_INSTANCE_BYTES + 8];
	int frame_channel, event_channel, calibration_channel[2],
		image_channel[SX_RECORDING_KINDS]; /* 0: none */
	int schema[SX_SCHEMAS];
	struct stixel_frame_header calibration; /* that was written last; fx 0: none */
	int64_t period_ns, began_ns;		/* when the first of what waits was put; 0: nothing waits */
	uint64_t time_ns;			/* of the latest frame, as it lies in the file */
	struct sx_record_end end;		/* what will be written last */
	int error; /* of the sink, or no memory; all calls return it from then on */
};

/* Writes the header, and whose frames these are. -ENOTSUP: compress, when built without. -ENOMEM. */
int sx_recording_begin(struct sx_recording_writer *w, sx_mcap_sink_fn *sink, void *user,
		       const struct sx_recording_params *params);
/* A frame that has been checked. */
int sx_recording_frame(struct sx_recording_writer *w, const struct stixel_frame *frame);
/*
 * The frames that follow are of this publisher. config: its configuration, or NULL where it is not known.
 * time_ns: CLOCK_REALTIME of the first of them.
 */
int sx_recording_publisher(struct sx_recording_writer *w, const struct sx_record_publisher *p,
			   const char *config, int64_t time_ns);
/* Frames are missing behind the last one. time_ns: CLOCK_REALTIME; 0: that of what was put before. */
int sx_recording_gap(struct sx_recording_writer *w, const struct sx_record_gap *gap, int64_t time_ns);
/* Writes what waits if it is time; sx_recording_frame() does it by itself. */
int sx_recording_tick(struct sx_recording_writer *w);
/* Writes what waits. */
int sx_recording_flush(struct sx_recording_writer *w);
/* The end. The file is complete. */
int sx_recording_end(struct sx_recording_writer *w);
/* Frees memory; writes nothing. Accepts a zeroed one. */
void sx_recording_finish(struct sx_recording_writer *w);

#endif
