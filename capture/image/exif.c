/*
 * Reads EXIF data: a TIFF header, and a directory of entries of 12 bytes.
 *
 * Source:  Exif Version 2.3, 4.6.2 and 4.6.4 (Orientation, tag 0x0112, one SHORT)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/image/exif.h"

#include <stdbool.h>
#include <string.h>

#include "base/contract.h"

#define TAG_ORIENTATION 0x0112
#define TYPE_SHORT 3
#define ENTRY_BYTES 12

static unsigned read16(const uint8_t *p, bool little)
{
	return little ? (unsigned)p[1] << 8 | p[0] : (unsigned)p[0] << 8 | p[1];
}

static size_t read32(const uint8_t *p, bool little)
{
	const size_t first = read16(p, little), second = read16(p + 2, little);

	return little ? second << 16 | first : first << 16 | second;
}

int sx_exif_orientation(const uint8_t *data, size_t bytes)
{
	const bool little = bytes >= 8 && memcmp(data, "II*\0", 4) == 0;
	size_t at, entries;

	if (!little && (bytes < 8 || memcmp(data, "MM\0*", 4) != 0))
		return 0;
	at = read32(data + 4, little);
	if (at > bytes - 2)
		return 0;
	entries = read16(data + at, little);
	at += 2;
	for (; entries > 0 && bytes - at >= ENTRY_BYTES; entries--, at += ENTRY_BYTES) {
		const uint8_t *entry = data + at;
		unsigned value = read16(entry + 8, little);

		sx_must(at, <, bytes);
		if (read16(entry, little) == TAG_ORIENTATION && read16(entry + 2, little) == TYPE_SHORT)
			return value >= 1 && value <= 8 ? (int)value : 0;
	}
	return 0;
}
