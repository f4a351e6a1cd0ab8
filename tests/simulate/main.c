/*
 * stixel-simulate: runs histories of the daemon by seed.
 *
 *	stixel-simulate [--seed S] [--seeds N] [--minutes M] [--length SECONDS] [--quiet] [--lasting]
 *			[--trace] [--twice] [--totals] [--break WHAT]
 *
 * One history is one process. Its events are a function of its seed, its length, --quiet or --lasting, and
 * the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/simulate/sim.h"
#include "tests/simulate/world.h"

#define LENGTH_S 1200 /* default length of a history */
#define TOTALS_S 20   /* time between two sums, with --totals */
#define TOLD 60	      /* events that are printed of a failed history */
#define DESCRIPTORS_MOST 1024

struct told {
	uint64_t seed, seeds;
	double minutes, length_s;
	bool trace, twice, totals;
	bool quiet;   /* minutes and hours of calm between the faults */
	bool lasting; /* one life of years */
	enum sim_break broken;
};

static const char *const breaks[BREAKS] = {
	[BREAK_NOTHING] = "nothing", [BREAK_ACCEPT] = "accept",	    [BREAK_CLOCK] = "clock",
	[BREAK_CLOSE] = "close",     [BREAK_EPOCH] = "epoch",	    [BREAK_FREE] = "free",
	[BREAK_GAPS] = "gaps",	     [BREAK_OLDEST] = "oldest",	    [BREAK_PING] = "ping",
	[BREAK_READY] = "ready",     [BREAK_REPLACED] = "replaced", [BREAK_SIGNAL] = "signal",
	[BREAK_UNMAP] = "unmap",     [BREAK_WAKE] = "wake",
};

/* Result that a history sends to the process that adds up. */
struct outcome {
	uint64_t hash, steps, frames, pairs, dropped, lives, kills, read, lost, requests;
	double simulated_s;
	bool good;
};

static volatile sig_atomic_t ended; /* signal that ended the program */
static volatile pid_t playing;	    /* process of the current history */

/* Ends the current history at once. kill() is the simulated function here, so this uses sigqueue(). */
static void end(int number)
{
	ended = number;
	if (playing > 0)
		sigqueue(playing, SIGKILL, (union sigval){0});
}

static void end_by(void (*handler)(int))
{
	signal(SIGINT, handler);
	signal(SIGTERM, handler);
}

