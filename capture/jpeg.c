/*
 * JPEG by TurboJPEG (2.x), straight to its luminance. Built without the library, it says so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>

#include "capture/image_io_priv.h"

#ifdef SX_HAVE_JPEG

#include <turbojpeg.h>

static int decode(tjhandle handle, struct sx_image_sink *sink, const uint8_t *data, unsigned long bytes)
{
	int width, height, subsampling, colours, r;

	if (tjDecompressHeader3(handle, data, bytes, &width, &height, &subsampling, &colours) < 0)
		return sx_sink_refuse(sink, "broken JPEG (%.100s)", tjGetErrorStr2(handle));
	r = sx_sink_accept(sink, width, height, SX_PIXEL_U8);
	if (r < 0)
		return r;
	/* a warning means missing or damaged data: such a picture is not measured */
	if (tjDecompress2(handle, data, bytes, sink->image.data, width, (int)sink->image.pitch, height,
			  TJPF_GRAY, TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING) < 0)
		return sx_sink_refuse(sink, "broken JPEG (%.100s)", tjGetErrorStr2(handle));
	return 0;
}

int sx_decode_jpeg(struct sx_image_sink *sink, const uint8_t *data, size_t bytes)
{
	tjhandle handle = tjInitDecompress();
	int r;

	if (!handle)
		return -ENOMEM;
	r = decode(handle, sink, data, (unsigned long)bytes);
	tjDestroy(handle);
	return r;
}

#else

int sx_decode_jpeg(struct sx_image_sink *sink, const uint8_t *data, size_t bytes)
{
	snprintf(sink->why, sizeof(sink->why), "JPEG cannot be read: built without TurboJPEG");
	return -ENOTSUP;
}

#endif
