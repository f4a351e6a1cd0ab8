/*
 * What a scenario of the explorer is: code of the daemon in two to four threads, run in every order and with
 * every value that the C11 memory model lets its atomic loads return. docs/memory-model.md says what is
 * explored and how.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_MODEL_EXPLORE_H
#define SX_TESTS_MODEL_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_THREADS 4

/*
 * setup runs once; each execution begins with the memory that it left. Then the threads, as many as there
 * are, then end, which sees all that they did. Memory of malloc() and static variables go back to what they
 * were for each execution; whatever a thread owns outside of them must not change.
 */
struct model_scenario {
	const char *name;
	void (*setup)(void);
	void (*thread[MODEL_THREADS])(void);
	void (*end)(void);
	void (*teardown)(void); /* once; may be NULL */
	uint32_t outcomes;	/* of a litmus test: bits of all that model_outcome() is to be told */
	bool races;		/* a litmus test with a data race: it must be found */
};

/* In a thread, or in end: a property. False: the execution is over, and a violation is reported. */
void model_check(bool good, const char *what);

/* In end of a litmus test: what came out, 0 to 31. */
void model_outcome(unsigned outcome);

/*
 * setup: words of a payload in shared memory. All are loaded and stored by the same loops: which of their
 * values a load returns is explored for the witnesses alone (model_witness()), the others get the newest that
 * is allowed.
 */
void model_filler(const void *begin, size_t bytes);
void model_witness(const void *word);
/* setup: an atomic of so many bytes lies there, though pread() of it comes first. */
void model_atomic(const void *object, size_t bytes);
/* How often something is done: usually, and with --deep. */
unsigned model_count(unsigned usual, unsigned deep);
/* In a thread: it waits for nobody. A system call that waits is a violation, and so is a loop without end. */
void model_never_waits(void);
/* setup: the clock does not stand still, so that who looks for a while and then sleeps soon sleeps. */
void model_clock_runs(void);
/* In a thread: what the code under test, in setup, had a thread of its own started for. */
void model_run_started(unsigned which);
/* setup: what follows is another thread's, with thread-local variables of its own. */
void model_other_thread(void);
/* Where the map of an object in shared memory lies. */
void *model_object(const char *path);
/* Lines written to this descriptor come to the function, in a thread. */
void model_output(int fd, void (*take)(const char *text, size_t bytes));

extern const struct model_scenario model_ring_next, model_ring_latest, model_ring_wait, model_ring_bell,
	model_ring_close, model_ring_slot, model_feed, model_handover, model_handover_early, model_log,
	model_log_full, model_log_life, model_log_queue, model_exchange, model_tune, model_pool,
	model_pool_late;
/* Small programs of which it is known what the model allows; the last one has no name. */
extern const struct model_scenario model_litmus[];

#endif
