/*
 * How fakes end the program that they are part of.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_KIT_FAKE_ABORT_H
#define SX_TESTS_KIT_FAKE_ABORT_H

/* The program has broken a contract. tests/kit/fake_abort.c prints the sentence; tests/simulate ends the history. */
void fake_abort(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#define FAKE_MUST(x)                          \
	do {                                  \
		if (!(x))                     \
			fake_abort("%s", #x); \
	} while (0)

#endif
