/*
 * Tests layouts of data sets as source "files": pairs by time stamps, calibrations that are found, capture
 * times, and files with time stamps that are damaged or hostile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "capture/dataset.h"
#include "capture/file_list.h"
#include "tests/capture/image_files.h"

#define MS INT64_C(1000000)

static struct sx_why why;

static void text(const char *folder, const char *name, const char *content)
{
	write_bytes(in_folder(folder, name), content, strlen(content));
}

/* Makes a folder below another one, with those between. Returns its path, which lives as long as the program.
 */
static const char *folder(const char *base, const char *name)
{
	static char path[512];
	char file[256];

	snprintf(path, sizeof(path), "%s/%s", base, name);
	snprintf(file, sizeof(file), "%s/.keep", name);
	text(base, file, "");
	return path;
}

/* Creates empty files: names separated by blanks. */
static void empty(const char *folder, const char *names)
{
	char name[200];

	for (const char *p = names; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, " "), p);
		text(folder, name, "");
	}
}

/* Finds pairs with their times. Fails with the reason if there are none. */
static struct sx_file_list found(const char *folder, bool recorded)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = folder, .recorded = recorded};
	struct sx_file_list l = {0};

	if (sx_file_list_find(&l, &p, &why) < 0)
		fail_msg("%s", why.text);
	return l;
}

/* Checks names below the folder and times after the first one, "left right ms ms;...", and the sentence. */
static void expect(const char *folder, bool recorded, const char *pairs, const char *sentence)
{
	struct sx_file_list l = found(folder, recorded);
	char got[2000] = "";
	size_t skip = strlen(folder) + 1, n = 0;

	for (size_t i = 0; i < l.count; i++) {
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s %s", l.left[i] + skip, l.right[i] + skip);
		for (int side = 0; side < 2 && l.ns[side]; side++)
			n += (size_t)snprintf(got + n, sizeof(got) - n, " %g",
					      (double)(l.ns[side][i] - l.ns[0][0]) / MS);
		n += (size_t)snprintf(got + n, sizeof(got) - n, ";");
	}
	assert_string_equal(got, pairs);
	assert_string_equal(l.text, sentence);
	sx_file_list_finish(&l);
}

static void expect_error(const char *folder, int error, const char *sentence)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = folder, .recorded = true};
	struct sx_file_list l = {0};

	sx_why_clear(&why);
	assert_int_equal(sx_file_list_find(&l, &p, &why), error);
	assert_null(l.left);
	if (!strstr(why.text, sentence))
		fail_msg("'%s' does not say '%s'", why.text, sentence);
}

/* Checks the calibration below the folder; starts with "!": the sentence instead. */
static void expect_calibration(const char *folder, const char *name, const char *files)
{
	char path[1024], wanted[2048] = "";
	struct sx_dataset d;
	int r;

	assert_true(sx_dataset_find(folder, &d));
	assert_string_equal(d.name, name);
	r = sx_dataset_calibration(folder, &d, path, sizeof(path), &why);
	if (*files == '!') {
		assert_int_equal(r, -ENOENT);
		if (!strstr(why.text, files + 1))
			fail_msg("'%s' does not say '%s'", why.text, files + 1);
		return;
	}
	assert_int_equal(r, 0);
	for (const char *p = files; *p; p += strcspn(p, " "), p += strspn(p, " "))
		snprintf(wanted + strlen(wanted), sizeof(wanted) - strlen(wanted), "%s%s/%.*s",
			 *wanted ? "," : "", folder, (int)strcspn(p, " "), p);
	assert_string_equal(path, wanted);
}

#define CSV0 "#timestamp [ns],filename\n1000000000,a.png\n1050000000,b.png\n1100000000,c.png\n"
#define CSV1 "#timestamp [ns],filename\r\n1000000000,a.png\r\n1050000000,b.png\r\n1100000000,c.png\r\n"
#define CAM0 "cam0/data/a.png cam0/data/b.png cam0/data/c.png"
#define CAM1 "cam1/data/a.png cam1/data/b.png cam1/data/c.png"
#define THREE                                                                        \
	"cam0/data/a.png cam1/data/a.png 0 0;cam0/data/b.png cam1/data/b.png 50 50;" \
	"cam0/data/c.png cam1/data/c.png 100 100;"

static void make_euroc(const char *f)
{
	empty(f, CAM0 " " CAM1 " cam0/sensor.yaml cam1/sensor.yaml");
	text(f, "cam0/data.csv", CSV0);
	text(f, "cam1/data.csv", CSV1);
}

