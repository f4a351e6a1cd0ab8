/*
 * Tests reading and writing of image files: values of every format, and files with false headers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <png.h>
#include <cmocka.h>
#ifdef SX_HAVE_JPEG
#include <jpeglib.h>
#endif

#include "capture/image/image_io.h"
#include "tests/capture/image_files.h"
#include "tests/check.h"

#define W 53
#define H 37

static char folder[256];
static struct sx_why why;

static int make_folder(void **state)
{
	folder_make(folder);
	return 0;
}

static int remove_folder(void **state)
{
	folder_remove(folder);
	return 0;
}

static struct sx_image read_good(const char *path, enum sx_pixel pixel)
{
	struct sx_image img = {0};
	int r = sx_image_read(path, &img, &why);

	if (r < 0)
		fail_msg("%s", why.text);
	assert_int_equal(img.pixel, pixel);
	assert_int_equal(img.width, W);
	assert_int_equal(img.height, H);
	return img;
}

static unsigned at(const struct sx_image *img, int x, int y)
{
	return img->pixel == SX_PIXEL_U8 ? ((uint8_t *)sx_image_row(img, y))[x]
					 : ((uint16_t *)sx_image_row(img, y))[x];
}

static void fill(void *data, size_t bytes, uint64_t seed)
{
	struct check_rng rng = check_rng_seed(seed);

	for (size_t i = 0; i < bytes; i++)
		((uint8_t *)data)[i] = (uint8_t)check_random(&rng);
}

static unsigned grey(unsigned r, unsigned g, unsigned b)
{
	return (77 * r + 150 * g + 29 * b + 128) >> 8;
}

static void test_grey_png(void **state)
{
	static uint8_t a[W * H];
	static uint16_t b[W * H];

	fill(a, sizeof(a), 1);
	fill(b, sizeof(b), 2);
	for (int interlaced = 0; interlaced < 2; interlaced++) {
		const char *p8 = in_folder(folder, "g8.png"), *p16 = in_folder(folder, "g16.png");
		struct sx_image m8, m16;

		write_png(p8, W, H, 8, PNG_COLOR_TYPE_GRAY, interlaced, a, NULL);
		write_png(p16, W, H, 16, PNG_COLOR_TYPE_GRAY, interlaced, b, NULL);
		m8 = read_good(p8, SX_PIXEL_U8);
		m16 = read_good(p16, SX_PIXEL_Y16);
		for (int i = 0; i < W * H; i++) {
			assert_int_equal(at(&m8, i % W, i / W), a[i]);
			assert_int_equal(at(&m16, i % W, i / W), b[i]);
		}
		sx_image_finish(&m8);
		sx_image_finish(&m16);
	}
}

/* Colour at 8 and 16 bits. The reader ignores alpha. */
static void test_colour_png(void **state)
{
	static uint8_t a[W * H * 4];
	static uint16_t b[W * H * 4];

	fill(a, sizeof(a), 3);
	fill(b, sizeof(b), 4);
	for (int alpha = 0; alpha < 2; alpha++) {
		int n = 3 + alpha, type = alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB;
		const char *p8 = in_folder(folder, "c8.png"), *p16 = in_folder(folder, "c16.png");
		struct sx_image m8, m16;

		write_png(p8, W, H, 8, type, alpha, a, NULL);
		write_png(p16, W, H, 16, type, !alpha, b, NULL);
		m8 = read_good(p8, SX_PIXEL_U8);
		m16 = read_good(p16, SX_PIXEL_Y16);
		for (int i = 0; i < W * H; i++) {
			assert_int_equal(at(&m8, i % W, i / W), grey(a[n * i], a[n * i + 1], a[n * i + 2]));
			assert_int_equal(at(&m16, i % W, i / W), grey(b[n * i], b[n * i + 1], b[n * i + 2]));
		}
		sx_image_finish(&m8);
		sx_image_finish(&m16);
	}
}

