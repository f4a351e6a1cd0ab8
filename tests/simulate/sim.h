/*
 * The simulated machine: one clock, threads as coroutines of one thread, a kernel of descriptors, and a
 * scheduler that a seed decides for. All of it lies in one block of memory outside of the program's data, so
 * that a new life of the daemon begins with the data of a new process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_SIMULATE_SIM_H
#define SX_TESTS_SIMULATE_SIM_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/clock.h"

#define SIM_TASKS 48
#define SIM_TIMERS 160
#define SIM_FD_FIRST 1000
#define SIM_FDS 192
#define SIM_STACK_BYTES (256u << 10)
#define SIM_TLS_BYTES 256
#define SIM_TRACE 128 /* last events that are kept: few, so that they stay in the processor's cache */
#define SIM_MARKS 32  /* and of what the world did */
#define SIM_NEVER INT64_MAX
#define SIM_MS INT64_C(1000000)
#define SIM_S INT64_C(1000000000)

/* ---- random numbers: of the seed alone ---- */

uint64_t sim_random(void);
/* 0 .. below - 1 */
uint64_t sim_below(uint64_t below);
int64_t sim_between(int64_t least, int64_t most);
/* True once in so many times on average; never for 0. */
static inline bool sim_once_in(unsigned times)
{
	return times && sim_below(times) == 0;
}

/* ---- clock and timers ---- */

struct sim_timer {
	int64_t at; /* SIM_NEVER: not armed */
	void (*fire)(void *user);
	void *user;
	int index; /* place in the list of the armed ones */
};

void sim_arm(struct sim_timer *t, int64_t at);
void sim_disarm(struct sim_timer *t);

/* ---- processes and threads ---- */

struct sim_process {
	char name[16];
	int pid;
	bool daemon, alive;
	unsigned random_faults; /* of system calls: once in so many; 0: none */
	int maps, files;	/* that are open: mappings and real descriptors */
	int64_t heap;		/* bytes, of readers */
};

enum sim_state { SIM_FREE, SIM_READY, SIM_BLOCKED, SIM_DONE };

struct sim_task {
	void *stack_pointer; /* while another one runs */
	char *stack;
	struct sim_process *process;
	char name[16];
	enum sim_state state;
	void *(*run)(void *);
	void *argument, *result;
	struct sim_timer timer, starvation;
	bool timed_out, joined;
	bool eager;	  /* a reader that comes while a frame is published */
	uint64_t waiters; /* tasks that wait for its end */
	uint64_t mark;	  /* its number, for the hash of the history */
	int error;	  /* errno, while another one runs */
	unsigned char tls[SIM_TLS_BYTES];
	const void *futex; /* what it waits for, and where */
	uint64_t futex_inode, futex_offset;
	uint32_t futex_seen; /* the value that it went to sleep with */
	int64_t starved_ns;  /* how long it was, in all */
};

struct sim_task *sim_task_create(struct sim_process *p, const char *name, void *(*run)(void *),
				 void *argument);
/* Ends without a step more; not the one that runs. */
void sim_task_kill(struct sim_task *t);
/* The one that runs ends. */
void sim_task_end(void *result) __attribute__((noreturn));
void sim_task_wake(struct sim_task *t);
/* Sleeps until woken or until then; false: it is then. */
bool sim_block(int64_t until);
void sim_sleep(int64_t ns);
/* It gets no processor until then. */
void sim_starve(struct sim_task *t, int64_t until);
struct sim_task *sim_task_named(const struct sim_process *p, const char *name);
/* All of its threads end now, its descriptors are closed. */
void sim_process_kill(struct sim_process *p);
struct sim_process *sim_process_create(const char *name, bool daemon);

/* At every access to memory that threads share. */
void sim_yield(void);

/* ---- descriptors ---- */

enum sim_kind {
	SIM_NONE,
	SIM_EVENT,
	SIM_TIMERFD,
	SIM_SIGNAL,
	SIM_EPOLL,
	SIM_LISTEN,
	SIM_SOCKET,
	SIM_CAMERA,
	SIM_INOTIFY,
	SIM_PIDFD
};

#define SIM_MEMBERS 24
#define SIM_PACKETS 32
#define SIM_PACKET_BYTES 4096
#define SIM_PACKET_POOL 512

struct sim_fd {
	/* what is looked at all the time comes first: one line of the processor's cache */
	_Alignas(64) enum sim_kind kind;
	int members;	  /* of an epoll */
	uint64_t waiters; /* tasks that sleep on it */
	uint64_t epolls;  /* of the first 64 descriptors: the epolls that it is in */
	uint64_t count;	  /* event: value; timer: expirations; inotify: events */
	int camera;
	uint32_t signals;
	uint64_t generation; /* of the camera */
	struct sim_process *process;
	bool blocks; /* event: who reads none of it sleeps */
	struct sim_timer timer;
	int64_t every;
	/* epoll */
	struct {
		int fd;
		struct sim_fd *is;
		struct epoll_event event;
	} member[SIM_MEMBERS];
	/* sockets */
	int peer; /* -1 */
	bool hung_up;
	int packet[SIM_PACKETS], packets; /* received */
	size_t queued, send_bytes;	  /* received bytes; limit of what is on its way from here */
	char path[112];
	int backlog[16], pending;
	struct sim_process *watched; /* pidfd */
};

