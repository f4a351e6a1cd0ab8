/*
 * Writer's side of class scores: the part of libstixel between a segmentation network and the daemon.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "ipc/client/writer.h"
#include "ipc/feed/scores.h"

struct stixel_scores {
	struct sx_writer writer;
	struct stixel_scores_header header; /* fields that are the same in all frames */
};

int stixel_scores_create(struct stixel_scores **ret, const char *name,
			 const struct stixel_scores_format *format, size_t bytes)
{
	struct stixel_scores_format f = {0};
	struct sx_writer_params p = {
		.prefix = SX_SCORES_PREFIX, .name = name, .magic = STIXEL_SCORES_RING_MAGIC};
	struct stixel_scores *s;
	int r;

	if (!ret || !format)
		return -EINVAL;
	memcpy(&f, format, bytes < sizeof(f) ? bytes : sizeof(f));
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	r = -EINVAL;
	if (!sx_scores_layout(&s->header, f.classes, f.image_width, f.image_height, f.scale))
		goto fail;
	p.folder = f.folder;
	p.slots = f.slots ? f.slots : SX_SCORES_SLOTS;
	p.bytes = s->header.frame_bytes;
	r = sx_writer_init(&s->writer, &p);
	if (r < 0)
		goto fail;
	s->header.epoch = s->writer.epoch;
	*ret = s;
	return 0;
fail:
	stixel_scores_close(s);
	return r;
}

int stixel_scores_begin(struct stixel_scores *s, struct stixel_scores_planes *planes)
{
	int r;

	if (!s || !planes)
		return -EINVAL;
	r = sx_writer_begin(&s->writer);
	if (r < 0)
		return r;
	*planes = (struct stixel_scores_planes){
		.data = s->writer.slot + s->header.data_offset,
		.classes = s->header.classes,
		.width = s->header.width,
		.height = s->header.height,
		.pitch = s->header.pitch,
		.plane_bytes = s->header.plane_bytes,
	};
	return 0;
}

int stixel_scores_commit(struct stixel_scores *s, int64_t capture_ns, uint64_t epoch, uint64_t number)
{
	struct stixel_scores_header h;

	if (!s || !s->writer.slot)
		return -EINVAL;
	h = s->header;
	sx_must_or(return -EINVAL, s->writer.number, >, 0);
	h.number = s->writer.number;
	h.capture_ns = capture_ns;
	h.committed_ns = sx_now_ns();
	h.frame_epoch = epoch;
	h.frame_number = number;
	sx_ring_store(s->writer.slot, &h, sizeof(h));
	sx_writer_commit(&s->writer, h.frame_bytes);
	return 0;
}

void stixel_scores_close(struct stixel_scores *s)
{
	if (!s)
		return;
	sx_writer_finish(&s->writer);
	free(s);
}
