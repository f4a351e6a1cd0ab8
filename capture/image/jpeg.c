/*
 * JPEG by TurboJPEG (2.x), straight to its luminance. Built without the library, it says so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/image/jpeg.h"

#include <errno.h>
#include <stdio.h>

#include "base/contract.h"
#include "capture/image/image_io_priv.h"

#ifdef SX_HAVE_JPEG

#include <string.h>
#include <turbojpeg.h>

/* A struct sx_jpeg is TurboJPEG's handle. */

bool sx_jpeg_is_there(void)
{
	return true;
}

int sx_jpeg_open(struct sx_jpeg **ret, char *why, size_t why_bytes)
{
	*ret = tjInitDecompress();
	if (*ret)
		return 0;
	snprintf(why, why_bytes, "no memory for a JPEG decoder");
	return -ENOMEM;
}

void sx_jpeg_close(struct sx_jpeg *j)
{
	if (j)
		tjDestroy(j);
}

/*
 * A header that fails leaves the decoder (TurboJPEG 2.1) in the middle of it: every further image would be
 * read on from there, and fail. Only decoding cleans up after a failure, and this cannot be decoded.
 */
static void start_anew(struct sx_jpeg *j)
{
	static const uint8_t end[] = {0xff, 0xd9};
	uint8_t pixel;

	tjDecompress2(j, end, sizeof(end), &pixel, 1, 1, 1, TJPF_GRAY, 0);
}

/* -EBADMSG and a sentence without a name when that is no JPEG. */
static int jpeg_size(struct sx_jpeg *j, const uint8_t *data, size_t bytes, int *width, int *height, char *why,
		     size_t why_bytes)
{
	int subsampling, colours;

	*width = *height = 0;
	if (tjDecompressHeader3(j, data, (unsigned long)bytes, width, height, &subsampling, &colours) < 0)
		snprintf(why, why_bytes, "broken JPEG (%.100s)", tjGetErrorStr2(j));
	else if (*width <= 0 || *height <= 0) /* tables alone are no error to the library */
		snprintf(why, why_bytes, "broken JPEG (it ends before the image)");
	else
		return 0;
	start_anew(j);
	return -EBADMSG;
}

/*
 * A warning means missing or damaged data: such an image is not measured. But for one: many cameras fill up
 * before the end marker (0xd9), when all of the image has been read.
 */
static bool is_harmless(tjhandle j)
{
	return tjGetErrorCode(j) == TJERR_WARNING &&
	       strstr(tjGetErrorStr2(j), "extraneous bytes before marker 0xd9");
}

int sx_jpeg_decode(struct sx_jpeg *j, const uint8_t *data, size_t bytes, const struct sx_image *to, char *why,
		   size_t why_bytes)
{
	int width, height;
	int r = jpeg_size(j, data, bytes, &width, &height, why, why_bytes);

	sx_must(to->pixel, ==, SX_PIXEL_U8);
	if (r < 0)
		return r;
	if (width != to->width || height != to->height) {
		snprintf(why, why_bytes, "JPEG of %dx%d instead of %dx%d", width, height, to->width,
			 to->height);
		return -EBADMSG;
	}
	if (tjDecompress2(j, data, (unsigned long)bytes, to->data, width, (int)to->pitch, height, TJPF_GRAY,
			  TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING) == 0 ||
	    is_harmless(j))
		return 0;
	snprintf(why, why_bytes, "broken JPEG (%.100s)", tjGetErrorStr2(j));
	return -EBADMSG;
}

#else

bool sx_jpeg_is_there(void)
{
	return false;
}

int sx_jpeg_open(struct sx_jpeg **ret, char *why, size_t why_bytes)
{
	(void)ret;
	snprintf(why, why_bytes, "JPEG cannot be read: built without TurboJPEG");
	return -ENOTSUP;
}

void sx_jpeg_close(struct sx_jpeg *j)
{
	(void)j;
}

static int jpeg_size(struct sx_jpeg *j, const uint8_t *data, size_t bytes, int *width, int *height, char *why,
		     size_t why_bytes)
{
	(void)j, (void)data, (void)bytes, (void)width, (void)height, (void)why, (void)why_bytes;
	return -ENOTSUP;
}

int sx_jpeg_decode(struct sx_jpeg *j, const uint8_t *data, size_t bytes, const struct sx_image *to, char *why,
		   size_t why_bytes)
{
	(void)j, (void)data, (void)bytes, (void)to, (void)why, (void)why_bytes;
	return -ENOTSUP;
}

#endif

int sx_decode_jpeg(struct sx_image_sink *sink, const uint8_t *data, size_t bytes)
{
	struct sx_jpeg *j = NULL;
	int width = 0, height = 0;
	int r = sx_jpeg_open(&j, sink->why, sizeof(sink->why));

	sx_must(bytes, >=, 2);
	if (r < 0)
		return r;
	r = jpeg_size(j, data, bytes, &width, &height, sink->why, sizeof(sink->why));
	if (r == 0)
		r = sx_sink_accept(sink, width, height, SX_PIXEL_U8);
	if (r == 0)
		r = sx_jpeg_decode(j, data, bytes, &sink->image, sink->why, sizeof(sink->why));
	sx_jpeg_close(j);
	return r;
}
