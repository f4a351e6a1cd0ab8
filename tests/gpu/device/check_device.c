/*
 * Checks the CUDA engine on a real device against the reference: every tap and the record, over the sizes,
 * settings and fillings of tests/engine_case.h, with all ways to keep path costs and both ways of input; the
 * same frame repeatedly; several contexts in flight; motion of sequences (tests/chain_case.h); image files; random
 * settings (tests/random_case.h).
 * Needs no library that a machine with a GPU may lack.
 *
 *	check_device [--cpu] [--quick] [--variant N | --random SEED COUNT [--cells N]] [--threads N] [--part K N]
 *		[--no-memory] [LEFT RIGHT]...
 *
 * --cpu: checks the cpu engine instead, which shows that this program accepts a correct engine.
 * --variant: checks only one of the ways to run the engine. --random: checks COUNT random settings instead,
 * with seeds from SEED on and one way to run the engine after the other, of at most N cells of the cost
 * volume. They use parts of the image files. --quick: checks fewer and smaller cases. --part: checks part K of
 * N parts, from 0 on. --no-memory: leaves out the memory that contexts of large images take, which is no use
 * with a sanitizer: their first frame alone may take a minute there. --threads: number of threads that compute
 * the reference; one at a time uses the device.
 * Prints "N checks, N failed". Exit: 0; 1 a check failed; 64 unknown words; 77 no module or no usable device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/image/image_io.h"
#include "cpu/engine/engine.h"
#include "engines/load.h"
#include "tests/chain_case.h"
#include "tests/random_case.h"

#define SKIPPED 77
#define CONTEXTS_MAX 4
#define IMAGES_MAX 64
#define THREADS_MAX 64
/* Cells of the volume of a random case. The reference takes a second for about 10 million cells. */
#define RANDOM_CELLS ((size_t)16000000)
#define RANDOM_CELLS_QUICK ((size_t)1000000)

/* One way to run the engine. */
struct variant {
	enum sx_volume_choice volume;
	enum sx_input_choice input;
	/* multiprocessors of a slice, which may change how kernels split their work; 0: whole device */
	int sms;
	bool quick;
};

static const struct variant variants[] = {
	{SX_VOLUME_STORED, SX_INPUT_COPY, 0, false},	{SX_VOLUME_CHECKPOINT, SX_INPUT_MAPPED, 0, false},
	{SX_VOLUME_STORED, SX_INPUT_MAPPED, 0, false},	{SX_VOLUME_CHECKPOINT, SX_INPUT_COPY, 0, false},
	{SX_VOLUME_CHECKPOINT, SX_INPUT_COPY, 8, true}, {SX_VOLUME_RECOMPUTE, SX_INPUT_COPY, 0, false}};
#define QUICK_VARIANTS 3
#define VARIANTS ((int)(sizeof(variants) / sizeof(variants[0])))

/* A variant whose device is open. */
struct run {
	int variant;
	bool quick;
	struct sx_device *device;
	char name[64];
	unsigned checks, failed;
};

/* Runs that check a case: all, in a quick run one case in eight, or none that is quick. */
enum level { LEVEL_ALL, LEVEL_SOME, LEVEL_FULL };

/* A case, for all runs that check it: they share its frame and what the reference makes of it. */
struct unit {
	enum kind { UNIT_CASE, UNIT_AGAIN, UNIT_MEMORY, UNIT_PAIR, UNIT_RANDOM, UNIT_MOTION } kind;
	enum level level;
	struct engine_case t;
	int index; /* in the order in which units were added */
	int nth;   /* UNIT_AGAIN: contexts in flight; UNIT_PAIR: index of the pair; UNIT_MOTION: seed */
	int frames, quick_frames; /* UNIT_AGAIN */
};

static struct {
	const struct sx_backend *engine; /* engine under test: cuda or cpu */
	struct random_images images;
	struct run run[VARIANTS];
	int runs;
	struct unit *unit;
	int units, room;
	enum level level; /* of the units that are added */
	int part, parts;
	size_t cells; /* of random settings */
	bool no_memory;
	atomic_int next, broken;
	/*
	 * Held while a case is on the device. Engines create one context at a time (stages/engine.h), and
	 * comparisons count the memory of all contexts.
	 */
	pthread_mutex_t device;
} test = {.device = PTHREAD_MUTEX_INITIALIZER};

