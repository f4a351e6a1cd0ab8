/*
 * Included before all other headers when the daemon's sources are compiled for the simulation. At each atomic
 * access the simulation may switch to another thread. The effect of the access stays the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_SIMULATE_SHARED_ACCESS_H
#define SX_TESTS_SIMULATE_SHARED_ACCESS_H

#include <stdatomic.h>

extern int sim_quantum;
void sim_yield(void);

#define SIM_ACCESS (--sim_quantum <= 0 ? sim_yield() : (void)0)

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_strong_explicit

#define atomic_load_explicit(p, order) (SIM_ACCESS, __atomic_load_n(p, order))
#define atomic_load(p) atomic_load_explicit(p, __ATOMIC_SEQ_CST)
#define atomic_store_explicit(p, v, order) (SIM_ACCESS, __atomic_store_n(p, v, order))
#define atomic_store(p, v) atomic_store_explicit(p, v, __ATOMIC_SEQ_CST)
#define atomic_exchange_explicit(p, v, order) (SIM_ACCESS, __atomic_exchange_n(p, v, order))
#define atomic_exchange(p, v) atomic_exchange_explicit(p, v, __ATOMIC_SEQ_CST)
#define atomic_fetch_add_explicit(p, v, order) (SIM_ACCESS, __atomic_fetch_add(p, v, order))
#define atomic_fetch_add(p, v) atomic_fetch_add_explicit(p, v, __ATOMIC_SEQ_CST)
#define atomic_compare_exchange_strong_explicit(p, expected, v, order, failure) \
	(SIM_ACCESS, __atomic_compare_exchange_n(p, expected, v, 0, order, failure))
#define atomic_compare_exchange_strong(p, expected, v) \
	atomic_compare_exchange_strong_explicit(p, expected, v, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

/* ring and reader use the compiler's builtins */
#define __atomic_load_n(p, order) (SIM_ACCESS, __atomic_load_n(p, order))
#define __atomic_store_n(p, v, order) (SIM_ACCESS, __atomic_store_n(p, v, order))

#endif