int sim_fd_make(enum sim_kind kind);
void sim_fd_close(int fd);
/* Something happened to it: who sleeps on it looks. */
void sim_fd_changed(struct sim_fd *f);
int sim_fds_of(const struct sim_process *p);
/* False: it was waiting to be read already. */
bool sim_fd_signal(struct sim_process *p, int signal);
void sim_fd_inotify(struct sim_process *p);
ssize_t sim_socket_read(struct sim_fd *f, void *to, size_t bytes, int flags);
bool sim_fault(void);
/* A process is dead: what it has of the real machine goes back. */
void sim_maps_forget(const struct sim_process *p);
void sim_files_forget(const struct sim_process *p);
/* The names or sizes of real files change. */
void sim_files_changed(void);

/* ---- what the simulated machine does wrong, so that a check has to find it (--break) ---- */

enum sim_break {
	BREAK_NOTHING,
	BREAK_ACCEPT,	/* connections are never accepted */
	BREAK_CLOCK,	/* milliseconds have 32 bits */
	BREAK_CLOSE,	/* now and then the daemon's descriptor stays open */
	BREAK_EPOCH,	/* each life has the same random numbers */
	BREAK_FREE,	/* now and then the daemon's memory is not given back */
	BREAK_GAPS,	/* a driver says less of its images lost */
	BREAK_OLDEST,	/* the oldest pair waits for the engine, not the newest */
	BREAK_PING,	/* WATCHDOG=1 does not arrive */
	BREAK_READY,	/* READY=1 arrives twice */
	BREAK_REPLACED, /* a pair that is replaced is neither counted nor given back */
	BREAK_SIGNAL,	/* signals do not arrive */
	BREAK_UNMAP,	/* now and then a mapping stays */
	BREAK_WAKE,	/* a sleeper on a futex is not woken */
	BREAKS
};

/* ---- the whole ---- */

struct sim_note {
	int64_t at;
	const char *task, *call;
	int64_t a;
};

struct sim {
	/* what each step needs comes first */
	struct sim_task *current, *leaving;
	uint64_t hash, steps, traced;
	int64_t now, next_at, call_ns;
	int inside; /* the scheduler, or a timer */
	bool tracing, over, failed, quiet, lasting;
	enum sim_break broken;
	uint64_t ready, starved, futexes, random[2]; /* tasks as bits; futexes: those that may sleep on one */
	unsigned quantum_mean;
	int timer_count;
	int64_t begin, end, realtime_offset;
	struct sim_timer *timers[SIM_TIMERS];
	struct sim_task task[SIM_TASKS];
	uint64_t seed;
	jmp_buf host;
	void *host_stack_pointer;
	char why[400];
	struct sim_process process[32];
	struct sim_fd fd[SIM_FDS];
	int fds; /* those behind have never been used */
	unsigned char packet[SIM_PACKET_POOL][SIM_PACKET_BYTES];
	uint16_t packet_bytes[SIM_PACKET_POOL];
	int packet_free[SIM_PACKET_POOL], packets_free;
	struct sim_note trace[SIM_TRACE], mark[SIM_MARKS];
	uint64_t marked;
	char text[64][256]; /* log lines of the daemon, the last ones */
	uint64_t texts;
	char folder[64];
	struct sim_process *file[SIM_FD_FIRST]; /* who has opened a real descriptor */
	struct sim_stat {
		uint64_t names; /* sim.names when it was asked for; 0: never */
		struct stat is;
	} stat[SIM_FD_FIRST], named; /* what the kernel says of a real descriptor, and of the ring's name */
	uint64_t names;		     /* counts what can change it */
	void *maps;		     /* threads.c */
	void *data_copy;	     /* the program's data as it was before the first life */
	int next_pid;
	int64_t dead_heap; /* of readers that were killed */
};

extern struct sim *sim;
extern int sim_quantum; /* shared accesses and calls until another thread goes on */

static inline struct sim_fd *sim_fd(int fd)
{
	const unsigned at = (unsigned)(fd - SIM_FD_FIRST);

	return sim && at < SIM_FDS && sim->fd[at].kind != SIM_NONE ? &sim->fd[at] : NULL;
}

void sim_init(uint64_t seed);
/* Until the end; true: all was well. */
bool sim_run(void);
void sim_note(const char *call, int64_t a);
/* At every call into the kernel: time passes, and another thread may go on. */
void sim_seam(const char *call, int64_t a);
/* The same for what happens to the daemon from outside. */
void sim_mark(const char *what, int64_t a);
/* A line of the daemon's log. */
void sim_text(const char *text, size_t bytes);
/* An invariant does not hold: the history ends here. */
void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Only in a host's or a timer's context may nothing of the daemon be called. */
#define SIM_MUST(x, ...)                       \
	do {                                   \
		if (!(x))                      \
			sim_fail(__VA_ARGS__); \
	} while (0)
/* True when this is broken; of the daemon only. */
static inline bool sim_breaks(enum sim_break what)
{
	return sim && sim->broken == what && sim->current && sim->current->process->daemon;
}
/* A new process has the data that the program file has. */
void sim_fresh_data(void);

#endif