static void test_palette_and_few_bits_png(void **state)
{
	static uint8_t index[W * H], palette[768], bits[(W + 7) / 8 * H], pairs[W * H * 2];
	struct sx_image m;

	fill(index, sizeof(index), 5);
	fill(palette, sizeof(palette), 6);
	fill(bits, sizeof(bits), 7);
	fill(pairs, sizeof(pairs), 8);
	write_png(in_folder(folder, "p.png"), W, H, 8, PNG_COLOR_TYPE_PALETTE, 1, index, palette);
	m = read_good(in_folder(folder, "p.png"), SX_PIXEL_U8);
	for (int i = 0; i < W * H; i++)
		assert_int_equal(at(&m, i % W, i / W), grey(palette[3 * index[i]], palette[3 * index[i] + 1],
							    palette[3 * index[i] + 2]));
	sx_image_finish(&m);
	write_png(in_folder(folder, "1.png"), W, H, 1, PNG_COLOR_TYPE_GRAY, 0, bits, NULL);
	m = read_good(in_folder(folder, "1.png"), SX_PIXEL_U8);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			assert_int_equal(at(&m, x, y),
					 bits[y * ((W + 7) / 8) + x / 8] >> (7 - x % 8) & 1 ? 255 : 0);
	sx_image_finish(&m);
	write_png(in_folder(folder, "ga.png"), W, H, 8, PNG_COLOR_TYPE_GRAY_ALPHA, 0, pairs, NULL);
	m = read_good(in_folder(folder, "ga.png"), SX_PIXEL_U8);
	for (int i = 0; i < W * H; i++)
		assert_int_equal(at(&m, i % W, i / W), pairs[2 * i]);
	sx_image_finish(&m);
}

/* A label map keeps the stored numbers. Its palette is only for display. */
static void test_label_maps(void **state)
{
	static uint8_t index[W * H], palette[768], bits[(W + 7) / 8 * H], colour[W * H * 4];
	struct sx_image m;

	fill(index, sizeof(index), 5);
	fill(palette, sizeof(palette), 6);
	fill(bits, sizeof(bits), 7);
	for (int interlaced = 0; interlaced < 2; interlaced++) {
		write_png(in_folder(folder, "p.png"), W, H, 8, PNG_COLOR_TYPE_PALETTE, interlaced, index,
			  palette);
		assert_int_equal(sx_label_map_read(in_folder(folder, "p.png"), &m, &why), 0);
		assert_int_equal(m.pixel, SX_PIXEL_U8);
		for (int i = 0; i < W * H; i++)
			assert_int_equal(at(&m, i % W, i / W), index[i]);
		sx_image_finish(&m);
		write_png(in_folder(folder, "1.png"), W, H, 1, PNG_COLOR_TYPE_GRAY, interlaced, bits, NULL);
		assert_int_equal(sx_label_map_read(in_folder(folder, "1.png"), &m, &why), 0);
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++)
				assert_int_equal(at(&m, x, y),
						 bits[y * ((W + 7) / 8) + x / 8] >> (7 - x % 8) & 1);
		sx_image_finish(&m);
	}
	write_png(in_folder(folder, "c.png"), W, H, 8, PNG_COLOR_TYPE_RGB, 0, colour, NULL);
	assert_int_equal(sx_label_map_read(in_folder(folder, "c.png"), &m, &why), -EBADMSG);
	assert_non_null(strstr(why.text, "c.png: colour of 8 bits; class numbers are grey or indexed"));
	write_png(in_folder(folder, "ga.png"), W, H, 8, PNG_COLOR_TYPE_GRAY_ALPHA, 0, colour, NULL);
	assert_int_equal(sx_label_map_read(in_folder(folder, "ga.png"), &m, &why), -EBADMSG);
	assert_non_null(strstr(why.text, "grey with alpha of 8 bits"));
	write_bytes(in_folder(folder, "p.pgm"), "P5 1 1 255 x", 12);
	assert_int_equal(sx_label_map_read(in_folder(folder, "p.pgm"), &m, &why), -EBADMSG);
	assert_non_null(strstr(why.text, "p.pgm: no PNG"));
}

