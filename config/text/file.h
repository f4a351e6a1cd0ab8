/*
 * A small text file, read whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_TEXT_FILE_H
#define SX_CONFIG_TEXT_FILE_H

#include <stddef.h>

/*
 * Reads a regular file of at most max bytes; *text gets a 0 behind its size bytes and belongs to the caller.
 * Negative errno and a reason ("No such file or directory", "is 12 bytes too long") in
 * why; -EFBIG when longer.
 */
int sx_file_read(const char *path, size_t max, char **text, size_t *size, char *why, size_t why_bytes);

#endif
