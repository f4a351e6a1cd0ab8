/*
 * Writes the file of stixelctl snapshot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_SNAPSHOT_H
#define SX_TOOLS_CTL_SNAPSHOT_H

#include "base/image.h"
#include "tools/ctl/ctl.h"

/* Returns true if FILE is "-": the PNG goes to standard output and all messages go to stderr. */
bool snapshot_to_stdout(const struct ctl *c);
/*
 * Writes a complete picture or nothing: JPEG if the file name says so, else PNG. rgb: RGB24. Returns 0, or
 * prints an error and returns the exit code.
 */
int snapshot_write(const struct ctl *c, const struct sx_image *rgb);

#endif
