/*
 * Generates frames from fuzzer input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/fuzz/frame_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/check.h"

/* Size of a header that ends between the offsets of the objects and their number. */
#define CUT_HEADER_BYTES ((uint32_t)offsetof(struct stixel_frame_header, object_count))

enum { COLUMNS = 40, STIXELS = 120, PLANE_SIDE = 80, OBJECTS = 6 };

/* Adds an image of random size, so that its end is sometimes the end of the memory. */
static uint32_t add_plane(struct fuzz_input *in, uint32_t at, uint32_t kind, uint32_t place[5])
{
	uint32_t width = 1 + fuzz_choice(in, PLANE_SIDE), height = 1 + fuzz_choice(in, PLANE_SIDE);
	uint32_t pitch = width * (kind == STIXEL_PLANE_DISPARITY ? 2 : 1) + 2 * fuzz_choice(in, 8);

	place[0] = width;
	place[1] = height;
	place[2] = pitch;
	place[3] = at;
	place[4] = pitch * height;
	return at + ((place[4] + 7) & ~7u);
}

static uint32_t add_planes(struct fuzz_input *in, struct stixel_frame_header *h, uint32_t end)
{
	uint32_t place[5];

	h->plane_kind = fuzz_choice(in, 4);
	h->plane2_kind = h->plane_kind ? fuzz_choice(in, 4) : 0;
	if (h->plane2_kind == h->plane_kind)
		h->plane2_kind = 0;
	if (h->plane_kind) {
		end = add_plane(in, end, h->plane_kind, place);
		h->plane_width = place[0], h->plane_height = place[1], h->plane_pitch = place[2];
		h->plane_offset = place[3], h->plane_bytes = place[4];
	}
	if (h->plane2_kind) {
		end = add_plane(in, end, h->plane2_kind, place);
		h->plane2_width = place[0], h->plane2_height = place[1], h->plane2_pitch = place[2];
		h->plane2_offset = place[3], h->plane2_bytes = place[4];
	}
	return end;
}

/* Adds a table of objects, sometimes one of a newer publisher with larger records. Returns its end. */
static uint32_t add_objects(struct fuzz_input *in, struct stixel_frame_header *h, uint32_t end)
{
	const uint32_t number = fuzz_choice(in, 2 * OBJECTS);

	h->object_bytes = (uint16_t)(sizeof(struct stixel_object) + (number & 1 ? 8 : 0));
	h->object_count = (uint16_t)(number / 2);
	h->objects_offset = end;
	end += h->object_count * (uint32_t)h->object_bytes;
	if (!h->object_count)
		return end;
	h->object_of_offset = end;
	return end + ((h->stixel_count + 7) & ~7u);
}

/* Sets all sizes in the header. Returns the end of the frame. */
static uint32_t lay_out(struct fuzz_input *in, struct stixel_frame_header *h)
{
	const unsigned bits = (unsigned)fuzz_number(in, 1);
	const uint32_t lie = h->objects_offset % 4096;
	uint32_t end;

	h->magic = STIXEL_FRAME_MAGIC;
	h->abi_major = STIXEL_ABI_MAJOR;
	h->header_bytes = bits & 1    ? sizeof(*h)
			  : bits & 2  ? STIXEL_HEADER_BYTES_LEAST
			  : bits & 32 ? CUT_HEADER_BYTES
				      : sizeof(*h) + 8;
	h->columns = fuzz_choice(in, COLUMNS);
	h->stixel_count = h->columns ? fuzz_choice(in, STIXELS) : 0;
	h->stage_count %= STIXEL_STAGES + 1;
	if (bits & 4) { /* plausible sizes of a camera image */
		h->image_width = 1 + h->image_width % 128;
		h->image_height = 1 + h->image_height % 96;
		h->column_width = 1 + h->column_width % 16;
	}
	if (h->image_height == 0)
		h->image_height = 1;
	for (int i = 0; i < STIXEL_STAGES; i++)
		h->stage_name[i][STIXEL_STAGE_NAME_BYTES - 1] = 0;
	h->stixels_offset = (h->header_bytes + 4 * (h->columns + 1) + 7) & ~7u;
	end = h->stixels_offset + h->stixel_count * (uint32_t)sizeof(struct stixel);
	h->objects_offset = h->object_of_offset = h->object_count = h->object_bytes = h->motion_offset = 0;
	if (h->header_bytes == CUT_HEADER_BYTES)
		h->objects_offset = lie;
	if (bits & 16 && h->header_bytes >= sizeof(*h) && h->image_width)
		end = add_objects(in, h, end);
	if (bits & 8 && h->header_bytes >= sizeof(*h)) { /* the frame has records of motion */
		h->motion_offset = end;
		end += h->stixel_count * (uint32_t)sizeof(struct stixel_motion);
	}
	h->plane_kind = h->plane_width = h->plane_height = h->plane_pitch = h->plane_offset = h->plane_bytes =
		0;
	h->plane2_kind = h->plane2_width = h->plane2_height = 0;
	h->plane2_pitch = h->plane2_offset = h->plane2_bytes = 0;
	return add_planes(in, h, end);
}