/* Writes a header and samples as one file. Returns its path. */
static const char *write_pnm(const char *name, const char *header, const void *samples, size_t bytes)
{
	static uint8_t buffer[W * H * 14 + 200];
	size_t n = strlen(header);

	memcpy(buffer, header, n);
	memcpy(buffer + n, samples, bytes);
	write_bytes(in_folder(folder, name), buffer, n + bytes);
	return in_folder(folder, name);
}

static void test_pgm_and_ppm(void **state)
{
	static uint8_t a[W * H * 6];
	struct sx_image m;

	fill(a, sizeof(a), 9);
	m = read_good(write_pnm("5.pgm", "P5\n# made by\n53 37\n# white\n255\n", a, W * H), SX_PIXEL_U8);
	for (int i = 0; i < W * H; i++)
		assert_int_equal(at(&m, i % W, i / W), a[i]);
	sx_image_finish(&m);
	m = read_good(write_pnm("5w.pgm", "P5 53 37 65535 ", a, W * H * 2), SX_PIXEL_Y16);
	for (int i = 0; i < W * H; i++)
		assert_int_equal(at(&m, i % W, i / W), a[2 * i] << 8 | a[2 * i + 1]);
	sx_image_finish(&m);
	m = read_good(write_pnm("6.ppm", "P6 53 37\n255\n", a, W * H * 3), SX_PIXEL_U8);
	for (int i = 0; i < W * H; i++)
		assert_int_equal(at(&m, i % W, i / W), grey(a[3 * i], a[3 * i + 1], a[3 * i + 2]));
	sx_image_finish(&m);
	m = read_good(write_pnm("6w.ppm", "P6 53 37\n4095\n", a, W * H * 6), SX_PIXEL_Y16);
	for (int i = 0; i < W * H; i++) {
		unsigned v[3];

		for (int k = 0; k < 3; k++) {
			v[k] = (unsigned)(a[6 * i + 2 * k] << 8 | a[6 * i + 2 * k + 1]);
			v[k] = v[k] > 4095 ? 4095 : v[k];
		}
		assert_int_equal(at(&m, i % W, i / W), grey(v[0], v[1], v[2]));
	}
	sx_image_finish(&m);
	for (int i = 0; i < W * H * 3; i++)
		a[i] %= 120;
	m = read_good(write_pnm("100.ppm", "P6 53 37 100\n", a, W * H * 3), SX_PIXEL_U8);
	for (int i = 0; i < W * H; i++) {
		unsigned v[3];

		for (int k = 0; k < 3; k++)
			v[k] = a[3 * i + k] >= 100 ? 255 : (2 * a[3 * i + k] * 255 + 100) / 200;
		assert_int_equal(at(&m, i % W, i / W), grey(v[0], v[1], v[2]));
	}
	sx_image_finish(&m);
	for (int i = 0; i < W * H; i++)
		a[i] &= 15;
	m = read_good(write_pnm("15.pgm", "P5 53 37 15\n", a, W * H), SX_PIXEL_U8);
	for (int i = 0; i < W * H; i++)
		assert_int_equal(at(&m, i % W, i / W), a[i] * 17); /* white stays white */
	sx_image_finish(&m);
}

static void test_pgm_of_text(void **state)
{
	static char text[W * H * 6];
	struct sx_image m;
	size_t n = 0;

	for (int i = 0; i < W * H; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%d%s", i * 7 % 1000,
				      i % 11 ? " " : "\n# x\n");
	m = read_good(write_pnm("2.pgm", "P2 53 37 999\n", text, n), SX_PIXEL_Y16);
	for (int i = 0; i < W * H; i++)
		assert_int_equal(at(&m, i % W, i / W), i * 7 % 1000);
	sx_image_finish(&m);
}

static void test_ppm_of_text(void **state)
{
	static char text[W * H * 14];
	struct sx_image m;
	size_t n = 0;

	for (int i = 0; i < W * H; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%d %d\t%d%s", i % 256, i * 7 % 256,
				      i * 3 % 256, i % 5 ? " " : "\n# x\n");
	m = read_good(write_pnm("3.ppm", "P3\n53 37\n255\n", text, n), SX_PIXEL_U8);
	for (int i = 0; i < W * H; i++)
		assert_int_equal(at(&m, i % W, i / W),
				 grey((unsigned)i % 256, (unsigned)i * 7 % 256, (unsigned)i * 3 % 256));
	sx_image_finish(&m);
}

