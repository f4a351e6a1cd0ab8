/*
 * Reads small files of /sys and /proc. Each read opens its file again, so that it finds a device that was
 * removed and came back under the same name. Any thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_POWER_FILES_H
#define SX_POWER_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"

#define SX_FILE_PATH_BYTES 384
#define SX_FILE_NAME_BYTES 64

/* Formats a path. False: it does not fit, and the path is empty, which no file has. */
bool sx_file_path(char path[SX_FILE_PATH_BYTES], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Reads the first line without blanks at its ends. Negative errno, and *to is empty. */
int sx_file_text(const char *path, char *to, size_t bytes);

/*
 * Reads a whole number from min to max. Negative errno with a sentence in why. -EINVAL: the file has other
 * content.
 */
int sx_file_number(const char *path, int64_t min, int64_t max, int64_t *ret, struct sx_why *why);

/*
 * Lists at most `most` names in a folder that begin with prefix, in natural order (hwmon2 before hwmon10).
 * Returns their number.
 */
int sx_file_names(const char *folder, const char *prefix, char (*names)[SX_FILE_NAME_BYTES], int most);

#endif