static void fill_columns(struct fuzz_input *in, const struct stixel_frame_header *h, uint32_t *offsets,
			 struct stixel *s)
{
	const uint32_t rows = h->image_height < 65536 ? h->image_height : 65536;
	uint32_t n = 0;

	offsets[0] = 0;
	for (uint32_t u = 0; u < h->columns; u++) {
		const uint32_t left = h->stixel_count - n;
		uint32_t here = u + 1 == h->columns ? left : fuzz_choice(in, 8);

		for (here = here < left ? here : left; here; here--, n++) {
			fuzz_copy(in, &s[n], sizeof(s[n]));
			s[n].column = (uint16_t)u;
			s[n].row_bottom = (uint16_t)(s[n].row_bottom % rows);
			if (s[n].row_top > s[n].row_bottom)
				s[n].row_top = s[n].row_bottom;
		}
		offsets[u + 1] = n;
	}
}

/* Makes a number that is small, 0 or more. */
static float some(struct fuzz_input *in)
{
	return (float)fuzz_number(in, 2) / 64.0f;
}

static void fill_objects(struct fuzz_input *in, const struct stixel_frame_header *h, uint8_t *frame)
{
	const uint32_t width = h->image_width < 65536 ? h->image_width : 65536;
	const uint32_t height = h->image_height < 65536 ? h->image_height : 65536;
	uint32_t id = 0;

	for (uint32_t k = 0; k < h->object_count; k++) {
		struct stixel_object *o =
			(struct stixel_object *)(frame + h->objects_offset + k * h->object_bytes);

		id += 1 + fuzz_choice(in, 4);
		o->id = id;
		o->state = (uint8_t)fuzz_choice(in, 4);
		o->label = (uint8_t)fuzz_number(in, 1);
		o->x = some(in) - 512.0f;
		o->y = some(in) - 512.0f;
		o->z = some(in) + 0.125f;
		o->pxx = some(in) + 0.125f;
		o->pzz = o->sxx = o->szz = some(in) + 0.125f;
		o->width = some(in);
		o->height = some(in);
		o->vx = some(in) - 512.0f;
		o->vz = some(in) - 512.0f;
		o->age_s = some(in);
		o->unseen_s = some(in);
		o->right = (uint16_t)(fuzz_number(in, 2) % width);
		o->left = (uint16_t)(o->right / 2);
		o->bottom = (uint16_t)(fuzz_number(in, 2) % height);
		o->top = (uint16_t)(o->bottom / 2);
	}
	for (uint32_t i = 0; h->object_count && i < h->stixel_count; i++)
		frame[h->object_of_offset + i] = (uint8_t)fuzz_choice(in, h->object_count + 1);
}

