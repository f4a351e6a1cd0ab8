/*
 * Frames that a test can verify, and temporary folders that are removed with their content.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/ipc/help.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/why.h"
#include "ipc/frame.h"

#define PER_COLUMN 7

static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static void *need(void *p)
{
	if (!p) {
		fprintf(stderr, "out of memory\n");
		abort();
	}
	return p;
}

size_t help_frame_bytes(const struct help_shape *shape)
{
	const unsigned kinds = 1u << STIXEL_PLANE_DISPARITY | (shape->left ? 1u << STIXEL_PLANE_LEFT : 0);

	return sx_frame_bytes(shape->columns, shape->columns * PER_COLUMN,
			      sx_frame_image_bytes(kinds, shape->plane_width, shape->plane_height));
}

static void fill_header(struct stixel_frame_header *h, const struct help_shape *shape, uint64_t epoch,
			uint64_t number)
{
	uint64_t x = mix(epoch ^ mix(number));

	memset(h, 0, sizeof(*h));
	h->epoch = epoch;
	h->number = number;
	h->capture_left_ns = (int64_t)(x >> 1);
	h->capture_right_ns = (int64_t)(x >> 2);
	h->submitted_ns = (int64_t)(x >> 3);
	h->published_ns = (int64_t)(x >> 4) | 1;
	h->image_width = 1242;
	h->image_height = 375;
	h->columns = 1 + (uint32_t)(x % shape->columns);
	h->column_width = 5;
	h->fx = (double)(x & 4095);
	h->captured = x;
	h->stage_count = 2;
	memcpy(h->stage_name[0], "census", 6);
	memcpy(h->stage_name[1], "sgm", 3);
	h->stage_ns[1] = (int64_t)number;
}

static void fill_lists(struct stixel_frame_header *h, uint32_t *offsets, struct stixel *stixels)
{
	uint64_t x = mix(h->number) ^ h->epoch;
	uint32_t count = 0;

	for (uint32_t u = 0; u < h->columns; u++) {
		offsets[u] = count;
		x = mix(x);
		for (uint32_t n = (uint32_t)(x % (PER_COLUMN + 1)); n; n--) {
			struct stixel *s = &stixels[count++];

			x = mix(x);
			memset(s, 0, sizeof(*s));
			s->column = (uint16_t)u;
			s->row_bottom = (uint16_t)(x % 375);
			s->row_top = (uint16_t)(s->row_bottom / 2);
			s->support = (uint16_t)(x >> 16);
			s->disparity_q7 = (uint16_t)(x >> 32);
			s->slope_q14 = (int16_t)(uint16_t)(x >> 48);
			s->kind = (uint8_t)(x & 3);
			s->label = (uint8_t)(x >> 8);
			s->confidence = (uint8_t)(x >> 24);
		}
	}
	offsets[h->columns] = count;
	h->stixel_count = count;
}

static void fill_plane(uint16_t *plane, const struct help_shape *shape, uint64_t epoch, uint64_t number)
{
	uint64_t x = mix(epoch + 7 * number);
	size_t pixels = (size_t)shape->plane_width * shape->plane_height;

	for (size_t i = 0; i < pixels; i++)
		plane[i] = (uint16_t)(x + i * 77);
}

size_t help_frame(void *out, const struct help_shape *shape, uint64_t epoch, uint64_t number)
{
	uint32_t *offsets = need(calloc((size_t)shape->columns + 1, sizeof(*offsets)));
	struct stixel *stixels = need(calloc((size_t)shape->columns * PER_COLUMN, sizeof(*stixels)));
	const uint32_t width = shape->plane_width, height = shape->plane_height;
	/*
	 * the left image has the same bytes as the disparity image, but one byte per pixel: each of its rows
	 * is the first half of a row
	 */
	struct stixel_image images[] = {{STIXEL_PLANE_DISPARITY, width, height, 2 * width, NULL},
					{STIXEL_PLANE_LEFT, width, height, 2 * width, NULL}};
	struct stixel_frame_header h;
	uint16_t *plane = NULL;
	int64_t bytes;

	fill_header(&h, shape, epoch, number);
	fill_lists(&h, offsets, stixels);
	if (shape->plane_width) {
		plane = need(calloc((size_t)shape->plane_width * shape->plane_height, 2));
		fill_plane(plane, shape, epoch, number);
		images[0].data = images[1].data = plane;
	}
	bytes = sx_frame_pack(out, help_frame_bytes(shape), &h, offsets, stixels, NULL, images,
			      !plane	    ? 0
			      : shape->left ? 2
					    : 1);
	free(plane);
	free(stixels);
	free(offsets);
	if (bytes < 0) {
		fprintf(stderr, "sx_frame_pack: %s\n", strerror((int)-bytes));
		abort();
	}
	return (size_t)bytes;
}

