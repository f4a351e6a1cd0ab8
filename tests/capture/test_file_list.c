/*
 * Tests source "files": which files make pairs, and the messages if they do not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "capture/file_list.h"
#include "capture/paths.h"
#include "tests/capture/image_files.h"

static struct sx_why why;

static void empty(const char *folder, const char *name)
{
	write_bytes(in_folder(folder, name), "", 0);
}

/* Checks the names below the folder, "left right;left right;...", in the order found. */
static void expect_pairs(const char *folder, const struct sx_source_params *p, const char *pairs)
{
	struct sx_file_list l = {0};
	char got[2000] = "";
	size_t skip = strlen(folder) + 1, n = 0;

	if (sx_file_list_find(&l, p, &why) < 0)
		fail_msg("%s", why.text);
	for (size_t i = 0; i < l.count; i++)
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%s%s;", l.left[i] + skip,
				      l.right ? " " : "", l.right ? l.right[i] + skip : "");
	assert_string_equal(got, pairs);
	sx_file_list_finish(&l);
}

static void expect_folder(const char *folder, const char *pairs)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = folder};

	expect_pairs(folder, &p, pairs);
}

static void expect_pattern(const char *folder, const char *pattern, const char *pairs)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = in_folder(folder, pattern)};

	expect_pairs(folder, &p, pairs);
}

static void expect_error(const struct sx_source_params *p, int error, const char *sentence)
{
	struct sx_file_list l = {0};

	why.text[0] = 0;
	assert_int_equal(sx_file_list_find(&l, p, &why), error);
	assert_null(l.left);
	if (!strstr(why.text, sentence))
		fail_msg("'%s' does not say '%s'", why.text, sentence);
}

static void expect_path_error(const char *path, int error, const char *sentence)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = path};

	expect_error(&p, error, sentence);
}

static void test_natural_order(void **state)
{
	static const char *const sorted[] = {"",
					     "a",
					     "a1",
					     "a2",
					     "a02b",
					     "a10",
					     "a10b",
					     "a010c",
					     "a99999999999999999999",
					     "a100000000000000000000",
					     "b"};

	for (size_t i = 0; i < sizeof(sorted) / sizeof(sorted[0]); i++)
		for (size_t j = 0; j < sizeof(sorted) / sizeof(sorted[0]); j++) {
			int order = sx_paths_compare(sorted[i], sorted[j]);

			assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
		}
}

static void test_kitti_folders(void **state)
{
	const char *f = *state;

	empty(f, "image_2/000001_10.png");
	empty(f, "image_3/000001_10.png");
	empty(f, "image_2/000000_11.png");
	empty(f, "image_3/000000_11.png");
	empty(f, "image_2/notes.txt");
	empty(f, "image_0/000000.png"); /* image_2 is preferred */
	empty(f, "image_1/000000.png");
	expect_folder(f, "image_2/000000_11.png image_3/000000_11.png;"
			 "image_2/000001_10.png image_3/000001_10.png;");
	empty(f, "image_3/000002_10.png");
	expect_path_error(f, -EINVAL, "/image_3/000002_10.png has no partner ");
	expect_path_error(f, -EINVAL, "/image_2/000002_10.png");
}

static void test_kitti_raw_and_left_right_folders(void **state)
{
	const char *f = *state;

	empty(f, "raw/image_02/data/1.png");
	empty(f, "raw/image_03/data/1.png");
	expect_folder(in_folder(f, "raw"), "image_02/data/1.png image_03/data/1.png;");
	empty(f, "lr/left/b.jpg");
	empty(f, "lr/right/b.jpg");
	expect_folder(in_folder(f, "lr"), "left/b.jpg right/b.jpg;");
}

static void test_names_in_one_folder(void **state)
{
	const char *f = *state;

	empty(f, "a/left10.png");
	empty(f, "a/right10.png");
	empty(f, "a/left9.png");
	empty(f, "a/right9.png");
	empty(f, "a/disparity9.png");
	expect_folder(in_folder(f, "a"), "left9.png right9.png;left10.png right10.png;");
	empty(f, "b/x_left.pgm");
	empty(f, "b/x_right.pgm");
	expect_folder(in_folder(f, "b"), "x_left.pgm x_right.pgm;");
	empty(f, "c/im0.png");
	empty(f, "c/im1.png");
	empty(f, "c/im10.png"); /* must not be taken for im1 */
	expect_folder(in_folder(f, "c"), "im0.png im1.png;");
	empty(f, "d/s_L.png");
	empty(f, "d/s_R.png");
	expect_folder(in_folder(f, "d"), "s_L.png s_R.png;");
	empty(f, "e/left1.png");
	empty(f, "e/left2.png");
	empty(f, "e/right1.png");
	expect_path_error(in_folder(f, "e"), -EINVAL, "/e/left2.png has no partner right2.png");
	empty(f, "g/left1.png");
	empty(f, "g/right1.png");
	empty(f, "g/right0.png");
	expect_path_error(in_folder(f, "g"), -EINVAL, "/g/right0.png has no partner left0.png");
}

static void test_a_folder_for_each_pair(void **state)
{
	const char *f = *state;

	empty(f, "scene10/im0.png");
	empty(f, "scene10/im1.png");
	empty(f, "scene2/left.png");
	empty(f, "scene2/right.png");
	empty(f, "scene2/disp_gt.png");
	empty(f, "others/readme.txt");
	expect_folder(f, "scene2/left.png scene2/right.png;scene10/im0.png scene10/im1.png;");
}

