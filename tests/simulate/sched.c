/*
 * Random numbers, the clock, and the choice of the next thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/simulate/sim.h"
#include "tests/simulate/world.h"
#include "tests/simulate/wrap.h"
#include "tests/stack_switch.h"

#define SOON 100	/* accesses until a thread that has just become ready goes on */
#define ALONE (1 << 20) /* accesses until the next switch if no other thread is ready */

struct sim *sim;
int sim_quantum = 1 << 30;

/* ---- random numbers ---- */

__extension__ typedef unsigned __int128 wide;

uint64_t sim_random(void)
{
	/* xorshift128+ */
	uint64_t a = sim->random[0], b = sim->random[1];

	sim->random[0] = b;
	a ^= a << 23;
	sim->random[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
	return sim->random[1] + b;
}

uint64_t sim_below(uint64_t below)
{
	/* the high part of a product, to avoid a division */
	return below ? (uint64_t)((wide)sim_random() * below >> 64) : 0;
}

int64_t sim_between(int64_t least, int64_t most)
{
	return least + (int64_t)sim_below((uint64_t)(most - least) + 1);
}

/* ---- timers: a heap whose first entry is due next ---- */

static void place(struct sim_timer *t, int at)
{
	sim->timers[at] = t;
	t->index = at;
}

static void sift_up(struct sim_timer *t, int at)
{
	for (; at > 0 && sim->timers[(at - 1) / 2]->at > t->at; at = (at - 1) / 2)
		place(sim->timers[(at - 1) / 2], at);
	place(t, at);
}

static void sift_down(struct sim_timer *t, int at)
{
	for (;;) {
		int child = 2 * at + 1;

		if (child + 1 < sim->timer_count && sim->timers[child + 1]->at < sim->timers[child]->at)
			child++;
		if (child >= sim->timer_count || sim->timers[child]->at >= t->at)
			break;
		place(sim->timers[child], at);
		at = child;
	}
	place(t, at);
}

static void find_next(void)
{
	sim->next_at = sim->timer_count ? sim->timers[0]->at : SIM_NEVER;
}

void sim_disarm(struct sim_timer *t)
{
	const int at = t->index;
	struct sim_timer *last;

	if (t->at == SIM_NEVER || !t->fire)
		return;
	t->at = SIM_NEVER;
	last = sim->timers[--sim->timer_count];
	if (last != t) {
		if (at > 0 && sim->timers[(at - 1) / 2]->at > last->at)
			sift_up(last, at);
		else
			sift_down(last, at);
	}
	find_next();
}

void sim_arm(struct sim_timer *t, int64_t at)
{
	sim_disarm(t);
	if (at == SIM_NEVER)
		return;
	if (sim->timer_count == SIM_TIMERS)
		sim_fail("simulation: too many timers");
	t->at = at;
	sift_up(t, sim->timer_count++);
	find_next();
}

/*
 * Fires the due timers. Timers run outside of all threads, so the simulation must not switch threads in them.
 */
static void fire_due(void)
{
	sim->inside++;
	while (sim->next_at <= sim->now) {
		struct sim_timer *first = sim->timers[0];

		sim_disarm(first);
		first->fire(first->user);
	}
	sim->inside--;
}

/* ---- threads ---- */

static struct {
	void *data; /* thread-local variables */
	size_t bytes;
	int *error; /* errno */
} tls;

static int find_tls(struct dl_phdr_info *info, size_t bytes, void *user)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS) {
			tls.data = info->dlpi_tls_data;
			tls.bytes = info->dlpi_phdr[i].p_memsz;
		}
	return 1; /* the program is the first entry */
}

static uint64_t bit_of(const struct sim_task *t)
{
	return UINT64_C(1) << (t - sim->task);
}

static void task_timer(void *user)
{
	struct sim_task *t = user;

	t->timed_out = true;
	sim_task_wake(t);
}

/* Returns 1 + a length that is mostly short, sometimes long: about 0 .. 16 times the mean. */
static int draw_quantum(void)
{
	const uint64_t r = sim_random();

	return 1 + (int)(((r >> 32) * sim->quantum_mean >> 32) << (r & 0xffff) * 5 / 0x10000);
}

/*
 * Shortens the quantum of the running thread: on other processors a thread that has become ready would go on
 * soon.
 */