static const char *write_jpeg(const char *name)
{
#ifdef SX_HAVE_JPEG
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr error;
	unsigned char *out = NULL;
	unsigned long bytes = 0;
	uint8_t a[W];
	JSAMPROW row = a;

	c.err = jpeg_std_error(&error);
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &out, &bytes);
	c.image_width = W;
	c.image_height = H;
	c.input_components = 1;
	c.in_color_space = JCS_GRAYSCALE;
	jpeg_set_defaults(&c);
	jpeg_set_quality(&c, 95, TRUE);
	jpeg_start_compress(&c, TRUE);
	for (int y = 0; y < H; y++) {
		for (int x = 0; x < W; x++)
			a[x] = (uint8_t)(40 + 3 * x + y);
		jpeg_write_scanlines(&c, &row, 1);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	write_bytes(in_folder(folder, name), out, bytes);
	free(out);
#else
	static const uint8_t start[] = {0xff, 0xd8, 0xff, 0xe0, 0, 16, 'J', 'F', 'I', 'F', 0};

	write_bytes(in_folder(folder, name), start, sizeof(start));
#endif
	return in_folder(folder, name);
}

static void test_jpeg(void **state)
{
	const char *path = write_jpeg("a.jpg");
#ifdef SX_HAVE_JPEG
	struct sx_image m = read_good(path, SX_PIXEL_U8);

	for (int i = 0; i < W * H; i++)
		assert_in_range((int)at(&m, i % W, i / W) - (40 + 3 * (i % W) + i / W) + 100, 95, 105);
	sx_image_finish(&m);
#else
	struct sx_image m;

	assert_int_equal(sx_image_read(path, &m, &why), -ENOTSUP);
	assert_non_null(strstr(why.text, "a.jpg: JPEG cannot be read: built without libjpeg"));
#endif
}

static void expect(const char *path, int error, const char *sentence)
{
	struct sx_image m = {0};

	why.text[0] = 0;
	assert_int_equal(sx_image_read(path, &m, &why), error);
	assert_null(m.data);
	if (strncmp(why.text, path, strlen(path)) || !strstr(why.text, sentence))
		fail_msg("'%s' does not say '%s'", why.text, sentence);
}

static void test_sentences(void **state)
{
	uint8_t nothing[64] = {0};

	expect(in_folder(folder, "none.png"), -ENOENT, ": No such file");
	expect(folder, -EBADMSG, ": not a file");
	write_bytes(in_folder(folder, "empty.png"), "", 0);
	expect(in_folder(folder, "empty.png"), -EBADMSG, ": 0 bytes; 1 to ");
	write_bytes(in_folder(folder, "zero.png"), nothing, sizeof(nothing));
	expect(in_folder(folder, "zero.png"), -EBADMSG, ": neither PNG nor PGM, PPM or JPEG");
	assert_int_equal(mkfifo(in_folder(folder, "pipe.png"), 0600), 0);
	/* the reader must not hang on the pipe */
	expect(in_folder(folder, "pipe.png"), -EBADMSG, ": not a file");
	expect(write_pnm("big.pgm", "P5 8193 4000 255\n", nothing, 10), -EBADMSG,
	       ": broken PGM (cut short: ");
	expect(write_pnm("zero.pgm", "P5 0 40 255\n", nothing, 10), -EBADMSG,
	       ": 0x40 pixels; 1x1 to 8192x4320");
	expect(write_pnm("white.pgm", "P5 4 4 65536\n", nothing, 32), -EBADMSG, ": broken PGM (header)");
	expect(write_pnm("head.pgm", "P5 4", nothing, 0), -EBADMSG, ": broken PGM (header)");
	expect(write_pnm("text.pgm", "P2 2 2 9 1 2 3 x", nothing, 0), -EBADMSG,
	       ": broken PGM (cut short in row 1)");
	expect(write_pnm("text.ppm", "P3 2 1 9 1 2 3 4 5 ", nothing, 0), -EBADMSG, ": broken PGM (cut short");
}

