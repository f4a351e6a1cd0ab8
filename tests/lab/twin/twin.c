/*
 * Gives a slice of a large GPU about the memory bandwidth of a board. The rest of the card loads memory, and
 * holds cache, until a copy on the slice has the rate of the board (taken as 0.8 of its data sheet). Under
 * that load the CUDA engine computes the default chain.
 *
 *	twin [--quick] [--board NAME]... [--seconds S]
 *
 * NAME: orin-nx, agx-orin, thor; without --board, the first two. --quick: small images and one strength of
 * each load, to prove that it runs. --seconds: time limit of the whole program, default 85, divided among the
 * boards. Results are printed at once. The clocks are those of the card, so times of computing differ from a
 * board's, but the time that memory adds does not. Loads end with the program, and each ends after its time
 * limit in any case.
 *
 * Exit: 0; 1 a call failed; 64 wrong usage; 77 no device, or one without green contexts; 124 out of time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "gpu/host/engine.h"
#include "tests/lab/kernels/bench.h"
#include "tests/lab/twin/chain.h"
#include "tests/lab/twin/sweep.h"

#define SKIPPED 77
#define TIMED_OUT 124
#define PART_OF_SHEET 0.8 /* share of a data sheet's bandwidth that copies reach */
#define LIBSGM_BYTES 8.0  /* bytes of a cell with 4 paths: one written and one read for each */
#define REACHED 0.1	  /* relative distance to the target at which the slice counts as the board */
#define RUN_LIMIT_S 10.0  /* s, time limit of the load under one engine */
#define SWEEP_PART 0.45	  /* share of a board's time for the search; the rest is for the engine */

struct board {
	const char *name;
	int sms;
	double gbs;
	int cache_mb;
};

static const struct board boards[] = {
	{"orin-nx", 8, 102.4, 2}, {"agx-orin", 16, 204.8, 4}, {"thor", 20, 273, 32}};
#define BOARDS ((int)(sizeof(boards) / sizeof(boards[0])))

static struct {
	bool chosen[BOARDS], quick;
	double seconds;
} options = {.seconds = 85};

static void end_by_signal(int number)
{
	static const char text[] = "\nended: out of time, or asked to end\n";

	twin_load_end_all();
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(1);
	_exit(number == SIGALRM ? TIMED_OUT : 1);
}

static int usage(void)
{
	fprintf(stderr, "usage: twin [--quick] [--board orin-nx|agx-orin|thor]... [--seconds 10..600]\n");
	return 64;
}

static bool choose_board(const char *name)
{
	for (int i = 0; i < BOARDS; i++)
		if (strcmp(boards[i].name, name) == 0)
			return options.chosen[i] = true;
	return false;
}

static bool parse(int argc, char **argv)
{
	bool any = false;

	for (int i = 1; i < argc; i++) {
		char *end = NULL;

		if (strcmp(argv[i], "--quick") == 0) {
			options.quick = true;
		} else if (strcmp(argv[i], "--board") == 0 && i + 1 < argc) {
			if (!choose_board(argv[++i]))
				return false;
			any = true;
		} else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
			options.seconds = strtod(argv[++i], &end);
			if (*end || !(options.seconds >= 10 && options.seconds <= 600))
				return false;
		} else {
			return false;
		}
	}
	if (!any)
		options.chosen[0] = options.chosen[1] = true;
	return true;
}

/* Prints the multiprocessors in `seen`. Returns how many of them are in `others`, too. */
static int print_multiprocessors(const char *name, const uint32_t *seen, const uint32_t *others)
{
	int shared = 0, count = 0;

	printf("%s:", name);
	for (int i = 0; i < TWIN_MULTIPROCESSORS_MAX; i++) {
		if (!seen[i])
			continue;
		shared += others[i] != 0;
		if (count++ < 32)
			printf(" %d", i);
	}
	printf("%s (%d)\n", count > 32 ? " ..." : "", count);
	return shared;
}

/*
 * Checks that the load runs on other multiprocessors than the slice, because the measurement would be wrong
 * otherwise.
 */
static bool are_apart(struct twin_sweep *s)
{
	static uint32_t of_slice[TWIN_MULTIPROCESSORS_MAX], of_rest[TWIN_MULTIPROCESSORS_MAX];
	int shared;

	twin_load_where(s->load, of_rest);
	bench_must(sx_cuda_enter(s->slice), "entering the slice");
	twin_probe_where(s->probe, of_slice);
	shared = print_multiprocessors("  multiprocessors of the slice", of_slice, of_rest);
	print_multiprocessors("  of the load", of_rest, of_slice);
	if (shared)
		printf("  %d belong to both: what follows would not be of a slice\n", shared);
	return shared == 0;
}

/*
 * Prints the rates of reads of more and more bytes. The size where the rates fall is the cache of the slice.
 */