static void end_quantum_soon(void)
{
	int soon;

	if (sim_quantum <= SOON)
		return;
	soon = draw_quantum();
	sim_quantum = soon < SOON ? soon : 1 + (int)sim_below(SOON);
}

static void starvation_ends(void *user)
{
	sim->starved &= ~bit_of(user);
	end_quantum_soon();
}

void sim_starve(struct sim_task *t, int64_t until)
{
	if (!t || t->state == SIM_FREE || t->state == SIM_DONE)
		return;
	sim->starved |= bit_of(t);
	t->starved_ns += until - sim->now;
	sim_arm(&t->starvation, until);
	if (t == sim->current)
		sim_quantum = 0;
}

void sim_task_wake(struct sim_task *t)
{
	if (t->state != SIM_BLOCKED)
		return;
	sim_disarm(&t->timer);
	t->state = SIM_READY;
	sim->ready |= bit_of(t);
	end_quantum_soon();
}

/* Draws a new quantum. A thread that is alone goes on until end_quantum_soon(). */
static void new_quantum(void)
{
	const uint64_t can = sim->ready & ~sim->starved;

	sim_quantum = can & (can - 1) ? draw_quantum() : ALONE;
}

static void task_free(struct sim_task *t)
{
	sim_disarm(&t->timer);
	sim_disarm(&t->starvation);
	sim->ready &= ~bit_of(t);
	sim->starved &= ~bit_of(t);
	t->state = t->joined || t->state != SIM_DONE ? SIM_FREE : SIM_DONE;
}

static void copy_tls(void *to, const void *from)
{
	if (tls.bytes == sizeof(uint64_t))
		memcpy(to, from, sizeof(uint64_t)); /* no function call: one load and one store */
	else
		memcpy(to, from, tls.bytes);
}

/* Switches to t. The running thread later continues at `from`. */
static void resume(void **from, struct sim_task *t)
{
	sim->current = t;
	copy_tls(tls.data, t->tls);
	*tls.error = t->error;
	new_quantum();
	stack_switch(from, t->stack_pointer);
}

/* Switches to t without a way back to the running thread. */
static void resume_for_good(struct sim_task *t)
{
	void *gone;

	resume(&gone, t);
	abort();
}

/* Returns one of the threads that are bits of `can`, each with the same probability. */
static struct sim_task *one_of(uint64_t can)
{
	unsigned count = 1;

	for (uint64_t rest = can & (can - 1); rest; rest &= rest - 1)
		count++;
	for (uint64_t skip = count > 1 ? sim_below(count) : 0; skip > 0; skip--)
		can &= can - 1;
	return &sim->task[__builtin_ctzll(can)];
}

/* Returns the next thread that can go on. Time passes until there is one. */
static struct sim_task *choose(void)
{
	uint64_t can;

	for (;;) {
		if (sim->now >= sim->end)
			sim->over = true;
		if (sim->over)
			_longjmp(sim->host, 1);
		can = sim->ready & ~sim->starved;
		if (can)
			break;
		sim->inside++;
		world_quiet();
		sim->inside--;
		SIM_MUST(sim->next_at != SIM_NEVER, "all threads sleep for ever");
		if (sim->now < sim->next_at)
			sim->now = sim->next_at;
		fire_due();
	}
	return one_of(can);
}

/* Leaves the running task if it was killed meanwhile. */
static void leave_if_dead(struct sim_task *self, struct sim_task *next)
{
	if (self->state != SIM_DONE)
		return;
	sim->leaving = self;
	resume_for_good(next ? next : choose());
}

/* Switches away after the running task has stored why it waits. Returns when it goes on. */
static void switch_away(void)
{
	struct sim_task *self = sim->current, *next = choose();

	leave_if_dead(self, next);
	if (next == self) {
		new_quantum();
		return;
	}
	copy_tls(self->tls, tls.data);
	self->error = *tls.error;
	resume(&self->stack_pointer, next);
	if (sim->leaving)
		task_free(sim->leaving);
	sim->leaving = NULL;
}

void sim_yield(void)
{
	if (!sim || !sim->current || sim->inside) {
		sim_quantum = 1 << 20;
		return;
	}
	switch_away();
}