/* A file in an unsupported format is refused by name, with advice. */
static void test_other_formats(void **state)
{
	static const struct {
		const char *begin, *name;
	} formats[] = {{"BM123456789012", "a BMP file"},       {"GIF89a90123456", "a GIF file"},
		       {"II*\0\x8...........", "a TIFF file"}, {"MM\0*...........", "a TIFF file"},
		       {"RIFF....WEBPVP8", "a WebP file"},     {"....ftypavif...", "an AVIF or HEIC file"},
		       {"P1 2 2 1 0 1 0 ", "a PBM file"},      {"P4 2 2 ........", "a PBM file"},
		       {"P7\nWIDTH 2\n...", "a PAM file"},     {"Pf 2 2 -1......", "a PFM file"}};
	char sentence[128];

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		write_bytes(in_folder(folder, "other.png"), formats[i].begin, 14);
		snprintf(sentence, sizeof(sentence), ": %s", formats[i].name);
		expect(in_folder(folder, "other.png"), -EBADMSG, sentence);
		assert_non_null(strstr(why.text, " cannot be read: convert it to PNG, or to PGM"));
	}
}

static void put32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* A small file whose header claims a huge picture is refused by its header, before memory runs out. */
static void test_bombs(void **state)
{
	static const uint32_t sizes[][2] = {{60000, 60000}, {8193, 32}, {32, 4321}, {0x7fffffff, 1}};

	for (size_t i = 0; i < 4; i++) {
		uint8_t png[64] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13, 'I', 'H', 'D', 'R'};
		uint32_t crc = 0xffffffff;

		put32(png + 16, sizes[i][0]);
		put32(png + 20, sizes[i][1]);
		png[24] = 8;
		for (int k = 12; k < 29; k++) { /* CRC-32 of the chunk, so that only the size is wrong */
			crc ^= png[k];
			for (int b = 0; b < 8; b++)
				crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
		}
		put32(png + 29, ~crc);
		write_bytes(in_folder(folder, "bomb.png"), png, sizeof(png));
		expect(in_folder(folder, "bomb.png"), -EBADMSG, "");
	}
}

/* The reader notes an orientation tag and does not apply it. */
static void test_orientation_of_png(void **state)
{
	static const uint8_t exif[] = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0,
				       3,   0,	 0, 0,	1, 0, 4, 0, 0, 0, 0, 0,	   0};
	struct sx_image_notes notes;
	struct sx_image m;

	write_ramp(in_folder(folder, "none.png"), W, H, 0);
	write_png_exif(in_folder(folder, "exif.png"), W, H, exif, sizeof(exif));
	assert_int_equal(sx_image_read_noted(in_folder(folder, "none.png"), &m, &notes, &why), 0);
	assert_int_equal(notes.orientation, 0);
	sx_image_finish(&m);
	assert_int_equal(sx_image_read_noted(in_folder(folder, "exif.png"), &m, &notes, &why), 0);
	assert_int_equal(notes.orientation, 4);
	assert_int_equal(at(&m, 5, 7), 5 + 21);
	sx_image_finish(&m);
	assert_false(sx_orientation_text("a.jpg", 1, why.text, sizeof(why.text)));
	assert_true(sx_orientation_text("a.jpg", 3, why.text, sizeof(why.text)));
	assert_non_null(strstr(why.text, "a.jpg: its EXIF orientation tag (3) "));
	assert_non_null(strstr(why.text, "upside down"));
}

