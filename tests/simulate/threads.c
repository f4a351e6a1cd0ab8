/*
 * Simulated threads, locks, futexes, memory, processes and clock, as the daemon and its readers call them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <malloc.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/pipeline.h"
#include "tests/simulate/camera.h"
#include "tests/simulate/sim.h"
#include "tests/simulate/world.h"
#include "tests/simulate/wrap.h"

#define MAPS 64

/* With 64-bit offsets libc uses other names for the same functions. */
__typeof__(__wrap_mmap) __wrap_mmap64 __attribute__((alias("__wrap_mmap")));
__typeof__(__wrap_open) __wrap_open64 __attribute__((alias("__wrap_open")));
__typeof__(__wrap_fstat) __wrap_fstat64 __attribute__((alias("__wrap_fstat")));
__typeof__(__wrap_lstat) __wrap_lstat64 __attribute__((alias("__wrap_lstat")));
__typeof__(__wrap_ftruncate) __wrap_ftruncate64 __attribute__((alias("__wrap_ftruncate")));
__typeof__(__wrap_posix_fallocate) __wrap_posix_fallocate64 __attribute__((alias("__wrap_posix_fallocate")));
__typeof__(__wrap_fcntl) __wrap_fcntl64;

int __wrap_fcntl64(int fd, int command, ...)
{
	va_list args;
	long a;

	va_start(args, command);
	a = va_arg(args, long);
	va_end(args);
	return __wrap_fcntl(fd, command, a);
}

static int fail(int error)
{
	errno = error;
	return -1;
}

/* ---- time ---- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	int64_t ns;

	if (!sim || !sim->current)
		return __real_clock_gettime(clock, t);
	sim_seam("clock", clock);
	if (sim->current == world->main)
		check_main_looks();
	ns = sim->now + (clock == CLOCK_REALTIME ? sim->realtime_offset : 0);
	if (sim_breaks(BREAK_CLOCK))
		ns = ns / SIM_MS % ((int64_t)UINT32_MAX + 1) * SIM_MS;
	*t = (struct timespec){ns / SIM_S, ns % SIM_S};
	return 0;
}

int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
	sim_seam("nanosleep", t->tv_nsec);
	sim_sleep(t->tv_sec * SIM_S + t->tv_nsec);
	return 0;
}

/* ---- threads ---- */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *argument)
{
	sim_seam("pthread_create", 0);
	*thread = (pthread_t)(uintptr_t)sim_task_create(sim->current->process, "thread", run, argument);
	return 0;
}

static int join(struct sim_task *t, void **result, int64_t until)
{
	while (t->state != SIM_DONE) {
		t->waiters |= UINT64_C(1) << (sim->current - sim->task);
		if (!sim_block(until) && t->state != SIM_DONE)
			return ETIMEDOUT;
	}
	if (result)
		*result = t->result;
	t->joined = true;
	if (t != sim->leaving)
		t->state = SIM_FREE;
	return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
	sim_seam("pthread_join", 0);
	return join((struct sim_task *)(uintptr_t)thread, result, SIM_NEVER);
}

int __wrap_pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
	sim_seam("pthread_timedjoin_np", 0);
	return join((struct sim_task *)(uintptr_t)thread, result,
		    until->tv_sec * SIM_S + until->tv_nsec - sim->realtime_offset);
}

int __wrap_pthread_setname_np(pthread_t thread, const char *name)
{
	struct sim_task *t = (struct sim_task *)(uintptr_t)thread;

	snprintf(t->name, sizeof(t->name), "%s", name);
	return 0;
}

pthread_t __wrap_pthread_self(void)
{
	return (pthread_t)(uintptr_t)sim->current;
}

int __wrap_pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *p)
{
	return EPERM;
}

int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return 0;
}

int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return 0;
}

