/*
 * Tests packing and checking of frames: known checksums, every contradiction refused, every flipped byte
 * found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ipc/crc32c.h"
#include "ipc/frame.h"
#include "tests/ipc/help.h"

static const struct help_shape small = {.columns = 12};
static const struct help_shape pictured = {.columns = 12, .plane_width = 33, .plane_height = 7};
static const struct help_shape both = {.columns = 12, .plane_width = 33, .plane_height = 7, .left = true};

static void the_sum_is_crc32c(void **state)
{
	uint8_t bytes[32], noise[257];
	uint32_t seed = 3;

	/* test vectors of RFC 3720, B.4, and the usual check value */
	memset(bytes, 0, 32);
	assert_int_equal(sx_crc32c(0, bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, 32);
	assert_int_equal(sx_crc32c(0, bytes, 32), 0x62a8ab43);
	for (int i = 0; i < 32; i++)
		bytes[i] = (uint8_t)i;
	assert_int_equal(sx_crc32c(0, bytes, 32), 0x46dd794e);
	assert_int_equal(sx_crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(sx_crc32c(sx_crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
	assert_int_equal(sx_crc32c(7, NULL, 0), 7);
	for (size_t i = 0; i < sizeof(noise); i++) {
		seed = seed * 1664525 + 1013904223;
		noise[i] = (uint8_t)(seed >> 24);
	}
	for (size_t from = 0; from < 9; from++)
		for (size_t n = 0; n + from <= sizeof(noise); n++)
			assert_int_equal(sx_crc32c(seed, noise + from, n),
					 sx_crc32c_plain(seed, noise + from, n));
}

static void what_is_packed_is_accepted(void **state)
{
	const struct help_shape *shapes[] = {&small, &pictured};
	struct stixel_frame frame;
	uint32_t count, sum;
	void *out;

	for (uint64_t n = 1; n < 200; n++) {
		const struct help_shape *shape = shapes[n & 1];
		size_t bytes;

		out = malloc(help_frame_bytes(shape));
		/* old content of the buffer must not show through */
		memset(out, 0xa5, help_frame_bytes(shape));
		bytes = help_frame(out, shape, 9, n);
		assert_int_equal(bytes % 8, 0);
		assert_int_equal(stixel_parse(&frame, out, bytes), 0);
		assert_true(help_frame_good(&frame, shape));
		sum = 0;
		for (uint32_t u = 0; u < frame.header->columns; u++) {
			const struct stixel *s = stixel_column(&frame, u, &count);

			for (uint32_t i = 0; i < count; i++)
				assert_int_equal(s[i].column, u);
			sum += count;
		}
		assert_int_equal(sum, frame.header->stixel_count);
		assert_null(stixel_column(&frame, frame.header->columns, &count));
		assert_int_equal(count, 0);
		free(out);
	}
}

static void the_same_frame_gives_the_same_bytes(void **state)
{
	size_t room = help_frame_bytes(&pictured), n;
	uint8_t *a = malloc(room), *b = malloc(room);
	struct stixel_frame_header *ha = (void *)a, *hb = (void *)b;

	memset(a, 0, room);
	memset(b, 0xff, room);
	for (uint64_t number = 1; number < 50; number++) {
		n = help_frame(a, &pictured, 1, number);
		assert_int_equal(help_frame(b, &pictured, 1, number), n);
		hb->anchor_monotonic_ns = ha->anchor_monotonic_ns;
		hb->anchor_realtime_ns = ha->anchor_realtime_ns;
		sx_frame_restamp(b, 1, number);
		assert_memory_equal(a, b, n);
	}
	free(a);
	free(b);
}

static void every_flipped_bit_is_found(void **state)
{
	size_t room = help_frame_bytes(&pictured), bytes, covered;
	uint8_t *out = calloc(1, room);
	struct stixel_frame frame;

	bytes = help_frame(out, &pictured, 9, 5);
	covered = ((struct stixel_frame_header *)out)->plane_offset;
	assert_in_range(covered, 900, bytes - 1);
	for (size_t i = 0; i < covered * 8; i++) {
		out[i / 8] ^= (uint8_t)(1 << i % 8);
		assert_true(stixel_parse(&frame, out, bytes) < 0);
		out[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	assert_int_equal(stixel_parse(&frame, out, bytes), 0);
	for (size_t n = 0; n < bytes; n += 8)
		assert_int_equal(stixel_parse(&frame, out, n), -EBADMSG);
	assert_int_equal(stixel_parse(&frame, out + 1, bytes), -EINVAL);
	assert_int_equal(stixel_parse(&frame, NULL, 0), -EINVAL);
	assert_int_equal(stixel_parse(NULL, out, bytes), -EINVAL);
	free(out);
}

/* Reads every pixel of an image and returns the sum. */
static uint32_t sum_image(const struct stixel_frame *frame, unsigned kind)
{
	struct stixel_image image;
	uint32_t sum = 0;

	if (!stixel_image(frame, kind, &image))
		return 0;
	for (uint32_t y = 0; y < image.height; y++) {
		const uint8_t *row = (const uint8_t *)image.data + (size_t)y * image.pitch;

		for (uint32_t x = 0; x < image.width * (kind == STIXEL_PLANE_DISPARITY ? 2 : 1); x++)
			sum += row[x];
	}
	return sum;
}

/*
 * Frames with false sizes and a correct checksum must be refused: the reader's safety must not depend on the
 * checksum.
 */
static void sizes_that_lie_are_refused(void **state)
{
	size_t room = help_frame_bytes(&both), bytes;
	uint64_t *keep = malloc(room), *out;
	struct stixel_frame frame;
	uint64_t x = 88172645463325252u;
	int accepted = 0;

	bytes = help_frame(keep, &both, 9, 5);
	for (int round = 0; round < 75000; round++) {
		struct stixel_frame_header *h;
		/* The copy has its exact size on the heap: the sanitizer sees an access beyond its end. */
		out = malloc(bytes);
		memcpy(out, keep, bytes);
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		/*
		 * Indices of the 32-bit fields, by byte offset: sizes 8..23, counts 88..127, planes 256..279
		 * and 664..687, and the offsets after these fields.
		 */
		switch (round % 5) {
		case 0:
			((uint32_t *)out)[2 + (x >> 8) % 4] = (uint32_t)(x >> 32) >> (x & 31);
			break;
		case 1:
			((uint32_t *)out)[22 + (x >> 8) % 10] = (uint32_t)(x >> 32) >> (x & 31);
			break;
		case 2:
			((uint32_t *)out)[64 + (x >> 8) % 6] = (uint32_t)(x >> 32) >> (x & 31);
			break;
		case 3:
			((uint32_t *)out)[166 + (x >> 8) % 6] = (uint32_t)(x >> 32) >> (x & 31);
			break;
		default:
			((uint32_t *)out)[184 + (x >> 8) % 4] = (uint32_t)(x >> 32) >> (x & 31);
		}
		h = (struct stixel_frame_header *)out;
		if (h->frame_bytes <= bytes && h->plane_offset <= bytes && h->frame_bytes >= sizeof(*h) &&
		    (!h->plane_kind || h->plane_offset >= sizeof(*h)))
			sx_frame_restamp(out, 9, 5);
		if (stixel_parse(&frame, out, bytes) == 0) {
			uint32_t count, sum = 0;

			accepted++;
			for (uint32_t u = 0; u < frame.header->columns; u++) {
				const struct stixel *s = stixel_column(&frame, u, &count);

				while (count--)
					sum += s[count].row_bottom;
			}
			for (unsigned kind = 0; kind < 6; kind++)
				sum += sum_image(&frame, kind);
			assert_int_not_equal(sum, 0x7fffffff);
		}
		free(out);
	}
	/* changes to fields without consequence pass, the others are refused */
	assert_in_range(accepted, 100, 70000);
	free(keep);
}

static int parse_plane(uint32_t kind, uint32_t width, uint32_t height, uint32_t pitch, uint32_t bytes)
{
	const size_t room = help_frame_bytes(&pictured);
	uint64_t *out = malloc(room);
	struct stixel_frame_header *h = (struct stixel_frame_header *)out;
	struct stixel_frame frame;
	int e;

	h->frame_bytes = (uint32_t)help_frame(out, &pictured, 9, 5);
	assert_in_range(h->plane_offset, 900, room);
	h->plane_kind = kind;
	h->plane_width = width;
	h->plane_height = height;
	h->plane_pitch = pitch;
	h->plane_bytes = bytes;
	sx_frame_restamp(out, 9, 5);
	e = stixel_parse(&frame, out, h->frame_bytes);
	free(out);
	return e;
}

/*
 * Refused in spite of a correct checksum: lists that do not begin at 0 or that run backwards, a name without
 * a terminator, and too many rows.
 */
static void contradictions_are_refused(void **state)
{
	const struct help_shape shape = {.columns = 3, .plane_width = 4, .plane_height = 40000};
	uint8_t *out = calloc(1, help_frame_bytes(&shape)), *same = calloc(1, help_frame_bytes(&shape));
	const size_t bytes = help_frame(out, &shape, 9, 5);
	struct stixel_frame_header *h = (struct stixel_frame_header *)same;
	uint32_t *offsets = (uint32_t *)(void *)(same + sizeof(*h));
	struct stixel_frame frame;

	for (int kind = 0; kind < 5; kind++) {
		memcpy(same, out, bytes);
		if (kind == 1)
			offsets[0] = 1;
		if (kind == 2) {
			assert_true(offsets[1] > 0);
			offsets[2] = offsets[1] - 1;
		}
		if (kind == 3)
			memset(h->stage_name[1], 'x', STIXEL_STAGE_NAME_BYTES);
		if (kind == 4) {
			h->plane_kind = STIXEL_PLANE_LEFT;
			h->plane_width = 1;
			h->plane_pitch = 4;
			h->plane_height = 80000;
		}
		sx_frame_restamp(same, 9, 5);
		assert_int_equal(stixel_parse(&frame, same, bytes), kind ? -EBADMSG : 0);
	}
	free(same);
	free(out);
}

/* A reader that counts the rows of such an image would count for a very long time, or backwards. */
static void images_without_pixels_are_refused(void **state)
{
	assert_int_equal(parse_plane(STIXEL_PLANE_DISPARITY, 33, 7, 72, 504), 0);
	assert_int_equal(parse_plane(STIXEL_PLANE_LEFT, 63, 8, 63, 504), 0);
	assert_int_equal(parse_plane(STIXEL_PLANE_DISPARITY, 0, 0xffffffff, 0, 0), -EBADMSG);
	assert_int_equal(parse_plane(STIXEL_PLANE_DISPARITY, 0, 7, 72, 504), -EBADMSG);
	assert_int_equal(parse_plane(STIXEL_PLANE_DISPARITY, 33, 0, 72, 0), -EBADMSG);
	assert_int_equal(parse_plane(STIXEL_PLANE_LEFT, 0, 65537, 0, 0), -EBADMSG);
	/* rows with an odd number of bytes */
	assert_int_equal(parse_plane(STIXEL_PLANE_DISPARITY, 31, 8, 63, 504), -EBADMSG);
}

static void images_come_as_they_are(void **state)
{
	size_t room = help_frame_bytes(&both), bytes;
	uint64_t *out = malloc(room);
	struct stixel_image disparity = {0}, left = {0};
	struct stixel_frame frame;

	bytes = help_frame(out, &both, 9, 5);
	assert_int_equal(stixel_parse(&frame, out, bytes), 0);
	assert_true(help_frame_good(&frame, &both));
	assert_int_equal(stixel_image(&frame, STIXEL_PLANE_DISPARITY, &disparity), 1);
	assert_int_equal(stixel_image(&frame, STIXEL_PLANE_LEFT, &left), 1);
	assert_int_equal(stixel_image(&frame, STIXEL_PLANE_NONE, &left), 0);
	assert_int_equal(stixel_image(&frame, 3, &left), 0);
	assert_int_equal(disparity.width, 33);
	assert_int_equal(disparity.pitch, 72);
	assert_int_equal(left.height, 7);
	assert_int_equal(left.pitch, 40);
	assert_ptr_equal(frame.plane, disparity.data);
	for (int y = 0; y < 7; y++)
		assert_memory_equal((const char *)left.data + (ptrdiff_t)y * 40,
				    (const char *)disparity.data + (ptrdiff_t)y * 72, 33);
	bytes = help_frame(out, &pictured, 9, 5);
	assert_int_equal(stixel_parse(&frame, out, bytes), 0);
	assert_int_equal(stixel_image(&frame, STIXEL_PLANE_LEFT, &left), 0);
	assert_int_equal(sx_frame_image_bytes(6, 33, 7), (72 + 40) * 7);
	assert_int_equal(sx_frame_image_bytes(12, 33, 7), (40 + 40) * 7);
	assert_int_equal(sx_frame_image_bytes(0, 33, 7), 0);
	free(out);
}

static void contradictions_are_not_packed(void **state)
{
	uint32_t offsets[4] = {0, 1, 1, 2};
	struct stixel list[2] = {{.column = 0, .row_top = 5, .row_bottom = 9},
				 {.column = 2, .row_bottom = 99}};
	struct stixel_frame_header good = {
		.number = 1, .epoch = 1, .columns = 3, .stixel_count = 2, .image_height = 100};
	struct stixel_frame_header h;
	uint16_t pixels[12] = {0};
	const struct stixel_motion records[2] = {{.vx = 5, .sigma_x = 1}, {.state = STIXEL_MOTION_MOVES}};
	const struct sx_frame_motion motion = {.stixels = records};
	const struct stixel_image disparity = {STIXEL_PLANE_DISPARITY, 3, 4, 6, pixels};
	const struct stixel_image left = {STIXEL_PLANE_LEFT, 6, 2, 6, pixels};
	struct stixel_image images[2];
	uint64_t out[200];

#define PACK(error, count, ...)                                                                      \
	do {                                                                                         \
		int64_t packed;                                                                      \
		h = good;                                                                            \
		images[0] = disparity;                                                               \
		images[1] = left;                                                                    \
		__VA_ARGS__;                                                                         \
		packed = sx_frame_pack(out, sizeof(out), &h, offsets, list, &motion, images, count); \
		assert_int_equal(packed < 0 ? packed : 0, error);                                    \
	} while (0)
	PACK(0, 0, (void)0);
	PACK(-EINVAL, 0, h.number = 0);
	PACK(-EINVAL, 0, h.epoch = 0);
	PACK(-EINVAL, 0, h.stixel_count = 1);
	PACK(-EINVAL, 0, h.columns = 2);
	PACK(-EINVAL, 0, h.image_height = 99);
	PACK(-EINVAL, 0, h.stage_count = 17);
	PACK(-EINVAL, 0, h.road_origin = 4);
	PACK(-EINVAL, 0, h.columns = 70000);
	PACK(0, 1, (void)0);
	PACK(0, 2, (void)0);
	PACK(-EINVAL, 3, (void)0);
	PACK(-EINVAL, -1, (void)0);
	PACK(-EINVAL, 2, images[1] = disparity);
	PACK(-EINVAL, 1, images[0].kind = STIXEL_PLANE_NONE);
	PACK(-EINVAL, 1, images[0].kind = 4);
	PACK(-EINVAL, 1, images[0].data = NULL);
	PACK(-EINVAL, 1, images[0].width = 4);
	PACK(-EINVAL, 2, images[1].width = 0);
	PACK(-EINVAL, 2, images[1].height = 0);
	PACK(-ENOBUFS, 1, images[0].height = 1 << 20);
	PACK(-ENOBUFS, 1, images[0].height = UINT32_MAX; images[0].width = 1u << 31;
	     images[0].pitch = UINT32_MAX; images[0].kind = STIXEL_PLANE_LEFT);
	list[0].row_top = 10;
	PACK(-EINVAL, 0, (void)0);
	list[0].row_top = 5;
	list[1].column = 1;
	PACK(-EINVAL, 0, (void)0);
	list[1].column = 2;
	offsets[1] = 3;
	PACK(-EINVAL, 0, (void)0);
	offsets[1] = 1;
	PACK(0, 0, (void)0);
#undef PACK
	h = good;
	assert_int_equal(sx_frame_pack(out, 64, &h, offsets, list, NULL, NULL, 0), -ENOBUFS);
	assert_int_equal(sx_frame_bytes(3, 2, 0), 872 + 16 + 32);
	assert_int_equal(sx_frame_bytes(4, 2, 0), 872 + 24 + 32);
	assert_int_equal(sx_frame_bytes(1, UINT32_MAX, 0), 0);
	assert_int_equal(sx_frame_bytes(1, 1, SIZE_MAX), 0);
}

static void frames_shrink(void **state)
{
	size_t room = help_frame_bytes(&both), plain;
	uint64_t *a = malloc(room), *b = malloc(room);
	struct stixel_frame frame;

	help_frame(a, &both, 9, 5);
	plain = ((struct stixel_frame_header *)a)->plane_offset;
	assert_int_equal(sx_frame_shrink(b, plain, a), plain);
	assert_int_equal(stixel_parse(&frame, b, plain), 0);
	assert_int_equal(frame.header->flags, STIXEL_FRAME_PLANE_LEFT_OUT);
	assert_null(frame.plane);
	assert_true(help_frame_good(&frame, &both));
	assert_int_equal(sx_frame_shrink(b, plain - 8, a), 880);
	assert_int_equal(stixel_parse(&frame, b, 880), 0);
	assert_int_equal(frame.header->flags, STIXEL_FRAME_PLANE_LEFT_OUT | STIXEL_FRAME_STIXELS_LEFT_OUT);
	assert_int_equal(frame.header->columns, 0);
	assert_int_equal(frame.header->number, 5);
	assert_int_equal(sx_frame_shrink(b, 879, a), -ENOBUFS);
	free(a);
	free(b);
}

/* Records of motion lie between stixels and images, and are left out before a frame is too large. */
static void motion_travels(void **state)
{
	static const uint32_t offsets[] = {0, 2, 3};
	const struct stixel list[3] = {{.row_bottom = 3}, {.row_top = 4, .row_bottom = 9}, {.column = 1}};
	const struct stixel_motion records[3] = {
		{.vx = -150, .vz = 1234, .sigma_x = 17, .sigma_z = 255, .correlation = -127, .state = 2},
		{.state = 1},
		{.vx = 7, .sigma_x = 3, .sigma_z = 3, .state = 9}};
	const struct sx_frame_motion motion = {.stixels = records};
	const struct stixel_frame_header good = {.epoch = 7,
						 .number = 1,
						 .columns = 2,
						 .column_width = 5,
						 .stixel_count = 3,
						 .image_height = 10,
						 .motion_span_ns = 100000000,
						 .ego_way_m = {0.1f, 0, 1.5f},
						 .ego_way_sigma_m = {0.01f, 0.01f, 0.02f},
						 .ego_turn_rad = {0, 0.25f, 0}};
	static _Alignas(8) uint8_t out[2048], copy[2048], pixels[64];
	const struct stixel_image image = {STIXEL_PLANE_LEFT, 8, 8, 8, pixels};
	const size_t plain = sx_frame_bytes(2, 3, 64);
	struct stixel_frame_header h = good, *packed = (struct stixel_frame_header *)out;
	struct stixel_frame frame;
	struct stixel_velocity v;
	struct stixel_ego ego;

	assert_int_equal(sx_frame_pack(out, sizeof(out), &h, offsets, list, &motion, &image, 1), plain + 24);
	assert_int_equal(stixel_parse(&frame, out, plain + 24), 0);
	assert_memory_equal(stixel_motion_of(&frame), records, sizeof(records));
	assert_int_equal(stixel_ego_of(frame.header, &ego), 1);
	assert_true(ego.seconds == 0.1 && ego.way_m[2] == 1.5 && ego.turn_rad[1] == 0.25);
	assert_int_equal(stixel_velocity(&frame, 0, &v), 1);
	assert_true(v.vx == -1.5 && v.vz == 12.34 && v.state == STIXEL_MOTION_MOVES);
	assert_true(v.sxx == 34.0 / 1600 * (34.0 / 1600) && v.sxz == -34.0 / 1600 * 634.88);
	assert_int_equal(stixel_velocity(&frame, 1, &v), 0);
	assert_true(v.state == STIXEL_MOTION_STANDS && v.szz == 0);
	assert_int_equal(stixel_velocity(&frame, 2, &v), 1);
	assert_int_equal(v.state, STIXEL_MOTION_UNKNOWN); /* a newer publisher wrote this state */
	assert_int_equal(stixel_velocity(&frame, 3, &v), 0);
	/* the image is left out, then the stixels are */
	assert_int_equal(sx_frame_shrink(copy, sizeof(copy), out), plain + 24 - 64);
	assert_int_equal(stixel_parse(&frame, copy, plain + 24 - 64), 0);
	assert_memory_equal(stixel_motion_of(&frame), records, sizeof(records));
	/* before the stixels, the records are */
	assert_int_equal(sx_frame_shrink(copy, plain + 23 - 64, out), plain - 64);
	assert_int_equal(stixel_parse(&frame, copy, plain - 64), 0);
	assert_int_equal(frame.header->stixel_count, 3);
	assert_null(stixel_motion_of(&frame));
	assert_int_equal(frame.header->flags & STIXEL_FRAME_STIXELS_LEFT_OUT, 0);
	assert_int_equal(sx_frame_shrink(copy, 886, out), 880);
	assert_int_equal(stixel_parse(&frame, copy, 880), 0);
	assert_null(stixel_motion_of(&frame));
	/* a table that leaves the frame or lies in others is refused */
	for (int i = 0; i < 4; i++) {
		const uint32_t at[] = {8, 4 + packed->motion_offset, packed->motion_offset - 8,
				       packed->motion_offset + 8};

		memcpy(copy, out, sizeof(copy));
		((struct stixel_frame_header *)copy)->motion_offset = at[i];
		assert_int_equal(stixel_seal(copy, plain + 24), 0);
		assert_int_equal(stixel_parse(&frame, copy, plain + 24), -EBADMSG);
	}
	/* no room for the table; and a publisher without one */
	h = good;
	assert_int_equal(sx_frame_pack(out, plain + 16, &h, offsets, list, &motion, &image, 1), plain);
	assert_int_equal(stixel_parse(&frame, out, plain), 0);
	assert_null(stixel_motion_of(&frame));
	h = good;
	h.ego_way_sigma_m[2] = 0;
	assert_int_equal(sx_frame_pack(out, sizeof(out), &h, offsets, list, NULL, NULL, 0), plain - 64);
	assert_int_equal(stixel_parse(&frame, out, plain), 0);
	assert_int_equal(stixel_velocity(&frame, 0, &v), 0);
	assert_int_equal(stixel_ego_of(frame.header, &ego), 0);
	packed->header_bytes = 776;
	assert_int_equal(stixel_ego_of(packed, &ego), 0);
}

/* A frame of two columns with three stixels, two objects and an image. */
struct followed {
	uint32_t offsets[3];
	struct stixel list[3];
	struct stixel_motion records[3];
	struct stixel_object objects[2];
	uint8_t of[3], pixels[64];
	struct stixel_frame_header header;
	struct sx_frame_motion motion;
	struct stixel_image image;
};

static void follow(struct followed *f)
{
	*f = (struct followed){
		.offsets = {0, 2, 3},
		.list = {{.row_bottom = 3}, {.row_top = 4, .row_bottom = 9}, {.column = 1}},
		.records = {{.vx = 7, .sigma_x = 3, .sigma_z = 3, .state = 2}},
		.objects = {{.id = 4,
			     .state = STIXEL_MOTION_MOVES,
			     .label = 13,
			     .frames = 65535,
			     .x = -2,
			     .y = 1.5f,
			     .z = 20,
			     .pxx = 0.25f,
			     .pxz = -0.125f,
			     .pzz = 0.5f,
			     .width = 1.75f,
			     .height = 1.5f,
			     .vx = 2,
			     .vz = -4,
			     .sxx = 0.0625f,
			     .szz = 0.25f,
			     .age_s = 3,
			     .right = 9,
			     .bottom = 9,
			     .stixels = 2},
			    {.id = 9, .z = 1, .pxx = 1, .pzz = 1, .sxx = 1, .szz = 1, .unseen_s = 0.25f}},
		.of = {1, 0, 2},
		.header = {.epoch = 7,
			   .number = 1,
			   .columns = 2,
			   .column_width = 5,
			   .stixel_count = 3,
			   .image_width = 10,
			   .image_height = 10},
	};
	f->motion = (struct sx_frame_motion){f->records, f->objects, 2, f->of};
	f->image = (struct stixel_image){STIXEL_PLANE_LEFT, 8, 8, 8, f->pixels};
}

static int64_t pack_followed(const struct followed *f, void *out, size_t room)
{
	struct stixel_frame_header h = f->header;

	memset(&h.objects_offset, 0xa5, 16); /* these fields are not the caller's */
	return sx_frame_pack(out, room, &h, f->offsets, f->list, &f->motion, &f->image, 1);
}

/* Counts whose frame fits only without motion are not refused: it is left out of a frame that is too large. */
static void motion_refuses_no_counts(void **state)
{
	const size_t most = STIXEL_FRAME_BYTES_MAX, motion = STIXEL_OBJECTS_MAX * 80 + 8 + 24;
	const size_t plain = sx_frame_bytes(2, 3, 0);

	assert_int_equal(sx_frame_bytes_most(2, 3, most - plain - motion - 8), most - 8);
	assert_int_equal(sx_frame_bytes_most(2, 3, most - plain - motion), most);
	assert_int_equal(sx_frame_bytes_most(2, 3, most - plain - motion + 8), most);
	assert_int_equal(sx_frame_bytes_most(2, 3, most - plain), most);
	assert_int_equal(sx_frame_bytes_most(2, 3, most - plain + 8), 0);
	assert_int_equal(sx_frame_bytes_most(2, UINT32_MAX, 0), 0);
}

/* Objects lie between stixels and records of motion, and are left out after the records. */
static void objects_travel(void **state)
{
	static _Alignas(8) uint8_t out[2048], copy[2048];
	const size_t plain = sx_frame_bytes(2, 3, 64), table = 2 * 80 + 8, records = 24;
	struct stixel_frame_header *packed = (struct stixel_frame_header *)out;
	struct stixel_place p[2];
	struct stixel_frame frame;
	struct followed f;

	follow(&f);
	assert_int_equal(sx_frame_bytes_most(2, 3, 64), plain + records + STIXEL_OBJECTS_MAX * 80 + 8);
	assert_int_equal(pack_followed(&f, out, sizeof(out)), plain + table + records);
	assert_int_equal(stixel_parse(&frame, out, plain + table + records), 0);
	assert_int_equal(stixel_object_count(&frame), 2);
	for (int k = 0; k < 2; k++)
		assert_memory_equal(stixel_object_at(&frame, k), &f.objects[k], sizeof(f.objects[k]));
	assert_null(stixel_object_at(&frame, 2));
	assert_null(stixel_object_at(&frame, -1));
	assert_ptr_equal(stixel_object_of(&frame, 0), stixel_object_at(&frame, 0));
	assert_null(stixel_object_of(&frame, 1));
	assert_ptr_equal(stixel_object_of(&frame, 2), stixel_object_at(&frame, 1));
	assert_null(stixel_object_of(&frame, 3));
	assert_memory_equal(stixel_motion_of(&frame), f.records, sizeof(f.records));
	/* places in half a second; of an object of unknown state none */
	assert_int_equal(stixel_object_ahead(&frame, 0.5, p, 2), 1);
	assert_true(p[0].x == -1 && p[0].z == 18 && p[0].sxz == -0.125);
	assert_true(fabs(p[0].szz - (0.5 + 0.25 * 0.25 + 0.375 * 0.375)) < 1e-12);
	assert_true(isnan(p[1].x) && isnan(p[1].z) && isnan(p[1].szz));
	assert_int_equal(stixel_object_ahead(&frame, 0.5, p, 1), -EINVAL);
	assert_int_equal(stixel_object_ahead(&frame, -0.1, p, 2), -EINVAL);
	assert_int_equal(stixel_object_ahead(&frame, (double)NAN, p, 2), -EINVAL);
	/* a reader of 1.7 does not look at them */
	packed->header_bytes = 856;
	assert_int_equal(stixel_object_count(&frame), -1);
	assert_null(stixel_object_at(&frame, 0));
	assert_null(stixel_object_of(&frame, 0));
	assert_int_equal(stixel_object_ahead(&frame, 0.5, p, 0), 0);
	packed->header_bytes = sizeof(*packed);
	/* the image is left out, then the records, then the objects, then the stixels */
	for (int i = 0; i < 4; i++) {
		const size_t left[] = {plain + table + records - 64, plain + table - 64, plain - 64, 880};

		assert_int_equal(sx_frame_shrink(copy, i ? left[i - 1] - 1 : sizeof(copy), out), left[i]);
		assert_int_equal(stixel_parse(&frame, copy, left[i]), 0);
		assert_true((stixel_motion_of(&frame) != NULL) == (i < 1));
		assert_int_equal(stixel_object_count(&frame), i < 2 ? 2 : -1);
		assert_int_equal(frame.header->stixel_count, i < 3 ? 3 : 0);
	}
	/* the same where the packed frame has no room; then there are none, and they cost nothing */
	assert_int_equal(pack_followed(&f, out, plain + table + records - 1), plain + table);
	assert_int_equal(stixel_parse(&frame, out, plain + table), 0);
	assert_true(stixel_object_count(&frame) == 2 && !stixel_motion_of(&frame));
	assert_int_equal(pack_followed(&f, out, plain + table - 1), plain + records);
	assert_int_equal(stixel_parse(&frame, out, plain + records), 0);
	assert_true(stixel_object_count(&frame) == -1 && stixel_motion_of(&frame));
	f.motion.object_count = 0;
	assert_int_equal(pack_followed(&f, out, sizeof(out)), plain + records);
	assert_int_equal(stixel_parse(&frame, out, plain + records), 0);
	assert_int_equal(stixel_object_count(&frame), 0);
	assert_null(stixel_object_of(&frame, 0));
	assert_int_equal(sx_frame_shrink(copy, plain - 64, out), plain - 64);
	assert_int_equal(stixel_parse(&frame, copy, plain - 64), 0);
	assert_int_equal(stixel_object_count(&frame), 0);
}

/* A table that lies is neither packed nor read. */
static void false_objects_are_refused(void **state)
{
	static _Alignas(8) uint8_t out[2048];
	static const float bad[] = {NAN, INFINITY, -INFINITY};
	struct stixel_frame_header *h = (struct stixel_frame_header *)out;
	struct stixel_object *objects;
	const uint8_t *of;
	struct stixel_frame frame;
	struct followed f;
	size_t bytes;

	follow(&f);
	bytes = (size_t)pack_followed(&f, out, sizeof(out));
	objects = (struct stixel_object *)(out + h->objects_offset);
	of = out + h->object_of_offset;
#define REFUSED(...)                                                          \
	do {                                                                  \
		follow(&f);                                                   \
		assert_int_equal(pack_followed(&f, out, sizeof(out)), bytes); \
		__VA_ARGS__;                                                  \
		assert_int_equal(stixel_seal(out, bytes), 0);                 \
		assert_int_equal(stixel_parse(&frame, out, bytes), -EBADMSG); \
		memcpy(f.objects, objects, sizeof(f.objects));                \
		memcpy(f.of, of, sizeof(f.of));                               \
	} while (0)
#define REFUSED_TWICE(...)                                                      \
	do {                                                                    \
		REFUSED(__VA_ARGS__);                                           \
		assert_int_equal(pack_followed(&f, out, sizeof(out)), -EINVAL); \
	} while (0)
	REFUSED_TWICE(objects[0].id = 0);
	REFUSED_TWICE(objects[1].id = 4);
	REFUSED_TWICE(objects[1].id = 3);
	REFUSED_TWICE(objects[0].z = 0);
	for (size_t i = offsetof(struct stixel_object, x); i <= offsetof(struct stixel_object, unseen_s);
	     i += 4)
		for (int k = 0; k < 3; k++)
			REFUSED_TWICE(memcpy((char *)&objects[1] + i, &bad[k], 4));
	REFUSED_TWICE(objects[0].pxx = 0);
	REFUSED_TWICE(objects[0].pxz = 0.36f);
	REFUSED_TWICE(objects[0].sxz = -0.125f);
	REFUSED_TWICE(objects[0].szz = -1);
	REFUSED_TWICE(objects[0].width = -1);
	REFUSED_TWICE(objects[0].height = -1);
	REFUSED_TWICE(objects[0].age_s = -1);
	REFUSED_TWICE(objects[0].unseen_s = -1);
	REFUSED_TWICE(objects[0].right = 10);
	REFUSED_TWICE(objects[0].bottom = 10);
	REFUSED_TWICE(objects[1].left = 1);
	REFUSED_TWICE(objects[1].top = 1);
	REFUSED_TWICE(out[h->object_of_offset] = 3);
	REFUSED(h->objects_offset -= 8);
	REFUSED(h->objects_offset += 8);
	REFUSED(h->objects_offset += 4);
	REFUSED(h->objects_offset = UINT32_MAX - 7);
	REFUSED(h->object_of_offset = 0);
	REFUSED(h->object_of_offset = h->objects_offset);
	REFUSED(h->object_of_offset = h->motion_offset);
	REFUSED(h->object_of_offset = UINT32_MAX);
	REFUSED(h->object_count = 65);
	REFUSED(h->object_count = 0);
	REFUSED(h->object_bytes = 72);
	REFUSED(h->object_bytes = 84);
	REFUSED(h->object_bytes = 88);
	REFUSED(h->motion_offset = h->objects_offset);
#undef REFUSED_TWICE
#undef REFUSED
	follow(&f);
	f.motion.object_count = 65;
	assert_int_equal(pack_followed(&f, out, sizeof(out)), -EINVAL);
	f.motion.object_count = 2;
	f.motion.object_of = NULL;
	assert_int_equal(pack_followed(&f, out, sizeof(out)), -EINVAL);
}

/*
 * Packs a frame with records of motion, and cuts its header short. Returns the bytes of the frame. header_bytes: of the
 * shorter header.
 */
static size_t pack_cut(uint8_t *cut, uint32_t header_bytes, struct followed *f)
{
	const uint32_t less = sizeof(struct stixel_frame_header) - header_bytes;
	static _Alignas(8) uint8_t out[2048];
	struct stixel_frame_header *h = (struct stixel_frame_header *)cut;
	size_t bytes;

	follow(f);
	f->motion.objects = NULL;
	bytes = (size_t)sx_frame_pack(out, sizeof(out), &f->header, f->offsets, f->list, &f->motion, NULL,
				      0) -
		less;
	memcpy(cut, out, header_bytes);
	memcpy(cut + header_bytes, out + sizeof(*h), bytes - header_bytes);
	h->header_bytes = header_bytes;
	h->frame_bytes -= less;
	h->stixels_offset -= less;
	h->motion_offset -= less;
	return bytes;
}

/* A frame of 1.7, whose header ends before the objects, is cut down as its records allow. */
static void frames_of_1_7_shrink(void **state)
{
	static _Alignas(8) uint8_t old[2048], copy[2048];
	struct stixel_frame_header *h = (struct stixel_frame_header *)old;
	struct stixel_frame frame;
	struct followed f;
	const size_t bytes = pack_cut(old, 856, &f);

	h->abi_minor = 7;
	assert_int_equal(stixel_seal(old, bytes), 0);
	assert_int_equal(stixel_parse(&frame, old, bytes), 0);
	assert_memory_equal(stixel_motion_of(&frame), f.records, sizeof(f.records));
	assert_int_equal(stixel_object_count(&frame), -1);
	assert_int_equal(sx_frame_shrink(copy, bytes, old), bytes);
	assert_memory_equal(copy, old, bytes);
	assert_int_equal(sx_frame_shrink(copy, bytes - 1, old), bytes - 24);
	assert_int_equal(stixel_parse(&frame, copy, bytes - 24), 0);
	assert_true(!stixel_motion_of(&frame) && frame.header->stixel_count == 3);
	assert_int_equal(sx_frame_shrink(copy, bytes - 25, old), 864);
	assert_int_equal(stixel_parse(&frame, copy, 864), 0);
}

/* A header that ends between the fields of the objects says nothing of them, whatever their offsets are. */
static void frames_with_half_of_the_objects_shrink(void **state)
{
	static const uint32_t lies[] = {8, 712, 864, 896, UINT32_MAX - 7};
	static _Alignas(8) uint8_t cut[2048], copy[2048];
	struct stixel_frame_header *h = (struct stixel_frame_header *)cut;
	struct stixel_frame frame;
	struct followed f;

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		const size_t bytes = pack_cut(cut, 864, &f), bare = bytes - 24;

		h->objects_offset = h->object_of_offset = lies[i];
		assert_int_equal(stixel_seal(cut, bytes), 0);
		assert_int_equal(stixel_parse(&frame, cut, bytes), 0);
		assert_int_equal(stixel_object_count(&frame), -1);
		for (size_t room = bytes; room >= 872; room--) {
			const int64_t left = sx_frame_shrink(copy, room, cut);

			assert_int_equal(left, room == bytes ? bytes : room >= bare ? bare : 872);
			assert_int_equal(stixel_parse(&frame, copy, (size_t)left), 0);
			assert_int_equal(frame.header->stixel_count, room >= bare ? 3 : 0);
			assert_int_equal(stixel_object_count(&frame), -1);
		}
	}
}

/* Stixels that are known to move or to stand have a place in half a second. */
static void stixels_are_ahead(void **state)
{
	static const uint32_t offsets[] = {0, 5};
	const struct stixel list[5] = {
		{.disparity_q7 = 128 * 10},
		{.row_top = 1, .row_bottom = 1, .disparity_q7 = 128 * 20},
		{.row_top = 2, .row_bottom = 2, .disparity_q7 = 128 * 20},
		{.row_top = 3, .row_bottom = 3, .disparity_q7 = STIXEL_DISPARITY_UNKNOWN},
		{.row_top = 4, .row_bottom = 4, .disparity_q7 = 128 * 20},
	};
	const struct stixel_motion moves = {.vx = -200, .vz = 400, .sigma_x = 16, .sigma_z = 32, .state = 2};
	const struct stixel_motion stands = {.sigma_x = 16, .sigma_z = 16, .state = 1};
	const struct stixel_motion records[5] = {
		moves, stands, {.sigma_x = 5, .sigma_z = 5}, moves, {.state = 1}};
	const struct sx_frame_motion motion = {.stixels = records};
	struct stixel_frame_header h = {.epoch = 7,
					.number = 1,
					.columns = 1,
					.column_width = 5,
					.stixel_count = 5,
					.image_height = 10,
					.fx = 500,
					.cx = 52,
					.baseline_m = 0.4};
	static _Alignas(8) uint8_t out[2048];
	const int64_t bytes = sx_frame_pack(out, sizeof(out), &h, offsets, list, &motion, NULL, 0);
	struct stixel_place p[5];
	struct stixel_frame frame;

	assert_int_equal(stixel_parse(&frame, out, (size_t)bytes), 0);
	assert_int_equal(stixel_ahead(&frame, 0.5, p, 5), 2);
	/* 50 px to the left of the axis at 20 m: 2 m; then 1 m to the left and 2 m ahead */
	assert_true(fabs(p[0].x + 3) < 1e-9 && fabs(p[0].z - 22) < 1e-9);
	assert_true(fabs(p[1].x + 1) < 1e-9 && fabs(p[1].z - 10) < 1e-9 && p[1].szz > 0);
	for (int i = 2; i < 5; i++)
		assert_true(isnan(p[i].x) && isnan(p[i].z) && isnan(p[i].sxx) && isnan(p[i].szz));
	assert_int_equal(stixel_ahead(&frame, 0.0, p, 9), 2);
	assert_true(fabs(p[0].x + 2) < 1e-9);
	assert_int_equal(stixel_ahead(&frame, -0.1, p, 5), -EINVAL);
	assert_int_equal(stixel_ahead(&frame, (double)NAN, p, 5), -EINVAL);
	assert_int_equal(stixel_ahead(&frame, 0.5, p, 4), -EINVAL);
	((struct stixel_frame_header *)out)->fx = 0;
	assert_int_equal(stixel_ahead(&frame, 0.5, p, 5), 0);
}

/* A program that changes a frame can seal it again. The checksum does not cover images. */
static void a_changed_frame_is_sealed(void **state)
{
	static const uint32_t offsets[] = {0, 0};
	struct stixel_frame_header h = {.epoch = 7, .number = 1, .columns = 1, .column_width = 5};
	static _Alignas(8) uint8_t out[1024], pixels[64];
	const struct stixel_image image = {STIXEL_PLANE_LEFT, 8, 8, 8, pixels};
	struct stixel_frame_header *packed = (struct stixel_frame_header *)out;
	struct stixel_frame frame;
	const int64_t bytes = sx_frame_pack(out, sizeof(out), &h, offsets, NULL, NULL, &image, 1);
	const uint32_t sum = packed->checksum;

	assert_true(bytes > 0);
	packed->number = 2;
	assert_int_equal(stixel_parse(&frame, out, (size_t)bytes), -EBADMSG);
	assert_int_equal(stixel_seal(out, packed->plane_offset), 0);
	assert_int_equal(stixel_parse(&frame, out, (size_t)bytes), 0);
	packed->number = 1;
	out[bytes - 1] ^= 1;
	assert_int_equal(stixel_seal(out, (size_t)bytes), 0);
	assert_int_equal(packed->checksum, sum);
	assert_int_equal(stixel_seal(out, packed->plane_offset - 1u), -EBADMSG);
	assert_int_equal(stixel_seal(out, STIXEL_HEADER_BYTES_LEAST - 1), -EBADMSG);
	packed->plane_offset = 8;
	assert_int_equal(stixel_seal(out, (size_t)bytes), -EBADMSG);
	assert_int_equal(stixel_seal(out + 1, (size_t)bytes - 1), -EINVAL);
	assert_int_equal(stixel_seal(NULL, 0), -EINVAL);
}

static void the_ground_leans_and_bends(void **state)
{
	struct stixel_frame_header h = {.header_bytes = sizeof(h),
					.road_slope = 0.5,
					.road_offset = -50,
					.road_cross = 0.01,
					.road_axis = 300,
					.road_bend = 0.25,
					.road_bend_row = 120,
					.roll_rad = 0.02,
					.pitch_sigma_rad = 0.003,
					.roll_sigma_rad = 0.004,
					.height_sigma_m = 0.05};

	assert_float_equal(stixel_ground_disparity(&h, 300, 200), 50, 1e-12);
	assert_float_equal(stixel_ground_disparity(&h, 400, 200), 51, 1e-12);
	assert_float_equal(stixel_ground_disparity(&h, 300, 120), 10, 1e-12);
	assert_float_equal(stixel_ground_disparity(&h, 200, 100), 4, 1e-12);
	assert_float_equal(stixel_ground_of(&h).roll_rad, 0.02, 0);
	assert_float_equal(stixel_ground_of(&h).pitch_sigma_rad, 0.003, 0);
	assert_float_equal(stixel_ground_of(&h).roll_sigma_rad, 0.004, 0);
	assert_float_equal(stixel_ground_of(&h).height_sigma_m, 0.05, 0);
	h.header_bytes = STIXEL_HEADER_BYTES_LEAST;
	assert_float_equal(stixel_ground_disparity(&h, 200, 100), 0, 1e-12);
	assert_float_equal(stixel_ground_of(&h).roll_rad, 0, 0);
	assert_float_equal(stixel_ground_of(&h).height_sigma_m, 0, 0);
}

/*
 * The memory of a shorter, older frame ends with the frame, so that the sanitizer sees an access beyond its
 * end.
 */
static void frames_of_older_publishers_are_read(void **state)
{
	size_t room = help_frame_bytes(&both), bytes, n;
	uint64_t *packed = malloc(room), *out, *shrunk = malloc(room);
	struct stixel_image left;
	struct stixel_frame frame;

	bytes = help_frame(packed, &both, 9, 5);
	assert_int_equal(stixel_parse(&frame, packed, bytes), 0);
	n = frame.header->stixel_count;
	assert_true(n > 0);
	bytes = help_frame_of_1_2(packed);
	out = malloc(bytes);
	memcpy(out, packed, bytes);
	assert_int_equal(stixel_parse(&frame, out, bytes), 0);
	assert_int_equal(frame.header->abi_minor, 2);
	assert_int_equal(frame.header->stixel_count, n);
	assert_int_equal(frame.offsets[frame.header->columns], n);
	assert_int_equal(stixel_image(&frame, STIXEL_PLANE_LEFT, &left), 1);
	assert_float_equal(stixel_ground_of(frame.header).cross, 0, 0);
	sx_frame_restamp(out, 10, 6);
	assert_int_equal(stixel_parse(&frame, out, bytes), 0);
	assert_int_equal(frame.header->number, 6);
	bytes = frame.header->plane_offset;
	assert_int_equal(sx_frame_shrink(shrunk, bytes, out), bytes);
	assert_int_equal(stixel_parse(&frame, shrunk, bytes), 0);
	assert_int_equal(frame.header->stixel_count, n);
	assert_int_equal(sx_frame_shrink(shrunk, 704, out), 704);
	free(out);
	out = malloc(704);
	memcpy(out, shrunk, 704);
	assert_int_equal(stixel_parse(&frame, out, 704), 0);
	assert_int_equal(frame.header->columns, 0);
	assert_float_equal(stixel_ground_of(frame.header).roll_rad, 0, 0);
	sx_frame_restamp(out, 10, 7);
	assert_int_equal(stixel_parse(&frame, out, 704), 0);
	for (bytes = 696; bytes < 704; bytes++)
		assert_int_equal(stixel_parse(&frame, out, bytes), -EBADMSG);
	free(out);
	free(shrunk);
	free(packed);
}

static void helpers(void **state)
{
	struct stixel_frame_header h = {
		.fx = 700, .baseline_m = 0.5, .capture_left_ns = 10, .capture_right_ns = 7};
	struct stixel s = {.disparity_q7 = 128 * 35};
	uint8_t rgb[3];

	assert_true(stixel_depth_m(&h, &s) == 10.0);
	assert_true(stixel_disparity_px(&s) == 35.0);
	s.disparity_q7 = STIXEL_DISPARITY_UNKNOWN;
	assert_true(stixel_depth_m(&h, &s) == 0.0 && stixel_disparity_px(&s) == 0.0);
	s.disparity_q7 = 0;
	assert_true(stixel_depth_m(&h, &s) == 0.0);
	assert_int_equal(stixel_age_ns(&h, 20), 13);
	assert_string_equal(stixel_kind_name(STIXEL_SKY), "sky");
	assert_string_equal(stixel_kind_name(4), "?");
	stixel_class_colour("Traffic_Light", 3, rgb);
	assert_memory_equal(rgb, ((uint8_t[3]){250, 170, 30}), 3);
	stixel_class_colour("traffic-lights", 3, rgb);
	assert_memory_equal(rgb, ((uint8_t[3]){240, 228, 66}), 3);
	stixel_class_colour(NULL, 3 + 14, rgb);
	assert_memory_equal(rgb, ((uint8_t[3]){240, 228, 66}), 3);
	assert_string_equal(stixel_state_name(STIXEL_STATE_REPLACED), "replaced");
	assert_string_equal(stixel_state_name(99), "?");
	assert_string_equal(stixel_publisher_name(STIXEL_PUBLISHER_DIED), "died");
	assert_string_equal(stixel_road_name(STIXEL_ROAD_CALIBRATION), "calibration");
	for (int e = 0; e < 200; e++)
		assert_true(stixel_strerror(-e) && stixel_strerror(-e)[0]);
	assert_string_equal(stixel_strerror(EPIPE), stixel_strerror(-EPIPE));
	assert_string_not_equal(stixel_strerror(-EPIPE), stixel_strerror(-ESTALE));
	assert_non_null(strstr(stixel_strerror(-EPROTONOSUPPORT), "this libstixel reads version 1"));
	assert_int_not_equal(sx_epoch_new(), sx_epoch_new());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sum_is_crc32c),
		cmocka_unit_test(what_is_packed_is_accepted),
		cmocka_unit_test(the_same_frame_gives_the_same_bytes),
		cmocka_unit_test(every_flipped_bit_is_found),
		cmocka_unit_test(sizes_that_lie_are_refused),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(images_without_pixels_are_refused),
		cmocka_unit_test(images_come_as_they_are),
		cmocka_unit_test(contradictions_are_not_packed),
		cmocka_unit_test(frames_shrink),
		cmocka_unit_test(motion_travels),
		cmocka_unit_test(motion_refuses_no_counts),
		cmocka_unit_test(objects_travel),
		cmocka_unit_test(false_objects_are_refused),
		cmocka_unit_test(frames_of_1_7_shrink),
		cmocka_unit_test(frames_with_half_of_the_objects_shrink),
		cmocka_unit_test(stixels_are_ahead),
		cmocka_unit_test(a_changed_frame_is_sealed),
		cmocka_unit_test(the_ground_leans_and_bends),
		cmocka_unit_test(frames_of_older_publishers_are_read),
		cmocka_unit_test(helpers),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