/* The caller holds test.device. */
static void note(struct run *r, bool good)
{
	r->checks++;
	r->failed += !good;
}

static bool compute(const struct run *r, struct sx_context *x, const struct sx_pair *pair)
{
	const struct sx_backend *b = r ? test.engine : &sx_backend_reference;
	int e = b->submit(x, pair, NULL, NULL, NULL);

	if (e == 0)
		e = b->wait(x, 30000);
	if (e <= 0)
		fprintf(stderr, "%s a frame fails: %s %s\n", r ? r->name : "reference:", strerror(-e),
			r && b->failure ? b->failure(r->device) : "");
	return e > 0;
}

/* Returns a context of the reference that has computed the pair, or NULL. */
static struct sx_context *expect(struct sx_device *reference, const struct engine_case *t,
				 const struct sx_pair *pair, bool keep_volume)
{
	struct sx_context *a = engine_case_context(&sx_backend_reference, reference, t, keep_volume);

	if (a && !compute(NULL, a, pair)) {
		sx_backend_reference.context_destroy(a);
		return NULL;
	}
	return a;
}

/*
 * Compares a context of the run with that of the reference. With keep_volume the sums stay in memory and are
 * compared too. Otherwise the engine may find the winner without them.
 */
static bool compare_with(const struct run *r, const struct sx_context *a, const struct engine_case *t,
			 const struct sx_pair *pair, bool keep_volume)
{
	struct sx_context *b = engine_case_context(test.engine, r->device, t, keep_volume);
	bool good = b && compute(r, b, pair) &&
		    engine_case_same(t, (struct engine_output){&sx_backend_reference, a},
				     (struct engine_output){test.engine, b}, r->name, keep_volume);

	if (b)
		test.engine->context_destroy(b);
	return good;
}

/* Compares one pair, with and without keep_volume, in a quick run only one of them. */
static bool compare(const struct run *r, const struct sx_context *a, const struct engine_case *t,
		    const struct sx_pair *pair)
{
	bool good = a != NULL;

	for (int keep = 0; good && keep < 2; keep++)
		if (!r->quick || (int)(t->seed % 2) == keep)
			good = compare_with(r, a, t, pair, keep);
	return good;
}

/* Compares all outputs of a frame after each of many frames, with n contexts in flight. */
static bool compare_again(const struct run *r, const struct sx_context *a, const struct unit *u,
			  const struct sx_pair *pair)
{
	const int n = u->nth, frames = r->quick ? u->quick_frames : u->frames;
	struct sx_context *x[CONTEXTS_MAX] = {NULL};
	bool good = a != NULL;

	for (int i = 0; i < n; i++)
		good &= (x[i] = engine_case_context(test.engine, r->device, &u->t, false)) != NULL;
	for (int i = 0; good && i < frames + n; i++) {
		struct sx_context *one = x[i % n];

		if (i >= n)
			good = test.engine->wait(one, 30000) == 1 &&
			       engine_case_same(&u->t, (struct engine_output){&sx_backend_reference, a},
						(struct engine_output){test.engine, one}, r->name, false);
		if (good && i < frames)
			good = test.engine->submit(one, pair, NULL, NULL, NULL) == 0;
	}
	for (int i = 0; i < n; i++)
		if (x[i])
			test.engine->context_destroy(x[i]);
	return good;
}

/*
 * Checks the memory of a context. With 4 paths it takes at most 5 bytes per cell and 64 MB on any device. If
 * path costs are recomputed it takes at most 1.25 bytes per cell and 70 MB, or one byte per cell more if the
 * winner is found in memory.
 */
static void check_memory(struct run *r, const struct engine_case *t)
{
	const size_t before = test.engine->memory(r->device);
	const int disparities = t->params.stereo.disparities;
	struct sx_context *x;
	size_t took, most;

	if (test.engine == &sx_backend_cpu)
		return;
	x = engine_case_context(test.engine, r->device, t, false);
	took = test.engine->memory(r->device) - before;
	most = 5 * engine_case_cells(t) + 64000000;
	if (variants[r->variant].volume == SX_VOLUME_CHECKPOINT)
		most = (disparities == 128 ? 5 : 9) * engine_case_cells(t) / 4 + 70000000;
	if (took > most)
		fprintf(stderr, "%s %dx%d, %d disparities: %zu bytes, at most %zu are allowed\n", r->name,
			t->width, t->height, disparities, took, most);
	note(r, x && took <= most);
	if (x)
		test.engine->context_destroy(x);
	note(r, test.engine->memory(r->device) == before);
}

