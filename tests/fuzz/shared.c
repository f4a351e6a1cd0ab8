/*
 * Simulates shared memory whose publisher writes at any time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/fuzz/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/fuzz/shared_hook.h"

enum { TURNS_MOST = 20000, GUARD_BYTES = 4096 };
/* Bits of the place of a write: the word changes by a signed byte, once, or also at later looks. */
enum { STEPS = 1u << 14, SWINGS = 1u << 13, SWINGS_MOST = 64 };
/* The publisher in the header, and its user. */
enum { PROCESS = 4711, NAMESPACE = 77, STARTED = 1000, OTHER_USER = 54321 };

/*
 * True in the thread in which the system is simulated. The fuzzer and its other thread use the real system.
 */
static __thread bool ours;

static struct {
	int fd;
	uint8_t *at;
	int64_t now_ns;
	struct fuzz_input in; /* remaining writes */
	unsigned turns_left, where;
	unsigned turns;
	unsigned swings_left;
	uint8_t *swings;
	uint64_t by;
	unsigned play;	 /* bits of SHARED_OTHER and the following */
	bool other_name; /* the name leads to another object */
} shared = {.fd = -1};

static size_t bytes_of_pages(size_t bytes)
{
	return (bytes + GUARD_BYTES - 1) / GUARD_BYTES * GUARD_BYTES;
}

static void map_object(void)
{
	shared.fd = memfd_create("shared", MFD_CLOEXEC);
	if (shared.fd < 0 || ftruncate(shared.fd, SHARED_BYTES) < 0 || fchmod(shared.fd, 0600) < 0)
		fuzz_fail("no shared memory");
	shared.at = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, shared.fd, 0);
	if (shared.at == MAP_FAILED)
		fuzz_fail("no shared memory");
}

static void make_sound(uint64_t magic)
{
	struct stixel_ring_header *h = (struct stixel_ring_header *)shared.at;

	h->magic = magic;
	h->endian = STIXEL_ENDIAN;
	h->abi_major = STIXEL_ABI_MAJOR;
	h->header_bytes = sizeof(*h);
	h->live_offset = SHARED_LIVE;
	h->slots_offset = SHARED_SLOTS;
	h->slot_count = 2u << h->slot_count % 3;
	h->slot_header_bytes = sizeof(struct stixel_ring_slot);
	h->slot_stride = (SHARED_BYTES - SHARED_SLOTS) / h->slot_count / 64 * 64;
	h->frame_capacity = h->slot_stride - h->slot_header_bytes;
	h->total_bytes = SHARED_BYTES;
	h->epoch += h->epoch == 0;
}

static void name_process(struct stixel_ring_header *h)
{
	h->pid = PROCESS;
	h->pid_namespace = NAMESPACE;
	h->pid_start_ticks = STARTED;
}

uint8_t *shared_begin(struct fuzz_input *in, unsigned bits, uint64_t magic)
{
	if (shared.fd < 0)
		map_object();
	shared.now_ns = SHARED_NOW_NS;
	shared.turns = 0;
	shared.swings_left = 0;
	shared.other_name = false;
	if (!fails_is(FAILS_PEER, &shared.play, NULL))
		shared.play = 0;
	memset(shared.at, 0, SHARED_BYTES);
	fuzz_copy(in, shared.at, sizeof(struct stixel_ring_header));
	if (bits & SHARED_SOUND)
		make_sound(magic);
	if (shared.play & SHARED_PROCESS)
		name_process((struct stixel_ring_header *)shared.at);
	fuzz_copy(in, shared.at + SHARED_LIVE, sizeof(struct stixel_ring_live));
	return shared.at;
}

void shared_break(struct fuzz_input *in)
{
	uint8_t *at = shared.at + fuzz_choice(in, sizeof(struct stixel_ring_header) / 4) * 4;
	const unsigned how = fuzz_choice(in, 3);
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	if (how == 0)
		word = (uint32_t)fuzz_number(in, 4);
	else
		word += (uint32_t)((int8_t)fuzz_number(in, 1) * (how == 1 ? 1 : 64));
	memcpy(at, &word, sizeof(word));
}

