/*
 * Tests the explorer with programs whose allowed outcomes are known from the literature. The explorer must
 * find exactly these outcomes. The names are those of the literature (Alglave, Maranget, Tautschnig: Herding
 * Cats; the RC11 paper, see memory.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdatomic.h>

#include "tests/model/explore.h"

#define LOAD(x, order) atomic_load_explicit(&(x), memory_order_##order)
#define STORE(x, v, order) atomic_store_explicit(&(x), v, memory_order_##order)

static atomic_uint x, y;
static unsigned r0, r1, r2, r3, plain;

static void litmus_setup(void)
{
}

static void outcome_of_two(void)
{
	model_outcome(r0 << 1 | r1);
}

/* ---- MP: message passing ---- */

#define MP(name, store, load)           \
	static void name##_writer(void) \
	{                               \
		STORE(x, 1, relaxed);   \
		STORE(y, 1, store);     \
	}                               \
	static void name##_reader(void) \
	{                               \
		r0 = LOAD(y, load);     \
		r1 = LOAD(x, relaxed);  \
	}

MP(mp_relaxed, relaxed, relaxed)
MP(mp_half, release, relaxed)
MP(mp, release, acquire)

static void mp_fences_writer(void)
{
	STORE(x, 1, relaxed);
	atomic_thread_fence(memory_order_release);
	STORE(y, 1, relaxed);
}

static void mp_fences_reader(void)
{
	r0 = LOAD(y, relaxed);
	atomic_thread_fence(memory_order_acquire);
	r1 = LOAD(x, relaxed);
}

/* A fence orders the operations before it, not those between the fence and the store. */
static void mp_late_writer(void)
{
	atomic_thread_fence(memory_order_release);
	STORE(x, 1, relaxed);
	STORE(y, 1, relaxed);
}

/* A read-modify-write continues the release sequence of the store that it reads. */
static void rmw_middle(void)
{
	atomic_fetch_add_explicit(&y, 1, memory_order_relaxed);
}

static void rmw_reader(void)
{
	r0 = LOAD(y, acquire) == 2;
	r1 = LOAD(x, relaxed);
}

/* ---- SB: store buffering; LB: load buffering ---- */