/* Lock in the caller's memory, as large as a real one: its owner and the waiting tasks. */
struct lock {
	uint64_t owner, waiters; /* tasks as bits */
};

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
	struct lock *l = (struct lock *)m;
	uint64_t self;

	if (!sim || !sim->current) /* called by the profiler at exit */
		return 0;
	self = UINT64_C(1) << (sim->current - sim->task);
	sim_seam("lock", 0);
	SIM_MUST(l->owner != self, "a thread locks what it has locked");
	while (l->owner) {
		l->waiters |= self;
		sim_block(SIM_NEVER);
	}
	l->owner = self;
	return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
	struct lock *l = (struct lock *)m;
	uint64_t wake = l->waiters;

	if (!sim || !sim->current)
		return 0;
	SIM_MUST(l->owner == UINT64_C(1) << (sim->current - sim->task),
		 "a thread unlocks what it has not locked");
	l->owner = l->waiters = 0;
	for (; wake; wake &= wake - 1)
		sim_task_wake(&sim->task[__builtin_ctzll(wake)]);
	sim_seam("unlock", 0);
	return 0;
}

int __wrap_prctl(int option, ...)
{
	/* the first call of the frame thread */
	if (option == PR_SET_TIMERSLACK && sim->current->run == sx_frame_thread)
		age_pipeline(sim->current->argument);
	return 0;
}

/* ---- processes ---- */

pid_t __wrap_getpid(void)
{
	return sim && sim->current ? sim->current->process->pid : 1;
}

int __wrap_kill(pid_t pid, int signal)
{
	for (size_t i = 0; i < sizeof(sim->process) / sizeof(sim->process[0]); i++)
		if (sim->process[i].alive && sim->process[i].pid == pid)
			return 0;
	return fail(ESRCH);
}

ssize_t __wrap_getrandom(void *to, size_t bytes, unsigned flags)
{
	uint64_t r = sim_breaks(BREAK_EPOCH) ? 7 : sim_random();

	memcpy(to, &r, bytes < sizeof(r) ? bytes : sizeof(r));
	return (ssize_t)bytes;
}

void __wrap__exit(int code)
{
	if (!sim || !sim->current)
		__real__exit(code);
	world_exit(code, true);
}

/* ---- shared memory ---- */

struct map {
	const char *at;
	size_t bytes;
	uint64_t inode, offset;
	struct sim_process *process;
};

void sim_files_forget(const struct sim_process *p)
{
	for (int fd = 0; fd < SIM_FD_FIRST; fd++)
		if (sim->file[fd] == p) {
			sim->file[fd] = NULL;
			__real_close(fd);
		}
}

