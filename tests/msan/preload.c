/*
 * Preloaded into a program with MemorySanitizer. Marks memory as initialised that libraries without
 * instrumentation have filled: the stat() family of libc, because the runtime of clang 14 to 16 knows only its
 * names before glibc 2.33, and the output of libzstd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Function of the program's MemorySanitizer runtime. NULL in programs without it. */
void __msan_unpoison(const volatile void *at, size_t bytes) __attribute__((weak));

static int stat_filled(int r, struct stat *st)
{
	if (r == 0 && __msan_unpoison)
		__msan_unpoison(st, sizeof(*st));
	return r;
}

static void *preload_next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

int stat(const char *restrict path, struct stat *restrict st)
{
	return stat_filled(((int (*)(const char *, struct stat *))preload_next("stat64"))(path, st), st);
}

int lstat(const char *restrict path, struct stat *restrict st)
{
	return stat_filled(((int (*)(const char *, struct stat *))preload_next("lstat64"))(path, st), st);
}

int fstat(int fd, struct stat *st)
{
	return stat_filled(((int (*)(int, struct stat *))preload_next("fstat64"))(fd, st), st);
}

int fstatat(int fd, const char *restrict path, struct stat *restrict st, int flags)
{
	return stat_filled(((int (*)(int, const char *, struct stat *, int))preload_next("fstatat64"))(
				   fd, path, st, flags),
			   st);
}

static size_t zstd_filled(size_t n, void *to, size_t room)
{
	if (n <= room && __msan_unpoison) /* more is an error */
		__msan_unpoison(to, n);
	return n;
}

typedef size_t zstd_work(void *context, void *to, size_t room, const void *from, size_t bytes);
size_t ZSTD_compress2(void *context, void *to, size_t room, const void *from, size_t bytes);
size_t ZSTD_decompressDCtx(void *context, void *to, size_t room, const void *from, size_t bytes);

size_t ZSTD_compress2(void *context, void *to, size_t room, const void *from, size_t bytes)
{
	return zstd_filled(((zstd_work *)preload_next("ZSTD_compress2"))(context, to, room, from, bytes), to,
			   room);
}

size_t ZSTD_decompressDCtx(void *context, void *to, size_t room, const void *from, size_t bytes)
{
	return zstd_filled(((zstd_work *)preload_next("ZSTD_decompressDCtx"))(context, to, room, from, bytes),
			   to, room);
}
