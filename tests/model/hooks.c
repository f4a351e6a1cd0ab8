/*
 * Connects the code under test to the explorer: the functions that a compiler calls with -fsanitize=thread,
 * one for each load and store, plain or atomic. The daemon's sources are unchanged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/model/model.h"

#define PC ((uintptr_t)__builtin_return_address(0))

void __tsan_init(void);
void __tsan_func_entry(void *pc);
void __tsan_func_exit(void);

void __tsan_init(void)
{
}

void __tsan_func_entry(void *pc)
{
}

void __tsan_func_exit(void)
{
}

/* ---- plain ---- */

static void hook_plain(uintptr_t address, size_t bytes, bool write, uintptr_t pc)
{
	struct thread *t;

	if (!model || !model->running)
		return;
	t = explore_self();
	memory_plain_flush(t);
	if (!system_is_shared(address)) {
		races_access(address, bytes, write, pc);
	} else if (write) {
		memory_plain(t, address, bytes);
	}
}

#define PLAIN(name, bytes, write)                                 \
	void name(void *address);                                 \
	void name(void *address)                                  \
	{                                                         \
		hook_plain((uintptr_t)address, bytes, write, PC); \
	}

PLAIN(__tsan_read1, 1, false)
PLAIN(__tsan_read2, 2, false)
PLAIN(__tsan_read4, 4, false)
PLAIN(__tsan_read8, 8, false)
PLAIN(__tsan_read16, 16, false)
PLAIN(__tsan_write1, 1, true)
PLAIN(__tsan_write2, 2, true)
PLAIN(__tsan_write4, 4, true)
PLAIN(__tsan_write8, 8, true)
PLAIN(__tsan_write16, 16, true)
PLAIN(__tsan_unaligned_read2, 2, false)
PLAIN(__tsan_unaligned_read4, 4, false)
PLAIN(__tsan_unaligned_read8, 8, false)
PLAIN(__tsan_unaligned_read16, 16, false)
PLAIN(__tsan_unaligned_write2, 2, true)
PLAIN(__tsan_unaligned_write4, 4, true)
PLAIN(__tsan_unaligned_write8, 8, true)
PLAIN(__tsan_unaligned_write16, 16, true)

void __tsan_read_range(void *address, size_t bytes);
void __tsan_write_range(void *address, size_t bytes);

void __tsan_read_range(void *address, size_t bytes)
{
	hook_plain((uintptr_t)address, bytes, false, PC);
}

void __tsan_write_range(void *address, size_t bytes)
{
	hook_plain((uintptr_t)address, bytes, true, PC);
}

/* ---- functions of libc that the code under test calls on shared memory ---- */

void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memset(void *to, int value, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
int __real_vsnprintf(char *to, size_t room, const char *format, va_list args);
int __wrap_vsnprintf(char *to, size_t room, const char *format, va_list args);

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
	hook_plain((uintptr_t)from, bytes, false, PC);
	hook_plain((uintptr_t)to, bytes, true, PC);
	return memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
	hook_plain((uintptr_t)from, bytes, false, PC);
	hook_plain((uintptr_t)to, bytes, true, PC);
	return memmove(to, from, bytes);
}

void *__wrap_memset(void *to, int value, size_t bytes)
{
	hook_plain((uintptr_t)to, bytes, true, PC);
	return memset(to, value, bytes);
}

int __wrap_vsnprintf(char *to, size_t room, const char *format, va_list args)
{
	const int n = __real_vsnprintf(to, room, format, args);

	hook_plain((uintptr_t)to, n < 0 ? 0 : (size_t)n < room ? (size_t)n + 1 : room, true, PC);
	return n;
}

/* ---- atomic ---- */

static uint64_t hook_set(uint64_t old, uint64_t with)
{
	return with;
}

static uint64_t hook_add(uint64_t old, uint64_t with)
{
	return old + with;
}

static uint64_t hook_sub(uint64_t old, uint64_t with)
{
	return old - with;
}

static uint64_t hook_or(uint64_t old, uint64_t with)
{
	return old | with;
}

static uint64_t hook_and(uint64_t old, uint64_t with)
{
	return old & with;
}

#define CHANGE(type, bits, name, builtin, make)                                             \
	type __tsan_atomic##bits##_##name(volatile type *a, type v, int order);             \
	type __tsan_atomic##bits##_##name(volatile type *a, type v, int order)              \
	{                                                                                   \
		if (!explore_running())                                                     \
			return builtin(a, v, __ATOMIC_SEQ_CST);                             \
		return (type)memory_change((uintptr_t)a, sizeof(type), make, v, order, PC); \
	}

#define COMPARE(type, bits, name)                                                                   \
	int __tsan_atomic##bits##_compare_exchange_##name(volatile type *a, type *expected, type v, \
							  int order, int failure);                  \
	int __tsan_atomic##bits##_compare_exchange_##name(volatile type *a, type *expected, type v, \
							  int order, int failure)                   \
	{                                                                                           \
		uint64_t found = *expected;                                                         \
		bool r;                                                                             \
                                                                                                    \
		if (!explore_running())                                                             \
			return __atomic_compare_exchange_n(a, expected, v, false, __ATOMIC_SEQ_CST, \
							   __ATOMIC_SEQ_CST);                       \
		r = memory_compare((uintptr_t)a, sizeof(type), &found, v, order, failure, PC);      \
		*expected = (type)found;                                                            \
		return r;                                                                           \
	}

#define ATOMIC(type, bits)                                                       \
	type __tsan_atomic##bits##_load(const volatile type *a, int order);      \
	void __tsan_atomic##bits##_store(volatile type *a, type v, int order);   \
	type __tsan_atomic##bits##_load(const volatile type *a, int order)       \
	{                                                                        \
		if (!explore_running())                                          \
			return __atomic_load_n(a, __ATOMIC_SEQ_CST);             \
		return (type)memory_load((uintptr_t)a, sizeof(type), order, PC); \
	}                                                                        \
	void __tsan_atomic##bits##_store(volatile type *a, type v, int order)    \
	{                                                                        \
		if (!explore_running())                                          \
			__atomic_store_n(a, v, __ATOMIC_SEQ_CST);                \
		else                                                             \
			memory_store((uintptr_t)a, sizeof(type), v, order, PC);  \
	}                                                                        \
	CHANGE(type, bits, exchange, __atomic_exchange_n, hook_set)              \
	CHANGE(type, bits, fetch_add, __atomic_fetch_add, hook_add)              \
	CHANGE(type, bits, fetch_sub, __atomic_fetch_sub, hook_sub)              \
	CHANGE(type, bits, fetch_or, __atomic_fetch_or, hook_or)                 \
	CHANGE(type, bits, fetch_and, __atomic_fetch_and, hook_and)              \
	COMPARE(type, bits, strong)                                              \
	COMPARE(type, bits, weak)

ATOMIC(uint8_t, 8)
ATOMIC(uint16_t, 16)
ATOMIC(uint32_t, 32)
ATOMIC(uint64_t, 64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

void __tsan_atomic_thread_fence(int order)
{
	if (explore_running())
		memory_fence(order, PC);
}

void __tsan_atomic_signal_fence(int order)
{
}