static void make_folder(char *folder, size_t bytes)
{
	snprintf(folder, bytes, "%s/stixel-simulate.XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(folder))
		abort();
}

static void remove_folder(char *folder)
{
	char rm[] = "rm", all[] = "-rf", *const words[] = {rm, all, folder, NULL};
	pid_t child;

	if (posix_spawnp(&child, "rm", NULL, NULL, words, environ) != 0 || waitpid(child, NULL, 0) < 0)
		fprintf(stderr, "simulate: cannot remove %s\n", folder);
}

static void print_failure(const struct told *told, uint64_t seed)
{
	const uint64_t first = sim->traced > TOLD ? sim->traced - TOLD : 0;

	for (uint64_t i = sim->marked > SIM_MARKS ? sim->marked - SIM_MARKS : 0; i < sim->marked; i++) {
		const struct sim_note *n = &sim->mark[i % SIM_MARKS];

		printf("  world %15.6f ms %s %lld\n", (double)n->at / 1e6, n->call, (long long)n->a);
	}
	for (uint64_t i = first; i < sim->traced; i++) {
		const struct sim_note *n = &sim->trace[i % SIM_TRACE];

		printf("  %15.6f ms %-10s %s %lld\n", (double)n->at / 1e6, n->task, n->call, (long long)n->a);
	}
	for (int i = 0; i < SIM_TASKS; i++) {
		const struct sim_task *t = &sim->task[i];

		if (t->state == SIM_READY || t->state == SIM_BLOCKED)
			printf("  thread %d %s of %d: %s%s, until %.6f\n", i, t->name, t->process->pid,
			       t->state == SIM_READY ? "can go on" : "sleeps",
			       sim->starved & UINT64_C(1) << i ? ", starved" : "",
			       t->timer.at == SIM_NEVER ? 0 : (double)t->timer.at / 1e6);
	}
	for (uint64_t i = sim->texts > 12 ? sim->texts - 12 : 0; i < sim->texts; i++)
		printf("  log: %s\n", sim->text[i % 64]);
	printf("seed %llu, after %.3f s of %.0f%s: %s\n", (unsigned long long)seed,
	       (double)(sim->now - sim->begin) / 1e9, told->length_s,
	       told->lasting ? ", one life"
	       : told->quiet ? ", quiet hours"
			     : "",
	       sim->why);
}

static void run_history(const struct told *t, uint64_t seed, const char *folder, struct outcome *ret)
{
	bool good;

	sim_init(seed);
	snprintf(sim->folder, sizeof(sim->folder), "%s", folder);
	setenv("STIXELD_SHM_DIR", folder, 1);
	setenv("RUNTIME_DIRECTORY", folder, 1);
	unsetenv("JOURNAL_STREAM");
	setenv("TZ", "UTC", 1);
	sim->tracing = t->trace;
	sim->broken = t->broken;
	sim->quiet = t->quiet || t->lasting;
	sim->lasting = t->lasting;
	age_clocks();
	sim->end = sim->begin + (int64_t)(t->length_s * 1e9);
	world_init();
	good = sim_run();
	if (!good)
		print_failure(t, seed);
	*ret = (struct outcome){
		.hash = sim->hash,
		.steps = sim->steps,
		.frames = world->frames_in_all,
		.pairs = world->pairs_in_all,
		.dropped = world->dropped_in_all,
		.lives = world->lives,
		.kills = world->kills,
		.read = world->read_in_all,
		.lost = world->lost_in_all,
		.requests = world->requests_done,
		.simulated_s = (double)(sim->now - sim->begin) / 1e9,
		.good = good,
	};
	fflush(stdout);
}

void __gcov_dump(void) __attribute__((weak));

/*
 * Runs a history in a child process, so that a crash of the daemon ends only that history. True also if a
 * signal ended it.
 */
static bool history(const struct told *t, uint64_t seed, struct outcome *ret)
{
	int pipes[2], status = 0;
	char folder[64];
	pid_t child;
	ssize_t n;

	*ret = (struct outcome){0};
	make_folder(folder, sizeof(folder));
	fflush(stdout);
	if (pipe(pipes) < 0 || (child = fork()) < 0)
		abort();
	if (child == 0) {
		end_by(SIG_DFL);
		run_history(t, seed, folder, ret);
		n = write(pipes[1], ret, sizeof(*ret));
		if (__gcov_dump) /* built for profiling (run --fast) */
			__gcov_dump();
		_exit(n == (ssize_t)sizeof(*ret) ? 0 : 1);
	}
	playing = child;
	if (ended) /* the signal came before the process was known */
		end(ended);
	close(pipes[1]);
	n = read(pipes[0], ret, sizeof(*ret));
	close(pipes[0]);
	waitpid(child, &status, 0);
	playing = 0;
	remove_folder(folder);
	if (ended && n != (ssize_t)sizeof(*ret))
		return true;
	if (n != (ssize_t)sizeof(*ret)) {
		printf("seed %llu: the daemon crashes: %s %d\n", (unsigned long long)seed,
		       WIFSIGNALED(status) ? "signal" : "exit",
		       WIFSIGNALED(status) ? WTERMSIG(status) : status);
		return false;
	}
	return ret->good;
}

/* Restarts the program so that the heap is counted to the byte, and addresses are the same in each run. */
static void prepare(char **argv)
{
	const char *tunables = "glibc.malloc.tcache_count=0";
	const char *now = getenv("GLIBC_TUNABLES");

	if (now && !strcmp(now, tunables))
		return;
	setenv("GLIBC_TUNABLES", tunables, 1);
	personality(ADDR_NO_RANDOMIZE);
	execv("/proc/self/exe", argv);
	perror("simulate: cannot start anew");
}

/* Returns the CPU time of all histories. Other load on the machine does not change it. */
static double processor_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static double wall_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Returns the fault of this name, or BREAKS if there is none. */
static enum sim_break break_named(const char *name)
{
	enum sim_break b = BREAK_NOTHING;

	while (b < BREAKS && strcmp(breaks[b], name) != 0)
		b++;
	return b;
}

static void read_options(struct told *t, int argc, char **argv)
{
	*t = (struct told){.seed = 1, .seeds = 1, .length_s = LENGTH_S};
	for (int i = 1; i < argc; i++) {
		const bool more = i + 1 < argc;

		if (!strcmp(argv[i], "--trace"))
			t->trace = true;
		else if (!strcmp(argv[i], "--twice"))
			t->twice = true;
		else if (!strcmp(argv[i], "--totals"))
			t->totals = true;
		else if (!strcmp(argv[i], "--quiet"))
			t->quiet = true;
		else if (!strcmp(argv[i], "--lasting"))
			t->lasting = true;
		else if (!strcmp(argv[i], "--seed") && more)
			t->seed = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--seeds") && more)
			t->seeds = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--minutes") && more)
			t->minutes = strtod(argv[++i], NULL);
		else if (!strcmp(argv[i], "--length") && more)
			t->length_s = strtod(argv[++i], NULL);
		else if (!strcmp(argv[i], "--break") && more && break_named(argv[i + 1]) < BREAKS)
			t->broken = break_named(argv[++i]);
		else {
			fprintf(stderr,
				"usage: %s [--seed S] [--seeds N] [--minutes M] [--length SECONDS] [--quiet] "
				"[--lasting] [--trace] [--twice] [--totals] [--break WHAT]\n",
				argv[0]);
			exit(64);
		}
	}
}

static void add(struct outcome *sum, const struct outcome *one)
{
	sum->steps += one->steps;
	sum->frames += one->frames;
	sum->pairs += one->pairs;
	sum->dropped += one->dropped;
	sum->lives += one->lives;
	sum->kills += one->kills;
	sum->read += one->read;
	sum->lost += one->lost;
	sum->requests += one->requests;
	sum->simulated_s += one->simulated_s;
	sum->hash = one->hash;
}

/* Prints the sum as text for people, or as numbers for the script `run`, which adds them up. */
static void print_sum(const struct told *t, uint64_t seeds, unsigned findings, const struct outcome *sum)
{
	const double s = processor_s();

	if (t->totals)
		printf("totals %llu %llu %u %.3f %.1f", (unsigned long long)t->seed,
		       (unsigned long long)seeds, findings, s, sum->simulated_s);
	else
		printf("%llu seeds from %llu: %.1f simulated hours, %.0f frames/s, %.2f "
		       "simulated hours/s of a core, last hash %016llx;",
		       (unsigned long long)seeds, (unsigned long long)t->seed, sum->simulated_s / 3600,
		       (double)sum->frames / s, sum->simulated_s / 3600 / s, (unsigned long long)sum->hash);
	printf(t->totals
		       ? " %llu %llu %llu %llu %llu %llu %llu %llu %llu\n"
		       : " %llu frames, %llu pairs, %llu dropped, %llu lives, %llu killed, %llu frames read, "
			 "%llu lost, %llu orders, %llu steps\n",
	       (unsigned long long)sum->frames, (unsigned long long)sum->pairs,
	       (unsigned long long)sum->dropped, (unsigned long long)sum->lives,
	       (unsigned long long)sum->kills, (unsigned long long)sum->read, (unsigned long long)sum->lost,
	       (unsigned long long)sum->requests, (unsigned long long)sum->steps);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct outcome sum = {0}, one, again;
	const double began = wall_s();
	unsigned bad = 0;
	struct told t, silent;
	double told_s = began;
	uint64_t n = 0;

	/*
	 * descriptors left open by the caller would change the numbers of files, and so the history of a seed
	 */
	for (int fd = STDERR_FILENO + 1; fd < DESCRIPTORS_MOST; fd++)
		close(fd);
	prepare(argv);
	read_options(&t, argc, argv);
	end_by(end);
	silent = t;
	silent.trace = false;
	for (; t.minutes > 0 ? wall_s() - began < 60 * t.minutes : n < t.seeds; n++) {
		const uint64_t seed = t.seed + n;

		bad += !history(&t, seed, &one);
		if (t.twice && (!history(&silent, seed, &again) || again.hash != one.hash) && !ended) {
			printf("seed %llu: two runs differ: %016llx and %016llx\n", (unsigned long long)seed,
			       (unsigned long long)one.hash, (unsigned long long)again.hash);
			bad++;
		}
		if (ended && !bad) /* the history may have been cut short */
			break;
		add(&sum, &one);
		if (bad) {
			n++;
			break;
		}
		if (t.totals && wall_s() - told_s > TOTALS_S) {
			print_sum(&t, n + 1, bad, &sum);
			told_s = wall_s();
		}
	}
	print_sum(&t, n, bad, &sum);
	if (ended) {
		end_by(SIG_DFL);
		raise(ended);
	}
	return bad > 0;
}