static void print_cache(const struct twin_sweep *s, const char *name, const struct twin_setting *v)
{
	static const int mb[] = {1, 2, 4, 8, 16, 32};
	struct twin_load_told told;

	printf("  cache, %s: GB/s of reads of", name);
	twin_sweep_start(s, v, RUN_LIMIT_S);
	for (size_t i = 0; i < sizeof(mb) / sizeof(mb[0]); i++)
		printf("%s %d MB %.0f", i ? "," : "", mb[i], twin_probe_cache(s->probe, (size_t)mb[i] << 20));
	twin_sweep_stop(s, &told);
	printf("%s\n", told.lasted ? "" : " (void: the load ended)");
	fflush(stdout);
}

/* Prints whether the slice reaches the board's bandwidth, and if not, why. */
static void print_choice(const struct twin_sweep *s, const struct twin_setting *v, const char *group)
{
	const double fair = v->load.gbs * s->slice->sms / s->load->sms;

	if (!v->blocks) {
		printf("  %s: none was measured\n", group);
		return;
	}
	printf("  %s: nearest is %s with %d blocks: copy %.1f GB/s for a target of %.1f", group,
	       twin_kind_name(v->kind), v->blocks, v->left.copy, s->target);
	if (twin_sweep_distance(s, v) <= REACHED)
		printf(": reached\n");
	else if (v->left.copy < s->target)
		printf(": no strength that was tried comes nearer\n");
	else
		printf(": NOT reached. The load moves %.0f GB/s on %d multiprocessors, so an equal share of\n"
		       "    the slice's %d would be %.0f, and it has %.2f times that; alone it has %.0f\n",
		       v->load.gbs, s->load->sms, s->slice->sms, fair, v->left.copy / fair,
		       s->none.left.copy);
}

static void print_head(void)
{
	printf("  ms: sgm, winner, all other stages, chain from pair to record; bytes that sgm and winner\n"
	       "  move, by layout, through their time; libSGM's %.0f bytes a cell as plain streams; copy on\n"
	       "  the slice, before, between, after, GB/s\n",
	       LIBSGM_BYTES);
	printf("  %-10s %-10s %-8s | %8s %8s %8s %8s | %6s %7s | %6s %6s %6s\n", "size", "volume", "load",
	       "sgm", "winner", "rest", "chain", "GB/s", "libSGM", "before", "betw.", "after");
}

/* Runs one engine under one load, or without a load. */
static bool run_engine(const struct twin_sweep *s, struct twin_chain *c, const char *volume,
		       const struct twin_setting *v)
{
	const struct sx_image *image = &c->pairs->pair[0].left;
	const double seconds = options.quick ? 0 : 0.5, part = c->cells * LIBSGM_BYTES / 2;
	struct twin_load_told told;
	struct twin_times t = {0};
	double copy[3], libsgm;
	bool good;
	char size[24];

	twin_sweep_start(s, v, RUN_LIMIT_S);
	copy[0] = twin_probe_copy(s->probe);
	good = twin_chain_stages(c, seconds, &t);
	copy[1] = twin_probe_copy(s->probe);
	good = good && twin_chain_whole(c, seconds, &t);
	libsgm = twin_probe_stream_ms(s->probe, TWIN_PROBE_WRITE, part) +
		 twin_probe_stream_ms(s->probe, TWIN_PROBE_READ, part);
	copy[2] = twin_probe_copy(s->probe);
	twin_sweep_stop(s, &told);
	if (!good)
		return false;
	snprintf(size, sizeof(size), "%dx%d", image->width, image->height);
	printf("  %-10s %-10s %-8s | %8.3f %8.3f %8.3f %8.3f | %6.1f %7.3f | %6.1f %6.1f %6.1f%s\n", size,
	       volume, v->blocks ? twin_kind_name(v->kind) : "none", t.sgm, t.winner, t.rest, t.chain,
	       (double)c->traffic / (t.sgm + t.winner) / 1e6, libsgm, copy[0], copy[1], copy[2],
	       told.lasted ? "" : "  (void: the load ended)");
	fflush(stdout);
	return true;
}

/* Runs one image size with one way to keep path costs, without load and under each chosen load. */
static int run_volume(struct twin_sweep *s, const struct twin_pairs *pairs, const struct board *b,
		      enum sx_volume_choice volume)
{
	const char *const name = volume == SX_VOLUME_STORED ? "stored" : "checkpoint";
	const double near = REACHED;
	struct twin_chain c;
	struct sx_why why = {""};
	bool good;

	if (twin_chain_open(&c, pairs, b->sms, volume, &why) < 0) {
		fprintf(stderr, "%s\n", why.text);
		return 1;
	}
	s->slice = c.device;
	twin_probe_attach(s->probe, c.device);
	good = run_engine(s, &c, name, &s->none);
	for (int i = 0; good && i < TWIN_BESTS; i++) {
		const double other = twin_sweep_distance(s, &s->best[1 - i]),
			     own = twin_sweep_distance(s, &s->best[i]);

		if (s->best[i].blocks && (own <= near || own <= other))
			good = run_engine(s, &c, name, &s->best[i]);
	}
	twin_probe_detach(s->probe);
	twin_chain_close(&c);
	return good ? 0 : 1;
}

