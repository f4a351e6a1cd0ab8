/*
 * Decodes JPEG by libjpeg (libjpeg-turbo), directly to luminance. A build without the library returns
 * -ENOTSUP.
 *
 * libjpeg continues after damage and only warns. on_message() decides which warnings mean missing data. Every
 * other warning is counted, and the image is good: cameras write many unusual JPEGs that all other programs
 * show.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/image/jpeg.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/contract.h"
#include "capture/image/image_io_priv.h"

#ifdef SX_HAVE_JPEG

#include <setjmp.h>

#include <jpeglib.h>

#include <jerror.h>

#include "capture/image/exif.h"
#include "capture/image/jpeg_scan.h"

#define ROWS 16	      /* rows read from libjpeg at once */
#define SCANS_MAX 500 /* real images have up to some dozens of scans; more are an attack on computing time */

/* State of one image. It outlives the longjmp out of libjpeg's functions. */
struct reader {
	struct jpeg_decompress_struct c; /* first member: libjpeg passes its address to the functions below */
	struct jpeg_error_mgr error;
	struct jpeg_progress_mgr progress;
	jmp_buf jump;
	const uint8_t *data, *end;
	const uint8_t *scan;	   /* data of the first scan; NULL: the header is not read yet */
	bool padded;		   /* the rest of the scan was checked and is padding */
	const struct sx_image *to; /* NULL: the destination is in sink */
	struct sx_image_sink *sink;
	struct sx_image_notes notes;
	struct sx_why *why;
	int result;
};

static struct reader *reader_of(j_common_ptr c)
{
	return (struct reader *)(void *)c;
}

_Noreturn static void give_up(struct reader *r, int result)
{
	r->result = result;
	longjmp(r->jump, 1);
}

/* Ends with libjpeg's own message. */
_Noreturn static void on_error(j_common_ptr c)
{
	struct reader *r = reader_of(c);
	char text[JMSG_LENGTH_MAX];

	c->err->format_message(c, text);
	sx_why_set(r->why, "broken JPEG (%.100s)", text);
	give_up(r, c->err->msg_code == JERR_OUT_OF_MEMORY ? -ENOMEM : -EBADMSG);
}

_Noreturn static void refuse(struct reader *r, const char *why)
{
	sx_why_set(r->why, "broken JPEG (%s)", why);
	give_up(r, -EBADMSG);
}

static void note(struct reader *r, enum sx_odd_jpeg odd)
{
	sx_must_index(odd, SX_ODD_JPEG_COUNT);
	r->notes.odd_jpeg |= 1u << odd;
}

/*
 * Judges the bytes that libjpeg skipped before the current marker and before earlier restart markers. Padding
 * is accepted. Data are refused: bits were changed or lost, and the decoder lost its position.
 */
static void judge_skipped(struct reader *r, size_t skipped, int marker)
{
	const uint8_t *at = r->c.src->next_input_byte;

	if (!r->scan) {
		note(r, SX_ODD_HEADER_BYTES);
		return;
	}
	/* if there are no restart markers, all bytes that libjpeg counted are here */
	if (r->c.restart_interval && sx_jpeg_scan_is_plain(&r->c)) {
		if (!r->padded && !sx_jpeg_scan_is_whole(&r->c, r->scan, r->end, &r->notes))
			on_error((j_common_ptr)&r->c);
		r->padded = true;
		return;
	}
	if (skipped > (size_t)(at - r->scan) || !sx_jpeg_is_fill(at - skipped, at))
		on_error((j_common_ptr)&r->c);
	note(r, marker == JPEG_EOI ? SX_ODD_PADDING : SX_ODD_RESTART_PADDING);
}