/* Returns whether the run checks the unit. */
static bool wants(const struct run *r, const struct unit *u)
{
	switch (u->kind) {
	case UNIT_PAIR: /* each variant another number of paths */
		return u->t.params.stereo.paths == 2 << (u->nth + r->variant) % 3;
	case UNIT_RANDOM: { /* the seed selects the variant; the whole device stands in for a slice */
		const int v = (int)(u->t.seed % VARIANTS);

		return r->variant == (variants[v].sms ? 0 : v);
	}
	default:
		return !r->quick || u->level == LEVEL_ALL || (u->level == LEVEL_SOME && u->t.seed % 8 == 3);
	}
}

/* Checks the frame of a unit with all runs that want it. f: NULL: the pair is that of the caller's images. */
static void check_frame(const struct unit *u, struct sx_device *reference, const struct sx_pair *pair,
			const struct engine_frame *f)
{
	struct sx_context *a = expect(reference, &u->t, pair, u->kind != UNIT_AGAIN);

	for (int i = 0; i < test.runs; i++) {
		struct run *r = &test.run[i];
		bool good;

		if (!wants(r, u))
			continue;
		pthread_mutex_lock(&test.device);
		good = u->kind == UNIT_AGAIN ? compare_again(r, a, u, pair) : compare(r, a, &u->t, pair);
		note(r, good);
		if (f && u->kind != UNIT_AGAIN) {
			const bool left = check_guards(&f->left, "left image"),
				   right = check_guards(&f->right, "right image"), kept = left && right;

			/* after a failure all later runs of the unit fail too */
			note(r, kept);
			if (!kept)
				fprintf(stderr, "%s wrote outside the pixels\n", r->name);
			good &= kept;
		}
		if (!good && u->kind == UNIT_RANDOM)
			fprintf(stderr, "again by: check_device --random %llu 1 --cells %zu\n",
				(unsigned long long)u->t.seed, test.cells);
		pthread_mutex_unlock(&test.device);
	}
	if (a)
		sx_backend_reference.context_destroy(a);
}

/* Checks a sequence with motion with all runs that want it, with 1, 2 or 4 contexts in flight. */
static void check_motion(const struct unit *u, struct sx_device *reference)
{
	struct chain_case t = chain_case_draw((unsigned)u->nth);
	struct chain_record want, got;

	t.params.motion.mode = SX_MOTION_MODE_PAIR;
	chain_case_run(&t, &sx_backend_reference, reference, 1, false, &want);
	for (int i = 0; i < test.runs; i++) {
		struct run *r = &test.run[i];
		const int contexts = 1 << (u->nth + r->variant) % 3;

		if (!wants(r, u))
			continue;
		pthread_mutex_lock(&test.device);
		chain_case_run(&t, test.engine, r->device, contexts, contexts == 2, &got);
		note(r, chain_record_same(r->name, &want, &got));
		chain_record_finish(&got);
		pthread_mutex_unlock(&test.device);
	}
	chain_record_finish(&want);
}

static bool is_wanted(const struct unit *u)
{
	for (int i = 0; i < test.runs; i++)
		if (wants(&test.run[i], u))
			return true;
	return false;
}

static void check_unit(const struct unit *u, struct sx_device *reference)
{
	struct engine_frame f;

	if (u->kind == UNIT_MEMORY) {
		pthread_mutex_lock(&test.device);
		for (int i = 0; i < test.runs; i++)
			if (wants(&test.run[i], u))
				check_memory(&test.run[i], &u->t);
		pthread_mutex_unlock(&test.device);
	} else if (u->kind == UNIT_MOTION) {
		check_motion(u, reference);
	} else if (u->kind == UNIT_PAIR) {
		const struct sx_image *img = &test.images.image[2 * u->nth];
		const struct sx_pair pair = {.left = img[0], .right = img[1], .number = 1};

		check_frame(u, reference, &pair, NULL);
	} else {
		if (u->kind == UNIT_RANDOM)
			random_case_frame(&f, &u->t, &test.images);
		else
			engine_frame_init(&f, &u->t);
		check_frame(u, reference, &f.pair, &f);
		engine_frame_finish(&f);
	}
}