#define SB(name, order)                     \
	static void name##_first(void)      \
	{                                   \
		STORE(x, 1, order##_store); \
		r0 = LOAD(y, order##_load); \
	}                                   \
	static void name##_second(void)     \
	{                                   \
		STORE(y, 1, order##_store); \
		r1 = LOAD(x, order##_load); \
	}

#define memory_order_ra_store memory_order_release
#define memory_order_ra_load memory_order_acquire
#define memory_order_sc_store memory_order_seq_cst
#define memory_order_sc_load memory_order_seq_cst
SB(sb_ra, ra)
SB(sb_sc, sc)

static void sb_fences_first(void)
{
	STORE(x, 1, relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	r0 = LOAD(y, relaxed);
}

static void sb_fences_second(void)
{
	STORE(y, 1, relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	r1 = LOAD(x, relaxed);
}

static void lb_first(void)
{
	r0 = LOAD(x, relaxed);
	STORE(y, 1, relaxed);
}

static void lb_second(void)
{
	r1 = LOAD(y, relaxed);
	STORE(x, 1, relaxed);
}

/* ---- coherence, 2+2W, IRIW ---- */

static void store_x(void)
{
	STORE(x, 1, release);
}

static void store_y(void)
{
	STORE(y, 1, release);
}

static void co_reader(void)
{
	r0 = LOAD(x, relaxed);
	r1 = LOAD(x, relaxed);
}

#define W22(name, order)                \
	static void name##_first(void)  \
	{                               \
		STORE(x, 1, order);     \
		STORE(y, 2, order);     \
	}                               \
	static void name##_second(void) \
	{                               \
		STORE(y, 1, order);     \
		STORE(x, 2, order);     \
	}

W22(w22, relaxed)
W22(w22_sc, seq_cst)

static void w22_end(void)
{
	model_outcome((x - 1) << 1 | (y - 1));
}

static void sc_store_x(void)
{
	STORE(x, 1, seq_cst);
}

static void sc_store_y(void)
{
	STORE(y, 1, seq_cst);
}

#define IRIW(name, order)               \
	static void name##_first(void)  \
	{                               \
		r0 = LOAD(x, order);    \
		r1 = LOAD(y, order);    \
	}                               \
	static void name##_second(void) \
	{                               \
		r2 = LOAD(y, order);    \
		r3 = LOAD(x, order);    \
	}

IRIW(iriw, acquire)
IRIW(iriw_sc, seq_cst)

static void iriw_end(void)
{
	model_outcome(r0 << 3 | r1 << 2 | r2 << 1 | r3);
}

/* ---- read-modify-writes ---- */

static void add_x(void)
{
	atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
}

static void add_end(void)
{
	model_outcome(x);
}

static void claim_first(void)
{
	unsigned none = 0;

	r0 = atomic_compare_exchange_strong_explicit(&x, &none, 1, memory_order_relaxed,
						     memory_order_relaxed);
}

static void claim_second(void)
{
	unsigned none = 0;

	r1 = atomic_compare_exchange_strong_explicit(&x, &none, 1, memory_order_relaxed,
						     memory_order_relaxed);
}

/* ---- data races ---- */

static void race_writer(void)
{
	plain = 1;
	STORE(y, 1, release);
}

static void race_reader(void)
{
	if (LOAD(y, acquire))
		r0 = plain;
}

static void race_relaxed_reader(void)
{
	if (LOAD(y, relaxed))
		r0 = plain;
}

static void race_early_reader(void)
{
	r0 = plain;
	STORE(x, 1, relaxed);
}

#define PAIR(name, a, b, out, mask)                         \
	{                                                   \
		name, litmus_setup, {a, b}, out, NULL, mask \
	}

const struct model_scenario model_litmus[] = {
	PAIR("MP+rlx", mp_relaxed_writer, mp_relaxed_reader, outcome_of_two, 0xf),
	PAIR("MP+rel+rlx", mp_half_writer, mp_half_reader, outcome_of_two, 0xf),
	PAIR("MP+rel+acq", mp_writer, mp_reader, outcome_of_two, 0xb),
	PAIR("MP+fences", mp_fences_writer, mp_fences_reader, outcome_of_two, 0xb),
	PAIR("MP+late-fence", mp_late_writer, mp_fences_reader, outcome_of_two, 0xf),
	{"MP+rmw", litmus_setup, {mp_writer, rmw_middle, rmw_reader}, outcome_of_two, NULL, 0xb},
	PAIR("SB+rel+acq", sb_ra_first, sb_ra_second, outcome_of_two, 0xf),
	PAIR("SB+sc", sb_sc_first, sb_sc_second, outcome_of_two, 0xe),
	PAIR("SB+fences", sb_fences_first, sb_fences_second, outcome_of_two, 0xe),
	PAIR("LB+rlx", lb_first, lb_second, outcome_of_two, 0x7),
	PAIR("CoRR", store_x, co_reader, outcome_of_two, 0xb),
	PAIR("2+2W+rlx", w22_first, w22_second, w22_end, 0xf),
	PAIR("2+2W+sc", w22_sc_first, w22_sc_second, w22_end, 0xe),
	{"IRIW+acq", litmus_setup, {store_x, store_y, iriw_first, iriw_second}, iriw_end, NULL, 0xffff},
	{"IRIW+sc",
	 litmus_setup,
	 {sc_store_x, sc_store_y, iriw_sc_first, iriw_sc_second},
	 iriw_end,
	 NULL,
	 0xfbff},
	{"add", litmus_setup, {add_x, add_x, add_x}, add_end, NULL, 1u << 3},
	PAIR("claim", claim_first, claim_second, outcome_of_two, 0x6),
	{"race", litmus_setup, {race_writer, race_reader}, NULL, NULL, 0, false},
	{"race+rlx", litmus_setup, {race_writer, race_relaxed_reader}, NULL, NULL, 0, true},
	{"race+early", litmus_setup, {race_writer, race_early_reader}, NULL, NULL, 0, true},
	{NULL},
};
