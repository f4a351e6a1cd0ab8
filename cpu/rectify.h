/*
 * Rectification on the cpu: the bytes of sx_rectify().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_RECTIFY_H
#define SX_CPU_RECTIFY_H

#include "stages/rectify/rectify.h"

/* raw: grey levels (sx_ingest_is_grey()). Rows y0 .. y1 - 1 of grey. */
void sx_rectify_rows(const struct sx_image *raw, const struct sx_image *grey,
		     const struct sx_rectify_map *map, int y0, int y1);

#endif
