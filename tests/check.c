/*
 * Helpers shared by the tests of stages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/check.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD_BYTE 0xa5
#define GUARD_BYTES ((size_t)256)

struct check_rng check_rng_seed(uint64_t seed)
{
	return (struct check_rng){seed};
}

uint32_t check_random(struct check_rng *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ z >> 31) >> 32);
}

int check_below(struct check_rng *r, int n)
{
	return (int)(check_random(r) % (uint32_t)n);
}

/* Returns the number of rows in memory. NV12 has the rows of U and V behind the rows of Y. */
static size_t rows_of(const struct sx_image *img)
{
	size_t height = (size_t)img->height;

	return img->pixel == SX_PIXEL_NV12 ? height + (height + 1) / 2 : height;
}

static size_t row_bytes(const struct sx_image *img)
{
	return (size_t)img->width * sx_pixel_bytes(img->pixel);
}

void check_image_init(struct check_image *c, enum sx_pixel pixel, int width, int height, int padding)
{
	size_t bytes = sx_pixel_bytes(pixel), start = GUARD_BYTES + bytes;

	c->image = (struct sx_image){NULL, width, height, (size_t)(width + padding) * bytes, pixel};
	c->bytes = (start + rows_of(&c->image) * c->image.pitch + GUARD_BYTES + 63) & ~(size_t)63;
	c->memory = aligned_alloc(64, c->bytes);
	if (!c->memory) {
		fprintf(stderr, "no memory for an image of %dx%d\n", width, height);
		abort();
	}
	memset(c->memory, GUARD_BYTE, c->bytes);
	c->image.data = c->memory + start;
}

void check_image_finish(struct check_image *c)
{
	free(c->memory);
	*c = (struct check_image){0};
}

static bool is_pixel(const struct check_image *c, size_t at)
{
	size_t start = (size_t)((uint8_t *)c->image.data - c->memory);

	return at >= start && at < start + rows_of(&c->image) * c->image.pitch &&
	       (at - start) % c->image.pitch < row_bytes(&c->image);
}

bool check_guards(const struct check_image *c, const char *what)
{
	for (size_t i = 0; i < c->bytes; i++) {
		if (!is_pixel(c, i) && c->memory[i] != GUARD_BYTE) {
			fprintf(stderr, "%s %dx%d: byte %td from the first pixel was overwritten\n", what,
				c->image.width, c->image.height, c->memory + i - (uint8_t *)c->image.data);
			return false;
		}
	}
	return true;
}

const char *check_fill_name(enum check_fill how)
{
	static const char *const names[] = {"noise", "flat", "near-0", "near-255", "steps", "checkerboard"};

	return names[how];
}

static uint8_t fill_byte(enum check_fill how, uint8_t flat, size_t i, size_t y, struct check_rng *r)
{
	switch (how) {
	case CHECK_NOISE:
		return (uint8_t)check_random(r);
	case CHECK_NEAR_0:
		return (uint8_t)check_below(r, 3);
	case CHECK_NEAR_255:
		return (uint8_t)(253 + check_below(r, 3));
	case CHECK_CHECKERBOARD:
		return (i + y) & 1 ? 255 : 0;
	default:
		return flat;
	}
}

static void fill_steps(uint8_t *row, size_t n, struct check_rng *r)
{
	for (size_t i = 0; i < n;) {
		size_t end = i + 3 + (size_t)check_below(r, 15);
		uint8_t grey = (uint8_t)check_random(r);

		while (i < end && i < n)
			row[i++] = grey;
	}
}

void check_fill(const struct sx_image *img, enum check_fill how, struct check_rng *r)
{
	uint8_t flat = (uint8_t)check_random(r);

	for (size_t y = 0; y < rows_of(img); y++) {
		uint8_t *row = (uint8_t *)img->data + y * img->pitch;

		if (how == CHECK_STEPS)
			fill_steps(row, row_bytes(img), r);
		else
			for (size_t i = 0; i < row_bytes(img); i++)
				row[i] = fill_byte(how, flat, i, y, r);
	}
}

void check_fill_pair(const struct sx_image *left, const struct sx_image *right, enum check_fill how,
		     int shift, int noise_every, struct check_rng *r)
{
	check_fill(left, how, r);
	for (int y = 0; y < right->height; y++) {
		const uint8_t *l = sx_image_row(left, y);
		uint8_t *row = sx_image_row(right, y);

		for (int x = 0; x < right->width; x++) {
			bool visible = x + shift >= 0 && x + shift < left->width;
			bool noisy = noise_every && check_below(r, noise_every) == 0;

			row[x] = visible && !noisy ? l[x + shift] : (uint8_t)check_random(r);
		}
	}
}

