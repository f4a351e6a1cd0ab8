/*
 * Contracts: conditions that must hold between functions, for any input of the program. They are checked in
 * every build.
 *
 *	sx_must(count, <=, SX_QUEUED_PAIRS_MAX);
 *	sx_must_index(i, f->columns);
 *	sx_must_be(!t->joined);
 *
 * A broken contract is a fault of the program itself. Any thread that finds it writes file, line, the
 * expression and both values as the last line of the log, even while main is writing a line. It then ends the
 * process with exit code 70 and runs no other code. The process leaves behind what SIGKILL leaves, and the
 * next start removes that. Lines that are still in the rings of real-time threads are lost.
 *
 * Contracts are for arguments, ranges, states, ownership and numbers that only rise: things that a later
 * change could break. They are never for the content of files or the input of peers, drivers or users: such
 * input gives an error with a sentence. Operands are integers of any type, compared by value, and are
 * evaluated once.
 *
 * libstixel runs inside the processes of other programs and may not end them. It is built with
 * SX_CONTRACT_RETURNS and has no sx_contract_broken(), so the linker refuses the three macros above. Code
 * that libstixel shares with the daemon uses
 *
 *	sx_must_or(return -EINVAL, count, <=, SX_QUEUED_PAIRS_MAX);
 *
 * which returns from the function in libstixel, and is sx_must() everywhere else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_CONTRACT_H
#define SX_BASE_CONTRACT_H

#define SX_CONTRACT_EXIT 70 /* EX_SOFTWARE; the service manager starts the daemon again */

/*
 * Logs a broken contract and ends the process. Any thread. No allocation, no lock. Waits at most one second
 * if the pipe of the log is full.
 */
void sx_contract_broken(const char *file, int line, const char *what, long long a, long long b)
	__attribute__((noreturn, cold, noinline));
/* Logs a broken contract that has no values and ends the process, as sx_contract_broken() does. */
void sx_contract_broken_state(const char *file, int line, const char *what)
	__attribute__((noreturn, cold, noinline));

/*
 * The compiler still sees the operands with SX_CONTRACT_NONE, but no check runs. Use it to measure the cost
 * of contracts.
 */
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

/* Compares two values. Returns less than 0 if a < b, 0 if they are equal, more than 0 if a > b. */
static inline int sx_contract_order(struct sx_contract_value a, struct sx_contract_value b)
{
	if (a.negative != b.negative)
		return b.negative - a.negative;
	return (a.bits > b.bits) - (a.bits < b.bits);
}

/* Value of an integer expression x, which may be a bit field. x is evaluated once. */
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

/* Contract on two integers. op: ==, !=, <, <=, >, >= */
#define sx_must(a, op, b) SX_CONTRACT_(a, op, b, SX_CONTRACT_BROKEN_(#a " " #op " " #b))
/* Contract on an index: 0 <= i < n. */
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
