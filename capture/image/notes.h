/*
 * What a reader of images noticed about an image that is whole all the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_IMAGE_NOTES_H
#define SX_CAPTURE_IMAGE_NOTES_H

#include <stdbool.h>
#include <stddef.h>

/* Where a JPEG is not as the standard wants it, and no pixel is missing for it. */
enum sx_odd_jpeg {
	SX_ODD_PADDING,		/* fill bytes before the end marker */
	SX_ODD_RESTART_PADDING, /* fill bytes before a restart marker, or between two scans */
	SX_ODD_HEADER_BYTES,	/* bytes between the segments of the header */
	SX_ODD_SCAN_HEADER,	/* numbers in a scan header that its kind of JPEG does not have */
	SX_ODD_OTHER,		/* whatever else libjpeg warns about: a revision, a colour transform */
	SX_ODD_JPEG_COUNT
};
/* The key of the status: the name above in small letters, without its prefix. */
const char *sx_odd_jpeg_name(enum sx_odd_jpeg odd);

struct sx_image_notes {
	unsigned odd_jpeg; /* bits 1 << enum sx_odd_jpeg */
	int orientation;   /* EXIF tag: 1 (upright) to 8; 0: none */
};

/*
 * Writes a sentence about an orientation of 2 to 8, which no reader here applies: calibrated cameras need
 * the pixels where the sensor had them. what: names the image. False, and nothing written: upright or no tag.
 */
bool sx_orientation_text(const char *what, int orientation, char *text, size_t bytes);

#endif
