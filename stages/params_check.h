/*
 * Check that parameters agree with each other and with the size of the images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_PARAMS_CHECK_H
#define SX_STAGES_PARAMS_CHECK_H

#include "base/why.h"
#include "stages/params/params.h"

/*
 * Checks what one row of the option table cannot check: P1 and P2 against 8 bits, sums of probabilities,
 * sizes. Returns 0, or -EINVAL with one sentence in `why` that names both values.
 */
int sx_params_check(const struct sx_params *p, int width, int height, struct sx_why *why);

#endif