void shared_break_layout(void)
{
	static const int32_t more[] = {1, -1, 4, -4, 8, -8, 16, -16, 32, -32, 64, -64};
	unsigned which;
	uint32_t word;
	uint8_t *at;

	if (!fails_is(FAILS_HEADER, &which, NULL))
		return;
	/* tests each rule alone: with less capacity a slightly smaller stride is still enough */
	((struct stixel_ring_header *)shared.at)->frame_capacity -= 128;
	at = shared.at + 4 * (which & 15);
	which >>= 4;
	memcpy(&word, at, sizeof(word));
	if (which < sizeof(more) / sizeof(more[0]))
		word += (uint32_t)more[which];
	else
		word = which == 12 ? word * 2 : which == 13 ? word / 2 : which == 14 ? 0 : UINT32_MAX;
	memcpy(at, &word, sizeof(word));
}

static void next_write(void)
{
	shared.turns_left = (unsigned)fuzz_number(&shared.in, 1);
	shared.where = (unsigned)fuzz_number(&shared.in, 2);
}

void shared_write(struct fuzz_input *in)
{
	shared.in = *in;
	next_write();
	ours = true;
	fails_begin();
}

void shared_rest(void)
{
	shared.in.left = 0;
	shared.swings_left = 0;
}

bool shared_end(void)
{
	shared_rest();
	ours = false;
	return fails_end();
}

int64_t shared_now_ns(void)
{
	return shared.now_ns;
}

void shared_pass(int64_t ns)
{
	shared.now_ns += ns;
}

struct stixel_ring_slot *shared_slot(uint64_t n)
{
	const struct stixel_ring_header *h = (const struct stixel_ring_header *)shared.at;

	return (struct stixel_ring_slot *)(shared.at + h->slots_offset +
					   (n & (h->slot_count - 1)) * h->slot_stride);
}

/*
 * Selects the place of a write. Most writes hit the live part and the headers of slots. A counter there may
 * step forward or back, or swing: forward at one look and back at the next.
 */
static uint8_t *place(unsigned where)
{
	const unsigned slots = (where >> 2) % 8 * ((SHARED_BYTES - SHARED_SLOTS) / 8);

	switch (where % 4) {
	case 0:
		return shared.at + SHARED_LIVE + (where >> 2) % 8 * 8;
	case 1:
		return shared.at + SHARED_SLOTS + slots + (where >> 5) % 2 * 8;
	case 2:
		return shared.at + SHARED_SLOTS + slots + 64 + (where >> 5) % 128 * 8;
	default:
		return shared.at + (where >> 2) % (SHARED_BYTES / 8) * 8;
	}
}

static void swing(void)
{
	uint64_t word;

	if (shared.swings_left == 0)
		return;
	shared.swings_left--;
	memcpy(&word, shared.swings, sizeof(word));
	word += shared.by;
	memcpy(shared.swings, &word, sizeof(word));
	shared.by = -shared.by;
}

void shared_turn(void)
{
	if (++shared.turns > TURNS_MOST)
		fuzz_fail("it looks at the memory for ever");
	swing();
	while (shared.in.left && shared.turns_left == 0) {
		uint8_t *at = place(shared.where);
		uint64_t word;

		shared.other_name |= shared.where == 0xffff;
		if (shared.where & STEPS && shared.where % 4 < 2) {
			shared.swings = at;
			shared.by = (uint64_t)(int8_t)fuzz_number(&shared.in, 1);
			shared.swings_left = shared.where & SWINGS ? SWINGS_MOST : 1;
			swing();
		} else {
			word = fuzz_number(&shared.in, 8);
			memcpy(at, &word, sizeof(word));
		}
		next_write();
	}
	shared.turns_left -= shared.turns_left > 0;
}

/* ---- the simulated system: linked in place of the real calls (-Wl,--wrap) ---- */

static const char process_path[] = "/proc/4711/stat";
_Static_assert(PROCESS == 4711, "as the path says");