static void test_patterns_with_sides(void **state)
{
	const char *f = *state;

	for (int i = 8; i < 11; i++) {
		char name[64];

		snprintf(name, sizeof(name), "run/cam_a/%06d.png", i);
		empty(f, name);
		snprintf(name, sizeof(name), "run/cam_b/%06d.png", i);
		empty(f, name);
	}
	empty(f, "run/cam_a/short7.png");
	expect_pattern(f, "run/cam_{a|b}/%06d.png",
		       "run/cam_a/000008.png run/cam_b/000008.png;run/cam_a/000009.png run/cam_b/000009.png;"
		       "run/cam_a/000010.png run/cam_b/000010.png;");
	expect_pattern(f, "run/cam_{a,b}/0*9.png", "run/cam_a/000009.png run/cam_b/000009.png;");
	expect_pattern(f, "r*/cam_{a|b}/0[0-9]0?1?.png", "run/cam_a/000010.png run/cam_b/000010.png;");
	expect_path_error(in_folder(f, "run/cam_{a|b}/*.png"), -EINVAL,
			  "run/cam_a/short7.png has no partner ");
	empty(f, "s/L1_left.png");
	empty(f, "s/R1_right.png");
	expect_pattern(f, "s/{L|R}*_{left|right}.png", "s/L1_left.png s/R1_right.png;");
	empty(f, "s/R2_right.png");
	expect_path_error(in_folder(f, "s/{L|R}*_{left|right}.png"), -EINVAL,
			  "/s/R2_right.png has no partner ");
	expect_path_error(in_folder(f, "s/{none|nothing}*.png"), -ENOENT,
			  "/s/none*.png: no image files found");
}

static void test_two_patterns(void **state)
{
	const char *f = *state;
	struct sx_source_params p = {.kind = SX_SOURCE_FILES};

	empty(f, "l/2.png");
	empty(f, "l/10.png");
	empty(f, "r/b.png");
	empty(f, "r/a.png");
	p.left = in_folder(f, "l/*.png");
	p.right = in_folder(f, "r");
	expect_pairs(f, &p, "l/2.png r/a.png;l/10.png r/b.png;");
	empty(f, "r/c.png");
	expect_error(&p, -EINVAL, "l/*.png has 2 image files, ");
	expect_error(&p, -EINVAL, "/r has 3");
	p.right = NULL;
	expect_error(&p, -EINVAL, "either path, or left and right");
	p.left = NULL;
	expect_error(&p, -EINVAL, "either path, or left and right");
	p.left = p.right = p.path = "x";
	expect_error(&p, -EINVAL, "either path, or left and right");
}

static void test_nothing_there(void **state)
{
	const char *f = *state;

	expect_path_error(f, -ENOENT, ": no pairs found (image_2/image_3, ");
	expect_path_error(in_folder(f, "none"), -ENOENT, "/none does not exist, though ");
	expect_path_error(in_folder(f, "none/{a|b}/*.png"), -ENOENT, "/none/a does not exist, though ");
	empty(f, "one.png");
	expect_path_error(in_folder(f, "one.png"), -ENOENT, "neither a folder nor a pattern");
}

/* Images in unsupported formats are named in the error. A pattern of folders without images finds none. */
static void test_images_of_other_formats(void **state)
{
	const char *f = *state;
	struct sx_source_params p = {.kind = SX_SOURCE_FILES};

	empty(f, "image_2/readme.txt");
	empty(f, "image_3/readme.txt");
	expect_path_error(f, -ENOENT, ": no pairs found (image_2/image_3, ");
	expect_path_error(in_folder(f, "image_{2|3}"), -ENOENT, "/image_2: no image files found");
	write_bytes(in_folder(f, "image_2/000.bmp"), "BM\x36\0", 4);
	write_bytes(in_folder(f, "image_3/000.bmp"), "BM\x36\0", 4);
	expect_path_error(f, -ENOENT,
			  "/image_2/000.bmp is a BMP file, which cannot be read: convert all to PNG");
	expect_path_error(in_folder(f, "image_{2|3}"), -ENOENT, "/image_2/000.bmp is a BMP file");
	p.left = in_folder(f, "image_2");
	p.right = in_folder(f, "image_3");
	expect_error(&p, -ENOENT, "/image_2/000.bmp is a BMP file");
	p = (struct sx_source_params){.layout = SX_LAYOUT_SIDE_BY_SIDE, .path = p.left};
	write_bytes(in_folder(f, "image_2/000.bmp"), "II*\0", 4);
	expect_error(&p, -ENOENT, "/image_2/000.bmp is a TIFF file");
	empty(f, "image_2/1.png");
	empty(f, "image_3/1.png");
	expect_folder(f, "image_2/1.png image_3/1.png;");
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_setup, folder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_natural_order),
		IN_FOLDER(test_kitti_folders),
		IN_FOLDER(test_kitti_raw_and_left_right_folders),
		IN_FOLDER(test_names_in_one_folder),
		IN_FOLDER(test_a_folder_for_each_pair),
		IN_FOLDER(test_patterns_with_sides),
		IN_FOLDER(test_two_patterns),
		IN_FOLDER(test_nothing_there),
		IN_FOLDER(test_images_of_other_formats),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
