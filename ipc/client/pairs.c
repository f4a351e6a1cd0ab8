/*
 * Writer of pairs: makes sealed buffers, lends them to the caller, and gives pairs to the daemon.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/client/pairs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "ipc/instance.h"

#define PITCH_MULTIPLE 64u
#define PAGE UINT64_C(4096)
#define BUFFERS_LEAST 2u
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x8u /* since Linux 6.3, and since then the only kind that some systems permit */
#endif

#define SIZE_LEAST 32u
#define WIDTH_MAX 4096u
#define HEIGHT_MAX 2160u
#define PITCH_MAX 65536u

/* Returns the bytes of a row. 0: unknown pixels. NV12: a row of Y. */
static uint32_t row_bytes(uint32_t pixel, uint32_t width)
{
	switch (pixel) {
	case STIXEL_PIXEL_GREY8:
	case STIXEL_PIXEL_NV12:
	case STIXEL_PIXEL_RGGB8:
	case STIXEL_PIXEL_GRBG8:
	case STIXEL_PIXEL_GBRG8:
	case STIXEL_PIXEL_BGGR8:
		return width;
	case STIXEL_PIXEL_GREY16:
	case STIXEL_PIXEL_YUYV:
	case STIXEL_PIXEL_UYVY:
	case STIXEL_PIXEL_RGGB16:
	case STIXEL_PIXEL_GRBG16:
	case STIXEL_PIXEL_GBRG16:
	case STIXEL_PIXEL_BGGR16:
		return 2 * width;
	case STIXEL_PIXEL_RGB24:
		return 3 * width;
	default:
		return 0;
	}
}

static bool pixel_is_16_bit(uint32_t pixel)
{
	return pixel == STIXEL_PIXEL_GREY16 || (pixel >= STIXEL_PIXEL_RGGB16 && pixel <= STIXEL_PIXEL_BGGR16);
}

static uint64_t round_up(uint64_t n, uint64_t multiple)
{
	return (n + multiple - 1) / multiple * multiple;
}

/* ---- creating ---- */

