/*
 * Names of notes about an image, and messages about them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/image/notes.h"

#include <stdio.h>

#include "base/contract.h"

const char *sx_odd_jpeg_name(enum sx_odd_jpeg odd)
{
	static const char *const names[] = {"padding", "restart_padding", "header_bytes", "scan_header",
					    "other"};

	sx_must_index(odd, SX_ODD_JPEG_COUNT);
	return names[odd];
}

bool sx_orientation_text(const char *what, int orientation, char *text, size_t bytes)
{
	/* orientation of the image in the file, for viewers that apply the tag */
	static const char *const lies[] = {NULL,
					   NULL,
					   "mirrored",
					   "upside down",
					   "mirrored and upside down",
					   "mirrored and turned by 90 degrees",
					   "turned by 90 degrees",
					   "mirrored and turned by 90 degrees",
					   "turned by 90 degrees"};

	if (orientation < 2 || orientation > 8)
		return false;
	snprintf(text, bytes,
		 "%s: its EXIF orientation tag (%d) says that it is stored %s; the tag is not applied, "
		 "pixels are used as they are stored",
		 what, orientation, lies[orientation]);
	return true;
}
