/*
 * Small files of /sys and /proc. Each reading opens its file anew: a device that was taken away and came back
 * under the same name is the new one. Thread: any.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_POWER_FILES_H
#define SX_POWER_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SX_FILE_PATH_BYTES 384
#define SX_FILE_NAME_BYTES 64

/* False, and an empty path, which no file has: it does not fit. */
bool sx_file_path(char path[SX_FILE_PATH_BYTES], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The first line without blanks at its ends. Negative errno; *to is empty then. */
int sx_file_text(const char *path, char *to, size_t bytes);

/*
 * A whole number from min to max. Negative errno with a sentence in why;
 * -EINVAL: something else stands there.
 */
int sx_file_number(const char *path, int64_t min, int64_t max, int64_t *ret, char *why, size_t why_bytes);

/*
 * Names in a folder that begin with prefix, as a person counts them (hwmon2 before hwmon10), at most so many.
 */
int sx_file_names(const char *folder, const char *prefix, char (*names)[SX_FILE_NAME_BYTES], int most);

#endif