void sim_maps_forget(const struct sim_process *p)
{
	struct map *maps = sim->maps;

	for (int i = 0; maps && i < MAPS; i++)
		if (maps[i].at && maps[i].process == p) {
			__real_munmap((void *)(uintptr_t)maps[i].at, maps[i].bytes);
			maps[i].at = NULL;
		}
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	struct map *maps;
	void *memory;
	struct stat st;

	if (!sim || !sim->current)
		return __real_mmap(at, bytes, protection, flags, fd, offset);
	sim_seam("mmap", (int64_t)bytes);
	if (sim_fd(fd) && sim_fd(fd)->kind == SIM_CAMERA)
		return camera_map(sim_fd(fd), bytes, (unsigned)offset);
	memory = __real_mmap(at, bytes, protection, flags, fd, offset);
	if (memory == MAP_FAILED)
		return memory;
	sim->current->process->maps++;
	if (!sim->maps)
		sim->maps = __real_mmap(NULL, MAPS * sizeof(*maps), PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	maps = sim->maps;
	for (int i = 0; i < MAPS; i++)
		if (!maps[i].at) {
			maps[i] = (struct map){.at = memory,
					       .bytes = bytes,
					       .offset = (uint64_t)offset,
					       .process = sim->current->process};
			if (fd >= 0 && fstat(fd, &st) == 0)
				maps[i].inode = st.st_ino;
			return memory;
		}
	sim_fail("simulation: too many mappings");
}

int __wrap_munmap(void *at, size_t bytes)
{
	if (sim_breaks(BREAK_UNMAP))
		return 0;
	struct map *maps;

	if (!sim || !sim->current)
		return __real_munmap(at, bytes);
	sim_seam("munmap", (int64_t)bytes);
	if (camera_unmap(at))
		return 0;
	maps = sim->maps;
	for (int i = 0; maps && i < MAPS; i++)
		if (maps[i].at == at) {
			SIM_MUST(maps[i].bytes == bytes, "munmap() of %zu bytes of %zu", bytes,
				 maps[i].bytes);
			maps[i].process->maps--;
			maps[i].at = NULL;
			return __real_munmap(at, bytes);
		}
	sim_fail("munmap() of what is not mapped");
}

/* Finds the inode and offset of a word, because each process maps the word at another address. */
static void futex_place(const void *word, uint64_t *inode, uint64_t *offset)
{
	const struct map *maps = sim->maps;
	const char *p = word;

	*inode = 0;
	*offset = (uint64_t)(uintptr_t)word;
	for (int i = 0; maps && i < MAPS; i++)
		if (maps[i].at && p >= maps[i].at && p < maps[i].at + maps[i].bytes) {
			*inode = maps[i].inode;
			*offset = (uint64_t)(p - maps[i].at) + maps[i].offset;
			return;
		}
}

static long futex_wake(const void *word, long most)
{
	uint64_t inode, offset;
	long woken = 0;

	futex_place(word, &inode, &offset);
	for (uint64_t all = sim->futexes; all && woken < most; all &= all - 1) {
		struct sim_task *t = &sim->task[__builtin_ctzll(all)];

		if (!t->futex || t->state == SIM_FREE || t->state == SIM_DONE) {
			sim->futexes &= ~(all & -all); /* the task no longer sleeps on a futex */
		} else if (t->state == SIM_BLOCKED && t->futex_inode == inode && t->futex_offset == offset) {
			t->futex = NULL;
			sim_task_wake(t);
			woken++;
		}
	}
	return woken;
}

static long futex_wait(const uint32_t *word, uint32_t seen, const struct timespec *until)
{
	struct sim_task *t = sim->current;

	if (sim_fault())
		return fail(EINTR);
	if (*(const volatile uint32_t *)word != seen)
		return fail(EAGAIN);
	t->futex = word;
	t->futex_seen = seen;
	sim->futexes |= UINT64_C(1) << (t - sim->task);
	futex_place(word, &t->futex_inode, &t->futex_offset);
	if (!sim_block(until ? until->tv_sec * SIM_S + until->tv_nsec : SIM_NEVER) && t->futex) {
		t->futex = NULL;
		return fail(ETIMEDOUT);
	}
	t->futex = NULL;
	return 0;
}

static int pidfd_open(pid_t pid)
{
	for (size_t i = 0; i < sizeof(sim->process) / sizeof(sim->process[0]); i++)
		if (sim->process[i].alive && sim->process[i].pid == pid) {
			int fd = sim_fd_make(SIM_PIDFD);

			if (fd >= 0)
				sim_fd(fd)->watched = &sim->process[i];
			return fd;
		}
	return fail(ESRCH);
}

long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	sim_seam("syscall", number);
	if (number == SYS_futex && (int)a[1] == FUTEX_WAKE)
		return sim_breaks(BREAK_WAKE) ? 0 : futex_wake((const void *)a[0], (int)a[2]);
	if (number == SYS_futex && (int)a[1] == FUTEX_WAIT_BITSET)
		return futex_wait((const uint32_t *)a[0], (uint32_t)a[2], (const struct timespec *)a[3]);
#ifdef SYS_pidfd_open
	if (number == SYS_pidfd_open)
		return pidfd_open((pid_t)a[0]);
#endif
	sim_fail("simulation: system call %ld", number);
}

int __wrap_mlock(const void *at, size_t bytes)
{
	return 0;
}

