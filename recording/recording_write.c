/*
 * Writes a recording.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/recording_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ipc/crc32c.h"
#include "recording/recording_codec.h"

static int recording_put(struct sx_recording_writer *w, const void *data, size_t bytes)
{
	if (w->error == 0 && bytes)
		w->error = w->sink(w->user, data, bytes);
	return w->error;
}

static int put_record(struct sx_recording_writer *w, struct sx_record_head *h, const void *content)
{
	static const uint8_t zeros[8];
	size_t padding = -(size_t)h->bytes & 7;

	h->magic = SX_RECORD_MAGIC;
	h->content_crc = sx_crc32c(0, content, h->bytes);
	h->head_crc = sx_crc32c(0, h, offsetof(struct sx_record_head, head_crc));
	recording_put(w, h, sizeof(*h));
	recording_put(w, content, h->bytes);
	if (recording_put(w, zeros, padding) == 0)
		w->offset += sizeof(*h) + h->bytes + padding;
	return w->error;
}

static int put_struct(struct sx_recording_writer *w, enum sx_record_kind kind, const void *content,
		      size_t bytes)
{
	struct sx_record_head h = {.kind = (uint16_t)kind,
				   .bytes = (uint32_t)bytes,
				   .plain_bytes = (uint32_t)bytes,
				   .time_ns = sx_now_ns()};

	return put_record(w, &h, content);
}

int sx_recording_begin(struct sx_recording_writer *w, sx_recording_sink_fn *sink, void *user,
		       const char *instance, bool compress)
{
	struct sx_recording_header h = {
		.magic = SX_RECORDING_MAGIC,
		.major = SX_RECORDING_MAJOR,
		.minor = SX_RECORDING_MINOR,
		.header_bytes = sizeof(h),
		.endian = STIXEL_ENDIAN,
		.anchor_monotonic_ns = sx_now_ns(),
		.anchor_realtime_ns = sx_clock_ns(CLOCK_REALTIME),
	};
	int r;

	*w = (struct sx_recording_writer){.sink = sink, .user = user};
	if (compress && !sx_record_codec_built())
		return -ENOTSUP;
	w->index = calloc(1, sizeof(*w->index));
	r = w->index ? 0 : -ENOMEM;
	if (r == 0 && compress)
		r = sx_record_codec_create(&w->codec);
	if (r < 0)
		return r;
	snprintf(h.instance, sizeof(h.instance), "%s", instance);
	snprintf(h.recorder, sizeof(h.recorder), "%s", SX_VERSION);
	h.checksum = sx_crc32c(0, &h, sizeof(h));
	if (recording_put(w, &h, sizeof(h)) == 0)
		w->offset = sizeof(h);
	return w->error;
}

/* The block becomes a record, and the next one begins. */
static int put_index(struct sx_recording_writer *w)
{
	uint64_t at = w->offset;
	size_t bytes = offsetof(struct sx_record_index, entry) + w->index->count * sizeof(w->index->entry[0]);

	if (!w->index->count)
		return w->error;
	if (put_struct(w, SX_RECORD_INDEX, w->index, bytes) < 0)
		return w->error;
	memset(w->index, 0, sizeof(*w->index));
	w->index->previous = w->end.index_offset = at;
	return 0;
}

static void count_frame(struct sx_recording_writer *w, const struct stixel_frame_header *h)
{
	struct sx_record_end *end = &w->end;
	uint64_t bare = h->plane_kind ? h->plane_offset : h->frame_bytes;

	if (end->frames++ == 0)
		end->first_ns = h->published_ns;
	end->last_ns = h->published_ns;
	if (h->frame_bytes > end->frame_bytes_max)
		end->frame_bytes_max = h->frame_bytes;
	if (bare > end->frame_bytes_max_bare)
		end->frame_bytes_max_bare = bare;
	if (h->plane_kind)
		end->planes |= UINT64_C(1) << h->plane_kind;
	if (h->plane2_kind)
		end->planes |= UINT64_C(1) << h->plane2_kind;
}

int sx_recording_frame(struct sx_recording_writer *w, const struct stixel_frame *frame)
{
	const struct stixel_frame_header *f = frame->header;
	struct sx_record_head h = {.kind = SX_RECORD_FRAME,
				   .bytes = f->frame_bytes,
				   .plain_bytes = f->frame_bytes,
				   .time_ns = f->published_ns};
	const void *content = frame->bytes;
	int64_t n = 0;

	if (w->codec)
		n = sx_record_encode(w->codec, &content, h.bytes);
	if (n < 0)
		return (int)n;
	if (n > 0) {
		h.encoding = SX_RECORD_ZSTD;
		h.bytes = (uint32_t)n;
	}
	w->index->entry[w->index->count].offset = w->offset;
	w->index->entry[w->index->count].time_ns = h.time_ns;
	if (put_record(w, &h, content) < 0)
		return w->error;
	count_frame(w, f);
	return ++w->index->count == SX_INDEX_ENTRIES ? put_index(w) : 0;
}

int sx_recording_publisher(struct sx_recording_writer *w, const struct sx_record_publisher *p)
{
	w->end.publishers++;
	return put_struct(w, SX_RECORD_PUBLISHER, p, sizeof(*p));
}

int sx_recording_gap(struct sx_recording_writer *w, const struct sx_record_gap *gap)
{
	w->end.lost += gap->lost;
	return put_struct(w, SX_RECORD_GAP, gap, sizeof(*gap));
}

int sx_recording_end(struct sx_recording_writer *w)
{
	if (put_index(w) < 0)
		return w->error;
	w->end.file_bytes = w->offset + sizeof(struct sx_record_head) + sizeof(w->end);
	return put_struct(w, SX_RECORD_END, &w->end, sizeof(w->end));
}

void sx_recording_finish(struct sx_recording_writer *w)
{
	sx_record_codec_destroy(w->codec);
	free(w->index);
	w->codec = NULL;
	w->index = NULL;
}
