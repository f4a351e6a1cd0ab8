/*
 * Rectification on the CPU. Must equal sx_rectify() byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_RECTIFY_H
#define SX_CPU_RECTIFY_H

#include "stages/rectify/rectify.h"

/* Rectifies rows y0 .. y1 - 1 of grey. raw: grey levels (sx_ingest_is_grey()). */
void sx_rectify_rows(const struct sx_image *raw, const struct sx_image *grey,
		     const struct sx_rectify_map *map, int y0, int y1);

#endif