int __wrap_mlockall(int flags)
{
	return 0;
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;
	int fd;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	if (!sim || !sim->current)
		return __real_open(path, flags, mode);
	sim_seam("open", flags);
	fd = camera_open(path);
	if (fd != -ENXIO)
		return fd < 0 ? fail(-fd) : fd;
	if (!strncmp(path, "/proc/", 6) || !strncmp(path, "/dev/dma_heap", 13) ||
	    !strcmp(path, "/dev/udmabuf"))
		return fail(ENOENT);
	fd = __real_open(path, flags, mode);
	if (fd >= SIM_FD_FIRST)
		sim_fail("simulation: %s has descriptor %d", path, fd);
	sim_files_changed();
	if (fd >= 0) {
		sim->file[fd] = sim->current->process;
		sim->current->process->files++;
	}
	return fd;
}

/* ---- real files: a reader queries its ring at each wait, and the answer rarely changes ---- */

void sim_files_changed(void)
{
	if (sim)
		sim->names++;
}

int __wrap_fstat(int fd, struct stat *ret)
{
	if (!sim || !sim->current || fd < 0 || fd >= SIM_FD_FIRST || !sim->file[fd])
		return __real_fstat(fd, ret);
	if (sim->stat[fd].names != sim->names) {
		if (__real_fstat(fd, &sim->stat[fd].is) < 0)
			return -1;
		sim->stat[fd].names = sim->names;
	}
	*ret = sim->stat[fd].is;
	return 0;
}

/* Caches the answer for the ring's name, which the daemon queries twice a second. */
int __wrap_lstat(const char *path, struct stat *ret)
{
	if (!sim || !sim->current || strcmp(path, world->ring) != 0)
		return __real_lstat(path, ret);
	if (sim->named.names != sim->names) {
		if (__real_lstat(path, &sim->named.is) < 0)
			return -1;
		sim->named.names = sim->names;
	}
	*ret = sim->named.is;
	return 0;
}

int __wrap_unlink(const char *path)
{
	sim_files_changed();
	return __real_unlink(path);
}

int __wrap_unlinkat(int folder, const char *path, int flags)
{
	sim_files_changed();
	return __real_unlinkat(folder, path, flags);
}

int __wrap_rename(const char *from, const char *to)
{
	sim_files_changed();
	return __real_rename(from, to);
}

int __wrap_ftruncate(int fd, off_t bytes)
{
	sim_files_changed();
	return __real_ftruncate(fd, bytes);
}

int __wrap_posix_fallocate(int fd, off_t offset, off_t bytes)
{
	sim_files_changed();
	return __real_posix_fallocate(fd, offset, bytes);
}

int __wrap_ioctl(int fd, unsigned long request, void *argument)
{
	struct sim_fd *f;
	int error;

	sim_seam("ioctl", (int64_t)(request & 0xff));
	f = sim_fd(fd);
	SIM_MUST(f && f->kind == SIM_CAMERA, "ioctl() of descriptor %d, which is no camera", fd);
	if (sim_fault())
		return fail(EINTR);
	error = camera_ioctl(f, fd, request, argument);
	return error ? fail(error) : 0;
}

/* ---- the heap: the readers' part is counted, so that the rest is the daemon's ---- */

static bool is_reader(void)
{
	return sim && sim->current && !sim->current->process->daemon;
}

static void *count_heap(void *p)
{
	if (p && is_reader())
		sim->current->process->heap += (int64_t)malloc_usable_size(p) + 8;
	return p;
}

void *__wrap_malloc(size_t bytes)
{
	return count_heap(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return count_heap(__real_calloc(count, bytes));
}

void __wrap_free(void *p)
{
	if (p && sim_breaks(BREAK_FREE) && malloc_usable_size(p) >= 1024)
		return;
	if (p && is_reader())
		sim->current->process->heap -= (int64_t)malloc_usable_size(p) + 8;
	__real_free(p);
}

/* Skips malloc_trim(), which is slow and has no effect on the simulation. */
int __wrap_malloc_trim(size_t pad)
{
	return 1;
}
