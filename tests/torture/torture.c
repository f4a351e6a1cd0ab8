/*
 * Counts calls, decides which one fails, and writes the report.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/torture/torture.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char *const kind_names[TORTURE_KINDS] = {
	"malloc", "mmap", "open",  "descriptor", "socket", "thread", "read",	"write",
	"stream", "file", "ioctl", "clock",	 "wait",   "futex",  "library", "cuda",
};

#define SITE_FRAMES 4 /* stack frames of the program that identify a call site */
#define STACK_FRAMES 24

extern const char __executable_start[], etext[];

static atomic_int armed, report_fd = -1, forbidden;
static atomic_ulong counts[TORTURE_KINDS], site_count;
static atomic_ulong since; /* number of calls of the kind since the wanted call of the site */
static int wanted_kind = -1, wanted_error;
static unsigned long wanted;
static unsigned wanted_site; /* 0: `wanted` counts all calls of the kind */
static bool lasting;
static const char *mended_path;
static _Thread_local int own;
static _Thread_local bool exempt_thread;

void torture_begin_own(void)
{
	own++;
}

void torture_end_own(void)
{
	own--;
}

void torture_arm(void)
{
	atomic_store(&armed, 1);
}

void torture_disarm(void)
{
	atomic_store(&armed, 0);
}

void torture_note(const char *format, ...)
{
	const int saved = errno;
	char line[1024];
	va_list args;
	int n;

	own++;
	va_start(args, format);
	n = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	if (atomic_load(&report_fd) >= 0 && write(atomic_load(&report_fd), line, (size_t)n) < 0)
		abort(); /* without a report nothing can be judged */
	own--;
	errno = saved;
}

static bool is_mended(void)
{
	bool mended;

	own++;
	mended = mended_path && access(mended_path, F_OK) == 0;
	own--;
	return mended;
}

static uintptr_t offset_in(const Dl_info *object, const void *at)
{
	return (uintptr_t)at - (uintptr_t)object->dli_fbase;
}

static bool in_program(const void *at)
{
	return (uintptr_t)at - (uintptr_t)__executable_start <
	       (uintptr_t)etext - (uintptr_t)__executable_start;
}

/* Returns the program, or the loaded module, that contains an address. */
static Dl_info object_of(const void *at)
{
	Dl_info found = {.dli_fname = "", .dli_fbase = (void *)(uintptr_t)__executable_start};

	own++;
	if (!in_program(at) && dladdr(at, &found) == 0)
		found.dli_fbase = NULL;
	own--;
	return found;
}

/*
 * Returns a number for a call site and kind, never 0. It is a hash of the return address and of those that
 * follow in the program, or in the module that makes the call. So a function that is called from several
 * places has several sites. The number is the same in each life of a program, because each address is an
 * offset in its object.
 */
static unsigned site_of(enum torture_kind kind, const void *caller)
{
	const Dl_info first = object_of(caller);
	void *stack[STACK_FRAMES];
	unsigned site = 2166136261u + (unsigned)kind;
	int depth, i = 0, taken = 0;

	own++;
	depth = backtrace(stack, STACK_FRAMES);
	own--;
	while (i < depth && stack[i] != caller)
		i++;
	for (; i < depth && taken < SITE_FRAMES; i++) {
		const Dl_info in = object_of(stack[i]);

		if (!in_program(stack[i]) && in.dli_fbase != first.dli_fbase)
			continue; /* a frame of a library, which may wait for something else each time */
		site = (site ^ (unsigned)offset_in(&in, stack[i])) * 16777619u;
		taken++;
	}
	return site ? site : 1;
}

/*
 * Decides whether a call fails. A program repeats an interrupted call. If each repetition failed, too, the
 * program could only hang.
 */
static bool is_wanted(enum torture_kind kind, unsigned long nth, int error)
{
	if ((int)kind != wanted_kind || nth < wanted)
		return false;
	if (nth == wanted)
		return true;
	return lasting && (error != EINTR || (nth - wanted) % 2 == 0) && !is_mended();
}

/* Reports where a call failed: an offset in the program, or in a loaded module. */
static void note_failed(enum torture_kind kind, const char *name, int error, const void *caller)
{
	const Dl_info in = object_of(caller);

	torture_note("failed %s %d 0x%zx %x %s", name, error, (size_t)offset_in(&in, caller),
		     site_of(kind, caller), in_program(caller) ? "" : in.dli_fname);
}

/*
 * Counts a call of the wanted site. In a lasting failure, counts each call of the kind after the wanted one.
 * 0: none of them.
 */
static unsigned long count_by_site(enum torture_kind kind, const void *caller)
{
	unsigned long nth;

	if (lasting && atomic_load(&since))
		return wanted + atomic_fetch_add(&since, 1);
	if (site_of(kind, caller) != wanted_site)
		return 0;
	nth = atomic_fetch_add(&site_count, 1) + 1;
	if (nth == wanted)
		atomic_store(&since, 1);
	return nth;
}