static int run_engines(struct twin_sweep *s, const struct board *b)
{
	static const int sizes[][2] = {{1242, 375}, {2048, 1024}};
	struct sx_why why = {""};
	int code = 0;

	print_head();
	for (int i = 0; !code && i < (options.quick ? 1 : 2); i++) {
		const int width = options.quick ? 320 : sizes[i][0],
			  height = options.quick ? 128 : sizes[i][1];
		struct twin_pairs pairs;

		if (twin_pairs_init(&pairs, width, height, &why) < 0) {
			fprintf(stderr, "%s\n", why.text);
			code = 1;
		}
		if (!code)
			code = run_volume(s, &pairs, b, SX_VOLUME_STORED);
		if (!code)
			code = run_volume(s, &pairs, b, SX_VOLUME_CHECKPOINT);
		bench_must(cudaSetDevice(0), "the device");
		twin_pairs_finish(&pairs);
	}
	return code;
}

/* Searches the loads on a slice that is closed afterwards, because one engine at a time uses it. */
static bool search(struct twin_sweep *s, const struct board *b, struct sx_why *why)
{
	struct twin_chain slice;
	bool apart;

	if (twin_chain_open(&slice, NULL, b->sms, SX_VOLUME_STORED, why) < 0)
		return false;
	s->slice = slice.device;
	twin_probe_attach(s->probe, slice.device);
	printf("%s: %d multiprocessors, %.1f GB/s on the data sheet, %d MB of cache; here %s\n", b->name,
	       b->sms, b->gbs, b->cache_mb, sx_backend_cuda.describe(slice.device));
	printf("  target: copy %.1f GB/s; rest %d multiprocessors; of %.1f MB of cache %.1f are held\n",
	       s->target, s->load->sms, (double)s->load->cache_bytes / 1048576,
	       (double)s->load->kept_bytes / 1048576);
	apart = are_apart(s);
	if (apart) {
		twin_sweep_run(s);
		print_choice(s, &s->best[TWIN_OF_MEMORY], "loads of memory");
		print_choice(s, &s->best[TWIN_OF_CACHE], "loads of the cache alone");
		print_cache(s, "no load", &s->none);
		for (int i = 0; i < TWIN_BESTS; i++)
			if (s->best[i].blocks)
				print_cache(s, twin_kind_name(s->best[i].kind), &s->best[i]);
	} else {
		sx_why_set(why, "slice and load could not be kept apart");
	}
	twin_probe_detach(s->probe);
	twin_chain_close(&slice);
	return apart;
}

static int run_board(const struct board *b, double seconds)
{
	static struct twin_load load;
	static struct twin_probe probe;
	struct twin_sweep s = {.load = &load,
			       .probe = &probe,
			       .target = PART_OF_SHEET * b->gbs,
			       .end_ns = sx_now_ns() + (int64_t)(SWEEP_PART * seconds * 1e9),
			       .quick = options.quick};
	struct sx_why why = {""};
	int code = 0;
	int r = twin_load_init(&load, b->sms, &why);

	if (r < 0) {
		fprintf(stderr, "%s: %s\n", b->name, why.text);
		code = r == -ENOTSUP ? SKIPPED : 1;
	} else {
		twin_probe_init(&probe);
		if (search(&s, b, &why)) {
			code = run_engines(&s, b);
		} else {
			fprintf(stderr, "%s: %s\n", b->name, why.text);
			code = 1;
		}
	}
	twin_load_finish(&load);
	twin_probe_finish(&probe);
	return code;
}

int main(int argc, char **argv)
{
	const int64_t began_ns = sx_now_ns();
	int code = 0, left = 0, devices = 0;

	if (!parse(argc, argv))
		return usage();
	/*
	 * load all kernels at the start, and give each stream its own queue so that no stream waits for
	 * another
	 */
	setenv("CUDA_MODULE_LOADING", "EAGER", 1);
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
	signal(SIGALRM, end_by_signal);
	signal(SIGINT, end_by_signal);
	signal(SIGTERM, end_by_signal);
	alarm((unsigned)options.seconds + 5);
	if (cudaGetDeviceCount(&devices) || devices == 0) {
		fprintf(stderr, "this machine has no CUDA device\n");
		return getenv("SX_REQUIRE_GPU") ? 1 : SKIPPED; /* like tests/gpu/need_device.c */
	}
	for (int i = 0; i < BOARDS; i++)
		left += options.chosen[i];
	for (int i = 0; i < BOARDS && !code; i++) {
		const double spent = (double)(sx_now_ns() - began_ns) / 1e9;

		if (options.chosen[i])
			code = run_board(&boards[i], (options.seconds - spent) / left--);
	}
	printf("%.1f s\n", (double)(sx_now_ns() - began_ns) / 1e9);
	return code;
}
