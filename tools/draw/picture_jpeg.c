/*
 * Writes JPEG files by TurboJPEG. Built without the library, it says so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "tools/draw/picture.h"

#ifdef SX_HAVE_JPEG

#include <turbojpeg.h>

enum { QUALITY = 92 };

bool sx_picture_has_jpeg(void)
{
	return true;
}

/* With whole colours: at half of them the edges of stixels and the legend would fray. */
int sx_picture_write_jpeg(FILE *f, const struct sx_image *img)
{
	tjhandle jpeg = img->pixel == SX_PIXEL_RGB24 ? tjInitCompress() : NULL;
	unsigned char *data = NULL;
	unsigned long bytes = 0;
	int r = img->pixel == SX_PIXEL_RGB24 ? -ENOMEM : -EINVAL;

	errno = 0;
	if (jpeg && tjCompress2(jpeg, img->data, img->width, (int)img->pitch, img->height, TJPF_RGB, &data,
				&bytes, TJSAMP_444, QUALITY, 0) == 0)
		r = fwrite(data, 1, bytes, f) == bytes && fflush(f) == 0 ? 0 : errno ? -errno : -EIO;
	tjFree(data);
	if (jpeg)
		tjDestroy(jpeg);
	return r;
}

#else

bool sx_picture_has_jpeg(void)
{
	return false;
}

int sx_picture_write_jpeg(FILE *f, const struct sx_image *img)
{
	return -ENOTSUP;
}

#endif
