/*
 * LD_PRELOAD: counts the allocations of each thread by its name, and writes "name count" lines to
 * $COUNT_MALLOC at the end. Allocations before a thread has its name are counted under the old one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

#define THREADS 32

static struct {
	char name[16];
	atomic_ulong count;
} threads[THREADS];
static atomic_int used;

static void count(void)
{
	char name[16] = "";
	int n = atomic_load(&used);

	prctl(PR_GET_NAME, name);
	for (int i = 0; i < n && i < THREADS; i++) {
		if (strcmp(threads[i].name, name) == 0) {
			atomic_fetch_add(&threads[i].count, 1);
			return;
		}
	}
	/*
	 * Two threads with the same name may both come here. Then there are two lines, and the reader adds
	 * them up.
	 */
	n = atomic_fetch_add(&used, 1);
	if (n < THREADS) {
		memcpy(threads[n].name, name, sizeof(name));
		atomic_fetch_add(&threads[n].count, 1);
	}
}

void *malloc(size_t bytes)
{
	count();
	return __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
	count();
	return __libc_calloc(n, bytes);
}

void *realloc(void *p, size_t bytes)
{
	count();
	return __libc_realloc(p, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	count();
	return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **ret, size_t alignment, size_t bytes)
{
	count();
	*ret = __libc_memalign(alignment, bytes);
	return *ret ? 0 : ENOMEM;
}

__attribute__((destructor)) static void write_counts(void)
{
	const char *path = getenv("COUNT_MALLOC");
	FILE *to = path ? fopen(path, "w") : NULL;

	if (!to)
		return;
	for (int i = 0; i < atomic_load(&used) && i < THREADS; i++)
		fprintf(to, "%s %lu\n", threads[i].name, atomic_load(&threads[i].count));
	fclose(to);
}