bool sim_block(int64_t until)
{
	struct sim_task *t = sim->current;

	t->timed_out = false;
	if (until <= sim->now)
		return false;
	t->state = SIM_BLOCKED;
	sim->ready &= ~bit_of(t);
	sim_arm(&t->timer, until);
	switch_away();
	return !t->timed_out;
}

void sim_sleep(int64_t ns)
{
	const int64_t until = sim->now + ns;

	while (sim_block(until))
		;
}

static void task_entry(void)
{
	struct sim_task *t = sim->current;

	if (sim->leaving)
		task_free(sim->leaving);
	sim->leaving = NULL;
	sim_task_end(t->run(t->argument));
}

void sim_task_end(void *result)
{
	struct sim_task *t = sim->current;

	t->result = result;
	t->state = SIM_DONE;
	sim->ready &= ~bit_of(t);
	for (int i = 0; i < SIM_TASKS; i++)
		if (t->waiters & UINT64_C(1) << i)
			sim_task_wake(&sim->task[i]);
	t->waiters = 0;
	sim->leaving = t;
	resume_for_good(choose());
	abort();
}

struct sim_task *sim_task_create(struct sim_process *p, const char *name, void *(*run)(void *),
				 void *argument)
{
	struct sim_task *t = NULL;

	for (int i = 0; i < SIM_TASKS && !t; i++)
		if (sim->task[i].state == SIM_FREE && &sim->task[i] != sim->leaving)
			t = &sim->task[i];
	if (!t)
		sim_fail("simulation: too many threads");
	*t = (struct sim_task){.process = p, .stack = t->stack, .run = run, .argument = argument};
	t->mark = (uint64_t)(t - sim->task + 1) << 56;
	snprintf(t->name, sizeof(t->name), "%s", name);
	if (!t->stack)
		t->stack = __real_mmap(NULL, SIM_STACK_BYTES, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	t->timer = (struct sim_timer){SIM_NEVER, task_timer, t, 0};
	t->starvation = (struct sim_timer){SIM_NEVER, starvation_ends, t, 0};
	/* stacks begin at different offsets in a page, to avoid conflicts in the CPU cache */
	t->stack_pointer = stack_first(t->stack, SIM_STACK_BYTES - 64 * (size_t)(19 * (t - sim->task) % 128),
				       task_entry);
	t->state = SIM_READY;
	sim->ready |= bit_of(t);
	return t;
}

void sim_task_kill(struct sim_task *t)
{
	const bool runs = t == sim->current || t == sim->leaving;

	t->joined = true;
	t->state = SIM_DONE;
	task_free(t);
	if (runs) /* the stack of the task is in use until another task goes on */
		t->state = SIM_DONE;
}

struct sim_task *sim_task_named(const struct sim_process *p, const char *name)
{
	for (int i = 0; i < SIM_TASKS; i++) {
		struct sim_task *t = &sim->task[i];

		if ((t->state == SIM_READY || t->state == SIM_BLOCKED) && t->process == p &&
		    !strcmp(t->name, name))
			return t;
	}
	return NULL;
}

struct sim_process *sim_process_create(const char *name, bool daemon)
{
	for (size_t i = 0; i < sizeof(sim->process) / sizeof(sim->process[0]); i++) {
		struct sim_process *p = &sim->process[i];
		bool watched = false;

		for (int k = 0; k < sim->fds; k++)
			watched = watched || (sim->fd[k].kind != SIM_NONE && sim->fd[k].watched == p);
		if (p->alive || watched)
			continue;
		sim->dead_heap += p->heap;
		*p = (struct sim_process){.pid = ++sim->next_pid, .daemon = daemon, .alive = true};
		snprintf(p->name, sizeof(p->name), "%s", name);
		return p;
	}
	sim_fail("simulation: too many processes");
}

void sim_process_kill(struct sim_process *p)
{
	for (int i = 0; i < SIM_TASKS; i++)
		if (sim->task[i].process == p && sim->task[i].state != SIM_FREE &&
		    &sim->task[i] != sim->leaving)
			sim_task_kill(&sim->task[i]);
	p->alive = false;
	for (int i = 0; i < sim->fds; i++) {
		if (sim->fd[i].kind != SIM_NONE && sim->fd[i].process == p)
			sim_fd_close(SIM_FD_FIRST + i);
		else if (sim->fd[i].kind == SIM_PIDFD && sim->fd[i].watched == p)
			sim_fd_changed(&sim->fd[i]);
	}
	sim_maps_forget(p);
	sim_files_forget(p);
}

/* ---- the seam ---- */

/* Keeps an event. The hash covers this event and all earlier ones. */
static inline void note(const struct sim_task *t, const char *call, int64_t a)
{
	struct sim_note *n = &sim->trace[sim->traced++ % SIM_TRACE];
	uint64_t h = sim->hash ^ (uint64_t)sim->now ^ (uint64_t)a << 40 ^
		     (uint64_t)(unsigned char)*call << 32 ^ (t ? t->mark : 0);

	*n = (struct sim_note){.at = sim->now, .task = t ? t->name : "-", .call = call, .a = a};
	h *= UINT64_C(0x9e3779b97f4a7c15);
	sim->hash = h ^ h >> 29;
	if (__builtin_expect(sim->tracing, 0))
		printf("%15.6f %-10s %s %lld\n", (double)n->at / 1e6, n->task, call, (long long)a);
}

void sim_note(const char *call, int64_t a)
{
	note(sim->current, call, a);
}

void sim_mark(const char *what, int64_t a)
{
	sim_note(what, a);
	sim->mark[sim->marked++ % SIM_MARKS] = sim->trace[(sim->traced - 1) % SIM_TRACE];
}

/* Fires due timers, one of which may kill the running task. */
static __attribute__((noinline)) void time_has_come(void)
{
	fire_due();
	leave_if_dead(sim->current, NULL);
}

void sim_seam(const char *call, int64_t a)
{
	if (!sim || !sim->current || sim->inside)
		return;
	sim->steps++;
	note(sim->current, call, a);
	sim->now += sim->call_ns + (int64_t)(sim->hash & 127);
	if (__builtin_expect(sim->now >= sim->next_at, 0))
		time_has_come();
	if (--sim_quantum <= 0)
		switch_away();
}

void sim_text(const char *text, size_t bytes)
{
	char *to = sim->text[sim->texts++ % 64];

	bytes = bytes < 255 ? bytes : 255;
	memcpy(to, text, bytes);
	to[bytes && to[bytes - 1] == '\n' ? bytes - 1 : bytes] = 0;
	if (sim->tracing)
		printf("%15.6f log        %s\n", (double)sim->now / 1e6, to);
}

void sim_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(sim->why, sizeof(sim->why), format, args);
	va_end(args);
	sim->failed = true;
	_longjmp(sim->host, 1);
}

