/*
 * Codes JPEG into memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/draw/jpeg.h"

#ifdef SX_HAVE_JPEG

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#define ROOM ((size_t)64 << 10) /* initial bytes of the coded image */

/* State of coding one image. */
struct writer {
	struct jpeg_compress_struct c; /* first member: libjpeg passes its address to the functions below */
	struct jpeg_error_mgr error;
	struct jpeg_destination_mgr to;
	jmp_buf jump;
	unsigned char *data;
	size_t room, bytes; /* bytes of data: allocated, coded */
};

static struct writer *writer_of(void *c)
{
	return c;
}

bool sx_jpeg_has(void)
{
	return true;
}

/* Handles an error of libjpeg, which can only be lack of memory. */
_Noreturn static void on_error(j_common_ptr c)
{
	longjmp(writer_of(c)->jump, 1);
}

/* Enlarges the buffer: it is full, or there is none yet. */
static boolean take_room(j_compress_ptr c)
{
	struct writer *w = writer_of(c);
	const size_t more = w->room ? w->room : ROOM;
	unsigned char *data = realloc(w->data, w->room + more);

	if (!data)
		on_error((j_common_ptr)c);
	w->to.next_output_byte = data + w->room;
	w->to.free_in_buffer = more;
	w->data = data;
	w->room += more;
	return TRUE;
}

static void begin(j_compress_ptr c)
{
	take_room(c);
}

static void end(j_compress_ptr c)
{
	struct writer *w = writer_of(c);

	w->bytes = w->room - w->to.free_in_buffer;
}

static void write_rows(struct writer *w, const struct sx_image *img)
{
	while (w->c.next_scanline < w->c.image_height) {
		/* libjpeg does not change the row, but its pointers have no const */
		JSAMPROW row = (JSAMPROW)(uintptr_t)sx_image_row(img, (int)w->c.next_scanline);

		jpeg_write_scanlines(&w->c, &row, 1);
	}
}

static void set_up(struct writer *w, const struct sx_image *img, int quality, bool fast)
{
	const bool grey = img->pixel == SX_PIXEL_U8;

	w->to.init_destination = begin;
	w->to.empty_output_buffer = take_room;
	w->to.term_destination = end;
	w->c.dest = &w->to;
	w->c.image_width = (JDIMENSION)img->width;
	w->c.image_height = (JDIMENSION)img->height;
	w->c.input_components = grey ? 1 : 3;
	w->c.in_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
	jpeg_set_defaults(&w->c);
	jpeg_set_quality(&w->c, quality, TRUE);
	w->c.dct_method = fast ? JDCT_IFAST : JDCT_ISLOW;
	for (int i = 0; i < w->c.num_components; i++)
		w->c.comp_info[i].h_samp_factor = w->c.comp_info[i].v_samp_factor = 1;
}

/*
 * Codes the image in a separate function, so that no local variable changes between setjmp() and longjmp().
 */
static bool write_image(struct writer *w, const struct sx_image *img, int quality, bool fast)
{
	w->c.err = jpeg_std_error(&w->error);
	w->error.error_exit = on_error;
	if (setjmp(w->jump))
		return false;
	jpeg_create_compress(&w->c);
	set_up(w, img, quality, fast);
	jpeg_start_compress(&w->c, TRUE);
	write_rows(w, img);
	jpeg_finish_compress(&w->c);
	return true;
}

unsigned char *sx_jpeg_code(const struct sx_image *img, int quality, bool fast, size_t *bytes)
{
	struct writer w = {0};
	bool good;

	*bytes = 0;
	if (img->pixel != SX_PIXEL_RGB24 && img->pixel != SX_PIXEL_U8)
		return NULL;
	good = write_image(&w, img, quality, fast);
	jpeg_destroy_compress(&w.c);
	if (!good) {
		free(w.data);
		return NULL;
	}
	*bytes = w.bytes;
	return w.data;
}

#else

bool sx_jpeg_has(void)
{
	return false;
}

unsigned char *sx_jpeg_code(const struct sx_image *img, int quality, bool fast, size_t *bytes)
{
	*bytes = 0;
	return NULL;
}

#endif
