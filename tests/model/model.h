/*
 * Internals of the explorer: choices, threads, messages, views, and the check for data races.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_MODEL_MODEL_H
#define SX_TESTS_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "tests/model/explore.h"

#define TLS_BYTES 256 /* limit of a program's thread-local variables, bytes */
#define LOCATIONS 640
#define MESSAGES 8192
#define PER_LOCATION 160
#define VIEWS 2048
#define ARENA_BYTES (1u << 20)
#define THREAD_ARENA_BYTES (1u << 15)
#define EVENTS 8
#define MUTEXES 3
#define KERNEL_OBJECTS (EVENTS + 1 + MUTEXES) /* the eventfds, one object for all futexes, the mutexes */
#define OPERATIONS_MOST 20000		      /* limit per execution: more operations are an endless loop */

/* Knowledge of a thread or a message: for each location the newest message, for each thread its progress. */
struct view {
	uint32_t clock[MODEL_THREADS];
	unsigned count; /* entries of seen; later locations did not exist yet, and count as 0 */
	uint16_t seen[LOCATIONS];
};

/* A stored value. position is its index in mo, the location's modification order. */
struct message {
	uint64_t value;
	uint16_t location, position, view; /* view: index; 0: none */
	/* a read-modify-write has read it, so no store may come between the two */
	bool pinned;
};

struct location {
	uintptr_t address;
	unsigned bytes, count;
	uint32_t writers; /* threads that write the location in any execution so far, as bits */
	bool filler;
	uint32_t execution; /* execution to which count and mo belong */
	uint16_t mo[PER_LOCATION];
};

enum pending { PENDING_LOAD, PENDING_RMW, PENDING_STORE, PENDING_SYSTEM, PENDING_START, PENDING_DONE };

struct thread {
	ucontext_t context;
	struct view now, acquired; /* acquired: views of relaxed loads, for a later acquire fence */
	uint16_t released;	   /* view of the last release fence; 0: none */
	enum pending pending;
	struct location *at;		       /* location of the pending operation, or NULL */
	bool total;			       /* the pending operation is seq_cst */
	bool (*ready)(const struct thread *t); /* set for a system call that waits: true if it can go on */
	/* kernel objects that the pending operation reads or changes, as bits */
	uint32_t objects;
	bool asleep;	     /* the pending operation has been explored with all messages before mark */
	uint32_t mark, from; /* from: oldest message that the operation may read now */
	uintptr_t waits_at;  /* futex or condition on which the thread sleeps; 0: none */
	struct mutex *mutex; /* mutex that the thread waits for, or locked last */
	unsigned clock_calls;
	bool never_waits;
	bool woken;	 /* woken from waits_at */
	uintptr_t plain; /* address of a pending plain store into shared memory; 0: none */
	size_t plain_bytes;
	unsigned waits_for[4], waits; /* descriptors of poll() */
	size_t allocated;
	unsigned operations;
	unsigned char tls[TLS_BYTES]; /* the thread's thread-local variables */
};

struct mutex {
	uintptr_t address;
	bool locked;
};

enum ending { ENDING_NONE, ENDING_GOOD, ENDING_PRUNED, ENDING_BAD };

struct choice {
	uint16_t taken, count;
};

struct site {
	uintptr_t pc;
	char kind; /* l: load, s: store, x: exchange or other read-modify-write, f: fence */
	int order;
};

struct model {
	bool running, collecting, tracing, deep;
	enum ending ending;
	char what[256];
	ucontext_t back;
	int self; /* running thread */
	int threads;
	struct thread thread[MODEL_THREADS];
	const struct model_scenario *scenario;

	/* choices: the path from the root of the tree to this leaf */
	struct choice path[1 << 15];
	unsigned depth, length;
	bool restart; /* a location has a writer that was not known before */

	/* memory */
	uint32_t execution, messages, views, locations;
	struct location location[LOCATIONS];
	uint16_t table[4096]; /* hash table: location + 1 at the hash of its address */
	struct message message[MESSAGES];
	struct view view[VIEWS];
	struct view total;		    /* view of all seq_cst operations */
	struct view object[KERNEL_OBJECTS]; /* views of system calls, which take the object's lock */

	struct mutex mutex[MUTEXES];
	bool clock_runs;

	/* weakened operation */
	struct site site[256];
	unsigned sites;
	uintptr_t weak_pc;
	int weak_order; /* replaces the operation's own order */

	void *cells; /* shadow memory, see races.c */

	/* statistics */
	uint32_t outcomes;
	uint64_t executions, pruned, operations;
};

extern struct model *model;

/* ---- explore.c ---- */
unsigned explore_choose(unsigned count);
/* Announces an operation of the calling thread. Returns when it is the thread's turn. */
void explore_wait(enum pending pending, struct location *at, bool total);
/*
 * Announces a system call on kernel objects. at: word that the call reads, or NULL. ready: true if the call
 * can go on; NULL: it does not wait.
 */
void explore_wait_system(uint32_t objects, struct location *at, bool (*ready)(const struct thread *t));
_Noreturn void explore_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends an execution that was already explored in another order. */
_Noreturn void explore_prune(void);
void explore_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Calls setup once, and saves the memory with which each execution begins. */
void explore_setup(const struct model_scenario *s);
/* Runs all executions up to the first violation. True if there is none. */
bool explore_run(void);
/* Repeats the last execution with a trace. True if the violation occurs again. */
bool explore_replay(void);
void explore_teardown(void);
struct thread *explore_self(void);
/* True if a thread of a scenario is running. Then also completes the thread's pending plain store. */
bool explore_running(void);

/* ---- memory.c ---- */
void memory_reset(void);
struct location *memory_at(uintptr_t address, unsigned bytes);
uint64_t memory_load(uintptr_t address, unsigned bytes, int order, uintptr_t pc);
void memory_store(uintptr_t address, unsigned bytes, uint64_t value, int order, uintptr_t pc);
/* Does a read-modify-write. make: computes the new value. Returns the old value. */
uint64_t memory_change(uintptr_t address, unsigned bytes, uint64_t (*make)(uint64_t old, uint64_t with),
		       uint64_t with, int order, uintptr_t pc);
bool memory_compare(uintptr_t address, unsigned bytes, uint64_t *expected, uint64_t desired, int order,
		    int failure, uintptr_t pc);
/* Returns a value that the thread may read now, without acquiring the view of its message. */
uint64_t memory_look(uintptr_t address, unsigned bytes);
/* Returns the size of the atomic at an address, bytes; 0: none is known. */
unsigned memory_bytes_at(uintptr_t address);
void memory_fence(int order, uintptr_t pc);
/*
 * Orders a system call under the object's lock: the thread learns all effects of earlier calls on this
 * object.
 */
void memory_system(unsigned object);
/* True if the thread may read a message of the location that is not older than message `from`. */
bool memory_has(const struct thread *t, const struct location *l, uint32_t from);
/*
 * memory_plain() announces a plain store into shared memory, which the caller does next. memory_plain_flush()
 * turns the stored words into messages.
 */
void memory_plain(struct thread *t, uintptr_t address, size_t bytes);
void memory_plain_flush(struct thread *t);

/* ---- races.c ---- */
void races_access(uintptr_t address, size_t bytes, bool write, uintptr_t pc);

/* ---- system.c ---- */
void *system_arena(void);
size_t system_arena_used(void);
bool system_is_shared(uintptr_t address);
void system_reset(void);
void system_snapshot(void);
bool system_tls(void **data, size_t *bytes);

#endif
