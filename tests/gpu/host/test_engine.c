/*
 * The CUDA engine against the reference: every output of every stage, byte for byte, over sizes, options and
 * flows of data. On the emulator (small cases) or on a GPU:
 *
 *   test_gpu_engine_device [--full] [--repeat N] [LEFT.pgm RIGHT.pgm]...   --full: every size and flow
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <stixel.h>
#include <cmocka.h>

#include "tests/emulated.h"
#include "tests/gpu/host/engine_flows.h"

#ifdef SX_EMULATE
#ifdef __SANITIZE_ADDRESS__
#define CELLS_MAX ((size_t)40000)
#else
#define CELLS_MAX ((size_t)300000)
#endif
#else
#define CELLS_MAX ((size_t)8000000)
#endif

static char **images;
static int image_count;

/* Checks each flow with two frames, because the second frame finds the memory content of the first. */
static bool check_flow(const struct engine_case *t, const struct engine_frame *f,
		       const struct sx_context *want, int flow, bool keep_volume)
{
	struct sx_context *got = context_of(cuda, devices[flow], t, keep_volume);
	char how[64];
	bool good = true;

	for (int frame = 1; frame <= 2; frame++) {
		snprintf(how, sizeof(how), "%s, frame %d:", engine_flows[flow].name, frame);
		run_frame(cuda, got, f, NULL);
		good &= same(t, want, got, how, keep_volume);
	}
	cuda->context_destroy(got);
	return good;
}

/* Checks a case whose cost volume has at most this number of cells, in one flow or in all. */
static void check_up_to(const struct engine_case *t, size_t cells)
{
	static int turn;
	struct sx_context *want;
	struct engine_frame f;
	bool good = true;

	if (!full && (engine_case_cells(t) > cells || (IS_JUDGED && turn++ % 4)))
		return;
	engine_frame_init(&f, t);
	want = context_of(&sx_backend_reference, reference, t, true);
	run_frame(&sx_backend_reference, want, &f, NULL);
	for (int flow = 0; flow < ENGINE_FLOWS; flow++)
		if (full || flow == (int)(t->seed % ENGINE_FLOWS))
			good &= check_flow(t, &f, want, flow, t->seed / ENGINE_FLOWS % 4 != 3);
	sx_backend_reference.context_destroy(want);
	assert_true(engine_frame_finish(&f));
	assert_true(good);
}

static void check_case(const struct engine_case *t)
{
	check_up_to(t, CELLS_MAX);
}

static void test_sizes(void **state)
{
	engine_cases_sizes(check_case);
}

static void test_fills(void **state)
{
	engine_cases_fills(check_case);
}

static void test_costs(void **state)
{
	engine_cases_costs(check_case);
}

/*
 * Checks zncc. The reference sums each window from scratch, so a quick run has few of the large windows.
 * test_zncc_cuda.c has all of them.
 */
static void check_zncc(const struct engine_case *t)
{
	const size_t window = (size_t)t->params.stereo.zncc_window;

	if (full || engine_case_cells(t) * window * window <= 40 * CELLS_MAX)
		check_case(t);
}

static void test_zncc(void **state)
{
	engine_cases_zncc(check_zncc);
}

static void test_edges(void **state)
{
	engine_cases_edges(check_case);
}

static void test_paths(void **state)
{
	engine_cases_paths(check_case);
}

static void test_extreme_sums(void **state)
{
	engine_cases_extreme_sums(check_case);
}

static void test_min_disparity(void **state)
{
	engine_cases_min_disparity(check_case);
}

/* Most cells of the volume are not searched. */
static void check_pyramid(const struct engine_case *t)
{
	check_up_to(t, 4 * CELLS_MAX);
}

static void test_pyramid(void **state)
{
	engine_cases_pyramid(check_pyramid);
}

static void test_winner_options(void **state)
{
	engine_cases_winner(check_case);
}

static void test_filter_options(void **state)
{
	engine_cases_filters(check_case);
}

static void test_pixel_formats(void **state)
{
	engine_cases_pixels(check_case);
}

static void test_raw_pairs(void **state)
{
	engine_cases_rectify(check_case);
}