struct stixel_frame_header *frame_input_make(struct fuzz_input *in, size_t *bytes)
{
	struct stixel_frame_header h;
	uint32_t frame_bytes;
	uint8_t *frame;

	memset(&h, 0, sizeof(h));
	fuzz_copy(in, &h, sizeof(h));
	frame_bytes = lay_out(in, &h);
	h.frame_bytes = frame_bytes;
	frame = calloc(1, frame_bytes);
	if (!frame)
		fuzz_fail("out of memory");
	memcpy(frame, &h, h.header_bytes < sizeof(h) ? h.header_bytes : sizeof(h));
	fill_columns(in, &h, (uint32_t *)(frame + h.header_bytes),
		     (struct stixel *)(frame + h.stixels_offset));
	if (h.objects_offset)
		fill_objects(in, &h, frame);
	if (h.motion_offset)
		fuzz_copy(in, frame + h.motion_offset, h.stixel_count * sizeof(struct stixel_motion));
	if (h.plane_kind)
		fuzz_copy(in, frame + h.plane_offset, frame_bytes - h.plane_offset);
	((struct stixel_frame_header *)frame)->checksum = sx_frame_checksum(frame, &h);
	*bytes = frame_bytes;
	return (struct stixel_frame_header *)frame;
}

/* Returns a word of the frame, mostly one of the header's sizes and offsets. */
static uint8_t *word_of(struct fuzz_input *in, uint8_t *frame, size_t bytes)
{
#define AT(name) offsetof(struct stixel_frame_header, name)
	static const size_t layout[] = {
		AT(frame_bytes),    AT(header_bytes),	AT(columns),	      AT(stixel_count),
		AT(stixels_offset), AT(plane_kind),	AT(plane_width),      AT(plane_height),
		AT(plane_pitch),    AT(plane_offset),	AT(plane_bytes),      AT(plane2_kind),
		AT(plane2_width),   AT(plane2_height),	AT(plane2_pitch),     AT(plane2_offset),
		AT(plane2_bytes),   AT(image_width),	AT(image_height),     AT(stage_count),
		AT(motion_offset),  AT(objects_offset), AT(object_of_offset), AT(object_count),
	};
#undef AT
	const struct stixel_frame_header *h = (const struct stixel_frame_header *)frame;
	size_t at = 0;

	switch (fuzz_choice(in, 4)) {
	case 0:
	case 1:
		/* an older header ends before the last fields */
		at = layout[fuzz_choice(in, sizeof(layout) / sizeof(layout[0]))] % bytes;
		break;
	case 2: /* a word of the lists */
		at = (h->header_bytes + (size_t)fuzz_number(in, 2) * 4) % bytes;
		break;
	default:
		at = (size_t)fuzz_number(in, 2) * 4 % bytes;
	}
	return frame + at / 4 * 4;
}

/* Makes an image whose pitch times height is 0 in 32 bits, which equals its plane_bytes. */
static void wrap_plane(struct fuzz_input *in, struct stixel_frame_header *h)
{
	const unsigned bits = 1 + fuzz_choice(in, 16);

	h->plane_pitch = UINT32_C(1) << 16 << (16 - bits);
	h->plane_height = UINT32_C(1) << bits;
	h->plane_bytes = 0;
}

void frame_input_break(struct fuzz_input *in, struct stixel_frame_header *frame, size_t bytes)
{
	for (unsigned n = 1 + fuzz_choice(in, 3); n; n--) {
		uint8_t *at;
		uint32_t word;

		if (frame->plane_kind && fuzz_choice(in, 8) == 7) {
			wrap_plane(in, frame);
			continue;
		}
		at = word_of(in, (uint8_t *)frame, bytes);
		memcpy(&word, at, sizeof(word));
		switch (fuzz_choice(in, 3)) {
		case 0:
			word = (uint32_t)fuzz_number(in, 4);
			break;
		case 1:
			word += (uint32_t)(int8_t)fuzz_number(in, 1);
			break;
		default:
			word = (uint32_t)(bytes + (size_t)(int8_t)fuzz_number(in, 1));
		}
		memcpy(at, &word, sizeof(word));
	}
	if (frame->frame_bytes <= bytes &&
	    (frame->plane_kind ? frame->plane_offset : frame->frame_bytes) <= bytes &&
	    (frame->plane_kind ? frame->plane_offset : frame->frame_bytes) >= STIXEL_HEADER_BYTES_LEAST)
		frame->checksum = sx_frame_checksum(frame, frame);
}

