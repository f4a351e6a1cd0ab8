/*
 * Fails one call of a program: the Nth of a kind since it was armed. The linker puts wraps.c between the
 * program's own objects and the libraries (--wrap), so that calls that libraries make among themselves are
 * neither counted nor failed; where such a library gives out memory (kind "library") its answer to us fails.
 *
 * Told by the environment:
 *
 *	TORTURE		KIND:N fails that call, KIND:N/V with its Vth error where it has several, KIND:N+
 *			that call and all later ones of the kind, of those that are interrupted (EINTR) every
 *			other one; KIND@SITE:N... counts those of one call site alone; without it all
 *			calls are counted, a line of the report for each with its site
 *	TORTURE_MENDED	a file: once it is there, later ones do not fail any more
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
	TORTURE_CUDA, /* of the runtime that is played, cuda.c; its errors are its own, -error: of its work */
	TORTURE_KINDS,
};

/* Not an errno: the call does only a part of what it was asked for, and says so. */
#define TORTURE_SHORT (-1)

/*
 * Counts this call. Returns 0, or the error that it is to fail with: errors, ended by 0, has those that it
 * may. Any thread.
 */
int torture_call(enum torture_kind kind, const char *name, const int *errors, const void *caller);
/* In place of TORTURE, for who torments itself: counts begin anew. Aborts when there is no such kind. */
void torture_order(const char *text);
/* Whether the Nth call of the kind was made since. */
bool torture_reached(void);
/* From now on calls count, until torture_disarm(). */
void torture_arm(void);
void torture_disarm(void);
/* Calls of this thread are the test's own from now on, and no more of it: neither counted nor failed. */
void torture_begin_own(void);
void torture_end_own(void);
/* A line of the report. */
void torture_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * The steady state allocates nothing: from now on an allocation by a thread named capture, frame or sx-cpu-*
 * aborts with a backtrace, whichever library makes it.
 */
void torture_forbid_allocation(void);
void torture_allow_allocation(void);
/* Of the capture thread, while it has no source. */
void torture_exempt_thread(bool exempt);

#endif
