/*
 * Checks the CUDA engine on a real device against the reference: every tap and the record, over the sizes,
 * settings and fillings of tests/engine_case.h, with all ways to keep path costs and both ways of input; the
 * same frame repeatedly; several contexts in flight; image files; random settings (tests/random_case.h).
 * Needs no library that a machine with a GPU may lack.
 *
 *	check_device [--cpu] [--quick] [--variant N | --random SEED COUNT [--cells N]] [LEFT RIGHT]...
 *
 * --cpu: checks the cpu engine instead, which shows that this program accepts a correct engine.
 * --variant: checks only one of the ways to run the engine. --random: checks COUNT random settings instead,
 * with seeds from SEED on and one way to run the engine after the other, of at most N cells of the cost
 * volume. They use parts of the image files. --quick: checks fewer and smaller cases.
 * Prints "N checks, N failed". Exit: 0; 1 a check failed; 64 unknown words; 77 no module or no usable device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/image/image_io.h"
#include "cpu/engine.h"
#include "engines/load.h"
#include "tests/random_case.h"

#define SKIPPED 77
#define CONTEXTS_MAX 4
#define IMAGES_MAX 64
/* Cells of the volume of a random case. The reference takes a second for about 10 million cells. */
#define RANDOM_CELLS ((size_t)16000000)
#define RANDOM_CELLS_QUICK ((size_t)1000000)

static struct {
	const struct sx_backend *engine; /* engine under test: cuda or cpu */
	struct sx_device *device, *reference;
	const char *name; /* name of the variant under test */
	enum sx_volume_choice volume;
	bool quick;
	unsigned checks, failed;
} test;

static void note(bool good)
{
	test.checks++;
	test.failed += !good;
}

static bool compute(const struct sx_backend *b, struct sx_context *x, const struct sx_pair *pair)
{
	int r = b->submit(x, pair, NULL, NULL, NULL);

	if (r == 0)
		r = b->wait(x, 30000);
	if (r <= 0)
		fprintf(stderr, "%s a frame fails: %s %s\n", test.name, strerror(-r),
			b->failure ? b->failure(test.device) : "");
	return r > 0;
}

/*
 * Compares two contexts. With keep_volume the sums stay in memory and are compared too. Otherwise the engine
 * may find the winner without them.
 */
static bool compare_with(const struct sx_context *a, const struct engine_case *t, const struct sx_pair *pair,
			 bool keep_volume)
{
	struct sx_context *b = engine_case_context(test.engine, test.device, t, keep_volume);
	bool good = b && compute(test.engine, b, pair) &&
		    engine_case_same(t, (struct engine_output){&sx_backend_reference, a},
				     (struct engine_output){test.engine, b}, test.name, keep_volume);

	if (b)
		test.engine->context_destroy(b);
	return good;
}

/* Compares one pair on both engines. */
static bool compare(const struct engine_case *t, const struct sx_pair *pair)
{
	struct sx_context *a = engine_case_context(&sx_backend_reference, test.reference, t, true);
	bool good = a && compute(&sx_backend_reference, a, pair);

	/* runs with and without keep_volume, a quick run only one of them */
	for (int keep = 0; good && keep < 2; keep++)
		if (!test.quick || (int)(t->seed % 2) == keep)
			good = compare_with(a, t, pair, keep);

	sx_backend_reference.context_destroy(a);
	return good;
}

static void check_case(const struct engine_case *t)
{
	struct engine_frame f;

	engine_frame_init(&f, t);
	note(compare(t, &f.pair));
	note(engine_frame_finish(&f));
}

/* Compares a case of a group that takes long: in a quick run one case in eight. */
static void check_some(const struct engine_case *t)
{
	if (!test.quick || t->seed % 8 == 3)
		check_case(t);
}

/* Compares all outputs of a frame after each of many frames, with n contexts in flight. */
static void check_again(int n, int frames)
{
	struct engine_case t = engine_case_small(900 + (uint64_t)n);
	struct sx_context *x[CONTEXTS_MAX] = {NULL}, *a;
	struct engine_frame f;
	bool good = true;

	t.width = 233;
	t.height = 101;
	t.fill = CHECK_NOISE;
	engine_frame_init(&f, &t);
	a = engine_case_context(&sx_backend_reference, test.reference, &t, false);
	good = a && compute(&sx_backend_reference, a, &f.pair);
	for (int i = 0; i < n; i++)
		good &= (x[i] = engine_case_context(test.engine, test.device, &t, false)) != NULL;
	for (int i = 0; good && i < frames + n; i++) {
		struct sx_context *one = x[i % n];

		if (i >= n)
			good = test.engine->wait(one, 30000) == 1 &&
			       engine_case_same(&t, (struct engine_output){&sx_backend_reference, a},
						(struct engine_output){test.engine, one}, test.name, false);
		if (good && i < frames)
			good = test.engine->submit(one, &f.pair, NULL, NULL, NULL) == 0;
	}
	for (int i = 0; i < n; i++)
		if (x[i])
			test.engine->context_destroy(x[i]);
	sx_backend_reference.context_destroy(a);
	engine_frame_finish(&f);
	note(good);
}

