/*
 * Explores scenarios. Then explores each of them again with one operation weakened at a time, and each
 * weakening should cause a violation. test_model.py runs this program, and lists the operations whose
 * weakening causes none.
 *
 *	stixel-model [--deep] [--trace] [--plain] [SCENARIO...]
 *
 * Prints a line for each scenario and each weakening. Exits with 1 if a scenario without weakening has a
 * violation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/model/model.h"

static const struct model_scenario *const scenarios[] = {
	&model_ring_next, &model_ring_latest, &model_ring_wait, &model_ring_bell,     &model_ring_close,
	&model_ring_slot, &model_feed,	      &model_mailbox,	&model_mailbox_early, &model_slots,
	&model_log,	  &model_log_full,    &model_log_life,	&model_log_queue,     &model_control_channel,
	&model_controls,  &model_pool,	      &model_pool_late,
};

static const char *const order_names[] = {
	[__ATOMIC_RELAXED] = "relaxed", [__ATOMIC_CONSUME] = "consume", [__ATOMIC_ACQUIRE] = "acquire",
	[__ATOMIC_RELEASE] = "release", [__ATOMIC_ACQ_REL] = "acq_rel", [__ATOMIC_SEQ_CST] = "seq_cst",
};

static int find_base(struct dl_phdr_info *info, size_t bytes, void *base)
{
	*(uintptr_t *)base = info->dlpi_addr;
	return 1;
}

static double seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* Lists the orders that are weaker than `order` by one property. Returns their number. */
static int weaker(char kind, int order, int to[3])
{
	int n = 0;

	if (kind == 'f') {
		to[n++] = __ATOMIC_RELAXED;
		return n;
	}
	if (order == __ATOMIC_SEQ_CST && kind == 'x')
		to[n++] = __ATOMIC_ACQ_REL;
	if (order == __ATOMIC_SEQ_CST && kind == 'l')
		to[n++] = __ATOMIC_ACQUIRE;
	if (order == __ATOMIC_SEQ_CST && kind == 's')
		to[n++] = __ATOMIC_RELEASE;
	if (kind == 'x' && (order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST)) {
		to[n++] = __ATOMIC_RELEASE;
		to[n++] = __ATOMIC_ACQUIRE;
	} else if (order != __ATOMIC_RELAXED) {
		to[n++] = __ATOMIC_RELAXED;
	}
	return n;
}

static void tell(const char *what, bool good, double began)
{
	printf("%s %s: %s, executions %llu, pruned %llu, operations %llu, seconds %.2f%s%s\n", what,
	       model->scenario->name, good ? "good" : "bad", (unsigned long long)model->executions,
	       (unsigned long long)model->pruned, (unsigned long long)model->operations, seconds() - began,
	       good ? "" : ": ", good ? "" : model->what);
}

static void weaken_all(uintptr_t base)
{
	char what[160];
	int to[3];

	for (unsigned i = 0; i < model->sites; i++) {
		const struct site *site = &model->site[i];
		const int count = weaker(site->kind, site->order, to);

		for (int k = 0; k < count; k++) {
			const double began = seconds();

			model->weak_pc = site->pc;
			model->weak_order = to[k];
			snprintf(what, sizeof(what), "weakened 0x%lx %s %s", (unsigned long)(site->pc - base),
				 order_names[site->order], order_names[to[k]]);
			tell(what, explore_run(), began);
		}
	}
	model->weak_pc = 0;
}

static int run_litmus(const struct model_scenario *s)
{
	bool good;

	explore_setup(s);
	good = explore_run() != s->races && (s->races || model->outcomes == s->outcomes);
	printf("litmus %s: %s, executions %llu, pruned %llu, outcomes %#x\n", s->name, good ? "good" : "bad",
	       (unsigned long long)model->executions, (unsigned long long)model->pruned, model->outcomes);
	return good ? 0 : 1;
}

/* Runs a scenario. Each runs in its own process, so that it begins with unused memory. */
static int run_scenario(const struct model_scenario *s, bool weakened, bool trace)
{
	const double began = seconds();
	uintptr_t base = 0;
	bool good;

	dl_iterate_phdr(find_base, &base);
	explore_setup(s);
	model->collecting = true;
	good = explore_run();
	model->collecting = false;
	tell("scenario", good, began);
	if (!good && trace)
		explore_replay();
	if (good && weakened)
		weaken_all(base);
	explore_teardown();
	return good ? 0 : 1;
}

static bool wanted(const struct model_scenario *s, char **names, int count)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(names[i], s->name))
			return true;
	return count == 0;
}

/* Runs a scenario in a child process. True if it ended well. */
static bool run_child(const struct model_scenario *s, bool litmus, bool weakened, bool trace)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		status = litmus ? run_litmus(s) : run_scenario(s, weakened, trace);
		fflush(stdout);
		_exit(status);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return false;
	if (WIFSIGNALED(status))
		printf("scenario %s: bad, killed by signal %d\n", s->name, WTERMSIG(status));
	return status == 0;
}

int main(int argc, char **argv)
{
	bool trace = false, weakened = true, good = true;
	int i;

	model = mmap(NULL, sizeof(*model), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (model == MAP_FAILED)
		return 71;
	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		model->deep |= !strcmp(argv[i], "--deep");
		trace |= !strcmp(argv[i], "--trace");
		weakened &= strcmp(argv[i], "--plain") != 0;
	}
	for (const struct model_scenario *s = model_litmus; s->name; s++)
		good &= run_child(s, true, false, false);
	for (size_t k = 0; k < sizeof(scenarios) / sizeof(scenarios[0]); k++)
		if (wanted(scenarios[k], argv + i, argc - i))
			good &= run_child(scenarios[k], false, weakened, trace);
	return good ? 0 : 1;
}
