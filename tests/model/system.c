/*
 * The explorer's system calls: eventfds, futexes, shared memory, the clock, malloc(). All other calls go to
 * the real system. The kernel takes locks in read() and write() of eventfds and in futex(), so these calls
 * order the operations before and after them. poll() gives no order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/model/model.h"

#define FUTEX EVENTS
#define EVENT_FIRST 1000 /* first descriptor of an eventfd */
#define OBJECTS 4
#define CLOCK_NS INT64_C(1000000000000)

struct object {
	ino_t inode;
	unsigned char *at;
	size_t bytes;
};

struct event {
	uint64_t count;
	bool single; /* EFD_SEMAPHORE */
};

/* State outside of the memory that is reset for each execution. */
static struct {
	unsigned char arena[ARENA_BYTES];
	size_t used, used_setup;
	struct object object[OBJECTS];
	unsigned objects;
	struct event event[EVENTS], event_setup[EVENTS];
	unsigned events;
	int output;
	void (*take)(const char *text, size_t bytes);
} * sys;

static void system_init(void)
{
	if (!sys)
		sys = mmap(NULL, sizeof(*sys), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void *system_arena(void)
{
	system_init();
	return sys->arena;
}

/* Returns the used size. Threads allocate after setup's memory. */
size_t system_arena_used(void)
{
	return sys->used;
}

void system_snapshot(void)
{
	system_init();
	memcpy(sys->event_setup, sys->event, sizeof(sys->event));
	sys->used_setup = sys->used;
}

void system_reset(void)
{
	memcpy(sys->event, sys->event_setup, sizeof(sys->event));
	sys->used = sys->used_setup;
}

/* ---- malloc ---- */

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *p);
void __wrap_free(void *p);

static void *system_allocate(size_t bytes)
{
	size_t *used, most = ARENA_BYTES - MODEL_THREADS * THREAD_ARENA_BYTES, first = 0;
	void *p;

	system_init();
	used = &sys->used;
	if (model->running) {
		used = &explore_self()->allocated;
		first = most + (size_t)model->self * THREAD_ARENA_BYTES;
		most = THREAD_ARENA_BYTES;
	}
	bytes = (bytes + 63) & ~(size_t)63;
	if (bytes > most - *used)
		return NULL;
	p = sys->arena + first + *used;
	*used += bytes;
	return p;
}

void *__wrap_malloc(size_t bytes)
{
	return model && model->scenario ? system_allocate(bytes) : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	void *p = model && model->scenario ? system_allocate(count * bytes) : NULL;

	if (!model || !model->scenario)
		return __real_calloc(count, bytes);
	if (p)
		memset(p, 0, count * bytes);
	return p;
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	if (!model || !model->scenario)
		return NULL; /* not called before a scenario is set up */
	sys->used = (sys->used + alignment - 1) & ~(alignment - 1);
	return system_allocate(bytes);
}

void __wrap_free(void *p)
{
	if (!sys || (uintptr_t)p - (uintptr_t)sys->arena >= ARENA_BYTES)
		__real_free(p);
}

/* ---- shared memory ---- */

void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes);
ssize_t __real_pread(int fd, void *to, size_t bytes, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t offset);

/* With 64-bit offsets libc uses other names for the same functions. */
__typeof__(__wrap_mmap) __wrap_mmap64 __attribute__((alias("__wrap_mmap")));
__typeof__(__wrap_pread) __wrap_pread64 __attribute__((alias("__wrap_pread")));

static struct object *system_object(const struct stat *st)
{
	for (unsigned i = 0; i < sys->objects; i++)
		if (sys->object[i].inode == st->st_ino)
			return &sys->object[i];
	return NULL;
}

bool system_is_shared(uintptr_t address)
{
	for (unsigned i = 0; i < sys->objects; i++)
		if (address - (uintptr_t)sys->object[i].at < sys->object[i].bytes)
			return true;
	return false;
}

/* Maps an object at the same address for writer and reader, so that an atomic has one address. */
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	struct object *o;
	struct stat st;

	if (fd < 0 || !(flags & MAP_SHARED) || !model || !model->scenario)
		return __real_mmap(at, bytes, protection, flags, fd, offset);
	if (fstat(fd, &st) < 0)
		return MAP_FAILED;
	o = system_object(&st);
	if (!o && sys->objects < OBJECTS) {
		o = &sys->object[sys->objects++];
		*o = (struct object){.inode = st.st_ino, .bytes = (size_t)st.st_size};
		sys->used = (sys->used + 4095) & ~(size_t)4095;
		o->at = system_allocate(o->bytes);
		if (o->at)
			memset(o->at, 0, o->bytes);
	}
	return o && o->at ? o->at : MAP_FAILED;
}