static void test_must_fit(void **state)
{
	struct sx_image dst;

	write_ramp(in_folder(folder, "fit.png"), W, H, 0);
	assert_int_equal(sx_image_init(&dst, SX_PIXEL_U8, W + 1, H), 0);
	assert_int_equal(sx_image_read_into(in_folder(folder, "fit.png"), &dst, NULL, NULL, &why), -EBADMSG);
	assert_non_null(strstr(why.text, "fit.png: 53x37 pixels, but the first image has 54x37"));
	dst.width = W;
	dst.pixel = SX_PIXEL_Y16;
	assert_int_equal(sx_image_read_into(in_folder(folder, "fit.png"), &dst, NULL, NULL, &why), -EBADMSG);
	assert_non_null(strstr(why.text, "pixels are grey8, but those of the first image are y16"));
	dst.pixel = SX_PIXEL_U8;
	assert_int_equal(sx_image_read_into(in_folder(folder, "fit.png"), &dst, NULL, NULL, &why), 0);
	assert_int_equal(at(&dst, 5, 7), 5 + 21);
	sx_image_finish(&dst);
}

static size_t load_file(const char *path, uint8_t *data, size_t room)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	assert_non_null(f);
	n = fread(data, 1, room, f);
	fclose(f);
	return n;
}

/*
 * Cuts the file at every length and changes random bytes. Each result must be an error with a sentence, or a
 * picture.
 */
static void break_file(const char *path, uint64_t seed)
{
	static uint8_t good[65536], bad[65536];
	size_t n = load_file(path, good, sizeof(good));
	struct check_rng rng = check_rng_seed(seed);
	const char *out = in_folder(folder, "broken");
	struct sx_image m;
	int refused = 0;

	for (size_t k = 1; k < n; k += 1 + n / 150) {
		write_bytes(out, good, k);
		why.text[0] = 0;
		memset(&m, 0, sizeof(m));
		if (sx_image_read(out, &m, &why) < 0) {
			assert_true(why.text[0] && !m.data);
			refused++;
		}
		sx_image_finish(&m);
	}
	assert_true(refused > 50);
	for (int k = 0; k < 150; k++) {
		memcpy(bad, good, n);
		for (int i = check_below(&rng, 4); i >= 0; i--)
			bad[check_below(&rng, (int)(k % 2 && n > 64 ? 64 : n))] = (uint8_t)check_random(&rng);
		write_bytes(out, bad, n);
		why.text[0] = 0;
		memset(&m, 0, sizeof(m));
		if (sx_image_read(out, &m, &why) < 0)
			assert_true(why.text[0] && !m.data);
		sx_image_finish(&m);
	}
}

static void test_broken_files(void **state)
{
	static uint8_t a[W * H * 4], palette[768];

	fill(a, sizeof(a), 10);
	fill(palette, sizeof(palette), 11);
	write_png(in_folder(folder, "a.png"), W, H, 8, PNG_COLOR_TYPE_GRAY, 0, a, NULL);
	break_file(in_folder(folder, "a.png"), 1);
	write_png(in_folder(folder, "b.png"), W, H, 8, PNG_COLOR_TYPE_PALETTE, 1, a, palette);
	break_file(in_folder(folder, "b.png"), 2);
	write_png(in_folder(folder, "c.png"), W, H / 2, 16, PNG_COLOR_TYPE_GRAY, 1, a, NULL);
	break_file(in_folder(folder, "c.png"), 3);
	break_file(write_pnm("d.pgm", "P5 53 37 255\n", a, W * H), 4);
	memset(a, ' ', sizeof(a));
	for (int i = 0; i < W * H; i++)
		a[2 * i] = (uint8_t)('0' + i % 10);
	break_file(write_pnm("e.pgm", "P2 53 37 255\n", a, W * H * 2), 5);
#ifdef SX_HAVE_JPEG
	break_file(write_jpeg("f.jpg"), 6);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grey_png),
		cmocka_unit_test(test_colour_png),
		cmocka_unit_test(test_palette_and_few_bits_png),
		cmocka_unit_test(test_label_maps),
		cmocka_unit_test(test_pgm_and_ppm),
		cmocka_unit_test(test_pgm_of_text),
		cmocka_unit_test(test_ppm_of_text),
		cmocka_unit_test(test_jpeg),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_other_formats),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_orientation_of_png),
		cmocka_unit_test(test_must_fit),
		cmocka_unit_test(test_broken_files),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