static void test_external_maps(void **state)
{
	engine_cases_external(check_case);
}

static void test_stixel_options(void **state)
{
	engine_cases_stixels(check_case);
}

static void test_slanted(void **state)
{
	engine_cases_slanted(check_case);
}

static void check_fastdt(const struct engine_case *t)
{
	const struct sx_stereo_params *p = &t->params.stereo;

	if (full || p->fastdt != SX_FASTDT_AUTO) /* auto is one of the other variants */
		check_case(t);
}

static void test_fastdt(void **state)
{
	engine_cases_fastdt(check_fastdt);
}

/* Reads a binary PGM of 8 bits without comments: the input files of this test. */
static void read_pgm(struct check_image *ret, const char *path)
{
	FILE *file = fopen(path, "rb");
	int width = 0, height = 0, most = 0;

	if (!file || fscanf(file, "P5 %d %d %d", &width, &height, &most) != 3 || most != 255 || width < 1 ||
	    height < 1 || width > 8192 || height > 8192 || fgetc(file) == EOF)
		fail_msg("%s is no PGM file", path);
	check_image_init(ret, SX_PIXEL_U8, width, height, 5);
	for (int y = 0; y < height; y++)
		if (fread(sx_image_row(&ret->image, y), 1, (size_t)width, file) != (size_t)width)
			fail_msg("%s ends early", path);
	fclose(file);
}

static void check_images(const char *left, const char *right, int setting)
{
	struct engine_case t = engine_case_small(1600 + (uint64_t)setting);
	struct sx_context *want;
	struct engine_frame f;
	bool good = true;

	read_pgm(&f.left, left);
	read_pgm(&f.right, right);
	f.pair = (struct sx_pair){.left = f.left.image, .right = f.right.image, .number = 1};
	t.width = f.left.image.width;
	t.height = f.left.image.height;
	t.padding = 5;
	t.params.camera.cx = 0.5 * t.width;
	t.params.camera.cy = 0.46 * t.height;
	t.params.stereo.disparities = 128;
	t.params.stereo.paths = setting & 1 ? 8 : 4;
	t.params.filters.speckle_size = setting & 1 ? 100 : 0;
	t.params.stixels.method = setting & 1 ? SX_STIXEL_RDP : SX_STIXEL_DP;
	want = context_of(&sx_backend_reference, reference, &t, true);
	run_frame(&sx_backend_reference, want, &f, NULL);
	for (int flow = 0; flow < ENGINE_FLOWS; flow++)
		good &= check_flow(&t, &f, want, flow, flow < 2);
	sx_backend_reference.context_destroy(want);
	assert_true(engine_frame_finish(&f));
	if (!good)
		fail_msg("%s", left);
}

static void test_images(void **state)
{
	for (int i = 0; i + 1 < image_count; i += 2)
		for (int setting = 0; setting < 2; setting++)
			check_images(images[i], images[i + 1], setting);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),	       cmocka_unit_test(test_fills),
		cmocka_unit_test(test_costs),	       cmocka_unit_test(test_paths),
		cmocka_unit_test(test_zncc),	       cmocka_unit_test(test_edges),
		cmocka_unit_test(test_extreme_sums),   cmocka_unit_test(test_min_disparity),
		cmocka_unit_test(test_winner_options), cmocka_unit_test(test_filter_options),
		cmocka_unit_test(test_fastdt),	       cmocka_unit_test(test_pixel_formats),
		cmocka_unit_test(test_raw_pairs),      cmocka_unit_test(test_external_maps),
		cmocka_unit_test(test_pyramid),	       cmocka_unit_test(test_stixel_options),
		cmocka_unit_test(test_slanted),
	};
	const struct CMUnitTest on_images[] = {cmocka_unit_test(test_images)};
	const int first = read_arguments(argc, argv);
	int r;

	images = argv + first;
	image_count = argc - first;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	r = cmocka_run_group_tests(tests, open_devices, close_devices);
	if (image_count >= 2)
		r += cmocka_run_group_tests(on_images, open_devices, close_devices);
	fprintf(stderr, "# %lu comparisons with the reference\n", checks);
	return r;
}
