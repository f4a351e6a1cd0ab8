/*
 * Ends the program from a fake that is part of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_KIT_FAKE_ABORT_H
#define SX_TESTS_KIT_FAKE_ABORT_H

/*
 * Called if the program has broken a contract. In tests/kit/fake_abort.c it prints the sentence and aborts.
 * In tests/simulate it ends the simulated history.
 */
void fake_abort(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#define FAKE_MUST(x)                          \
	do {                                  \
		if (!(x))                     \
			fake_abort("%s", #x); \
	} while (0)

#endif
