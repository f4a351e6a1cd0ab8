/*
 * What a user may do about a state, where several programs say it: the daemon in its log, stixelctl doctor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_ADVICE_H
#define SX_BASE_ADVICE_H

#define SX_ADVICE_TOO_SLOW                                                                                \
	"lower source.fps, source.size or stereo.disparities, widen stixels.width, or, with engine cpu, " \
	"give it more engine.threads"

#endif
