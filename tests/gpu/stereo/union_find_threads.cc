// Replacements of the CUDA functions that gpu/stereo/union_find.cuh needs, with the processor's atomics. Then
// its functions on threads that meet at barriers.
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/stereo/union_find_threads.h"

#include <pthread.h>

#include <algorithm>
#include <vector>

#define SX_GPU_CUDA_CUH
#define __device__
#define __forceinline__ inline
using std::max;
using std::min;

/* Called before each access, where a thread may be interrupted by another one. */
static thread_local struct interruption {
	int accesses_left;
	void (*other)(void *);
	void *data;
} interruption;

static void give_way()
{
	if (interruption.other && interruption.accesses_left-- == 0) {
		void (*other)(void *) = interruption.other;

		interruption.other = NULL;
		other(interruption.data);
	}
}

static uint32_t atomicOr(uint32_t *at, uint32_t v)
{
	give_way();
	return __atomic_fetch_or(at, v, __ATOMIC_RELAXED);
}

static uint32_t atomicAdd(uint32_t *at, uint32_t v)
{
	give_way();
	return __atomic_fetch_add(at, v, __ATOMIC_RELAXED);
}

static uint32_t atomicExch(uint32_t *at, uint32_t v)
{
	give_way();
	return __atomic_exchange_n(at, v, __ATOMIC_RELAXED);
}

static uint32_t atomicCAS(uint32_t *at, uint32_t expected, uint32_t v)
{
	give_way();
	__atomic_compare_exchange_n(at, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return expected;
}

static uint32_t atomicMin(uint32_t *at, uint32_t v)
{
	give_way();
	uint32_t old = __atomic_load_n(at, __ATOMIC_RELAXED);

	while (v < old &&
	       !__atomic_compare_exchange_n(at, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return old;
}

static void __threadfence()
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#include "gpu/stereo/union_find.cuh"

namespace
{

struct work {
	bool in_block;
	uint32_t *parent, *size;
	int nodes, edge_count, threads;
	const struct union_find_edge *edges;
	pthread_barrier_t meeting;
};

struct thread {
	struct work *work;
	int number;
	pthread_t id;
};

void join_all(const struct work &w, int first)
{
	struct sx_union_find f = {w.parent, w.size};

	for (int i = first; i < w.edge_count; i += w.threads) {
		if (w.in_block)
			sx_union_find_join(w.parent, w.edges[i].a, w.edges[i].b);
		else
			sx_union_find_unite(&f, w.edges[i].a, w.edges[i].b);
	}
}

/*
 * Does the same as count_runs() of gpu/stereo/filter.cu. Each thread counts a stretch of the nodes, the last
 * node first, when the paths to the roots are longest.
 */
void count_all(const struct work &w, int share)
{
	const int begin = w.nodes * share / w.threads;

	for (int i = w.nodes * (share + 1) / w.threads - 1; i >= begin; i--) {
		const uint32_t root = sx_union_find_find(w.parent, (uint32_t)i);

		atomicMin(&w.parent[i], root);
		atomicAdd(&w.size[root], 1);
	}
}

void *run(void *data)
{
	const struct thread *t = (const struct thread *)data;

	pthread_barrier_wait(&t->work->meeting);
	join_all(*t->work, t->number);
	pthread_barrier_wait(&t->work->meeting);
	if (t->work->in_block)
		count_all(*t->work, t->number);
	return NULL;
}

} // namespace

static void start(const struct work &w)
{
	for (int i = 0; i < w.nodes; i++) {
		w.parent[i] = (uint32_t)i;
		w.size[i] = w.in_block ? 0 : 1;
	}
}

/* Returns whether an interruption has happened, and switches further interruptions off. */
static bool was_interrupted()
{
	const bool was = !interruption.other;

	interruption.other = NULL;
	return was;
}

bool union_find_interrupted_run(bool in_block, bool joining, int access, uint32_t *parent, uint32_t *size,
				int nodes, const struct union_find_edge *edges, int edge_count)
{
	struct work w = {in_block, parent, size, nodes, edge_count, joining ? 2 : 1, edges, {}};
	bool was;

	start(w);
	if (joining)
		interruption = {access, [](void *data) { join_all(*(const struct work *)data, 1); }, &w};
	join_all(w, 0);
	was = was_interrupted();
	if (!in_block)
		return was;
	w.threads = joining ? 1 : 2;
	if (!joining)
		interruption = {access, [](void *data) { count_all(*(const struct work *)data, 0); }, &w};
	count_all(w, joining ? 0 : 1);
	return joining ? was : was_interrupted();
}

void union_find_threads_run(bool in_block, uint32_t *parent, uint32_t *size, int nodes,
			    const struct union_find_edge *edges, int edge_count, int threads)
{
	struct work w = {in_block, parent, size, nodes, edge_count, threads, edges, {}};
	std::vector<struct thread> all((size_t)threads);

	start(w);
	pthread_barrier_init(&w.meeting, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++) {
		all[(size_t)i] = {&w, i, {}};
		pthread_create(&all[(size_t)i].id, NULL, run, &all[(size_t)i]);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(all[(size_t)i].id, NULL);
	pthread_barrier_destroy(&w.meeting);
}
