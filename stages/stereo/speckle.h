/*
 * Speckle filter: removes small islands of disparity, which are mismatches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_SPECKLE_H
#define SX_STAGES_STEREO_SPECKLE_H

#include <stddef.h>

#include "base/image.h"
#include "stages/params/params.h"

/*
 * Removes small components of a map. disparity: U16 Q4, changed in place. Valid 4-neighbours a, b are
 * connected if |a - b| <= 16 * speckle_range (Q4). Components of at most speckle_size pixels become invalid.
 * speckle_size 0 changes nothing. The result does not depend on the order of work. scratch:
 * sx_speckle_scratch_bytes() bytes, 4-byte aligned, content ignored; may be NULL if speckle_size is 0.
 */
void sx_speckle(const struct sx_image *disparity, const struct sx_filter_params *f, void *scratch);
size_t sx_speckle_scratch_bytes(int width, int height);

#endif