int __wrap_munmap(void *at, size_t bytes)
{
	return sys && (uintptr_t)at - (uintptr_t)sys->arena < ARENA_BYTES ? 0 : __real_munmap(at, bytes);
}

void *model_object(const char *path)
{
	struct stat st;
	struct object *o = stat(path, &st) == 0 ? system_object(&st) : NULL;

	return o ? o->at : NULL;
}

/* Copies whole words in any order, as relaxed loads do. */
static void system_copy(unsigned char *to, uintptr_t from, size_t bytes)
{
	while (bytes) {
		const size_t skip = from % 8, n = bytes < 8 - skip ? bytes : 8 - skip;
		unsigned known = memory_bytes_at(from);
		uint64_t word;

		if (known == 4 && n >= 4) {
			word = memory_load(from, 4, __ATOMIC_RELAXED, 0);
			memcpy(to, &word, 4);
			to += 4, from += 4, bytes -= 4;
			continue;
		}
		word = memory_load(from - skip, 8, __ATOMIC_RELAXED, 0);
		memcpy(to, (const char *)&word + skip, n);
		to += n, from += n, bytes -= n;
	}
}

ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t offset)
{
	struct object *o;
	struct stat st;

	if (!sys || fstat(fd, &st) < 0 || !(o = system_object(&st)))
		return __real_pread(fd, to, bytes, offset);
	if ((size_t)offset >= o->bytes)
		return 0;
	if (bytes > o->bytes - (size_t)offset)
		bytes = o->bytes - (size_t)offset;
	if (explore_running()) {
		races_access((uintptr_t)to, bytes, true, (uintptr_t)__builtin_return_address(0));
		system_copy(to, (uintptr_t)o->at + (size_t)offset, bytes);
	} else {
		memcpy(to, o->at + offset, bytes);
	}
	return (ssize_t)bytes;
}

/* ---- eventfd ---- */

int __wrap_eventfd(unsigned count, int flags);
ssize_t __real_read(int fd, void *to, size_t bytes);
ssize_t __wrap_read(int fd, void *to, size_t bytes);
ssize_t __real_write(int fd, const void *from, size_t bytes);
ssize_t __wrap_write(int fd, const void *from, size_t bytes);
int __real_close(int fd);
int __wrap_close(int fd);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

static struct event *system_event(int fd)
{
	return sys && fd >= EVENT_FIRST && (unsigned)(fd - EVENT_FIRST) < sys->events
		       ? &sys->event[fd - EVENT_FIRST]
		       : NULL;
}

int __wrap_eventfd(unsigned count, int flags)
{
	system_init();
	if (sys->events == EVENTS) {
		errno = EMFILE;
		return -1;
	}
	sys->event[sys->events] = (struct event){count, flags & EFD_SEMAPHORE};
	return EVENT_FIRST + (int)sys->events++;
}

/* Waits for the thread's turn before a read or write of an eventfd. */
static void system_turn(int fd)
{
	const unsigned object = (unsigned)(fd - EVENT_FIRST);

	if (!explore_running())
		return;
	explore_wait_system(1u << object, NULL, NULL);
	memory_system(object);
}

ssize_t __wrap_read(int fd, void *to, size_t bytes)
{
	struct event *e = system_event(fd);
	uint64_t count;

	if (!e)
		return __real_read(fd, to, bytes);
	system_turn(fd);
	explore_trace("read of eventfd %d: %llu", fd, (unsigned long long)e->count);
	if (!e->count) {
		errno = EAGAIN;
		return -1;
	}
	count = e->single ? 1 : e->count;
	e->count -= count;
	memcpy(to, &count, sizeof(count));
	return sizeof(count);
}

ssize_t __wrap_write(int fd, const void *from, size_t bytes)
{
	struct event *e = system_event(fd);
	uint64_t more;

	if (!e && sys && sys->take && fd == sys->output) {
		sys->take(from, bytes);
		return (ssize_t)bytes;
	}
	if (!e)
		return __real_write(fd, from, bytes);
	memcpy(&more, from, sizeof(more));
	system_turn(fd);
	explore_trace("write to eventfd %d", fd);
	e->count += more;
	return sizeof(more);
}

