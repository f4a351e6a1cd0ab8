/*
 * The union-find of the speckle filter (gpu/stereo/union_find.cuh) on real threads, against a sequential one.
 * In any order of the threads, every node names its root at the end, and the root has counted all its nodes.
 * The emulator cannot show this, because its lanes never run at the same time. ThreadSanitizer runs this test
 * too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/check.h"
#include "tests/gpu/stereo/union_find_threads.h"

#define NODES 3000
#define EDGES_MAX 6000
#define THREADS 4
#define SHORT 16 /* number of nodes for which every point of interruption is tried */
#ifdef __SANITIZE_THREAD__
#define ROUNDS 20
#else
#define ROUNDS 60
#endif

static uint32_t parent[NODES], size[NODES], want[NODES], want_size[NODES];
static struct union_find_edge edges[EDGES_MAX];

static void shuffle(struct union_find_edge *e, int n, struct check_rng *r)
{
	for (int i = n - 1; i > 0; i--) {
		const int k = check_below(r, i + 1);
		const struct union_find_edge swapped = e[i];

		e[i] = e[k];
		e[k] = swapped;
	}
}

/* Fills chains, which grow from both ends at once, and random edges. Long ones make deep trees. */
static int fill_edges(struct check_rng *r)
{
	const int reach = 1 + check_below(r, 40), chains = check_below(r, NODES), loose = check_below(r, 400);
	int n = 0;

	for (int i = 1; i < NODES && n < chains; i++)
		edges[n++] = (struct union_find_edge){(uint32_t)i, (uint32_t)(i > reach ? i - reach : 0)};
	for (int i = 0; i < loose; i++)
		edges[n++] = (struct union_find_edge){(uint32_t)check_below(r, NODES),
						      (uint32_t)check_below(r, NODES)};
	shuffle(edges, n, r);
	return n;
}

static uint32_t root_of(uint32_t i)
{
	while (want[i] != i)
		i = want[i];
	return i;
}

/*
 * Computes the expected result. want: the lowest node of each node's component. want_size: the number of
 * nodes of the component, at that lowest node.
 */
static void expect(int edge_count, int nodes)
{
	for (uint32_t i = 0; i < (uint32_t)nodes; i++)
		want[i] = i;
	for (int i = 0; i < edge_count; i++) {
		const uint32_t a = root_of(edges[i].a), b = root_of(edges[i].b);

		want[a > b ? a : b] = a < b ? a : b;
	}
	memset(want_size, 0, sizeof(want_size));
	for (uint32_t i = 0; i < (uint32_t)nodes; i++) {
		want[i] = root_of(i);
		want_size[want[i]]++;
	}
}

/* Checks that every node names its root or leads to it, and that the root has counted all nodes. */
static void check_all(bool in_block, int nodes)
{
	if (in_block) {
		assert_memory_equal(parent, want, sizeof(*parent) * (size_t)nodes);
		assert_memory_equal(size, want_size, sizeof(*size) * (size_t)nodes);
		return;
	}
	for (int i = 0; i < nodes; i++) {
		uint32_t root = (uint32_t)i, same = want[i];

		while (parent[root] != root)
			root = parent[root];
		while (parent[same] != same)
			same = parent[same];
		assert_int_equal(root, same);
		assert_int_equal(size[root], want_size[want[i]]);
	}
}

static void run_threads(bool in_block, uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);

	for (int round = 0; round < ROUNDS; round++) {
		const int n = fill_edges(&r);

		expect(n, NODES);
		union_find_threads_run(in_block, parent, size, NODES, edges, n, THREADS);
		check_all(in_block, NODES);
	}
}

static void test_threads_in_block(void **state)
{
	run_threads(true, 1);
}

/*
 * Across blocks any node may become the root. Reads there are volatile, not atomic, so ThreadSanitizer cannot
 * check them.
 */
#ifndef __SANITIZE_THREAD__
static void test_threads_across_blocks(void **state)
{
	run_threads(false, 2);
}
#endif

/*
 * Checks a chain of the greatest depth, joined from its end on, then the same in random orders, then random
 * edges.
 */
static void run_interrupted(bool in_block, bool joining)
{
	struct check_rng r = check_rng_seed(3);
	unsigned interrupted = 0;

	for (int order = 0; order < 12; order++) {
		for (int i = 0; i < SHORT - 1; i++)
			edges[i] = (struct union_find_edge){(uint32_t)(SHORT - 1 - i),
							    (uint32_t)(SHORT - 2 - i)};
		for (int i = 0; order >= 6 && i < SHORT - 1; i++)
			edges[i] = (struct union_find_edge){(uint32_t)check_below(&r, SHORT),
							    (uint32_t)check_below(&r, SHORT)};
		if (order)
			shuffle(edges, SHORT - 1, &r);
		expect(SHORT - 1, SHORT);
		for (int access = 0; union_find_interrupted_run(in_block, joining, access, parent, size,
								SHORT, edges, SHORT - 1);
		     access++, interrupted++)
			check_all(in_block, SHORT);
	}
	assert_true(interrupted > 100);
}

static void test_interrupted_in_block(void **state)
{
	run_interrupted(true, true);
	run_interrupted(true, false);
}

static void test_interrupted_across_blocks(void **state)
{
	run_interrupted(false, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_in_block),
#ifndef __SANITIZE_THREAD__
		cmocka_unit_test(test_threads_across_blocks),
#endif
		cmocka_unit_test(test_interrupted_in_block),
		cmocka_unit_test(test_interrupted_across_blocks),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
