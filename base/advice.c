/*
 * What a user may do about a state.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/advice.h"

const char *sx_advice_too_slow(void)
{
	return "lower source.fps, source.size or stereo.disparities, widen stixels.width, or, with engine "
	       "cpu, give it more engine.threads";
}
