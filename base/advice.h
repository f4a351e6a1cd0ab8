/*
 * What a user may do about a state, where several programs say it: the daemon in its log, stixelctl doctor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_ADVICE_H
#define SX_BASE_ADVICE_H

/* Of an engine that does not keep up. Any thread. */
const char *sx_advice_too_slow(void);

#endif
