/*
 * stixel-process: table of the things that move in a pair of a sequence.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PROCESS_PROCESS_OBJECTS_H
#define SX_TOOLS_PROCESS_PROCESS_OBJECTS_H

#include <stdio.h>

#include "stages/motion/filter/objects.h"

/* Writes a line for each object that is shown, with its place in half a second. */
void process_objects_write(const struct sx_motion_objects *os, FILE *f);

#endif
