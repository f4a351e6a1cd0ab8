/*
 * Defines a system call that fails when its turn has come, and otherwise calls the real one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_FUZZ_FAILS_CALL_H
#define SX_TESTS_FUZZ_FAILS_CALL_H

#include "tests/fuzz/fails.h"

/* arguments: as in the call's declaration; names: names of the arguments, to pass them on */
#define FAILS_CALL(result, call, arguments, names)                                 \
	result __real_##call arguments;                                            \
	result __wrap_##call arguments;                                            \
	result __wrap_##call arguments                                             \
	{                                                                          \
		return fails_now(FAILS_SYSTEM) ? (result)-1 : __real_##call names; \
	}

#endif
