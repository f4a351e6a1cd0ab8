/*
 * Fails one call of a program: the Nth of a kind since counting began. The linker puts wraps.c between the
 * program's own objects and the libraries (--wrap). So calls between libraries are neither counted nor
 * failed. If such a library returns memory (kind "library"), its answer to the program fails.
 *
 * Environment:
 *
 *	TORTURE		KIND:N fails that call, KIND:N/V with its Vth error if it has several, KIND:N+
 *			that call and all later ones of the kind, but only every other one of those that
 *			fail with EINTR; KIND@SITE:N... counts the calls of one call site alone; without
 *			TORTURE all calls are counted, and the report has a line for each with its site
 *	TORTURE_MENDED	a file: once it exists, later calls do not fail any more
 *	TORTURE_PHASE	when calls count (phases.c); without it from start to end
 *	TORTURE_REPORT	a file: what failed, counts, and what the phase saw, a line each
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_TORTURE_TORTURE_H
#define SX_TESTS_TORTURE_TORTURE_H

#include <stdbool.h>

enum torture_kind {
	TORTURE_MALLOC,
	TORTURE_MMAP,
	TORTURE_OPEN,
	TORTURE_DESCRIPTOR,
	TORTURE_SOCKET,
	TORTURE_THREAD,
	TORTURE_READ,
	TORTURE_WRITE,
	TORTURE_STREAM,
	TORTURE_FILE,
	TORTURE_IOCTL,
	TORTURE_CLOCK,
	TORTURE_WAIT,
	TORTURE_FUTEX,
	TORTURE_LIBRARY,
	TORTURE_CUDA, /* simulated runtime (cuda.c); errors are CUDA's, -error: its work fails */
	TORTURE_KINDS,
};

/* The call does only a part of its work and returns that. This is no errno. */
#define TORTURE_SHORT (-1)

/*
 * Counts this call. Returns 0, or the error with which the call must fail. errors: possible errors, ended by
 * 0. Any thread.
 */
int torture_call(enum torture_kind kind, const char *name, const int *errors, const void *caller);
/* Replaces TORTURE for a program that tests itself. Counts begin again. Aborts if the kind does not exist. */
void torture_order(const char *text);
/* True if the Nth call of the kind was made since counting began. */
bool torture_reached(void);
/* Starts counting calls, until torture_disarm(). */
void torture_arm(void);
void torture_disarm(void);
/* Marks the following calls of this thread as the test's own: they are neither counted nor failed. */
void torture_begin_own(void);
void torture_end_own(void);
/* Writes a line of the report. */
void torture_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Checks that the steady state allocates nothing. From now on an allocation by a thread named capture, frame
 * or sx-cpu-* aborts with a backtrace, whichever library makes it.
 */
void torture_forbid_allocation(void);
void torture_allow_allocation(void);
/* Exempts the capture thread while it has no source. */
void torture_exempt_thread(bool exempt);

#endif
