/*
 * Inside of the explorer: choices, threads, messages, views, and the race check.
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

#define TLS_BYTES 256 /* of a program's thread-local variables, at most */
#define LOCATIONS 640
#define MESSAGES 8192
#define PER_LOCATION 160
#define VIEWS 2048
#define ARENA_BYTES (1u << 20)
#define THREAD_ARENA_BYTES (1u << 15)
#define EVENTS 8
#define MUTEXES 3
#define KERNEL_OBJECTS (EVENTS + 1 + MUTEXES) /* eventfds, all futexes as one, mutexes */
#define OPERATIONS_MOST 20000		      /* of one execution: more is a loop without end */

/*
 * What a thread, or a message, knows: for each location the newest message, for each thread how far it has
 * come.
 */
struct view {
	uint32_t clock[MODEL_THREADS];
	unsigned count; /* of seen: what comes later was not there yet, and is 0 */
	uint16_t seen[LOCATIONS];
};

/* A value that was stored: number in mo says where it lies in the location's modification order. */
struct message {
	uint64_t value;
	uint16_t location, position, view; /* view: index, 0: none */
	bool pinned;			   /* a read-modify-write has read it: nothing comes between */
};

struct location {
	uintptr_t address;
	unsigned bytes, count;
	uint32_t writers; /* threads that write it in any execution: kept from one to the next */
	bool filler;
	uint32_t execution; /* that count and mo belong to */
	uint16_t mo[PER_LOCATION];
};

enum pending { PENDING_LOAD, PENDING_RMW, PENDING_STORE, PENDING_SYSTEM, PENDING_START, PENDING_DONE };

struct thread {
	ucontext_t context;
	struct view now, acquired; /* acquired: by relaxed loads, for an acquire fence to come */
	uint16_t released;	   /* view of the last release fence; 0: none */
	enum pending pending;
	struct location *at;		       /* of the pending operation; NULL without */
	bool total;			       /* the pending operation is seq_cst */
	bool (*ready)(const struct thread *t); /* of a system call that waits */
	uint32_t objects;		       /* bits of the kernel's objects that it looks at or changes */
	bool asleep;	     /* its pending operation has been explored, with messages before mark */
	uint32_t mark, from; /* from: least message that the operation may read now */
	uintptr_t waits_at;  /* its futex or condition, while it sleeps there */
	struct mutex *mutex; /* that it waits for, or had last */
	unsigned clock_calls;
	bool never_waits;
	bool woken;	 /* from there */
	uintptr_t plain; /* store into shared memory that is about to happen; 0: none */
	size_t plain_bytes;
	unsigned waits_for[4], waits; /* descriptors of poll() */
	size_t allocated;
	unsigned operations;
	unsigned char tls[TLS_BYTES]; /* its thread-local variables */
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
	char kind; /* 'l'oad, 's'tore, 'x'change or other read-modify-write, 'f'ence */
	int order;
};

struct model {
	bool running, collecting, tracing, deep;
	enum ending ending;
	char what[256];
	ucontext_t back;
	int self; /* thread that runs */
	int threads;
	struct thread thread[MODEL_THREADS];
	const struct model_scenario *scenario;

	/* choices: the path from the root of the tree to this leaf */
	struct choice path[1 << 15];
	unsigned depth, length;
	bool restart; /* a location has another writer than was known */

	/* memory */
	uint32_t execution, messages, views, locations;
	struct location location[LOCATIONS];
	uint16_t table[4096]; /* hash of address to location + 1 */
	struct message message[MESSAGES];
	struct view view[VIEWS];
	struct view total;		    /* of all seq_cst operations */
	struct view object[KERNEL_OBJECTS]; /* of system calls, which take the object's lock */

	struct mutex mutex[MUTEXES];
	bool clock_runs;

	/* weakening */
	struct site site[256];
	unsigned sites;
	uintptr_t weak_pc;
	int weak_order; /* in place of its own */

	void *cells; /* of races.c */

	/* statistics */
	uint32_t outcomes;
	uint64_t executions, pruned, operations;
};

extern struct model *model;

/* ---- explore.c ---- */
unsigned explore_choose(unsigned count);
/* The calling thread is about to do this; returns when it is its turn. */
void explore_wait(enum pending pending, struct location *at, bool total);
/*
 * The same of a system call on kernel objects; at (may be NULL): a word that it looks at; ready (likewise):
 * waits.
 */
void explore_wait_system(uint32_t objects, struct location *at, bool (*ready)(const struct thread *t));
_Noreturn void explore_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* This execution is one that has been seen in another order. */
_Noreturn void explore_prune(void);
void explore_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Once: calls setup, and keeps the memory that each execution begins with. */
void explore_setup(const struct model_scenario *s);
/* All executions, or as many as it takes to a violation. True: there is none. */
bool explore_run(void);
/* The last execution again, and told. True: it has its violation again. */
bool explore_replay(void);
void explore_teardown(void);
struct thread *explore_self(void);
/* Whether a thread of a scenario runs; then what it stored before, plain, is in memory now. */
bool explore_running(void);

/* ---- memory.c ---- */
void memory_reset(void);
struct location *memory_at(uintptr_t address, unsigned bytes);
uint64_t memory_load(uintptr_t address, unsigned bytes, int order, uintptr_t pc);
void memory_store(uintptr_t address, unsigned bytes, uint64_t value, int order, uintptr_t pc);
/* make: the new value of an old one. Returns the old one. */
uint64_t memory_change(uintptr_t address, unsigned bytes, uint64_t (*make)(uint64_t old, uint64_t with),
		       uint64_t with, int order, uintptr_t pc);
bool memory_compare(uintptr_t address, unsigned bytes, uint64_t *expected, uint64_t desired, int order,
		    int failure, uintptr_t pc);
/* A value that the thread may see now, of which nothing is learned otherwise. */
uint64_t memory_look(uintptr_t address, unsigned bytes);
/* Bytes of the atomic that lies there; 0: none is known. */
unsigned memory_bytes_at(uintptr_t address);
void memory_fence(int order, uintptr_t pc);
/* Of a system call, under the object's lock: it knows what those before it on this object did. */
void memory_system(unsigned object);
/* A message that the thread may read now, from a location of which only some lie at or behind from. */
bool memory_has(const struct thread *t, const struct location *l, uint32_t from);
/*
 * A plain store into shared memory, which happens when this has returned; and what was stored so, made
 * messages.
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
