/*
 * Census transforms, window 9 wide, 7 high. They make the descriptors that the matching cost compares.
 * Spangenberg, Langner, Rojas: Weighted semi-global matching and census-based disparity (CSCT);
 * Zabih, Woodfill: Non-parametric local transforms (census).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_CENSUS_H
#define SX_STAGES_STEREO_CENSUS_H

#include "base/image.h"
#include "stages/params/params.h"

#define SX_CENSUS_RADIUS_X 4
#define SX_CENSUS_RADIUS_Y 3

/* Returns the pixel format of the descriptors: SX_PIXEL_U32 for csct, SX_PIXEL_U64 for the census family. */
enum sx_pixel sx_census_pixel(enum sx_cost cost);

/*
 * Computes the descriptors of an image. grey: U8. descriptors: format sx_census_pixel(cost), same width and
 * height. Every descriptor is written. It is 0 if the window is not wholly inside the image (4 columns, 3
 * rows at each border).
 *
 * The first comparison is in the most significant used bit, the last in bit 0. Unused bits are 0.
 * csct:     31 bits, I(x+dx, y+dy) > I(x-dx, y-dy): dy = -3..-1 with dx = -4..4, then dy = 0, dx = -4..-1.
 * census:   62 bits, I(x, y) > I(x+dx, y+dy): dy = -3..3, dx = -4..4 without the centre.
 * census48: as census, without the centre row and the centre column (libSGM's "9x7").
 * census63: as census, with the centre (that bit is 0). It gives the same distances as census.
 */
void sx_census(const struct sx_image *grey, const struct sx_image *descriptors, enum sx_cost cost);

#endif
