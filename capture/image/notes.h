/*
 * Notes about an image that is unusual but complete.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_IMAGE_NOTES_H
#define SX_CAPTURE_IMAGE_NOTES_H

#include <stdbool.h>
#include <stddef.h>

/* Deviations of a JPEG from the standard that cost no pixel. */
enum sx_odd_jpeg {
	SX_ODD_PADDING,		/* fill bytes before the end marker */
	SX_ODD_RESTART_PADDING, /* fill bytes before a restart marker, or between two scans */
	SX_ODD_HEADER_BYTES,	/* bytes between the segments of the header */
	SX_ODD_SCAN_HEADER,	/* values in a scan header that do not belong to this kind of JPEG */
	SX_ODD_OTHER,		/* any other warning of libjpeg: a revision, a colour transform */
	SX_ODD_JPEG_COUNT
};
/* Returns the key for the status: the name above in small letters, without its prefix. */
const char *sx_odd_jpeg_name(enum sx_odd_jpeg odd);

struct sx_image_notes {
	unsigned odd_jpeg; /* bits 1u << enum sx_odd_jpeg */
	int orientation;   /* EXIF tag: 1 (upright) to 8; 0: none */
};

/*
 * Writes a message about an orientation of 2 to 8. No reader here applies the orientation, because calibrated
 * cameras need the pixels in the sensor's order. what: name of the image. False: upright or no tag; text is
 * unchanged.
 */
bool sx_orientation_text(const char *what, int orientation, char *text, size_t bytes);

#endif