/*
 * Checks the memory of a context. With 4 paths it takes at most 5 bytes per cell and 64 MB on any device. If
 * path costs are recomputed it takes at most 1.25 bytes per cell and 70 MB, or one byte per cell more if the
 * winner is found in memory.
 */
static void check_memory(int width, int height, int disparities)
{
	struct engine_case t = engine_case_small(1);
	const size_t before = test.engine->memory(test.device);
	struct sx_context *x;
	size_t took, most;

	if (test.engine == &sx_backend_cpu)
		return;
	t.width = width;
	t.height = height;
	t.params.stereo.disparities = disparities;
	t.params.stereo.paths = 4;
	t.params.filters.speckle_size = 100;
	x = engine_case_context(test.engine, test.device, &t, false);
	took = test.engine->memory(test.device) - before;
	most = 5 * engine_case_cells(&t) + 64000000;
	if (test.volume == SX_VOLUME_CHECKPOINT)
		most = (disparities == 128 ? 5 : 9) * engine_case_cells(&t) / 4 + 70000000;
	if (took > most)
		fprintf(stderr, "%s %dx%d, %d disparities: %zu bytes, at most %zu are allowed\n", test.name,
			width, height, disparities, took, most);
	note(x && took <= most);
	if (x)
		test.engine->context_destroy(x);
	note(test.engine->memory(test.device) == before);
}

/* Checks stixels of one pixel width: more columns than the largest device computes at the same time. */
static void check_many_columns(void)
{
	struct engine_case t = engine_case_small(950);

	t.width = 1500;
	t.height = 140;
	t.params.stereo.disparities = 128;
	t.params.stixels.width = 1;
	check_case(&t);
}

/* Checks whole images, which take the reference seconds: 2, 4 or 8 paths, each with all variants. */
static void check_pair(const struct sx_image img[2], int nth)
{
	struct engine_case t = engine_case_small(1);
	const struct sx_pair pair = {.left = img[0], .right = img[1], .number = 1};

	t.width = img[0].width;
	t.height = img[0].height;
	t.pixel = img[0].pixel;
	t.params.stereo.disparities = 128;
	t.params.stereo.paths = 2 << nth % 3;
	t.params.stereo.p2 = 86;
	t.params.filters.speckle_size = 100;
	t.params.stixels.width = nth % 3 < 2 ? t.params.stixels.width : 1;
	note(compare(&t, &pair));
}

static void check_all(bool quick, int variant, const struct random_images *images)
{
	engine_cases_sizes(check_case);
	engine_cases_costs(check_case);
	engine_cases_paths(check_case);
	engine_cases_edges(check_some);
	engine_cases_zncc(check_some);
	engine_cases_fastdt(check_some);
	check_many_columns();
	check_again(2, quick ? 5 : 20);
	check_memory(1024, 440, 128);
	check_memory(1242, 375, 128);
	if (!quick) {
		engine_cases_fills(check_case);
		engine_cases_extreme_sums(check_case);
		engine_cases_min_disparity(check_case);
		engine_cases_winner(check_case);
		engine_cases_filters(check_case);
		engine_cases_pixels(check_case);
		engine_cases_rectify(check_case);
		engine_cases_external(check_case);
		engine_cases_stixels(check_case);
		engine_cases_slanted(check_case);
		check_again(1, 100);
		check_again(4, 40);
		check_memory(2048, 1024, 128);
		check_memory(2048, 1024, 256);
	}
	for (int i = 0; i + 1 < images->count; i += 2)
		check_pair(&images->image[i], i / 2 + variant);
}

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

/* Opens the engine with the settings of the variant. */
static int open_variant(const struct variant *v, struct sx_why *why)
{
	const struct sx_engine_params p = {.backend = SX_BACKEND_CUDA,
					   .contexts = CONTEXTS_MAX,
					   .threads = 1,
					   .volume = v->volume,
					   .input = v->input,
					   .sms = v->sms};

	return test.engine->open(&test.device, &p, why);
}

static int run_variant(const struct variant *v, const struct random_images *images)
{
	static const char *const inputs[] = {"auto", "mapped", "copy"};
	unsigned before = test.checks, failed = test.failed;
	char name[64];
	struct sx_why why = {""};
	int r = open_variant(v, &why);

	if (r < 0) {
		fprintf(stderr, "%s\n", why.text);
		return r;
	}
	snprintf(name, sizeof(name), "volume %s, input %s:", sx_volume_names[v->volume], inputs[v->input]);
	test.name = name;
	test.volume = v->volume;
	check_all(test.quick, (int)(v - variants), images);
	printf("# %s, volume %s: %u checks, %u failed\n", test.engine->describe(test.device),
	       sx_volume_names[v->volume], test.checks - before, test.failed - failed);
	fflush(stdout);
	test.engine->close(test.device);
	return 0;
}

