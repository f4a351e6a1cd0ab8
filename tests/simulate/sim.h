/*
 * The simulated machine: one clock, threads as coroutines of one thread, a kernel of descriptors, and a
 * scheduler whose decisions follow from a seed. All of it is in one block of memory outside the program's
 * data, so that a new life of the daemon can begin with the data of a new process.
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
#define SIM_TRACE 128 /* last events that are kept; few, so that they stay in the CPU cache */
#define SIM_MARKS 32  /* last events of the world that are kept */
#define SIM_NEVER INT64_MAX
#define SIM_MS INT64_C(1000000)
#define SIM_S INT64_C(1000000000)

/* ---- random numbers: they depend on the seed alone ---- */

uint64_t sim_random(void);
/* Returns a number from 0 to below - 1. */
uint64_t sim_below(uint64_t below);
int64_t sim_between(int64_t least, int64_t most);
/* True once in `times` calls on average; never if times is 0. */
static inline bool sim_once_in(unsigned times)
{
	return times && sim_below(times) == 0;
}

/* ---- clock and timers ---- */

struct sim_timer {
	int64_t at; /* due time; SIM_NEVER: not armed */
	void (*fire)(void *user);
	void *user;
	int index; /* index in the list of armed timers */
};

void sim_arm(struct sim_timer *t, int64_t at);
void sim_disarm(struct sim_timer *t);

/* ---- processes and threads ---- */

struct sim_process {
	char name[16];
	int pid;
	bool daemon, alive;
	unsigned random_faults; /* rate of failing system calls: one in this number; 0: none */
	int maps, files;	/* numbers of open mappings and of open real descriptors */
	int64_t heap;		/* heap of a reader, bytes */
};

enum sim_state { SIM_FREE, SIM_READY, SIM_BLOCKED, SIM_DONE };

struct sim_task {
	void *stack_pointer; /* saved while another thread runs */
	char *stack;
	struct sim_process *process;
	char name[16];
	enum sim_state state;
	void *(*run)(void *);
	void *argument, *result;
	struct sim_timer timer, starvation;
	bool timed_out, joined;
	bool eager;	  /* a reader that looks at the ring while a frame is being published */
	uint64_t waiters; /* tasks that wait for the end of this one, as bits */
	uint64_t mark;	  /* number of the task in the hash of the history */
	int error;	  /* errno, saved while another thread runs */
	unsigned char tls[SIM_TLS_BYTES];
	const void *futex; /* futex that the task waits for, and its place */
	uint64_t futex_inode, futex_offset;
	uint32_t futex_seen; /* value at which the task went to sleep */
	int64_t starved_ns;  /* total time without a processor */
};

struct sim_task *sim_task_create(struct sim_process *p, const char *name, void *(*run)(void *),
				 void *argument);
/* Ends a task at once. The task must not be the running one. */
void sim_task_kill(struct sim_task *t);
/* Ends the running task. */
void sim_task_end(void *result) __attribute__((noreturn));
void sim_task_wake(struct sim_task *t);
/* Sleeps until the task is woken or until a time. False: the time has come. */
bool sim_block(int64_t until);
void sim_sleep(int64_t ns);
/* Gives the task no processor until a time. */
void sim_starve(struct sim_task *t, int64_t until);
struct sim_task *sim_task_named(const struct sim_process *p, const char *name);
/* Ends all threads of a process at once and closes its descriptors. */
void sim_process_kill(struct sim_process *p);
struct sim_process *sim_process_create(const char *name, bool daemon);

/* Marks an access to memory that threads share. Another thread may go on. */
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
	/* fields that are read most often come first, in one cache line */
	_Alignas(64) enum sim_kind kind;
	int members;	  /* number of an epoll's descriptors */
	uint64_t waiters; /* tasks that sleep on it, as bits */
	uint64_t epolls;  /* epolls that contain it, as bits of the first 64 descriptors */
	uint64_t count;	  /* eventfd: value; timerfd: expirations; inotify: events */
	int camera;
	uint32_t signals;
	uint64_t generation; /* generation of the camera */
	struct sim_process *process;
	bool blocks; /* eventfd: a task that reads an empty one sleeps */
	struct sim_timer timer;
	int64_t every;
	/* members of an epoll */
	struct {
		int fd;
		struct sim_fd *is;
		struct epoll_event event;
	} member[SIM_MEMBERS];
	/* fields of sockets */
	int peer; /* peer descriptor, or -1 */
	bool hung_up;
	int packet[SIM_PACKETS], packets; /* received packets */
	size_t queued, send_bytes;	  /* received bytes, and limit of the bytes in flight from here */
	char path[112];
	int backlog[16], pending;
	struct sim_process *watched; /* process of a pidfd */
};

