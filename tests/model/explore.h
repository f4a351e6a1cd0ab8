/*
 * Interface of the explorer. A scenario is code of the daemon in two to four threads. The explorer runs it in
 * every order, and with every value that the C11 memory model lets its atomic loads return.
 * docs/develop/memory-model.md says what is explored and how.
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
 * A scenario. setup runs once, and each execution begins with the memory that setup left. Then the threads
 * run, and at last end, which sees all their effects. Memory of malloc() and static variables are reset for
 * each execution. A thread must not change any other state.
 */
struct model_scenario {
	const char *name;
	void (*setup)(void);
	void (*thread[MODEL_THREADS])(void);
	void (*end)(void);
	void (*teardown)(void); /* called once; may be NULL */
	uint32_t outcomes;	/* for a litmus test: expected outcomes of model_outcome(), as bits */
	bool races;		/* for a litmus test with a data race, which the explorer must find */
};

/* Checks a property. For threads and end. If it is false, the execution ends and a violation is reported. */
void model_check(bool good, const char *what);

/* Reports the outcome of a litmus test, 0 to 31. For end. */
void model_outcome(unsigned outcome);

/*
 * Declares words of a payload in shared memory, all of which the same loops load and store. The explorer
 * tries all values only for the witnesses among them (model_witness()). Loads of the other words return the
 * newest allowed value. For setup.
 */
void model_filler(const void *begin, size_t bytes);
void model_witness(const void *word);
/* Declares an atomic of `bytes` bytes, which pread() may read before the first atomic access. For setup. */
void model_atomic(const void *object, size_t bytes);
/* Returns the number of repetitions: `usual`, or `deep` with --deep. */
unsigned model_count(unsigned usual, unsigned deep);
/*
 * Declares that the thread never waits. A system call that waits is then a violation, and so is an endless
 * loop. For threads.
 */
void model_never_waits(void);
/* Lets the clock advance, so that code which polls for a while before it sleeps soon sleeps. For setup. */
void model_clock_runs(void);
/* Runs the function of a thread that the code under test started in setup. For threads. */
void model_run_started(unsigned which);
/* Switches to another thread's thread-local variables for the rest of setup. */
void model_other_thread(void);
/* Returns the address at which an object in shared memory is mapped. */
void *model_object(const char *path);
/* Passes lines that a thread writes to this descriptor to the function. */
void model_output(int fd, void (*take)(const char *text, size_t bytes));

extern const struct model_scenario model_ring_next, model_ring_latest, model_ring_wait, model_ring_bell,
	model_ring_close, model_ring_slot, model_feed, model_mailbox, model_mailbox_early, model_slots,
	model_log, model_log_full, model_log_life, model_log_queue, model_control_channel, model_controls,
	model_pool, model_pool_late;
/* Small programs whose possible outcomes are known. The last entry has no name. */
extern const struct model_scenario model_litmus[];

#endif
