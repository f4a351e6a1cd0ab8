/*
 * Confidence of the finished disparity map.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_CONFIDENCE_H
#define SX_STAGES_STEREO_CONFIDENCE_H

#include "base/image.h"

/*
 * disparity: U16 Q4, after all filters. confidence: U8 of sx_winner(), changed in place: 0 where the
 * disparity is invalid. A pixel that the median has filled keeps the confidence of its own winner.
 */
void sx_confidence(const struct sx_image *disparity, const struct sx_image *confidence);

#endif