size_t help_frame_of_1_2(void *frame)
{
	const uint32_t cut = sizeof(struct stixel_frame_header) - STIXEL_HEADER_BYTES_LEAST;
	struct stixel_frame_header *h = frame;
	const uint32_t behind = h->frame_bytes - h->header_bytes;

	h->abi_minor = 2;
	h->header_bytes -= cut;
	h->stixels_offset -= cut;
	h->frame_bytes -= cut;
	if (h->plane_kind)
		h->plane_offset -= cut;
	if (h->plane2_kind)
		h->plane2_offset -= cut;
	memmove((uint8_t *)frame + STIXEL_HEADER_BYTES_LEAST, h + 1, behind);
	sx_frame_restamp(frame, h->epoch, h->number);
	return STIXEL_HEADER_BYTES_LEAST + behind;
}

bool help_frame_good(const struct stixel_frame *frame, const struct help_shape *shape)
{
	struct help_shape same = *shape;
	struct stixel_frame_header h = *frame->header;
	uint8_t *want = need(calloc(1, help_frame_bytes(shape)));
	size_t bytes;
	bool good;

	if (!frame->plane)
		same.plane_width = same.plane_height = 0;
	bytes = help_frame(want, &same, h.epoch, h.number);
	/* These fields depend on the time of packing, not on the frame's number. */
	h.anchor_monotonic_ns = ((struct stixel_frame_header *)want)->anchor_monotonic_ns;
	h.anchor_realtime_ns = ((struct stixel_frame_header *)want)->anchor_realtime_ns;
	h.checksum = ((struct stixel_frame_header *)want)->checksum;
	h.flags &= ~STIXEL_FRAME_PLANE_LEFT_OUT;
	good = bytes == h.frame_bytes && memcmp(want, &h, sizeof(h)) == 0 &&
	       memcmp(want + sizeof(h), (const uint8_t *)frame->bytes + sizeof(h), bytes - sizeof(h)) == 0;
	free(want);
	return good;
}

void help_dir_make(char *dir, size_t bytes)
{
	snprintf(dir, bytes, "/dev/shm/sx-test-XXXXXX");
	if (!mkdtemp(dir)) {
		perror(dir);
		abort();
	}
}

static int each_entry(const char *dir, bool remove)
{
	struct dirent *e;
	DIR *d = opendir(dir);
	int n = 0;

	while (d && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		n++;
		if (remove && unlinkat(dirfd(d), e->d_name, 0) < 0)
			(void)!unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
	if (d)
		closedir(d);
	return n;
}

void help_dir_remove(const char *dir)
{
	each_entry(dir, true);
	rmdir(dir);
}

int help_dir_count(const char *dir)
{
	return each_entry(dir, false);
}

int help_fd_count(void)
{
	return each_entry("/proc/self/fd", false);
}

/* Returns parameters of instance "a" with 4 slots of one page. */
struct sx_ring_params help_params(const char *dir, uint64_t epoch)
{
	return (struct sx_ring_params){.instance = "a",
				       .shm_dir = dir,
				       .epoch = epoch,
				       .frame_bytes = 4096,
				       .slots = 4,
				       .group = (gid_t)-1};
}

struct sx_ring *help_ring(const char *dir, const char *instance, const struct help_shape *shape, int slots,
			  uint64_t epoch)
{
	struct sx_ring_params p = help_params(dir, epoch);
	struct sx_ring *ring = NULL;
	struct sx_why why = {""};

	p.instance = instance;
	p.frame_bytes = help_frame_bytes(shape);
	p.slots = slots;
	if (sx_ring_create(&ring, &p, &why) < 0) {
		fprintf(stderr, "sx_ring_create: %s\n", why.text);
		return NULL;
	}
	return ring;
}

void help_publish(struct sx_ring *ring, const struct help_shape *shape, uint64_t epoch, uint64_t number)
{
	void *bytes = need(calloc(1, help_frame_bytes(shape)));
	int r = sx_ring_publish(ring, bytes, help_frame(bytes, shape, epoch, number));

	free(bytes);
	if (r < 0) {
		fprintf(stderr, "sx_ring_publish: %s\n", strerror(-r));
		abort();
	}
}

struct sx_stream_params help_stream_params(const char *path, const struct help_shape *shape, uint64_t epoch)
{
	return (struct sx_stream_params){.path = path,
					 .listen_fd = -1,
					 .epoch = epoch,
					 .frame_bytes = help_frame_bytes(shape),
					 .group = (gid_t)-1};
}

struct sx_stream *help_stream(const char *path, const struct help_shape *shape, uint64_t epoch)
{
	struct sx_stream_params p = help_stream_params(path, shape, epoch);
	struct sx_stream *s = NULL;
	struct sx_why why = {""};

	if (sx_stream_create(&s, &p, &why) < 0)
		fprintf(stderr, "%s\n", why.text);
	return s;
}

void help_pump(struct sx_stream *s)
{
	struct pollfd p = {.fd = sx_stream_fd(s), .events = POLLIN};

	for (int i = 0; i < 100 && poll(&p, 1, 2) == 1; i++)
		sx_stream_dispatch(s);
}

void help_stream_publish(struct sx_stream *s, const struct help_shape *shape, uint64_t epoch, uint64_t number)
{
	void *bytes = malloc(help_frame_bytes(shape));

	if (!bytes)
		abort();
	help_frame(bytes, shape, epoch, number);
	sx_stream_publish(s, bytes);
	free(bytes);
}