/* mav0 and its parent, with CR LF and without. Without the wish for times, pairs have none. */
static void test_euroc(void **state)
{
	const char *f = *state;

	make_euroc(folder(f, "seq/mav0"));
	expect(in_folder(f, "seq/mav0"), true, THREE, "EuRoC: 3 pairs at 20 pairs/s");
	expect_calibration(in_folder(f, "seq/mav0"), "EuRoC", "cam0/sensor.yaml cam1/sensor.yaml");
	expect(in_folder(f, "seq"), false,
	       "mav0/cam0/data/a.png mav0/cam1/data/a.png;mav0/cam0/data/b.png mav0/cam1/data/b.png;"
	       "mav0/cam0/data/c.png mav0/cam1/data/c.png;",
	       "EuRoC: 3 pairs");
	expect_calibration(in_folder(f, "seq"), "EuRoC", "mav0/cam0/sensor.yaml mav0/cam1/sensor.yaml");
	assert_int_equal(unlink(in_folder(f, "seq/mav0/cam1/sensor.yaml")), 0);
	expect_calibration(in_folder(f, "seq"), "EuRoC", "!/seq/mav0/cam1/sensor.yaml is missing");
	assert_int_equal(unlink(in_folder(f, "seq/mav0/cam1/data.csv")), 0);
	expect_error(in_folder(f, "seq"), -ENOENT, "EuRoC: the time stamps ");
	expect_error(in_folder(f, "seq"), -ENOENT, "/seq/mav0/cam1/data.csv are missing");
}

/* A data set with one side only: the message names the missing side. */
static void test_half_a_data_set(void **state)
{
	const char *f = *state;

	empty(f, "e/" CAM0 " m/im0.png k/image_03/data/0.png");
	expect_error(in_folder(f, "e"), -ENOENT, "/e: has cam0/data, but no cam1/data");
	expect_error(in_folder(f, "m"), -ENOENT, "/m: has im0.png, but no im1.png");
	expect_error(in_folder(f, "k"), -ENOENT, "/k: has image_03/data, but no image_02/data");
}

/* Images without partner, times that differ a little, lines without image, and images without line. */
static void test_partners_by_time(void **state)
{
	const char *f = *state;

	empty(f, "cam0/data/1.png cam0/data/2.png cam0/data/3.png cam0/data/5.png cam0/data/unnamed.png");
	empty(f, "cam1/data/a.png cam1/data/b.png cam1/data/c.png cam1/data/d.png");
	text(f, "cam0/data.csv",
	     "1000000000,1.png\n1100000000, 2.png\n1200000000,3.png \n1300000000,4.png\n\n1400000000,5.png,more\n");
	/* a is 6 ms late; b is 3 ms before 2; c and d are both near to 5, d nearer */
	text(f, "cam1/data.csv",
	     "timestamp,filename\n1006000000,a.png\n1097000000,b.png\n1398000000,c.png\n1401000000,d.png");
	expect(f, true, "cam0/data/2.png cam1/data/b.png 0 -3;cam0/data/5.png cam1/data/d.png 300 301;",
	       "EuRoC: 2 pairs at 3.333 pairs/s; images without a partner: 2 left, 2 right; "
	       "time stamps without an image: 1 left, 0 right");
	text(f, "cam1/data.csv", "5000000000,a.png\n");
	expect_error(f, -ENOENT, "/cam1/data.csv within 5 ms");
	text(f, "cam1/data.csv", "5000000000,gone.png\n5000000001,lost.png\n");
	expect_error(f, -ENOENT, "none of the 2 images of ");
	text(f, "cam1/data.csv", "# nothing\n");
	expect_error(f, -ENOENT, "/cam1/data.csv names no image");
}