static void *work(void *unused)
{
	const struct sx_engine_params p = {.backend = SX_BACKEND_REFERENCE, .contexts = 1};
	struct sx_device *reference;
	struct sx_why why = {""};

	if (sx_backend_reference.open(&reference, &p, &why) < 0) {
		fprintf(stderr, "%s\n", why.text);
		atomic_store(&test.broken, 1);
		return NULL;
	}
	for (int i; (i = atomic_fetch_add(&test.next, 1)) < test.units;)
		if (i % test.parts == test.part && is_wanted(&test.unit[i]))
			check_unit(&test.unit[i], reference);
	sx_backend_reference.close(reference);
	return unused;
}

/* Checks all units with the runs that are open. */
static int check_units(int threads)
{
	pthread_t thread[THREADS_MAX];
	int started = 0;

	atomic_store(&test.next, 0);
	while (started < threads - 1 && pthread_create(&thread[started], NULL, work, NULL) == 0)
		started++;
	work(NULL);
	while (started > 0)
		pthread_join(thread[--started], NULL);
	return atomic_load(&test.broken) ? -ENOMEM : 0;
}

static void add(const struct unit *u)
{
	if (test.units == test.room) {
		test.room = test.room ? 2 * test.room : 256;
		test.unit = realloc(test.unit, (size_t)test.room * sizeof(*test.unit));
		if (!test.unit)
			abort();
	}
	test.unit[test.units] = *u;
	test.unit[test.units].index = test.units;
	test.units++;
}

static void add_case(const struct engine_case *t)
{
	add(&(struct unit){.kind = UNIT_CASE, .level = test.level, .t = *t});
}

static void add_again(int contexts, int frames, int quick_frames)
{
	struct unit u = {.kind = UNIT_AGAIN,
			 .level = test.level,
			 .t = engine_case_small(900 + (uint64_t)contexts),
			 .nth = contexts,
			 .frames = frames,
			 .quick_frames = quick_frames};

	u.t.width = 233;
	u.t.height = 101;
	u.t.fill = CHECK_NOISE;
	add(&u);
}

static void add_memory(int width, int height, int disparities)
{
	struct unit u = {.kind = UNIT_MEMORY, .level = test.level, .t = engine_case_small(1)};

	if (test.no_memory)
		return;
	u.t.width = width;
	u.t.height = height;
	u.t.params.stereo.disparities = disparities;
	u.t.params.stereo.paths = 4;
	u.t.params.filters.speckle_size = 100;
	add(&u);
}

static void add_motion(int seed)
{
	struct unit u = {.kind = UNIT_MOTION,
			 .level = test.level,
			 .t = engine_case_small((uint64_t)seed),
			 .nth = seed};

	u.t.width = 300; /* about: for by_work() */
	u.t.height = 120 * CHAIN_FRAMES;
	add(&u);
}

/* Adds stixels of one pixel width: more columns than the largest device computes at the same time. */
static void add_many_columns(void)
{
	struct engine_case t = engine_case_small(950);

	t.width = 1500;
	t.height = 140;
	t.params.stereo.disparities = 128;
	t.params.stixels.width = 1;
	add_case(&t);
}

/*
 * Adds whole images, with 2, 4 and 8 paths, so that each number is checked with all variants, but each image
 * with two variants: see wants().
 */
static void add_pair(int nth)
{
	const struct sx_image *left = &test.images.image[2 * nth];

	for (int paths = 2; paths <= 8; paths *= 2) {
		struct unit u = {.kind = UNIT_PAIR, .t = engine_case_small(1), .nth = nth};
		struct sx_params *p = &u.t.params;

		u.t.width = left->width;
		u.t.height = left->height;
		u.t.pixel = left->pixel;
		p->stereo.disparities = 128;
		p->stereo.paths = paths;
		p->stereo.p2 = 86;
		p->filters.speckle_size = 100;
		p->stixels.width = paths < 8 ? p->stixels.width : 1;
		add(&u);
	}
}