/* Runs `count` variants, starting at `first`. */
static int run_variants(int first, int count, bool quick, const struct random_images *images)
{
	for (int i = first; i < first + count; i++) {
		int r;

		test.quick = quick || variants[i].quick;
		r = run_variant(&variants[i], images);
		/* needs CUDA 12.5, and more multiprocessors than an embedded board has */
		if (r < 0 && variants[i].sms)
			printf("# no slice of this device: not checked\n");
		else if (r < 0)
			return r;
	}
	return 0;
}

/* Options of the command line. */
struct words {
	bool cpu, quick;
	int variant; /* index; -1: all variants */
	unsigned long long seed;
	int random; /* number of random settings; 0: none */
	size_t cells;
	int files; /* index of the first file argument */
};

static void check_random_case(uint64_t seed, size_t cells, const struct random_images *images)
{
	const struct engine_case t = random_case(seed, images, cells);
	const unsigned failed = test.failed;
	struct engine_frame f;

	random_case_frame(&f, &t, images);
	note(compare(&t, &f.pair));
	note(engine_frame_finish(&f));
	if (test.failed != failed)
		fprintf(stderr, "again by: check_device --random %llu 1 --cells %zu\n",
			(unsigned long long)seed, cells);
}

/* Runs random settings. The seed of each setting selects one of the variants. */
static int run_random(const struct words *w, const struct random_images *images)
{
	const uint64_t seed = w->seed, end = seed + (uint64_t)w->random;

	test.quick = w->quick;
	for (int v = 0; v < VARIANTS; v++) {
		struct sx_why why = {""};
		int r;

		if (variants[v].sms)
			continue;
		r = open_variant(&variants[v], &why);
		if (r < 0) {
			fprintf(stderr, "%s\n", why.text);
			return r;
		}
		test.name = sx_volume_names[variants[v].volume];
		for (uint64_t s = seed; s < end; s++)
			if ((int)(s % VARIANTS) == v || (variants[s % VARIANTS].sms && v == 0))
				check_random_case(s, w->cells, images);
		test.engine->close(test.device);
	}
	printf("# random settings %llu to %llu: %u checks, %u failed; %d images\n", (unsigned long long)seed,
	       (unsigned long long)end - 1, test.checks, test.failed, images->count);
	return 0;
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

static bool read_words(struct words *w, int argc, char **argv)
{
	int i = 1;

	*w = (struct words){.variant = -1};
	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		if (!strcmp(argv[i], "--cpu")) {
			w->cpu = true;
		} else if (!strcmp(argv[i], "--quick")) {
			w->quick = true;
		} else if (!strcmp(argv[i], "--variant") && i + 1 < argc) {
			w->variant = (int)strtol(argv[++i], NULL, 10);
		} else if (!strcmp(argv[i], "--random") && i + 2 < argc) {
			w->seed = strtoull(argv[++i], NULL, 10);
			w->random = (int)strtol(argv[++i], NULL, 10);
		} else if (!strcmp(argv[i], "--cells") && i + 1 < argc) {
			w->cells = strtoul(argv[++i], NULL, 10);
		} else {
			return false;
		}
	}
	w->files = i;
	if (!w->cells)
		w->cells = w->quick ? RANDOM_CELLS_QUICK : RANDOM_CELLS;
	return w->variant < VARIANTS && (argc - i) % 2 == 0 && argc - i <= IMAGES_MAX;
}

/* Finds the engine under test and the reference. */
static int find_engines(bool cpu)
{
	const struct sx_engine_params p = {.backend = SX_BACKEND_REFERENCE, .contexts = 1};
	struct sx_why why = {""};
	int r;

	test.engine = &sx_backend_cpu;
	if (!cpu && sx_cuda_load(&test.engine, &why) < 0) {
		fprintf(stderr, "%s\n", why.text);
		return SKIPPED;
	}
	r = sx_backend_reference.open(&test.reference, &p, &why);
	if (r < 0)
		fprintf(stderr, "%s\n", why.text);
	return r < 0;
}

int main(int argc, char **argv)
{
	static struct sx_image image[IMAGES_MAX];
	struct random_images images = {image, 0};
	struct words w;
	int r;

	if (!read_words(&w, argc, argv))
		return 64;
	r = find_engines(w.cpu);
	if (r)
		return r;
	if (!read_images(image, argc - w.files, argv + w.files))
		return 1;
	images.count = argc - w.files;
	if (w.random)
		r = run_random(&w, &images);
	else if (w.variant >= 0)
		r = run_variants(w.variant, 1, w.quick, &images);
	else
		r = run_variants(0, w.quick ? QUICK_VARIANTS : VARIANTS, w.quick, &images);
	sx_backend_reference.close(test.reference);
	for (int i = 0; i < IMAGES_MAX; i++)
		sx_image_finish(&image[i]);
	if (r < 0)
		return r == -ENODEV && test.checks == 0 ? SKIPPED : 1;
	printf("%u checks, %u failed\n", test.checks, test.failed);
	return test.failed ? 1 : 0;
}
