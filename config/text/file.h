/*
 * Reading a small text file as a whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_TEXT_FILE_H
#define SX_CONFIG_TEXT_FILE_H

#include <stddef.h>

#include "base/why.h"

/*
 * Reads a regular file of at most max bytes. *text gets size bytes and a final 0, and belongs to the caller.
 * Returns a negative errno, with a reason in why ("No such file or directory", "is 12 bytes too long");
 * -EFBIG if the file is longer.
 */
int sx_file_read(const char *path, size_t max, char **text, size_t *size, struct sx_why *why);

#endif