/* Opens a process's stat file as in proc(5), with the fields that the reader uses. */
static int open_process(void)
{
	const int fd = memfd_create("stat", MFD_CLOEXEC);
	const int started = shared.play & SHARED_STRANGER ? STARTED + 1 : STARTED;

	if (fd < 0 ||
	    dprintf(fd, "%d (a) b) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 %d 23", PROCESS,
		    started) < 0 ||
	    lseek(fd, 0, SEEK_SET) < 0)
		fuzz_fail("no file of a process");
	return fd;
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;
	char own[32];

	if (!ours) {
		va_start(args, flags);
		mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
		va_end(args);
		return __real_open64(path, flags, mode);
	}
	shared_turn();
	if (fails_now(FAILS_SYSTEM))
		return -1;
	if (shared.play & SHARED_PROCESS && strcmp(path, process_path) == 0)
		return open_process();
	if (strncmp(path, SHARED_FOLDER "/", sizeof(SHARED_FOLDER)) != 0) {
		errno = ENOENT;
		return -1;
	}
	snprintf(own, sizeof(own), "/proc/self/fd/%d", shared.fd);
	return __real_open64(own, O_RDONLY | O_CLOEXEC);
}

static int about_name(const char *path, struct stat *st)
{
	shared_turn();
	if (fails_now(FAILS_SYSTEM))
		return -1;
	if (shared.play & SHARED_PROCESS && strcmp(path, "/proc/self/ns/pid") == 0) {
		st->st_ino = NAMESPACE;
		return 0;
	}
	if (shared.play & SHARED_PLACE && strncmp(path, "/run/", 5) == 0) {
		*st = (struct stat){.st_mode = S_IFDIR | 0755, .st_uid = OTHER_USER};
		return 0;
	}
	if (strncmp(path, SHARED_FOLDER "/", sizeof(SHARED_FOLDER)) != 0) {
		errno = ENOENT;
		return -1;
	}
	if (fstat(shared.fd, st) < 0)
		return -1;
	st->st_ino += shared.other_name;
	return 0;
}

int __real_fstat64(int fd, struct stat *st);
int __wrap_fstat64(int fd, struct stat *st);
int __wrap_fstat64(int fd, struct stat *st)
{
	if (!ours)
		return __real_fstat64(fd, st);
	if (fails_now(FAILS_SYSTEM) || __real_fstat64(fd, st) < 0)
		return -1;
	if (shared.play & SHARED_OTHER)
		st->st_uid = OTHER_USER;
	if (shared.play & SHARED_PLACE)
		st->st_gid = SHARED_GROUP;
	if (shared.play & SHARED_OPEN)
		st->st_mode |= shared.play & SHARED_PLACE ? S_IWGRP : S_IWOTH;
	if (shared.play & SHARED_NO_FILE)
		st->st_mode = (st->st_mode & ~(mode_t)S_IFMT) | S_IFIFO;
	return 0;
}

int __real_stat64(const char *path, struct stat *st);
int __wrap_stat64(const char *path, struct stat *st);
int __wrap_stat64(const char *path, struct stat *st)
{
	return ours ? about_name(path, st) : __real_stat64(path, st);
}

int __real_lstat64(const char *path, struct stat *st);
int __wrap_lstat64(const char *path, struct stat *st);
int __wrap_lstat64(const char *path, struct stat *st)
{
	return ours ? about_name(path, st) : __real_lstat64(path, st);
}

ssize_t __real_pread64(int fd, void *to, size_t bytes, off_t at);
ssize_t __wrap_pread64(int fd, void *to, size_t bytes, off_t at);
ssize_t __wrap_pread64(int fd, void *to, size_t bytes, off_t at)
{
	if (!ours)
		return __real_pread64(fd, to, bytes, at);
	shared_turn();
	if (fails_now(FAILS_SYSTEM)) {
		if (errno != EAGAIN)
			return -1;
		bytes /= 2; /* as if the object had shrunk */
	}
	if (at < 0 || (uint64_t)at >= SHARED_BYTES)
		return 0;
	bytes = bytes < SHARED_BYTES - (size_t)at ? bytes : SHARED_BYTES - (size_t)at;
	memcpy(to, shared.at + at, bytes);
	return (ssize_t)bytes;
}

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	if (!ours)
		return __real_clock_gettime(id, t);
	shared_turn();
	shared.now_ns += 1000;
	*t = (struct timespec){shared.now_ns / SX_NS_PER_S, shared.now_ns % SX_NS_PER_S};
	return 0;
}