int sim_fd_make(enum sim_kind kind);
void sim_fd_close(int fd);
/* Wakes the tasks that sleep on a descriptor after a change. */
void sim_fd_changed(struct sim_fd *f);
int sim_fds_of(const struct sim_process *p);
/* Sends a signal to a process. False: this signal was already pending. */
bool sim_fd_signal(struct sim_process *p, int signal);
void sim_fd_inotify(struct sim_process *p);
ssize_t sim_socket_read(struct sim_fd *f, void *to, size_t bytes, int flags);
bool sim_fault(void);
/* Releases what a dead process held of the real machine. */
void sim_maps_forget(const struct sim_process *p);
void sim_files_forget(const struct sim_process *p);
/* Call if the names or sizes of real files change. */
void sim_files_changed(void);

/* ---- faults of the simulated machine that a check has to find (--break) ---- */

enum sim_break {
	BREAK_NOTHING,
	BREAK_ACCEPT,	/* connections are never accepted */
	BREAK_CLOCK,	/* milliseconds are cut to 32 bits */
	BREAK_CLOSE,	/* sometimes a descriptor of the daemon is not closed */
	BREAK_EPOCH,	/* each life gets the same random numbers */
	BREAK_FREE,	/* sometimes the daemon's memory is not freed */
	BREAK_GAPS,	/* a driver reports fewer lost images than there were */
	BREAK_OLDEST,	/* the oldest pair waits for the engine, instead of the newest */
	BREAK_PING,	/* WATCHDOG=1 is lost */
	BREAK_READY,	/* READY=1 arrives twice */
	BREAK_REPLACED, /* a replaced pair is neither counted nor returned */
	BREAK_SIGNAL,	/* signals are lost */
	BREAK_UNMAP,	/* sometimes a mapping is not removed */
	BREAK_WAKE,	/* a sleeper on a futex is not woken */
	BREAKS
};

/* ---- the whole machine ---- */

struct sim_note {
	int64_t at;
	const char *task, *call;
	int64_t a;
};

struct sim {
	/* fields that each step needs come first */
	struct sim_task *current, *leaving;
	uint64_t hash, steps, traced;
	int64_t now, next_at, call_ns;
	int inside; /* depth of calls in the scheduler or in a timer */
	bool tracing, over, failed, quiet, lasting;
	enum sim_break broken;
	/* tasks as bits; futexes: tasks that may sleep on a futex */
	uint64_t ready, starved, futexes, random[2];
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
	int fds; /* descriptors used so far: later entries were never used */
	unsigned char packet[SIM_PACKET_POOL][SIM_PACKET_BYTES];
	uint16_t packet_bytes[SIM_PACKET_POOL];
	int packet_free[SIM_PACKET_POOL], packets_free;
	struct sim_note trace[SIM_TRACE], mark[SIM_MARKS];
	uint64_t marked;
	char text[64][256]; /* last log lines of the daemon */
	uint64_t texts;
	char folder[64];
	struct sim_process *file[SIM_FD_FIRST]; /* process that opened each real descriptor */
	struct sim_stat {
		uint64_t names; /* value of sim.names at the time of the query; 0: never queried */
		struct stat is;
	} stat[SIM_FD_FIRST], named; /* cached stat of each real descriptor, and of the ring's name */
	uint64_t names;		     /* number of events that may have changed a cached stat */
	void *maps;		     /* list of mappings, see threads.c */
	void *data_copy;	     /* copy of the program's data before the first life */
	int next_pid;
	int64_t dead_heap; /* heap of readers that were killed, bytes */
};

extern struct sim *sim;
extern int sim_quantum; /* remaining accesses and calls before another thread goes on */

static inline struct sim_fd *sim_fd(int fd)
{
	const unsigned at = (unsigned)(fd - SIM_FD_FIRST);

	return sim && at < SIM_FDS && sim->fd[at].kind != SIM_NONE ? &sim->fd[at] : NULL;
}

void sim_init(uint64_t seed);
/* Runs until the end. True: no invariant was violated. */
bool sim_run(void);
void sim_note(const char *call, int64_t a);
/* Marks a call into the kernel. Time passes, and another thread may go on. */
void sim_seam(const char *call, int64_t a);
/* Records an event that happens to the daemon from outside. */
void sim_mark(const char *what, int64_t a);
/* Records a line of the daemon's log. */
void sim_text(const char *text, size_t bytes);
/* Reports a violated invariant. The history ends here. */
void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Checks a condition. In the host's and the timers' context no function of the daemon may be called. */
#define SIM_MUST(x, ...)                       \
	do {                                   \
		if (!(x))                      \
			sim_fail(__VA_ARGS__); \
	} while (0)
/* True if this fault is on. It affects only the daemon. */
static inline bool sim_breaks(enum sim_break what)
{
	return sim && sim->broken == what && sim->current && sim->current->process->daemon;
}
/* Resets the program's data to that of a new process. */
void sim_fresh_data(void);

#endif
