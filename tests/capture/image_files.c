/*
 * Image files for tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/capture/image_files.h"

#include <errno.h>
#include <ftw.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MUST(x)                     \
	do {                        \
		if (!(x)) {         \
			perror(#x); \
			abort();    \
		}                   \
	} while (0)

void folder_make(char path[256])
{
	const char *base = getenv("TMPDIR");

	MUST(snprintf(path, 256, "%s/stixel-test.XXXXXX", base ? base : "/tmp") < 256);
	MUST(mkdtemp(path));
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

void folder_remove(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int folder_setup(void **state)
{
	char *folder = malloc(256);

	MUST(folder);
	folder_make(folder);
	*state = folder;
	return 0;
}

int folder_teardown(void **state)
{
	folder_remove(*state);
	free(*state);
	return 0;
}

const char *in_folder(const char *folder, const char *name)
{
	static char buffers[8][1024];
	static int turn;
	char *path = buffers[turn++ % 8];
	size_t base = strlen(folder) + 1;

	MUST(snprintf(path, 1024, "%s/%s", folder, name) < 1024);
	for (char *slash = strchr(path + base, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		MUST(mkdir(path, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	return path;
}

void write_bytes(const char *path, const void *data, size_t bytes)
{
	FILE *f = fopen(path, "wb");

	MUST(f && fwrite(data, 1, bytes, f) == bytes && fclose(f) == 0);
}

void write_png(const char *path, int width, int height, int bits, int type, int interlaced,
	       const void *pixels, const uint8_t *palette)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	png_bytep *rows = malloc((size_t)height * sizeof(*rows));
	FILE *f = fopen(path, "wb");
	size_t row;

	MUST(png && info && rows && f);
	if (setjmp(png_jmpbuf(png)))
		abort();
	png_init_io(png, f);
	png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, bits, type,
		     interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
		     PNG_FILTER_TYPE_DEFAULT);
	if (palette)
		png_set_PLTE(png, info, (png_const_colorp)(const void *)palette, bits == 8 ? 256 : 1 << bits);
	png_write_info(png, info);
	if (bits == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		png_set_swap(png);
	row = png_get_rowbytes(png, info);
	for (int y = 0; y < height; y++)
		rows[y] = (png_bytep)(uintptr_t)pixels + (size_t)y * row;
	png_write_image(png, rows);
	png_write_end(png, NULL);
	png_destroy_write_struct(&png, &info);
	free(rows);
	MUST(fclose(f) == 0);
}

void write_png_exif(const char *path, int width, int height, const uint8_t *exif, size_t bytes)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	uint8_t *row = malloc((size_t)width);
	FILE *f = fopen(path, "wb");

	MUST(png && info && row && f);
	if (setjmp(png_jmpbuf(png)))
		abort();
	png_init_io(png, f);
	png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_GRAY,
		     PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_set_eXIf_1(png, info, (png_uint_32)bytes, (png_bytep)(uintptr_t)exif);
	png_write_info(png, info);
	for (int y = 0; y < height; y++) {
		for (int x = 0; x < width; x++)
			row[x] = (uint8_t)(x + 3 * y);
		png_write_row(png, row);
	}
	png_write_end(png, info);
	png_destroy_write_struct(&png, &info);
	free(row);
	MUST(fclose(f) == 0);
}

void write_ramp(const char *path, int width, int height, int start)
{
	uint8_t *p = malloc((size_t)width * (size_t)height);

	MUST(p);
	for (int i = 0; i < width * height; i++)
		p[i] = (uint8_t)(i % width + 3 * (i / width) + start);
	write_png(path, width, height, 8, PNG_COLOR_TYPE_GRAY, 0, p, NULL);
	free(p);
}