static void add_all(void)
{
	test.level = LEVEL_ALL;
	engine_cases_sizes(add_case);
	engine_cases_costs(add_case);
	engine_cases_paths(add_case);
	add_many_columns();
	add_again(2, 20, 5);
	add_motion(0);
	add_motion(1);
	add_memory(1024, 440, 128);
	add_memory(1242, 375, 128);
	test.level = LEVEL_SOME;
	engine_cases_edges(add_case);
	engine_cases_zncc(add_case);
	engine_cases_fastdt(add_case);
	test.level = LEVEL_FULL;
	engine_cases_fills(add_case);
	engine_cases_extreme_sums(add_case);
	engine_cases_min_disparity(add_case);
	engine_cases_pyramid(add_case);
	engine_cases_winner(add_case);
	engine_cases_filters(add_case);
	engine_cases_pixels(add_case);
	engine_cases_rectify(add_case);
	engine_cases_external(add_case);
	engine_cases_stixels(add_case);
	engine_cases_slanted(add_case);
	add_again(1, 100, 100);
	add_again(4, 40, 40);
	add_memory(2048, 1024, 128);
	add_memory(2048, 1024, 256);
	for (int seed = 2; seed < 18; seed++)
		add_motion(seed);
	for (int i = 0; i < test.images.count / 2; i++)
		add_pair(i);
}

static void add_random(uint64_t seed, int count)
{
	for (int i = 0; i < count; i++) {
		struct unit u = {.kind = UNIT_RANDOM};

		u.t = random_case(seed + (uint64_t)i, &test.images, test.cells);
		add(&u);
	}
}

/* Orders units by their work, the longest first, so that threads and parts end at about the same time. */
static int by_work(const void *one, const void *other)
{
	const struct unit *a = one, *b = other;
	const size_t m = engine_case_cells(&a->t), n = engine_case_cells(&b->t);

	if (m != n)
		return m > n ? -1 : 1;
	return a->index - b->index;
}

/* Opens the engine with the settings of the variant. */
static int open_run(int variant, bool quick)
{
	static const char *const inputs[] = {"auto", "mapped", "copy"};
	const struct variant *v = &variants[variant];
	const struct sx_engine_params p = {.backend = SX_BACKEND_CUDA,
					   .contexts = CONTEXTS_MAX,
					   .threads = 1,
					   .volume = v->volume,
					   .input = v->input,
					   .sms = v->sms};
	struct run *r = &test.run[test.runs];
	struct sx_why why = {""};
	int e;

	*r = (struct run){.variant = variant, .quick = quick || v->quick};
	e = test.engine->open(&r->device, &p, &why);
	if (e < 0) {
		fprintf(stderr, "%s\n", why.text);
		return e;
	}
	snprintf(r->name, sizeof(r->name), "volume %s, input %s:", sx_volume_names[v->volume],
		 inputs[v->input]);
	test.runs++;
	return 0;
}

struct counts {
	unsigned checks, failed;
};

/* Closes the runs and adds their counts. report: prints them, too. */
static void close_runs(struct counts *all, bool report)
{
	for (int i = 0; i < test.runs; i++) {
		const struct run *r = &test.run[i];

		if (report)
			printf("# %s, volume %s: %u checks, %u failed\n", test.engine->describe(r->device),
			       sx_volume_names[variants[r->variant].volume], r->checks, r->failed);
		all->checks += r->checks;
		all->failed += r->failed;
		test.engine->close(r->device);
	}
	fflush(stdout);
	test.runs = 0;
}

/* Checks the units with all variants of the range that compute on the whole device, or on a slice of it. */
static int run_some(int first, int count, bool slices, bool quick, int threads, struct counts *all)
{
	int r = 0;

	for (int i = first; i < first + count && r == 0; i++)
		if ((variants[i].sms > 0) == slices)
			r = open_run(i, quick);
	if (r == 0 && test.runs)
		r = check_units(threads);
	close_runs(all, r == 0);
	return r;
}

/* Runs `count` variants, starting at `first`. */
static int run_variants(int first, int count, bool quick, int threads, struct counts *all)
{
	int r;

	add_all();
	qsort(test.unit, (size_t)test.units, sizeof(*test.unit), by_work);
	r = run_some(first, count, false, quick, threads, all);
	if (r < 0)
		return r;
	/* needs CUDA 12.5, and more multiprocessors than an embedded board has */
	if (run_some(first, count, true, quick, threads, all) < 0)
		printf("# no slice of this device: not checked\n");
	return 0;
}

/* Options of the command line. */
struct words {
	bool cpu, quick, no_memory;
	int variant; /* index; -1: all variants */
	unsigned long long seed;
	int random; /* number of random settings; 0: none */
	size_t cells;
	int threads, part, parts;
	int files; /* index of the first file argument */
};