int torture_call(enum torture_kind kind, const char *name, const int *errors, const void *caller)
{
	unsigned long nth;
	int count = 0;

	if (own || !atomic_load_explicit(&armed, memory_order_relaxed))
		return 0;
	nth = atomic_fetch_add(&counts[kind], 1) + 1;
	while (errors[count])
		count++;
	if (wanted_kind < 0)
		torture_note("call %s %lu %s %d %x", kind_names[kind], nth, name, count,
			     site_of(kind, caller));
	if ((int)kind == wanted_kind && wanted_site)
		nth = count_by_site(kind, caller);
	if (!is_wanted(kind, nth, wanted_error < count ? errors[wanted_error] : 0))
		return 0;
	if (wanted_error >= count) {
		torture_note("absent %s has %d errors", name, count);
		return 0;
	}
	if (nth == wanted)
		note_failed(kind, name, errors[wanted_error], caller);
	return errors[wanted_error];
}

/* ---- the steady state ---- */

void torture_forbid_allocation(void)
{
	atomic_store(&forbidden, 1);
}

void torture_allow_allocation(void)
{
	atomic_store(&forbidden, 0);
}

void torture_exempt_thread(bool exempt)
{
	exempt_thread = exempt;
}

static void note_allocation(size_t bytes)
{
	static const char sentence[] = "torture: the steady state allocates\n";
	char name[16] = "";
	void *stack[32];

	if (!atomic_load_explicit(&forbidden, memory_order_relaxed) || own || exempt_thread)
		return;
	prctl(PR_GET_NAME, name);
	if (strcmp(name, "capture") != 0 && strcmp(name, "frame") != 0 && strncmp(name, "sx-cpu", 6) != 0)
		return;
	own++;
	torture_note("allocation of %zu bytes by thread %s", bytes, name);
	if (write(STDERR_FILENO, sentence, sizeof(sentence) - 1) > 0)
		backtrace_symbols_fd(stack, backtrace(stack, 32), STDERR_FILENO);
	abort();
}

#ifdef __SANITIZE_ADDRESS__
int __sanitizer_install_malloc_and_free_hooks(void (*taken)(const volatile void *, size_t),
					      void (*freed)(const volatile void *));

static void hook_taken(const volatile void *p, size_t bytes)
{
	note_allocation(bytes);
}

static void hook_freed(const volatile void *p)
{
}

static void watch_allocations(void)
{
	__sanitizer_install_malloc_and_free_hooks(hook_taken, hook_freed);
}
#else
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

/* Replaces libc's own functions for all callers, also in libraries. */
void *malloc(size_t bytes)
{
	note_allocation(bytes);
	return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	note_allocation(bytes);
	return __libc_calloc(count, bytes);
}

void *realloc(void *p, size_t bytes)
{
	note_allocation(bytes);
	return __libc_realloc(p, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	note_allocation(bytes);
	return __libc_memalign(alignment, bytes);
}

static void watch_allocations(void)
{
}
#endif

/* ---- start and end ---- */

void torture_order(const char *text)
{
	const size_t length = strcspn(text, "@:");
	char *end = (char *)text + length;

	wanted_kind = -1;
	wanted_error = 0;
	wanted_site = 0;
	atomic_store(&site_count, 0);
	atomic_store(&since, 0);
	for (int i = 0; i < TORTURE_KINDS; i++)
		atomic_store(&counts[i], 0);
	for (int i = 0; i < TORTURE_KINDS; i++)
		if (strlen(kind_names[i]) == length && strncmp(text, kind_names[i], length) == 0)
			wanted_kind = i;
	if (*end == '@')
		wanted_site = (unsigned)strtoul(end + 1, &end, 16);
	if (wanted_kind < 0 || *end != ':')
		abort();
	wanted = strtoul(end + 1, &end, 10);
	if (*end == '/')
		wanted_error = (int)strtol(end + 1, &end, 10);
	lasting = *end == '+';
}

bool torture_reached(void)
{
	return atomic_load(&counts[wanted_kind]) >= wanted;
}

__attribute__((constructor)) static void torture_begin(void)
{
	const char *order = getenv("TORTURE"), *report = getenv("TORTURE_REPORT");
	void *stack[1];

	own++;
	mended_path = getenv("TORTURE_MENDED");
	if (report) {
		int fd = open(report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

		/* above the descriptors that the program expects to be the lowest */
		atomic_store(&report_fd, fcntl(fd, F_DUPFD_CLOEXEC, 200));
		close(fd);
	}
	if (order)
		torture_order(order);
	if (backtrace(stack, 1) < 0) /* loads what backtrace() needs, which allocates */
		abort();
	watch_allocations();
	own--;
	if (!getenv("TORTURE_PHASE") || strcmp(getenv("TORTURE_PHASE"), "start") == 0)
		torture_arm();
}

__attribute__((destructor)) static void torture_end(void)
{
	for (int i = 0; i < TORTURE_KINDS; i++)
		torture_note("count %s %lu", kind_names[i], atomic_load(&counts[i]));
}
