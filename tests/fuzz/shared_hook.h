/*
 * Included before the code of a reader of shared memory (shared.h): the publisher may write before each load.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_FUZZ_SHARED_HOOK_H
#define SX_TESTS_FUZZ_SHARED_HOOK_H

void shared_turn(void);

#define __atomic_load_n(from, order) (shared_turn(), __atomic_load_n(from, order))

#endif