/* Handles a message. Level -1 is a warning; other levels are traces. */
static void on_message(j_common_ptr c, int level)
{
	struct reader *r = reader_of(c);

	if (level >= 0)
		return;
	switch (c->err->msg_code) {
	case JWRN_HIT_MARKER:	     /* a marker instead of data */
	case JWRN_HUFF_BAD_CODE:     /* a code that is not in the table */
	case JWRN_ARITH_BAD_CODE:    /* the same with arithmetic coding */
	case JWRN_JPEG_EOF:	     /* no end marker: the file was cut short */
	case JWRN_MUST_RESYNC:	     /* a restart marker and the data before it are missing */
	case JWRN_BOGUS_PROGRESSION: /* a scan is missing */
		on_error(c);
	case JWRN_EXTRANEOUS_DATA:
		judge_skipped(r, (size_t)c->err->msg_parm.i[0], c->err->msg_parm.i[1]);
		return;
	case JWRN_NOT_SEQUENTIAL:
		note(r, SX_ODD_SCAN_HEADER);
		return;
	default:
		note(r, SX_ODD_OTHER);
	}
}

static void on_output(j_common_ptr c)
{
}

static void on_progress(j_common_ptr c)
{
	struct reader *r = reader_of(c);

	if (r->c.input_scan_number > SCANS_MAX)
		refuse(r, "more scans than a picture has");
}

/* Reads an APP1 segment: EXIF data, or other data. The whole file is in the buffer. */
static boolean on_app1(j_decompress_ptr c)
{
	static const char exif[6] = "Exif\0";
	struct reader *r = reader_of((j_common_ptr)c);
	const uint8_t *p = c->src->next_input_byte;
	size_t room = c->src->bytes_in_buffer, length;

	if (room < 2)
		ERREXIT(c, JERR_INPUT_EOF);
	length = (size_t)p[0] << 8 | p[1];
	if (length >= 2 + sizeof(exif) && length <= room && memcmp(p + 2, exif, sizeof(exif)) == 0 &&
	    !r->notes.orientation)
		r->notes.orientation = sx_exif_orientation(p + 2 + sizeof(exif), length - 2 - sizeof(exif));
	c->src->skip_input_data(c, length > 2 ? (long)length : 2);
	return TRUE;
}

static void check_colours(struct reader *r)
{
	const J_COLOR_SPACE colours = r->c.jpeg_color_space;

	if (colours == JCS_CMYK || colours == JCS_YCCK)
		sx_why_set(r->why,
			   "a CMYK JPEG, which is made for printing, cannot be read: save it as grey or RGB");
	else if (colours != JCS_GRAYSCALE && colours != JCS_YCbCr && colours != JCS_RGB)
		sx_why_set(r->why, "a JPEG of %d unknown colours cannot be made grey", r->c.num_components);
	else if (r->c.data_precision != 8)
		sx_why_set(r->why, "a JPEG of %d bits a sample cannot be read: save it with 8",
			   r->c.data_precision);
	else
		return;
	give_up(r, -EBADMSG);
}

/*
 * Checks the Huffman tables. libjpeg uses standard tables if an image has none; images of many cameras have
 * none. But if bytes between the segments were skipped as well, they may have been the tables.
 */
static void check_tables(struct reader *r)
{
	sx_must(r->c.comps_in_scan, <=, MAX_COMPS_IN_SCAN);
	if (!(r->notes.odd_jpeg & 1u << SX_ODD_HEADER_BYTES) || r->c.progressive_mode || r->c.arith_code)
		return;
	for (int i = 0; i < r->c.comps_in_scan; i++) {
		const unsigned dc = (unsigned)r->c.cur_comp_info[i]->dc_tbl_no,
			       ac = (unsigned)r->c.cur_comp_info[i]->ac_tbl_no;

		if (dc >= NUM_HUFF_TBLS || ac >= NUM_HUFF_TBLS || !r->c.dc_huff_tbl_ptrs[dc] ||
		    !r->c.ac_huff_tbl_ptrs[ac])
			refuse(r, "bytes were skipped where its tables should be");
	}
}

/* Checks an image of several scans after it was read: each component that becomes grey must be complete. */
static void check_scans(struct reader *r)
{
	for (int i = 0; i < r->c.num_components; i++) {
		if (!r->c.comp_info[i].component_needed)
			continue;
		if (!r->c.comp_info[i].quant_table)
			refuse(r, "a scan is missing");
		for (int k = 0; r->c.coef_bits && k < DCTSIZE2; k++)
			if (r->c.coef_bits[i][k] != 0)
				refuse(r, "a scan is missing");
	}
}

