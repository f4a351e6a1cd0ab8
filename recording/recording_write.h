/*
 * Writes a recording (recording/recording_format.h), front to back: into a file or a pipe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_RECORDING_WRITE_H
#define SX_RECORDING_RECORDING_WRITE_H

#include <stdbool.h>

#include "recording/recording_format.h"

/* Takes the next bytes of the file. 0, or negative errno: then nothing more is given. */
typedef int sx_recording_sink_fn(void *user, const void *data, size_t bytes);

struct sx_recording_writer {
	sx_recording_sink_fn *sink;
	void *user;
	struct sx_record_codec *codec; /* NULL: plain */
	struct sx_record_index *index; /* being filled */
	uint64_t offset;	       /* bytes given to the sink: whole records */
	struct sx_record_end end;      /* what will be written last */
	int error;		       /* of the sink; all calls return it from then on */
};

/* Writes the header. compress: frames by zstd, -ENOTSUP when built without. -ENOMEM. */
int sx_recording_begin(struct sx_recording_writer *w, sx_recording_sink_fn *sink, void *user,
		       const char *instance, bool compress);
/* A frame that has been checked. */
int sx_recording_frame(struct sx_recording_writer *w, const struct stixel_frame *frame);
int sx_recording_publisher(struct sx_recording_writer *w, const struct sx_record_publisher *p);
int sx_recording_gap(struct sx_recording_writer *w, const struct sx_record_gap *gap);
/* Index and end. The file is complete. */
int sx_recording_end(struct sx_recording_writer *w);
/* Frees memory; writes nothing. Accepts a zeroed one. */
void sx_recording_finish(struct sx_recording_writer *w);

#endif
