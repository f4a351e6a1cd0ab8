/*
 * Median filter, 3x3.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_MEDIAN_H
#define SX_STAGES_STEREO_MEDIAN_H

#include "base/image.h"
#include "stages/params/params.h"

/*
 * Filters a map. src, dst: U16, same size, not the same memory. dst(x,y) = the fifth smallest of the nine
 * values around (x,y). The invalid value 0xffff counts as the largest, so that five invalid neighbours make a
 * pixel invalid and five valid ones fill it. The outermost rows and columns are copied, or set to 0 (as
 * libSGM, which makes them valid).
 */
void sx_median(const struct sx_image *src, const struct sx_image *dst, enum sx_median_border border);

#endif
