/*
 * A fake engine, see fake_engine.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/kit/fake_engine.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "stages/stixels/reduce.h"

int fake_engine_open(struct sx_device **ret, const struct sx_engine_params *p, struct sx_why *why)
{
	struct sx_device *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return -ENOMEM;
	r = fake_play.open ? fake_play.open(d, p, why) : 0;
	if (r < 0)
		free(d);
	else
		*ret = d;
	return r;
}

void fake_engine_close(struct sx_device *d)
{
	if (!d)
		return;
	FAKE_MUST(d->contexts == 0 && d->busy == 0 && d->block_count == 0);
	if (fake_play.close)
		fake_play.close(d);
	free(d);
}

const char *fake_engine_describe(const struct sx_device *d)
{
	return fake_play.words();
}

int fake_engine_context_create(struct sx_context **ret, struct sx_device *d,
			       const struct sx_context_config *c, struct sx_why *why)
{
	struct sx_context *x = calloc(1, sizeof(*x));
	int r;

	if (!x)
		return -ENOMEM;
	x->device = d;
	x->width = c->width;
	x->height = c->height;
	x->columns = sx_reduce_columns(c->width, c->params.stixels.width);
	x->external = c->params.stereo.matcher == SX_MATCH_EXTERNAL;
	r = fake_play.create(x, c, why);
	if (r < 0) {
		free(x);
		return r;
	}
	d->contexts++;
	*ret = x;
	return 0;
}

void fake_engine_context_destroy(struct sx_context *x)
{
	if (!x)
		return;
	fake_play.destroy(x);
	x->device->contexts--;
	x->device->busy -= x->busy;
	free(x);
}

void fake_column(struct sx_context *x, bool has_object, uint16_t support, uint8_t label)
{
	struct sx_result *r = &x->result;

	FAKE_MUST((int)r->columns < x->columns && r->columns < FAKE_COLUMNS);
	if (has_object)
		x->stixels[r->count++] = (struct stixel){.column = (uint16_t)r->columns,
							 .row_bottom = (uint16_t)(x->height - 1),
							 .support = support,
							 .kind = STIXEL_OBJECT,
							 .label = label};
	x->offsets[++r->columns] = r->count;
}

int fake_engine_submit(struct sx_context *x, const struct sx_pair *pair, const struct sx_road *previous,
		       sx_images_read_fn *images_read, void *user)
{
	struct sx_device *d = x->device;
	int r;

	FAKE_MUST(!x->busy);
	FAKE_MUST(x->external == (pair->disparity != NULL));
	FAKE_MUST(!previous || previous->origin == SX_ROAD_MEASURED);
	x->pair = pair;
	x->images_read = images_read;
	x->user = user;
	x->busy = true;
	d->busy++;
	d->frames++;
	x->result = (struct sx_result){.stixels = x->stixels, .offsets = x->offsets};
	r = fake_play.begin(x, previous);
	if (r < 0) {
		x->busy = false;
		d->busy--;
	}
	return r;
}

int fake_engine_event_fd(const struct sx_context *x)
{
	return x->fd;
}

int fake_engine_wait(struct sx_context *x, int timeout_ms)
{
	int r;

	FAKE_MUST(!fake_play.never_waits || (x->busy && timeout_ms == 0));
	if (!x->busy)
		return -ENODATA;
	r = fake_play.look(x, timeout_ms);
	if (r != 0) {
		x->busy = false;
		x->device->busy--;
	}
	return r;
}

const struct sx_result *fake_engine_result(const struct sx_context *x)
{
	return &x->result;
}

int fake_engine_peek(const struct sx_context *x, enum sx_tap tap, struct sx_image *view)
{
	return fake_play.peek ? fake_play.peek(x, tap, view) : -ENOENT;
}

size_t fake_engine_memory(const struct sx_device *d)
{
	return fake_play.memory_bytes;
}

/*
 * Reads each page of the block. If its memory was freed, the sanitizer or the processor reports this access.
 */
static void touch(const struct sx_block *b)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile unsigned char sink = 0;

	for (size_t i = 0; i < b->bytes; i += page)
		sink = ((const unsigned char *)b->memory)[i];
	(void)sink;
}

const struct sx_block *fake_pinned(const struct sx_device *d, const void *memory, size_t bytes)
{
	for (int i = 0; i < d->block_count; i++) {
		const char *from = d->blocks[i].memory, *first = memory;

		if (first >= from && first + bytes <= from + d->blocks[i].bytes)
			return &d->blocks[i];
	}
	return NULL;
}

int fake_engine_pin(struct sx_device *d, void *memory, size_t bytes)
{
	const struct sx_block b = {memory, bytes};
	int r = fake_play.pin ? fake_play.pin(d, memory, bytes) : 0;

	if (r < 0)
		return r;
	FAKE_MUST(d->busy == 0 && d->block_count < FAKE_BLOCKS);
	FAKE_MUST((uintptr_t)memory % (uintptr_t)sysconf(_SC_PAGESIZE) == 0);
	for (int i = 0; i < d->block_count; i++) {
		const char *from = d->blocks[i].memory, *first = memory;

		FAKE_MUST(first + bytes <= from || first >= from + d->blocks[i].bytes);
	}
	touch(&b);
	d->blocks[d->block_count++] = b;
	d->pins++;
	return 0;
}

void fake_engine_unpin(struct sx_device *d, void *memory)
{
	int i = 0;

	while (i < d->block_count && d->blocks[i].memory != memory)
		i++;
	FAKE_MUST(i < d->block_count && d->busy == 0);
	if (fake_play.unpin)
		fake_play.unpin(d, memory);
	touch(&d->blocks[i]);
	d->blocks[i] = d->blocks[--d->block_count];
	d->unpins++;
}
