/*
 * The CUDA engine on a real device against the reference: every tap and the record, over the sizes,
 * settings and fillings of tests/engine_case.h, with both ways to keep path costs and both ways of input;
 * the same frame again and again; several contexts in flight; image files. Needs no library that a
 * machine with a GPU may lack.
 *
 *	check_device [--quick | --variant N] [LEFT RIGHT]...
 *
 * --variant: one of the five ways to run the engine alone. Prints "N checks, N failed". Exit: 0; 1 a check
 * failed; 64 no such variant; 77 no module or no usable device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/image/image_io.h"
#include "engines/load.h"
#include "tests/engine_case.h"

#define SKIPPED 77
#define CONTEXTS_MAX 4

static struct {
	const struct sx_backend *cuda;
	struct sx_device *device, *reference;
	const char *name; /* of the variant under test */
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

/* keep_volume: the sums stay in memory, and are compared; else the winner may be found without them. */
static bool compare_with(const struct sx_context *a, const struct engine_case *t, const struct sx_pair *pair,
			 bool keep_volume)
{
	struct sx_context *b = engine_case_context(test.cuda, test.device, t, keep_volume);
	bool good = b && compute(test.cuda, b, pair) &&
		    engine_case_same(t, (struct engine_output){&sx_backend_reference, a},
				     (struct engine_output){test.cuda, b}, test.name, keep_volume);

	if (b)
		test.cuda->context_destroy(b);
	return good;
}

/* One pair through both. */
static bool compare(const struct engine_case *t, const struct sx_pair *pair)
{
	struct sx_context *a = engine_case_context(&sx_backend_reference, test.reference, t, true);
	bool good = a && compute(&sx_backend_reference, a, pair);

	/* both ways, or where that takes long one of them */
	for (int keep = 0; good && keep < 2; keep++)
		if (!test.quick || (int)(t->seed % 2) == keep)
			good = compare_with(a, t, pair, keep);

	sx_backend_reference.context_destroy(a);
	return good;
}

static bool is_there(const struct engine_case *t)
{
	return t->params.stereo.cost != SX_COST_ZNCC && t->params.stereo.aggregation == SX_AGGREGATION_SGM;
}

static void check_case(const struct engine_case *t)
{
	struct engine_frame f;

	if (!is_there(t))
		return;
	engine_frame_init(&f, t);
	note(compare(t, &f.pair));
	note(engine_frame_finish(&f));
}

/* All that a frame gives, after each of many frames, with n contexts in flight. */
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
		good &= (x[i] = engine_case_context(test.cuda, test.device, &t, false)) != NULL;
	for (int i = 0; good && i < frames + n; i++) {
		struct sx_context *one = x[i % n];

		if (i >= n)
			good = test.cuda->wait(one, 30000) == 1 &&
			       engine_case_same(&t, (struct engine_output){&sx_backend_reference, a},
						(struct engine_output){test.cuda, one}, test.name, false);
		if (good && i < frames)
			good = test.cuda->submit(one, &f.pair, NULL, NULL, NULL) == 0;
	}
	for (int i = 0; i < n; i++)
		if (x[i])
			test.cuda->context_destroy(x[i]);
	sx_backend_reference.context_destroy(a);
	engine_frame_finish(&f);
	note(good);
}

/*
 * A context takes at most 5 bytes a cell and 64 MB with 4 paths, whatever the device; where path costs are
 * formed anew 1.25, or a byte more if the winner is found in memory, and 70 MB.
 */
static void check_memory(int width, int height, int disparities)
{
	struct engine_case t = engine_case_small(1);
	const size_t before = test.cuda->memory(test.device);
	struct sx_context *x;
	size_t took, most;

	t.width = width;
	t.height = height;
	t.params.stereo.disparities = disparities;
	t.params.stereo.paths = 4;
	t.params.filters.speckle_size = 100;
	x = engine_case_context(test.cuda, test.device, &t, false);
	took = test.cuda->memory(test.device) - before;
	most = 5 * engine_case_cells(&t) + 64000000;
	if (test.volume == SX_VOLUME_CHECKPOINT)
		most = (disparities == 128 ? 5 : 9) * engine_case_cells(&t) / 4 + 70000000;
	if (took > most)
		fprintf(stderr, "%s %dx%d, %d disparities: %zu bytes, at most %zu are allowed\n", test.name,
			width, height, disparities, took, most);
	note(x && took <= most);
	if (x)
		test.cuda->context_destroy(x);
	note(test.cuda->memory(test.device) == before);
}

/* Stixels of one pixel: more columns than the largest device does at once. */
static void check_many_columns(void)
{
	struct engine_case t = engine_case_small(950);

	t.width = 1500;
	t.height = 140;
	t.params.stereo.disparities = 128;
	t.params.stixels.width = 1;
	check_case(&t);
}