void check_fill_y16(const struct sx_image *img, int levels, int shift, struct check_rng *r)
{
	for (int y = 0; y < img->height; y++) {
		uint8_t *row = sx_image_row(img, y);

		for (int x = 0; x < img->width; x++) {
			const uint32_t place = (uint32_t)(x + shift) * 2654435761u + (uint32_t)y * 40503u;
			const bool hot = x / 4 == 5 && y / 4 == 3, dead = x == 9 && y == 17;
			const int p = dead  ? 0
				      : hot ? 65535
					    : 52 + (int)((place >> 7) % (uint32_t)levels) + check_below(r, 3);

			row[2 * x] = (uint8_t)p;
			row[2 * x + 1] = (uint8_t)(p >> 8);
		}
	}
}

void check_fill_disparity(const struct sx_image *img, int limit, int invalid_percent, struct check_rng *r)
{
	int patch = 1 + check_below(r, 12);

	for (int y = 0; y < img->height; y++) {
		uint16_t *row = sx_image_row(img, y), *above = y % patch ? sx_image_row(img, y - 1) : NULL;
		int base = 0;

		for (int x = 0; x < img->width; x++) {
			if (x % patch == 0)
				base = check_below(r, 16 * limit);
			if (above && above[x] != SX_DISPARITY_INVALID && check_below(r, 8))
				base = above[x];
			base += check_below(r, 9) - 4;
			base = base < 0 ? 0 : base >= 16 * limit ? 16 * limit - 1 : base;
			row[x] =
				check_below(r, 100) < invalid_percent ? SX_DISPARITY_INVALID : (uint16_t)base;
		}
	}
}

void check_copy(const struct sx_image *from, const struct sx_image *to)
{
	for (size_t y = 0; y < rows_of(from); y++)
		memcpy((uint8_t *)to->data + y * to->pitch, (const uint8_t *)from->data + y * from->pitch,
		       row_bytes(from));
}

static uint64_t value_at(const struct sx_image *img, int x, int y)
{
	const void *row = sx_image_row(img, y);

	switch (sx_pixel_bytes(img->pixel)) {
	case 1:
		return ((const uint8_t *)row)[x];
	case 2:
		return ((const uint16_t *)row)[x];
	case 4:
		return ((const uint32_t *)row)[x];
	default:
		return ((const uint64_t *)row)[x];
	}
}

static void print_place(int x, int y, int disparities)
{
	if (disparities > 0)
		fprintf(stderr, "(%d,%d,%d)", x / disparities, y, x % disparities);
	else
		fprintf(stderr, "(%d,%d)", x, y);
}

bool check_same(const char *what, uint64_t seed, const struct sx_image *want, const struct sx_image *got,
		int disparities)
{
	size_t different = 0;
	int first_x = 0, first_y = 0, n = disparities > 0 ? disparities : 1;

	if (want->width != got->width || want->height != got->height || want->pixel != got->pixel) {
		fprintf(stderr, "seed %" PRIu64 " / %s: want %dx%d %s, got %dx%d %s\n", seed, what,
			want->width, want->height, sx_pixel_name(want->pixel), got->width, got->height,
			sx_pixel_name(got->pixel));
		return false;
	}
	for (int y = 0; y < want->height; y++) {
		if (!memcmp(sx_image_row(want, y), sx_image_row(got, y), row_bytes(want)))
			continue;
		for (int x = 0; x < want->width; x++) {
			if (value_at(want, x, y) == value_at(got, x, y))
				continue;
			if (!different++) {
				first_x = x;
				first_y = y;
			}
		}
	}
	if (!different)
		return true;
	fprintf(stderr, "seed %" PRIu64 " / %s %dx%d+%zu: %zu of %zu values differ, first at ", seed, what,
		want->width / n, want->height, (got->pitch - row_bytes(got)) / sx_pixel_bytes(got->pixel),
		different, (size_t)want->width * (size_t)want->height);
	print_place(first_x, first_y, disparities);
	fprintf(stderr, ": want %" PRIu64 ", got %" PRIu64 "\n", value_at(want, first_x, first_y),
		value_at(got, first_x, first_y));
	return false;
}

int check_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	if (!d)
		abort(); /* a test that counts descriptors cannot use a guess */
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}
