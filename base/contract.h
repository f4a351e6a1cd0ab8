/*
 * Contracts: what must hold between functions, whatever comes from outside. In every build.
 *
 *	sx_must(count, <=, SX_ITEMS_MAX);
 *	sx_must_index(i, f->columns);
 *	sx_must_be(!t->joined);
 *
 * A broken one is a fault of the program itself. It says file, line, the expression and both values as the
 * last line of the log (main may just be writing one), from any thread, and ends the process with exit code
 * 70 without running anything else: what the process leaves behind is what SIGKILL leaves, and the next start
 * removes it. Lines that still lie in the rings of real-time threads are lost.
 *
 * Arguments, ranges, states, who holds what, numbers that only rise: what a later change could break. Never
 * what files, peers, drivers or users say: that is an error with a sentence. Operands are integers, compared
 * by their values whatever their types, and are evaluated once.
 *
 * libstixel runs inside the processes of others and may not end them: it is built with SX_CONTRACT_RETURNS
 * and has no sx_contract_broken(), so that the linker refuses the three above. What it shares with the daemon
 * says
 *
 *	sx_must_or(return -EINVAL, count, <=, SX_ITEMS_MAX);
 *
 * which leaves the function there, and is sx_must() everywhere else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_CONTRACT_H
#define SX_BASE_CONTRACT_H

#define SX_CONTRACT_EXIT 70 /* EX_SOFTWARE; the service manager starts the daemon again */

/* Any thread. No allocation, no lock; waits at most a second for a full pipe. */
void sx_contract_broken(const char *file, int line, const char *what, long long a, long long b)
	__attribute__((noreturn, cold, noinline));
/* The same of a condition without values. */
void sx_contract_broken_state(const char *file, int line, const char *what)
	__attribute__((noreturn, cold, noinline));

/* SX_CONTRACT_NONE: operands are looked at by the compiler alone; to measure what contracts cost. */
#ifdef SX_CONTRACT_NONE
#define SX_CONTRACT_HOLDS(holds) (1 || (holds))
#else
#define SX_CONTRACT_HOLDS(holds) __builtin_expect(!!(holds), 1)
#endif

/* An integer of any type: its bits, sign extended, and its sign. */
struct sx_contract_value {
	unsigned long long bits;
	int negative;
};

static inline struct sx_contract_value sx_contract_value(int is_signed, unsigned long long bits)
{
	const struct sx_contract_value v = {bits, is_signed && (long long)bits < 0};

	return v;
}

/* Less than 0, 0 or more: as a is less than b, equal, or more. */
static inline int sx_contract_order(struct sx_contract_value a, struct sx_contract_value b)
{
	if (a.negative != b.negative)
		return b.negative - a.negative;
	return (a.bits > b.bits) - (a.bits < b.bits);
}

/* Of bit fields, too; evaluated once. */
#define SX_CONTRACT_VALUE_(x) sx_contract_value(!((__typeof__((x) + 0))-1 > 0), (unsigned long long)(x))
#define SX_CONTRACT_(a, op, b, broken)                                                                       \
	do {                                                                                                 \
		const struct sx_contract_value sx_a_ = SX_CONTRACT_VALUE_(a), sx_b_ = SX_CONTRACT_VALUE_(b); \
                                                                                                             \
		if (!SX_CONTRACT_HOLDS(sx_contract_order(sx_a_, sx_b_) op 0))                                \
			broken;                                                                              \
	} while (0)
#define SX_CONTRACT_BROKEN_(what) \
	sx_contract_broken(__FILE__, __LINE__, what, (long long)sx_a_.bits, (long long)sx_b_.bits)

/* op: ==, !=, <, <=, >, >= */
#define sx_must(a, op, b) SX_CONTRACT_(a, op, b, SX_CONTRACT_BROKEN_(#a " " #op " " #b))
/* 0 <= i < n */
#define sx_must_index(i, n)                                                                                  \
	do {                                                                                                 \
		const struct sx_contract_value sx_a_ = SX_CONTRACT_VALUE_(i), sx_b_ = SX_CONTRACT_VALUE_(n); \
                                                                                                             \
		if (!SX_CONTRACT_HOLDS(!sx_a_.negative && sx_contract_order(sx_a_, sx_b_) < 0))              \
			SX_CONTRACT_BROKEN_("0 <= " #i " < " #n);                                            \
	} while (0)
#define sx_must_be(condition)                                                     \
	do {                                                                      \
		if (!SX_CONTRACT_HOLDS(condition))                                \
			sx_contract_broken_state(__FILE__, __LINE__, #condition); \
	} while (0)
#ifdef SX_CONTRACT_RETURNS
#define sx_must_or(leave, a, op, b) SX_CONTRACT_(a, op, b, leave)
#else
#define sx_must_or(leave, a, op, b) sx_must(a, op, b)
#endif

#endif