static void test_tum_vi(void **state)
{
	const char *f = *state;

	make_euroc(folder(f, "s/mav0"));
	empty(f, "s/dso/camchain.yaml");
	expect(in_folder(f, "s/mav0"), true, THREE, "TUM-VI: 3 pairs at 20 pairs/s");
	expect_calibration(in_folder(f, "s/mav0"), "TUM-VI", "../dso/camchain.yaml");
	expect_calibration(in_folder(f, "s"), "TUM-VI", "dso/camchain.yaml");
	empty(f,
	      "d/dso/cam0/images/7.png d/dso/cam0/images/8.png d/dso/cam1/images/7.png d/dso/cam1/images/8.png");
	text(f, "d/dso/cam0/times.txt",
	     "# id timestamp exposure\n7 1520530308.199447626 0.5\n8 1520530308.249447626 0.5\n");
	text(f, "d/dso/cam1/times.txt", "filename timestamp\n7\t1520530308.1994476\n8 1520530308.24944763");
	expect(in_folder(f, "d"), true,
	       "dso/cam0/images/7.png dso/cam1/images/7.png 0 -2.6e-05;"
	       "dso/cam0/images/8.png dso/cam1/images/8.png 50 50;",
	       "TUM-VI: 2 pairs at 20 pairs/s");
	expect_calibration(in_folder(f, "d"), "TUM-VI", "!d/dso/camchain.yaml is missing");
	expect_calibration(in_folder(f, "d/dso"), "TUM-VI", "!d/dso/camchain.yaml is missing");
}

/* An excerpt begins with an image other than 0: the number of the image is that of the line. */
static void test_kitti_odometry(void **state)
{
	const char *f = *state;

	empty(f, "image_2/000001.png image_3/000001.png image_2/000002.png image_3/000002.png calib.txt");
	expect(f, true, "image_2/000001.png image_3/000001.png;image_2/000002.png image_3/000002.png;",
	       "KITTI: 2 pairs");
	text(f, "times.txt", "0.000000e+00\n1.036224e-01\n2.072448e-01\n");
	expect(f, true,
	       "image_2/000001.png image_3/000001.png 0 0;image_2/000002.png image_3/000002.png 103.622 103.622;",
	       "KITTI: 2 pairs at 9.65 pairs/s");
	expect_calibration(f, "KITTI", "calib.txt");
	assert_int_equal(unlink(in_folder(f, "calib.txt")), 0);
	expect_calibration(f, "KITTI", "!/calib.txt is missing");
	text(f, "times.txt", "0.000000e+00\n1.036224e-01\n");
	expect_error(f, -EBADMSG, "/times.txt has 2 time stamps, none for ");
	expect_error(f, -EBADMSG, "/image_2/000002.png; source.fps sets a rate instead");
	text(f, "times.txt", "0.000000e+00\n1.036224e-01\n2.072448e-01\n");
	empty(f, "image_2/x1.png image_3/x1.png");
	expect_error(f, -EBADMSG, "/image_2/x1.png: the name is no number");
}

static void test_kitti_raw(void **state)
{
	const char *f = *state;
	const char *drive = "2011_09_26/2011_09_26_drive_0001_sync";
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", f, drive);
	for (int i = 0; i < 4; i++) {
		char name[100];

		snprintf(name, sizeof(name), "%s/image_%02d/data/0000000000.png", drive, i);
		empty(f, name);
		snprintf(name, sizeof(name), "%s/image_%02d/data/0000000001.png", drive, i);
		empty(f, name);
		snprintf(name, sizeof(name), "%s/image_%02d/timestamps.txt", drive, i);
		text(f, name,
		     i == 3 ? "2011-09-26 23:59:59.951000000\n2011-09-27 00:00:00.051000001\n"
			    : "2011-09-26 23:59:59.950000000\n2011-09-27 00:00:00.050000000\n");
	}
	expect(path, true,
	       "image_02/data/0000000000.png image_03/data/0000000000.png 0 1;"
	       "image_02/data/0000000001.png image_03/data/0000000001.png 100 101;",
	       "KITTI: 2 pairs at 10 pairs/s");
	expect_calibration(path, "KITTI", "!/../calib_cam_to_cam.txt is missing");
	empty(f, "2011_09_26/calib_cam_to_cam.txt");
	expect_calibration(path, "KITTI", "../calib_cam_to_cam.txt");
}

/*
 * A calibration of each pair is none for all; folders of pairs without any file beside them are of no data
 * set.
 */
static void test_kitti_stereo_and_plain_folders(void **state)
{
	const char *f = *state;
	struct sx_dataset d;

	empty(f, "2015/image_2/000000_10.png 2015/image_3/000000_10.png 2015/calib_cam_to_cam/000000.txt");
	expect_calibration(in_folder(f, "2015"), "KITTI", "!each pair has a calibration of its own in ");
	empty(f, "2012/colored_0/000000_10.png 2012/colored_1/000000_10.png 2012/calib/000000.txt");
	expect_calibration(in_folder(f, "2012"), "KITTI", "!2012/calib");
	empty(f, "p/image_2/1.png p/image_3/1.png");
	expect(in_folder(f, "p"), true, "image_2/1.png image_3/1.png;", "");
	assert_true(sx_dataset_find(in_folder(f, "p"), &d));
	assert_null(d.name);
	assert_false(sx_dataset_find(f, &d));
}

