/*
 * Writer's side of disparity maps: the part of libstixel between an external matcher and the daemon.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/feed/disparity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "ipc/client/writer.h"

struct stixel_disparity {
	struct sx_writer writer;
	struct stixel_disparity_header header; /* fields that are the same in all maps */
};

int stixel_disparity_create(struct stixel_disparity **ret, const char *name,
			    const struct stixel_disparity_format *format, size_t bytes)
{
	struct stixel_disparity_format f = {0};
	struct sx_writer_params p = {
		.prefix = SX_DISPARITY_PREFIX, .name = name, .magic = STIXEL_DISPARITY_RING_MAGIC};
	struct stixel_disparity *d;
	int r;

	if (!ret || !format)
		return -EINVAL;
	memcpy(&f, format, bytes < sizeof(f) ? bytes : sizeof(f));
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	r = -EINVAL;
	if (f.confidence > 1 || !sx_disparity_layout(&d->header, f.width, f.height, f.confidence))
		goto fail;
	p.folder = f.folder;
	p.slots = f.slots ? f.slots : SX_DISPARITY_SLOTS;
	p.bytes = d->header.frame_bytes;
	r = sx_writer_init(&d->writer, &p);
	if (r < 0)
		goto fail;
	d->header.epoch = d->writer.epoch;
	*ret = d;
	return 0;
fail:
	stixel_disparity_close(d);
	return r;
}

int stixel_disparity_begin(struct stixel_disparity *d, struct stixel_disparity_map *map)
{
	const struct stixel_disparity_header *h;
	int r;

	if (!d || !map)
		return -EINVAL;
	h = &d->header;
	r = sx_writer_begin(&d->writer);
	if (r < 0)
		return r;
	*map = (struct stixel_disparity_map){
		.data = (uint16_t *)(void *)(d->writer.slot + h->data_offset),
		.confidence = h->confidence_offset ? d->writer.slot + h->confidence_offset : NULL,
		.width = h->width,
		.height = h->height,
		.pitch = h->pitch,
		.confidence_pitch = h->confidence_pitch,
	};
	return 0;
}

int stixel_disparity_commit(struct stixel_disparity *d, int64_t capture_ns, uint64_t epoch, uint64_t number)
{
	struct stixel_disparity_header h;

	if (!d || !d->writer.slot)
		return -EINVAL;
	h = d->header;
	sx_must_or(return -EINVAL, d->writer.number, >, 0);
	h.number = d->writer.number;
	h.capture_ns = capture_ns;
	h.committed_ns = sx_now_ns();
	h.frame_epoch = epoch;
	h.frame_number = number;
	sx_ring_store(d->writer.slot, &h, sizeof(h));
	sx_writer_commit(&d->writer, h.frame_bytes);
	return 0;
}

void stixel_disparity_close(struct stixel_disparity *d)
{
	if (!d)
		return;
	sx_writer_finish(&d->writer);
	free(d);
}