int __wrap_close(int fd)
{
	return system_event(fd) || (model && model->running) ? 0 : __real_close(fd);
}

static bool system_readable(const struct thread *t)
{
	for (unsigned i = 0; i < t->waits; i++)
		if (system_event((int)t->waits_for[i])->count)
			return true;
	return false;
}

/* Never ends by its timeout alone: a thread that is not woken is stuck. */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	struct thread *t;
	uint32_t objects = 0;
	int ready = 0;

	if (!model || !model->running || timeout_ms >= 0)
		return __real_poll(fds, count, timeout_ms);
	t = explore_self();
	t->waits = 0;
	for (nfds_t i = 0; i < count; i++)
		if (system_event(fds[i].fd)) {
			t->waits_for[t->waits++] = (unsigned)fds[i].fd;
			objects |= 1u << (fds[i].fd - EVENT_FIRST);
		}
	memory_plain_flush(t);
	explore_wait_system(objects, NULL, system_readable);
	for (nfds_t i = 0; i < count; i++) {
		struct event *e = system_event(fds[i].fd);

		fds[i].revents = e && e->count ? POLLIN : 0;
		ready += fds[i].revents != 0;
	}
	explore_trace("poll returns %d", ready);
	return ready;
}

void model_output(int fd, void (*take)(const char *text, size_t bytes))
{
	system_init();
	sys->output = fd;
	sys->take = take;
}

/* ---- futex ---- */

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static bool system_woken(const struct thread *t)
{
	return t->woken;
}

/* Waits on a futex. The kernel reads the word under a lock that a waker also takes. */
static long system_futex_wait(uintptr_t word, uint32_t expected)
{
	struct thread *t = explore_self();
	uint32_t found;

	explore_wait_system(1u << FUTEX, memory_at(word, 4), NULL);
	memory_system(FUTEX);
	t->from = 0;
	found = (uint32_t)memory_look(word, 4);
	explore_trace("futex wait for %u: finds %u", expected, found);
	if (found != expected) {
		errno = EAGAIN;
		return -1;
	}
	t->woken = false;
	t->waits_at = word;
	explore_wait_system(1u << FUTEX, NULL, system_woken);
	memory_system(FUTEX); /* the woken thread goes on after the operations of its waker */
	t->waits_at = 0;
	return 0;
}

static long system_futex_wake(uintptr_t word)
{
	long woken = 0;

	explore_wait_system(1u << FUTEX, NULL, NULL);
	memory_system(FUTEX);
	for (int i = 0; i < model->threads; i++)
		if (model->thread[i].waits_at == word && !model->thread[i].woken) {
			model->thread[i].woken = true;
			woken++;
		}
	explore_trace("futex wake: %ld", woken);
	return woken;
}

long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number != SYS_futex || !explore_running())
		return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	return (int)a[1] == FUTEX_WAKE ? system_futex_wake((uintptr_t)a[0])
				       : system_futex_wait((uintptr_t)a[0], (uint32_t)a[2]);
}

/* ---- the clock, and thread-local variables ---- */

int __wrap_clock_gettime(clockid_t id, struct timespec *t);

/*
 * Returns a time that stands still, so that nothing happens by time alone. With clock_runs each call advances
 * the thread's clock by 1 ms.
 */
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	const unsigned calls =
		model && model->running && model->clock_runs ? explore_self()->clock_calls++ : 0;

	*t = (struct timespec){CLOCK_NS / 1000000000 + calls / 1000, calls % 1000 * 1000000};
	return 0;
}

void model_clock_runs(void)
{
	model->clock_runs = true;
}

static int system_find_tls(struct dl_phdr_info *info, size_t bytes, void *found)
{
	struct {
		void *data;
		size_t bytes;
	} *tls = found;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS) {
			tls->data = info->dlpi_tls_data;
			tls->bytes = info->dlpi_phdr[i].p_memsz;
		}
	return 1; /* the program is the first entry */
}

bool system_tls(void **data, size_t *bytes)
{
	static struct {
		void *data;
		size_t bytes;
	} tls;

	if (!tls.data)
		dl_iterate_phdr(system_find_tls, &tls);
	if (tls.bytes > TLS_BYTES)
		abort();
	*data = tls.data;
	*bytes = tls.bytes;
	return tls.data != NULL;
}