static void check_files(const char *left, const char *right)
{
	static const int paths[] = {2, 4, 8};
	struct sx_image img[2] = {{0}};
	char why[512] = "";
	bool good = sx_image_read(left, &img[0], why, sizeof(why)) == 0 &&
		    sx_image_read(right, &img[1], why, sizeof(why)) == 0;

	if (!good)
		fprintf(stderr, "%s\n", why);
	for (int i = 0; good && i < 3; i++) {
		struct engine_case t = engine_case_small(1);
		const struct sx_pair pair = {.left = img[0], .right = img[1], .number = 1};

		t.width = img[0].width;
		t.height = img[0].height;
		t.pixel = img[0].pixel;
		t.params.stereo.disparities = 128;
		t.params.stereo.paths = paths[i];
		t.params.stereo.p2 = 86;
		t.params.filters.speckle_size = 100;
		t.params.stixels.width = i < 2 ? t.params.stixels.width : 1;
		note(compare(&t, &pair));
	}
	if (!good)
		note(false);
	sx_image_finish(&img[0]);
	sx_image_finish(&img[1]);
}

static void check_all(bool quick, int files, char **file)
{
	engine_cases_sizes(check_case);
	engine_cases_costs(check_case);
	engine_cases_paths(check_case);
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
	for (int i = 0; i + 1 < files; i += 2)
		check_files(file[i], file[i + 1]);
}

/* sms: of a slice, where kernels may take their work apart differently; 0: all. */
static int run_variant(enum sx_volume_choice volume, enum sx_input_choice input, int sms, bool quick,
		       int files, char **file)
{
	static const char *const inputs[] = {"auto", "mapped", "copy"};
	const struct sx_engine_params p = {.backend = SX_BACKEND_CUDA,
					   .contexts = CONTEXTS_MAX,
					   .volume = volume,
					   .input = input,
					   .sms = sms};
	unsigned before = test.checks, failed = test.failed;
	char name[64], why[512] = "";
	int r = test.cuda->open(&test.device, &p, why, sizeof(why));

	if (r < 0) {
		fprintf(stderr, "%s\n", why);
		return r;
	}
	snprintf(name, sizeof(name), "volume %s, input %s:", sx_volume_names[volume], inputs[input]);
	test.name = name;
	test.volume = volume;
	test.quick = quick;
	check_all(quick, files, file);
	printf("# %s, volume %s: %u checks, %u failed\n", test.cuda->describe(test.device),
	       sx_volume_names[volume], test.checks - before, test.failed - failed);
	fflush(stdout);
	test.cuda->close(test.device);
	return 0;
}

static const struct {
	enum sx_volume_choice volume;
	enum sx_input_choice input;
	int sms;
	bool quick;
} variants[] = {
	{SX_VOLUME_STORED, SX_INPUT_COPY, 0, false},	{SX_VOLUME_CHECKPOINT, SX_INPUT_MAPPED, 0, false},
	{SX_VOLUME_STORED, SX_INPUT_MAPPED, 0, false},	{SX_VOLUME_CHECKPOINT, SX_INPUT_COPY, 0, false},
	{SX_VOLUME_CHECKPOINT, SX_INPUT_COPY, 8, true}, {SX_VOLUME_COUNTED, SX_INPUT_COPY, 0, false}};
#define QUICK_VARIANTS 3
#define VARIANTS ((int)(sizeof(variants) / sizeof(variants[0])))

/* Those from first on, count of them. */
static int run_variants(int first, int count, bool quick, int files, char **file)
{
	for (int i = first; i < first + count; i++) {
		int r = run_variant(variants[i].volume, variants[i].input, variants[i].sms,
				    quick || variants[i].quick, files, file);

		if (r < 0 && variants[i].sms) /* needs CUDA 12.5, and more multiprocessors than a board has */
			printf("# no slice of this device: not checked\n");
		else if (r < 0)
			return r;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0,
		   one = argc > 2 && strcmp(argv[1], "--variant") == 0;
	const int taken = quick ? 2 : one ? 3 : 1, first = one ? argv[2][0] - '0' : 0;
	const struct sx_engine_params p = {.backend = SX_BACKEND_REFERENCE, .contexts = 1};
	char why[512] = "";
	int r;

	if (first < 0 || first >= VARIANTS || (one && argv[2][1]))
		return 64;
	if (sx_cuda_load(&test.cuda, why, sizeof(why)) < 0) {
		fprintf(stderr, "%s\n", why);
		return SKIPPED;
	}
	if (sx_backend_reference.open(&test.reference, &p, why, sizeof(why)) < 0)
		return 1;
	r = run_variants(first,
			 one	 ? 1
			 : quick ? QUICK_VARIANTS
				 : VARIANTS,
			 quick, argc - taken, argv + taken);
	sx_backend_reference.close(test.reference);
	if (r < 0)
		return r == -ENODEV && test.checks == 0 ? SKIPPED : 1;
	printf("%u checks, %u failed\n", test.checks, test.failed);
	return test.failed ? 1 : 0;
}