/* Runs random settings. The seed of each setting selects one of the variants. */
static int run_random(const struct words *w, struct counts *all)
{
	int r = 0;

	add_random(w->seed, w->random);
	qsort(test.unit, (size_t)test.units, sizeof(*test.unit), by_work);
	for (int i = 0; i < VARIANTS && r == 0; i++)
		if (!variants[i].sms)
			r = open_run(i, w->quick);
	if (r == 0)
		r = check_units(w->threads);
	close_runs(all, false);
	if (r == 0)
		printf("# random settings %llu to %llu: %u checks, %u failed; %d images\n", w->seed,
		       w->seed + (unsigned long long)w->random - 1, all->checks, all->failed,
		       test.images.count);
	return r;
}

static bool read_images(struct sx_image image[IMAGES_MAX], int files, char **file)
{
	struct sx_why why = {""};

	for (int i = 0; i < files; i++)
		if (sx_image_read(file[i], &image[i], &why) < 0) {
			fprintf(stderr, "%s\n", why.text);
			return false;
		}
	return true;
}

/* Reads the value of an option that takes one number. */
static int *number_of(struct words *w, const char *option)
{
	return !strcmp(option, "--variant") ? &w->variant : !strcmp(option, "--threads") ? &w->threads : NULL;
}

static bool read_words(struct words *w, int argc, char **argv)
{
	int i = 1, *number;

	*w = (struct words){.variant = -1, .threads = 1, .parts = 1};
	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		if (!strcmp(argv[i], "--cpu")) {
			w->cpu = true;
		} else if (!strcmp(argv[i], "--quick")) {
			w->quick = true;
		} else if (!strcmp(argv[i], "--no-memory")) {
			w->no_memory = true;
		} else if ((number = number_of(w, argv[i])) && i + 1 < argc) {
			*number = (int)strtol(argv[++i], NULL, 10);
		} else if (!strcmp(argv[i], "--random") && i + 2 < argc) {
			w->seed = strtoull(argv[++i], NULL, 10);
			w->random = (int)strtol(argv[++i], NULL, 10);
		} else if (!strcmp(argv[i], "--part") && i + 2 < argc) {
			w->part = (int)strtol(argv[++i], NULL, 10);
			w->parts = (int)strtol(argv[++i], NULL, 10);
		} else if (!strcmp(argv[i], "--cells") && i + 1 < argc) {
			w->cells = strtoul(argv[++i], NULL, 10);
		} else {
			return false;
		}
	}
	w->files = i;
	if (!w->cells)
		w->cells = w->quick ? RANDOM_CELLS_QUICK : RANDOM_CELLS;
	return w->variant < VARIANTS && w->threads > 0 && w->threads <= THREADS_MAX && w->part >= 0 &&
	       w->part < w->parts && (argc - i) % 2 == 0 && argc - i <= IMAGES_MAX;
}

static bool find_engine(bool cpu)
{
	struct sx_why why = {""};

	test.engine = &sx_backend_cpu;
	if (cpu || sx_cuda_load(&test.engine, &why) == 0)
		return true;
	fprintf(stderr, "%s\n", why.text);
	return false;
}

int main(int argc, char **argv)
{
	static struct sx_image image[IMAGES_MAX];
	struct counts all = {0, 0};
	struct words w;
	int r;

	if (!read_words(&w, argc, argv))
		return 64;
	if (!find_engine(w.cpu))
		return SKIPPED;
	if (!read_images(image, argc - w.files, argv + w.files))
		return 1;
	test.images = (struct random_images){image, argc - w.files};
	test.part = w.part;
	test.parts = w.parts;
	test.cells = w.cells;
	test.no_memory = w.no_memory;
	if (w.random)
		r = run_random(&w, &all);
	else if (w.variant >= 0)
		r = run_variants(w.variant, 1, w.quick, w.threads, &all);
	else
		r = run_variants(0, w.quick ? QUICK_VARIANTS : VARIANTS, w.quick, w.threads, &all);
	free(test.unit);
	for (int i = 0; i < IMAGES_MAX; i++)
		sx_image_finish(&image[i]);
	if (r < 0)
		return r == -ENODEV && all.checks == 0 ? SKIPPED : 1;
	printf("%u checks, %u failed\n", all.checks, all.failed);
	return all.failed ? 1 : 0;
}