static void read_rows(struct reader *r)
{
	const struct sx_image *to = r->to;

	sx_must((int)r->c.output_width, ==, to->width);
	sx_must((int)r->c.output_height, ==, to->height);
	sx_must(r->c.output_components, ==, 1);
	while (r->c.output_scanline < r->c.output_height) {
		JSAMPROW rows[ROWS];
		JDIMENSION n = 0;

		for (; n < ROWS && r->c.output_scanline + n < r->c.output_height; n++)
			rows[n] = sx_image_row(to, (int)(r->c.output_scanline + n));
		jpeg_read_scanlines(&r->c, rows, n);
	}
}

static void check_size(struct reader *r)
{
	const int width = (int)r->c.image_width, height = (int)r->c.image_height;
	int error;

	if (r->sink) {
		error = sx_sink_accept(r->sink, width, height, SX_PIXEL_U8);
		r->to = &r->sink->image;
		if (error < 0)
			give_up(r, error);
		return;
	}
	sx_must(r->to->pixel, ==, SX_PIXEL_U8);
	if (width == r->to->width && height == r->to->height)
		return;
	sx_why_set(r->why, "JPEG of %dx%d instead of %dx%d", width, height, r->to->width, r->to->height);
	give_up(r, -EBADMSG);
}

static void set_hooks(struct reader *r)
{
	r->error.error_exit = on_error;
	r->error.emit_message = on_message;
	r->error.output_message = on_output;
	r->progress.progress_monitor = on_progress;
	r->c.progress = &r->progress;
	jpeg_set_marker_processor(&r->c, JPEG_APP0 + 1, on_app1);
}

static void jpeg_run(struct reader *r)
{
	r->c.err = jpeg_std_error(&r->error);
	r->error.error_exit = on_error;
	if (setjmp(r->jump)) {
		jpeg_destroy_decompress(&r->c);
		return; /* result is set already */
	}
	jpeg_create_decompress(&r->c);
	set_hooks(r);
	jpeg_mem_src(&r->c, r->data, (unsigned long)(r->end - r->data));
	jpeg_read_header(&r->c, TRUE);
	r->scan = r->c.src->next_input_byte;
	check_size(r);
	check_colours(r);
	check_tables(r);
	r->c.out_color_space = JCS_GRAYSCALE;
	r->c.dct_method = JDCT_ISLOW;
	jpeg_start_decompress(&r->c);
	if (jpeg_has_multiple_scans(&r->c))
		check_scans(r);
	read_rows(r);
	jpeg_finish_decompress(&r->c); /* reads up to the end marker */
	jpeg_destroy_decompress(&r->c);
}

int sx_jpeg_check(struct sx_why *why)
{
	return 0;
}

int sx_jpeg_decode(const uint8_t *data, size_t bytes, const struct sx_image *to, struct sx_image_notes *notes,
		   struct sx_why *why)
{
	struct reader r = {.data = data, .end = data + bytes, .to = to, .why = why};

	jpeg_run(&r);
	*notes = r.notes;
	return r.result;
}

int sx_decode_jpeg(struct sx_image_sink *sink, const uint8_t *data, size_t bytes)
{
	struct reader r = {.data = data, .end = data + bytes, .sink = sink, .why = &sink->why};

	sx_must(bytes, >=, 2);
	jpeg_run(&r);
	sink->notes = r.notes;
	return r.result;
}

#else

int sx_jpeg_check(struct sx_why *why)
{
	return sx_why_fail(-ENOTSUP, why, "JPEG cannot be read: built without libjpeg");
}

int sx_jpeg_decode(const uint8_t *data, size_t bytes, const struct sx_image *to, struct sx_image_notes *notes,
		   struct sx_why *why)
{
	return sx_jpeg_check(why);
}

int sx_decode_jpeg(struct sx_image_sink *sink, const uint8_t *data, size_t bytes)
{
	return sx_jpeg_check(&sink->why);
}

#endif
