/*
 * Confidence of the finished disparity map.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_CONFIDENCE_H
#define SX_STAGES_STEREO_CONFIDENCE_H

#include "base/image.h"

/*
 * Sets the confidence of invalid pixels to 0. disparity: U16 Q4, after all filters. confidence: U8 of
 * sx_winner(), changed in place. A pixel that the median has filled keeps the confidence of its own winner.
 */
void sx_confidence(const struct sx_image *disparity, const struct sx_image *confidence);

#endif