/* Makes a memory file whose size is final: a daemon may read all of it without the risk of SIGBUS. */
static int sealed_file(uint64_t bytes, int *ret)
{
	int fd = memfd_create("stixel-pairs", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
	int r = 0;

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("stixel-pairs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)bytes) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		r = -errno;
		close(fd);
		fd = -1;
	}
	*ret = fd;
	return r;
}

static int make_buffer(struct stixel_pairs *w, uint64_t bytes)
{
	struct sx_pairs_buffer *b = &w->buffers[w->buffer_count];
	void *map;
	int r = sealed_file(bytes, &b->fd);

	if (r < 0)
		return r;
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
	if (map == MAP_FAILED) {
		r = -errno;
		close(b->fd);
		return r;
	}
	b->map = map;
	b->bytes = bytes;
	w->buffer_count++;
	return 0;
}

static int make_buffers(struct stixel_pairs *w)
{
	const uint32_t count = w->format.buffers;
	int r = 0;

	w->right_offset = round_up((uint64_t)w->format.pitch * w->format.height, PAGE);
	while (r == 0 && w->buffer_count < count)
		r = make_buffer(w, 2 * w->right_offset);
	return r;
}

/* Checks what the sizes of the buffers depend on. The daemon checks the rest, and answers with sentences. */
static int take_format(struct stixel_pairs *w, const struct stixel_pairs_format *format, size_t bytes)
{
	struct stixel_pairs_format *f = &w->format;
	uint32_t row;

	memcpy(f, format, bytes < sizeof(*f) ? bytes : sizeof(*f));
	if (f->width < SIZE_LEAST || f->width > WIDTH_MAX || f->height < SIZE_LEAST || f->height > HEIGHT_MAX)
		return -EINVAL;
	row = row_bytes(f->pixel, f->width);
	if (!f->pitch)
		f->pitch = (uint32_t)round_up(row, PITCH_MULTIPLE);
	if (!f->buffers)
		f->buffers = STIXEL_PAIRS_BUFFERS;
	if (!row || f->pitch < row || f->pitch > PITCH_MAX || (pixel_is_16_bit(f->pixel) && f->pitch % 2) ||
	    f->buffers < BUFFERS_LEAST || f->buffers > STIXEL_PAIRS_BUFFERS_MAX ||
	    f->flags & ~(STIXEL_PAIRS_OWN_BUFFERS | STIXEL_PAIRS_RAW | STIXEL_PAIRS_SIMULATED) ||
	    !memchr(f->name, 0, sizeof(f->name)))
		return -EINVAL;
	if (!f->name[0])
		snprintf(f->name, sizeof(f->name), "%s", program_invocation_short_name);
	return 0;
}

/* Finishes a writer whose paths are set, or frees it. */
static int start(struct stixel_pairs *w, struct stixel_pairs **ret, const struct stixel_pairs_format *format,
		 size_t bytes)
{
	int r;

	w->fd = -1;
	w->begun = SX_PAIRS_NO_BUFFER;
	sx_why_set(&w->why, "the writer has not tried to connect yet");
	r = take_format(w, format, bytes);
	if (r == 0 && !(w->format.flags & STIXEL_PAIRS_OWN_BUFFERS))
		r = make_buffers(w);
	if (r < 0) {
		stixel_pairs_close(w);
		return r;
	}
	*ret = w;
	return 0;
}

int stixel_pairs_create(struct stixel_pairs **ret, const char *instance,
			const struct stixel_pairs_format *format, size_t bytes)
{
	struct stixel_pairs *w;

	if (!ret || !format || !instance || sx_instance_check(instance, NULL) < 0)
		return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	snprintf(w->instance, sizeof(w->instance), "%s", instance);
	for (int i = 0; i < SX_RUNTIME_DIRS; i++)
		sx_runtime_dir_path((enum sx_runtime_dir)i, instance, SX_PAIRS_SOCKET, w->path[i],
				    sizeof(w->path[i]));
	return start(w, ret, format, bytes);
}

int stixel_pairs_create_path(struct stixel_pairs **ret, const char *path,
			     const struct stixel_pairs_format *format, size_t bytes)
{
	struct stixel_pairs *w;

	if (!ret || !format || !path || !*path)
		return -EINVAL;
	if (strlen(path) >= sizeof(w->path[0]))
		return -ENAMETOOLONG;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	memcpy(w->path[0], path, strlen(path) + 1);
	return start(w, ret, format, bytes);
}

int stixel_pairs_add_buffer(struct stixel_pairs *w, int fd, uint64_t bytes)
{
	struct sx_pairs_buffer *b;
	off_t size;

	if (!w || w->fixed || !(w->format.flags & STIXEL_PAIRS_OWN_BUFFERS))
		return -EINVAL;
	if (w->buffer_count == STIXEL_PAIRS_BUFFERS_MAX)
		return -ENOSPC;
	if (!bytes) {
		size = lseek(fd, 0, SEEK_END);
		if (size < 0)
			return -errno;
		bytes = (uint64_t)size;
	}
	if (!bytes)
		return -EINVAL;
	b = &w->buffers[w->buffer_count];
	b->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (b->fd < 0)
		return -errno;
	b->bytes = bytes;
	return (int)w->buffer_count++;
}

void stixel_pairs_close(struct stixel_pairs *w)
{
	if (!w)
		return;
	sx_pairs_end(w);
	for (uint32_t i = 0; i < w->buffer_count; i++) {
		if (w->buffers[i].map)
			munmap(w->buffers[i].map, w->buffers[i].bytes);
		close(w->buffers[i].fd);
	}
	free(w);
}

/* ---- waiting ---- */

static int64_t until(int timeout_ms)
{
	return timeout_ms < 0 ? INT64_MAX : sx_now_ns() + timeout_ms * INT64_C(1000000);
}

int stixel_pairs_connect(struct stixel_pairs *w, int timeout_ms)
{
	const int64_t until_ns = until(timeout_ms);
	uint64_t failures;

	if (!w || !w->buffer_count)
		return -EINVAL;
	w->fixed = true;
	failures = w->failures;
	for (;;) {
		sx_pairs_step(w);
		if (w->state == SX_PAIRS_OPEN)
			return 1;
		if (w->failures != failures || sx_now_ns() >= until_ns)
			return w->failed;
		if (sx_pairs_sleep(w, until_ns) < 0)
			return -EINTR;
	}
}

/* ---- buffers of the library ---- */

static uint32_t find_free(const struct stixel_pairs *w)
{
	if (w->begun != SX_PAIRS_NO_BUFFER)
		return w->begun;
	for (uint32_t i = 0; i < w->buffer_count; i++)
		if (!w->buffers[i].away)
			return i;
	return SX_PAIRS_NO_BUFFER;
}

int stixel_pairs_begin(struct stixel_pairs *w, struct stixel_pairs_images *to, int timeout_ms)
{
	const int64_t until_ns = until(timeout_ms);
	uint32_t i;

	if (!w || !to || w->format.flags & STIXEL_PAIRS_OWN_BUFFERS)
		return -EINVAL;
	for (;;) {
		sx_pairs_step(w);
		i = find_free(w);
		if (i != SX_PAIRS_NO_BUFFER)
			break;
		if (sx_now_ns() >= until_ns)
			return 0;
		if (sx_pairs_sleep(w, until_ns) < 0)
			return -EINTR;
	}
	w->begun = i;
	*to = (struct stixel_pairs_images){.left = w->buffers[i].map,
					   .right = w->buffers[i].map + w->right_offset,
					   .pitch = w->format.pitch,
					   .buffer = i};
	return 1;
}

/* Gives a pair to the daemon or counts it as dropped. */
static int give(struct stixel_pairs *w, struct stixel_pairs_pair *pair, uint32_t buffer)
{
	int r = -ENOTCONN;

	pair->magic = STIXEL_PAIRS_MAGIC;
	pair->kind = STIXEL_PAIRS_PAIR;
	pair->number = ++w->number;
	w->fixed = true;
	sx_pairs_step(w);
	if (w->state == SX_PAIRS_OPEN)
		r = w->away_count + w->back_count < SX_PAIRS_AWAY_MAX ? sx_pairs_send(w, pair, buffer)
								      : -EAGAIN;
	if (r < 0)
		w->count.dropped++;
	return r;
}

int stixel_pairs_commit(struct stixel_pairs *w, const struct stixel_pairs_images *images, int64_t left_ns,
			int64_t right_ns)
{
	struct stixel_pairs_pair pair = {.left_ns = left_ns, .right_ns = right_ns};

	if (!w || !images || w->begun == SX_PAIRS_NO_BUFFER || images->buffer != w->begun)
		return -EINVAL;
	pair.left_buffer = pair.right_buffer = w->begun;
	pair.right_offset = w->right_offset;
	w->begun = SX_PAIRS_NO_BUFFER;
	return give(w, &pair, pair.left_buffer);
}

/* ---- buffers of the caller ---- */

static bool image_fits(const struct stixel_pairs *w, uint32_t buffer, uint64_t offset)
{
	const struct stixel_pairs_format *f = &w->format;
	const uint64_t bytes = (uint64_t)f->pitch * (f->height - 1) + row_bytes(f->pixel, f->width);

	return buffer < w->buffer_count && bytes <= w->buffers[buffer].bytes &&
	       offset <= w->buffers[buffer].bytes - bytes && (offset % 2 == 0 || !pixel_is_16_bit(f->pixel));
}

int stixel_pairs_queue(struct stixel_pairs *w, struct stixel_pairs_pair *pair, size_t bytes)
{
	if (!w || !pair || bytes < sizeof(*pair) || !(w->format.flags & STIXEL_PAIRS_OWN_BUFFERS) ||
	    !image_fits(w, pair->left_buffer, pair->left_offset) ||
	    !image_fits(w, pair->right_buffer, pair->right_offset))
		return -EINVAL;
	return give(w, pair, SX_PAIRS_NO_BUFFER);
}

int stixel_pairs_returned(struct stixel_pairs *w, uint64_t *number, uint32_t *fate, int timeout_ms)
{
	const int64_t until_ns = until(timeout_ms);
	struct sx_pairs_back back;

	if (!w || !(w->format.flags & STIXEL_PAIRS_OWN_BUFFERS))
		return -EINVAL;
	if (w->fixed)
		sx_pairs_step(w);
	while (!w->back_count) {
		if (!w->away_count || sx_now_ns() >= until_ns)
			return 0;
		if (sx_pairs_sleep(w, until_ns) < 0)
			return -EINTR;
		sx_pairs_step(w);
	}
	back = w->back[w->back_first];
	w->back_first = (w->back_first + 1) % SX_PAIRS_AWAY_MAX;
	w->back_count--;
	if (number)
		*number = back.number;
	if (fate)
		*fate = back.fate;
	return 1;
}

/* ---- state ---- */

int stixel_pairs_fd(const struct stixel_pairs *w)
{
	return w && w->fd >= 0 ? w->fd : -ENOTCONN;
}

int stixel_pairs_counters(const struct stixel_pairs *w, struct stixel_pairs_counters *counters, size_t bytes)
{
	if (!w || !counters)
		return -EINVAL;
	memset(counters, 0, bytes);
	memcpy(counters, &w->count, bytes < sizeof(w->count) ? bytes : sizeof(w->count));
	return 0;
}

const char *stixel_pairs_why(const struct stixel_pairs *w)
{
	return w ? w->why.text : "there is no writer";
}