/* Checks what include/stixel.h promises about the lists of an accepted frame. */
static void check_lists(const struct stixel_frame *f)
{
	const struct stixel_frame_header *h = f->header;

	if (f->offsets[0] != 0 || f->offsets[h->columns] != h->stixel_count)
		fuzz_fail("given out: %u stixels, the columns have %u", h->stixel_count,
			  f->offsets[h->columns]);
	for (uint32_t u = 0; u < h->columns; u++)
		for (uint32_t i = f->offsets[u]; i < f->offsets[u + 1]; i++)
			if (i >= h->stixel_count || f->stixels[i].column != u ||
			    f->stixels[i].row_top > f->stixels[i].row_bottom ||
			    f->stixels[i].row_bottom >= h->image_height)
				fuzz_fail("given out: stixel %u of column %u", i, u);
	for (int i = 0; i < STIXEL_STAGES; i++)
		if (!memchr(h->stage_name[i], 0, STIXEL_STAGE_NAME_BYTES))
			fuzz_fail("given out: name %d has no end", i);
	if (h->stage_count > STIXEL_STAGES)
		fuzz_fail("given out: %u stages", h->stage_count);
}

/* Checks what include/stixel.h promises about objects. */
static void check_objects(const struct stixel_frame *f)
{
	const struct stixel_frame_header *h = f->header;
	const int count = stixel_object_count(f);
	uint32_t last = 0;

	if (count > STIXEL_OBJECTS_MAX)
		fuzz_fail("given out: %d objects", count);
	for (int i = 0; i < count; i++) {
		const struct stixel_object *o = stixel_object_at(f, i);

		if (o->id <= last || !(o->z > 0.0f) || !isfinite(o->vx + o->vz + o->x + o->y) ||
		    !((double)o->sxx * (double)o->szz > (double)o->sxz * (double)o->sxz) ||
		    !((double)o->pxx * (double)o->pzz > (double)o->pxz * (double)o->pxz) ||
		    o->left > o->right || o->right >= h->image_width || o->top > o->bottom ||
		    o->bottom >= h->image_height)
			fuzz_fail("given out: object %d", i);
		last = o->id;
	}
	if (count >= 0 && stixel_object_at(f, count))
		fuzz_fail("given out: more objects than there are");
	for (uint32_t i = 0; i < h->stixel_count; i++) {
		const struct stixel_object *o = stixel_object_of(f, i);

		if (o)
			fuzz_touch(o, sizeof(*o));
	}
}

void frame_input_touch(const struct stixel_frame *frame)
{
	const struct stixel_frame_header *h = frame->header;

	check_lists(frame);
	check_objects(frame);
	fuzz_touch(h, h->header_bytes);
	fuzz_touch(frame->offsets, (h->columns + 1) * sizeof(*frame->offsets));
	fuzz_touch(frame->stixels, h->stixel_count * sizeof(*frame->stixels));
	for (unsigned kind = STIXEL_PLANE_DISPARITY; kind <= STIXEL_PLANE_RIGHT; kind++) {
		struct stixel_image image;

		if (!stixel_image(frame, kind, &image))
			continue;
		for (uint32_t y = 0; y < image.height; y++)
			fuzz_touch((const uint8_t *)image.data + (size_t)y * image.pitch,
				   (size_t)image.width * (kind == STIXEL_PLANE_DISPARITY ? 2 : 1));
	}
}