static void test_middlebury(void **state)
{
	const char *f = *state;

	empty(f, "im0.png im1.png im1E.png disp0.pfm calib.txt");
	expect(f, true, "im0.png im1.png;", "Middlebury: 1 pair");
	expect_calibration(f, "Middlebury", "calib.txt");
}

/* A folder with a comma cannot be given as LEFT,RIGHT. */
static void test_paths_that_do_not_fit(void **state)
{
	char path[40];
	struct sx_dataset d;
	const char *f = folder(*state, "a,b");

	make_euroc(f);
	assert_true(sx_dataset_find(f, &d));
	assert_int_equal(sx_dataset_calibration(f, &d, path, sizeof(path), &why), -ENAMETOOLONG);
	assert_int_equal(sx_dataset_calibration(f, &d, (char[1000]){0}, 1000, &why), -EINVAL);
	assert_non_null(strstr(why.text, "a,b has a comma"));
}

/* No name leaves the folder, no line is guessed, and the message names the line. */
static void test_hostile_times(void **state)
{
	static const struct {
		const char *csv, *sentence;
	} all[] = {
		{"1,../../secret.png\n", "data.csv:1: found '1,../../secret.png', expected TIME_NS,NAME"},
		{"1,/etc/passwd.png\n", "data.csv:1: found"},
		{"1,..\n", "data.csv:1: found"},
		{"1,.\n", "data.csv:1: found"},
		{"1,\n", "data.csv:1: found"},
		{"1\n", "data.csv:1: found '1'"},
		{"# c\n1,a.png\nbroken\n", "data.csv:3: found 'broken'"},
		{"1,a.png\n-2,b.png\n", "data.csv:2: found"},
		{"1.5,a.png\n", "data.csv:1: found"},
		{"99999999999999999999,a.png\n", "data.csv:1: found"},
		{"1000,a.png\n1000,b.png\n",
		 "data.csv:2: the time is not later than that of the image before"},
		{"1000,a.png\n10,b.png\n",
		 "data.csv:2: the time is not later than that of the image before (by 990 ns)"},
		{"1000000000,a.png\n70000000000,b.png\n",
		 "/b.png was taken 69 s after the image before, more than 60 s"},
		{"1000000,a.png\n1000100,b.png\n", "differ by 100 ns: wrong unit?"},
	};
	const char *f = *state;

	make_euroc(f);
	text(f, "secret.png", "");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		text(f, "cam0/data.csv", all[i].csv);
		text(f, "cam1/data.csv", all[i].csv);
		expect_error(f, -EBADMSG, all[i].sentence);
	}
	write_bytes(in_folder(f, "cam0/data.csv"), "1,a.png\n2,b\0b.png\n", 18);
	expect_error(f, -EBADMSG, "data.csv:2: longer than 512 bytes, or a NUL byte");
	write_bytes(in_folder(f, "cam0/data.csv"), "1,a.png\n2,b.png\0", 16);
	expect_error(f, -EBADMSG, "data.csv:2: longer");
}

/* A file with time stamps may be a folder, a pipe, or one endless line. */
static void test_times_that_are_no_text(void **state)
{
	const char *f = *state;
	char *line = malloc(100000);

	assert_non_null(line);
	memset(line, '1', 100000);
	make_euroc(f);
	write_bytes(in_folder(f, "cam0/data.csv"), line, 100000);
	free(line);
	expect_error(f, -EBADMSG, "data.csv:1: longer than 512 bytes");
	assert_int_equal(unlink(in_folder(f, "cam0/data.csv")), 0);
	assert_int_equal(mkfifo(in_folder(f, "cam0/data.csv"), 0600), 0);
	expect_error(f, -EBADMSG, "data.csv: not a file");
	assert_int_equal(unlink(in_folder(f, "cam0/data.csv")), 0);
	assert_int_equal(mkdir(in_folder(f, "cam0/data.csv"), 0700), 0);
	expect_error(f, -EBADMSG, "data.csv: not a file");
}

