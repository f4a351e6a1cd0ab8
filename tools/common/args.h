/*
 * Parses values that the command lines of several tools share: numbers, sizes, kinds of images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_COMMON_ARGS_H
#define SX_TOOLS_COMMON_ARGS_H

#include <stdbool.h>

/* Parses the whole text as a number in min..max. False: it is not such a number. */
bool sx_parse_int(const char *text, int min, int max, int *ret);
/* The same for a number with decimals. */
bool sx_parse_real(const char *text, double min, double max, double *ret);
/*
 * Parses "left", "right", "disparity", with commas between them, or "none". *kinds: bits 1u << enum
 * stixel_plane.
 */
bool sx_parse_images(const char *text, unsigned *kinds);
/* Parses "1242x375", each 1..65535 px. */
bool sx_parse_size(const char *text, int *width, int *height);

#endif
