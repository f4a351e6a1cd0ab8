/*
 * stixelctl snapshot: the file that it writes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_SNAPSHOT_H
#define SX_TOOLS_CTL_SNAPSHOT_H

#include "base/image.h"
#include "tools/ctl/ctl.h"

/* FILE "-": as PNG, and what there is to say goes to stderr. */
bool snapshot_to_stdout(const struct ctl *c);
/*
 * As PNG, or JPEG where the name says so; complete or not at all. rgb: RGB24. 0, or the exit code after a
 * sentence.
 */
int snapshot_write(const struct ctl *c, const struct sx_image *rgb);

#endif