static void write_lines(const char *path, int count)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	for (int i = 0; i < count; i++)
		fprintf(out, "%lld,%c.png\n", 1000000000ll + i * 10000000ll, i < 3 ? 'a' + i : 'x');
	assert_int_equal(fclose(out), 0);
}

static void test_a_million_lines(void **state)
{
	const char *f = *state;

	make_euroc(f);
	write_lines(in_folder(f, "cam0/data.csv"), SX_FILE_LIST_MAX);
	write_lines(in_folder(f, "cam1/data.csv"), SX_FILE_LIST_MAX);
	expect(f, true,
	       "cam0/data/a.png cam1/data/a.png 0 0;cam0/data/b.png cam1/data/b.png 10 10;"
	       "cam0/data/c.png cam1/data/c.png 20 20;",
	       "EuRoC: 3 pairs at 100 pairs/s; time stamps without an image: 999997 left, 999997 right");
	write_lines(in_folder(f, "cam0/data.csv"), SX_FILE_LIST_MAX + 1);
	expect_error(f, -E2BIG, "/cam0/data.csv: more than 1000000 images");
}

/* ---- the source ---- */

/*
 * Makes a data set of pairs whose left images begin with 0, 1, .. at these times, ms. Right images are 1 ms
 * later.
 */
static void make_recording(const char *f, const int *ms, int count)
{
	char csv[2][1000] = {"", ""}, name[40];

	for (int i = 0; i < count; i++)
		for (int side = 0; side < 2; side++) {
			const size_t n = strlen(csv[side]);

			snprintf(name, sizeof(name), "cam%d/data/%d.png", side, i);
			write_ramp(in_folder(f, name), 40, 32, i);
			snprintf(csv[side] + n, sizeof(csv[side]) - n, "%lld,%d.png\n",
				 (long long)(1403715273262142976 + (ms[i] + side) * MS), i);
		}
	text(f, "cam0/data.csv", csv[0]);
	text(f, "cam1/data.csv", csv[1]);
}

static struct sx_source *open_recording(const char *f, int slots, bool loop)
{
	struct sx_source_params p = {
		.kind = SX_SOURCE_FILES, .path = f, .fps = 30, .recorded = true, .loop = loop};
	struct sx_source *s = NULL;

	if (sx_source_open(&s, &p, slots, &why) < 0)
		fail_msg("%s", why.text);
	assert_true(sx_source_info(s)->paced);
	return s;
}