static void sleep_until(int64_t until_ns)
{
	shared_turn();
	if (until_ns > shared.now_ns)
		shared.now_ns = until_ns;
}

int __real_nanosleep(const struct timespec *t, struct timespec *left);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
	if (!ours)
		return __real_nanosleep(t, left);
	if (fails_now(FAILS_SYSTEM))
		return -1;
	sleep_until(shared.now_ns + t->tv_sec * SX_NS_PER_S + t->tv_nsec);
	return 0;
}

int __real_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *t, const void *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *t, const void *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *t, const void *mask)
{
	if (!ours)
		return __real_ppoll(fds, count, t, mask);
	if (fails_now(FAILS_SYSTEM))
		return -1;
	if (t)
		sleep_until(shared.now_ns + t->tv_sec * SX_NS_PER_S + t->tv_nsec);
	return 0;
}

/* Maps an unreadable page after the last page, so that an access beyond the end is detected. */
void *__real_mmap64(void *at, size_t bytes, int rights, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int rights, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int rights, int flags, int fd, off_t offset)
{
	uint8_t *all;

	if (!ours || fd < 0)
		return __real_mmap64(at, bytes, rights, flags, fd, offset);
	if (fails_now(FAILS_SYSTEM))
		return MAP_FAILED;
	all = __real_mmap64(NULL, bytes_of_pages(bytes) + GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	return all == MAP_FAILED ? all : __real_mmap64(all, bytes, rights, flags | MAP_FIXED, fd, offset);
}

int __real_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes)
{
	return __real_munmap(at, ours ? bytes_of_pages(bytes) + GUARD_BYTES : bytes);
}

static long no_such_call(void)
{
	errno = ENOSYS;
	return -1;
}

/* Opens a process descriptor, which is readable when the process has ended, as a real one. */
static long open_pidfd(void)
{
	if (shared.play & SHARED_OLD)
		return no_such_call();
	return fails_now(FAILS_SYSTEM) ? -1 : eventfd(shared.play & SHARED_DIED ? 1 : 0, EFD_CLOEXEC);
}

int __real_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal)
{
	if (!ours)
		return __real_kill(pid, signal);
	/* a header may name any process, but pid numbers that mean several processes must not be used */
	if (pid <= 0 || signal != 0)
		fuzz_fail("signal %d to process %d", signal, (int)pid);
	errno = ESRCH;
	return pid != PROCESS || shared.play & SHARED_DIED ? -1 : 0;
}

/* Returns the writers' group without reading a file. */
int __wrap_sx_writers_group(gid_t *group);
int __wrap_sx_writers_group(gid_t *group)
{
	*group = SHARED_GROUP;
	return fails_now(FAILS_SYSTEM) ? -ENOMEM : 0; /* the real function returns no other error */
}

/* A futex wakes when its timeout has passed, or at once if the word differs. No other process exists. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	va_list args;
	const uint32_t *word;
	uint32_t seen;
	const struct timespec *until;

	if (ours && number != SYS_futex)
		return number == SYS_pidfd_open ? open_pidfd() : no_such_call();
	va_start(args, number);
	if (!ours) {
		long a[6];

		for (int i = 0; i < 6; i++)
			a[i] = va_arg(args, long);
		va_end(args);
		return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
	word = va_arg(args, const uint32_t *);
	va_arg(args, int);
	seen = va_arg(args, uint32_t);
	until = va_arg(args, const struct timespec *);
	va_end(args);
	shared_turn();
	if (fails_now(FAILS_SYSTEM))
		return -1;
	errno = EAGAIN;
	if (__atomic_load_n(word, __ATOMIC_RELAXED) != seen)
		return -1;
	sleep_until(until->tv_sec * SX_NS_PER_S + until->tv_nsec);
	errno = ETIMEDOUT;
	return -1;
}