/* ---- beginning and end ---- */

extern char __data_start, _end;

void sim_fresh_data(void)
{
	const int quantum = sim_quantum;
	struct sim *kept = sim;
	const size_t bytes = (size_t)(&_end - &__data_start);

	if (!sim->data_copy) {
		sim->data_copy =
			__real_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(sim->data_copy, &__data_start, bytes);
	}
	memcpy(&__data_start, sim->data_copy, bytes);
	sim = kept;
	sim_quantum = quantum;
}

void sim_init(uint64_t seed)
{
	sim = __real_mmap(NULL, sizeof(*sim), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sim->seed = seed;
	sim->random[0] = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	sim->random[1] = (seed ^ UINT64_C(0xd1b54a32d192ed03)) * UINT64_C(0xbf58476d1ce4e5b9) + 1;
	for (int i = 0; i < 16; i++)
		sim_random();
	sim->begin = sim->now = 1000 * SIM_S;
	sim->next_at = SIM_NEVER;
	sim->realtime_offset = 1700000000 * SIM_S;
	sim->call_ns = 150;
	sim->quantum_mean = 40;
	sim->next_pid = 100;
	sim->names = 1;
	for (int i = 0; i < SIM_PACKET_POOL; i++)
		sim->packet_free[sim->packets_free++] = i;
	dl_iterate_phdr(find_tls, NULL);
	tls.error = &errno;
	if (tls.bytes > SIM_TLS_BYTES)
		abort();
}

bool sim_run(void)
{
	if (_setjmp(sim->host) == 0)
		resume(&sim->host_stack_pointer, choose());
	sim->current = NULL;
	sim_quantum = 1 << 30;
	return !sim->failed;
}