static bool is_due(const struct sx_source *s, int ms)
{
	struct pollfd p = {.fd = sx_source_fd(s), .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

static struct sx_pair next_pair(struct sx_source *s)
{
	struct sx_pair pair;

	assert_true(is_due(s, 60000));
	assert_int_equal(sx_source_next(s, &pair, &why), 1);
	return pair;
}

static int index_of(const struct sx_pair *pair)
{
	return *(const uint8_t *)pair->left.data;
}

/* Capture times have the recorded distances to the nanosecond, and are those at which the pairs come. */
static void test_recorded_intervals(void **state)
{
	static const int ms[] = {0, 20, 30, 70};
	struct sx_source *s;
	int64_t first = 0;
	int last = -1;

	make_recording(*state, ms, 4);
	s = open_recording(*state, 2, false);
	assert_string_equal(sx_source_info(s)->note, "EuRoC: 4 pairs at 42.86 pairs/s");
	while (last < 3) {
		struct sx_pair pair = next_pair(s);
		const int i = index_of(&pair);

		assert_true(i > last); /* a busy machine may skip one */
		assert_int_equal(pair.number, i + 1);
		first = last < 0 ? pair.left_ns - ms[i] * MS : first;
		assert_int_equal(pair.left_ns, first + ms[i] * MS);
		assert_int_equal(pair.right_ns, pair.left_ns + MS);
		assert_true(pair.left_ns <= sx_now_ns());
		last = i;
		sx_source_release(s, &pair);
	}
	assert_true(is_due(s, 60000));
	assert_int_equal(sx_source_next(s, &(struct sx_pair){0}, &why), -ENODATA);
	sx_source_close(s);
}

/* A late reader gets the newest pair that is due. The source counts the older ones like lost pairs. */
static void test_a_late_reader_gets_the_newest_pair(void **state)
{
	static const int ms[] = {0, 10, 20, 30, 50000};
	struct sx_source_counters c;
	struct sx_source *s;
	struct sx_pair pair;
	int64_t first;

	make_recording(*state, ms, 5);
	s = open_recording(*state, 2, false);
	pair = next_pair(s);
	assert_int_equal(index_of(&pair), 0);
	first = pair.left_ns;
	sx_source_release(s, &pair);
	while (sx_now_ns() < first + 40 * MS)
		usleep(1000);
	pair = next_pair(s);
	assert_int_equal(index_of(&pair), 3);
	assert_int_equal(pair.number, 4);
	assert_int_equal(pair.left_ns, first + 30 * MS);
	sx_source_release(s, &pair);
	sx_source_counters(s, &c);
	for (int side = 0; side < 2; side++) {
		assert_int_equal(c.captured[side], 4);
		assert_int_equal(c.dropped[side][SX_DROP_OVERLOAD], 2);
	}
	assert_false(is_due(s, 0));
	sx_source_close(s);
}

/* A pair that is due while every slot is in use is lost, and the one after it comes in time. */
static void test_a_pair_without_a_slot_is_lost(void **state)
{
	static const int ms[] = {0, 10, 300};
	struct sx_source_counters c;
	struct sx_source *s;
	struct sx_pair pair, later;

	make_recording(*state, ms, 3);
	s = open_recording(*state, 1, false);
	pair = next_pair(s);
	assert_true(is_due(s, 60000));
	assert_int_equal(sx_source_next(s, &later, &why), 0);
	sx_source_release(s, &pair);
	sx_source_counters(s, &c);
	assert_int_equal(c.dropped[0][SX_DROP_OVERLOAD], 1);
	later = next_pair(s);
	assert_int_equal(index_of(&later), 2);
	assert_int_equal(later.left_ns - pair.left_ns, 300 * MS);
	sx_source_release(s, &later);
	sx_source_close(s);
}

/* A loop goes on one mean interval after the last pair. An unreadable image costs its own pair only. */
static void test_loop_and_unreadable(void **state)
{
	static const int ms[] = {0, 5, 10};
	const char *f = *state;
	struct sx_source *s;
	int64_t before = 0;
	int given = 0, bad = 0;

	make_recording(f, ms, 3);
	s = open_recording(f, 2, true);
	text(f, "cam1/data/1.png", "no picture");
	for (int i = 0; i < 1000 && (given < 6 || !bad); i++) {
		struct sx_pair pair;
		int r;

		assert_true(is_due(s, 60000));
		r = sx_source_next(s, &pair, &why);
		bad += r == -EBADMSG;
		if (r != 1)
			continue;
		assert_true(pair.left_ns > before);
		assert_int_equal(before ? (pair.left_ns - before) % (5 * MS) : 0, 0);
		before = pair.left_ns;
		given++;
		sx_source_release(s, &pair);
	}
	assert_true(given >= 6 && bad);
	sx_source_close(s);
}

/* A configured rate replaces the time stamps: pairs come at this rate, with the time of reading. */
static void test_a_rate_replaces_the_times(void **state)
{
	static const int ms[] = {0, 50000};
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state};
	struct sx_source *s;
	struct sx_pair pair;

	make_recording(*state, ms, 2);
	assert_int_equal(sx_source_open(&s, &p, 2, &why), 0);
	assert_false(sx_source_info(s)->paced);
	for (int i = 0; i < 2; i++) {
		const int64_t before = sx_now_ns();

		pair = next_pair(s);
		assert_int_equal(index_of(&pair), i);
		assert_true(pair.left_ns >= before && pair.left_ns == pair.right_ns);
		sx_source_release(s, &pair);
	}
	sx_source_close(s);
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_setup, folder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_euroc),
		IN_FOLDER(test_half_a_data_set),
		IN_FOLDER(test_partners_by_time),
		IN_FOLDER(test_tum_vi),
		IN_FOLDER(test_kitti_odometry),
		IN_FOLDER(test_kitti_raw),
		IN_FOLDER(test_kitti_stereo_and_plain_folders),
		IN_FOLDER(test_middlebury),
		IN_FOLDER(test_paths_that_do_not_fit),
		IN_FOLDER(test_hostile_times),
		IN_FOLDER(test_times_that_are_no_text),
		IN_FOLDER(test_a_million_lines),
		IN_FOLDER(test_recorded_intervals),
		IN_FOLDER(test_a_late_reader_gets_the_newest_pair),
		IN_FOLDER(test_a_pair_without_a_slot_is_lost),
		IN_FOLDER(test_loop_and_unreadable),
		IN_FOLDER(test_a_rate_replaces_the_times),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
