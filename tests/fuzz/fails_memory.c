/*
 * Makes memory allocation fail. Linked in place of the real calls (-Wl,--wrap).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fails.h"

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
	return fails_now(FAILS_MEMORY) ? NULL : __real_malloc(bytes);
}

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
	return fails_now(FAILS_MEMORY) ? NULL : __real_calloc(count, bytes);
}

void *__real_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes)
{
	return fails_now(FAILS_MEMORY) ? NULL : __real_realloc(memory, bytes);
}

void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	return fails_now(FAILS_MEMORY) ? NULL : __real_aligned_alloc(alignment, bytes);
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
	return fails_now(FAILS_MEMORY) ? NULL : __real_strdup(text);
}
