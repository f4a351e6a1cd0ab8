/*
 * The table of layouts of published data sets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/dataset.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "capture/paths.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define SENSORS(folder) folder "cam0/sensor.yaml", folder "cam1/sensor.yaml"

/*
 * The layouts, in the order in which they are tried. mark: a file that must exist, too; NULL: none. A folder
 * of KITTI's cameras without any file of the data set beside it is just a folder of pairs.
 */
static const struct layout {
	const char *mark;
	struct sx_dataset dataset;
} layouts[] = {
	/* the folder of a sequence, with mav0 and dso in it */
	{"dso/camchain.yaml",
	 {"TUM-VI",
	  {"mav0/cam0/data", "mav0/cam1/data"},
	  {"mav0/cam0/data.csv", "mav0/cam1/data.csv"},
	  SX_TIMES_CSV,
	  .named = true,
	  .calibration = {"dso/camchain.yaml"},
	  .raw = true}},
	{NULL,
	 {"EuRoC",
	  {"mav0/cam0/data", "mav0/cam1/data"},
	  {"mav0/cam0/data.csv", "mav0/cam1/data.csv"},
	  SX_TIMES_CSV,
	  .named = true,
	  .calibration = {SENSORS("mav0/")},
	  .raw = true}},
	{NULL,
	 {"TUM-VI",
	  {"dso/cam0/images", "dso/cam1/images"},
	  {"dso/cam0/times.txt", "dso/cam1/times.txt"},
	  SX_TIMES_NAMED,
	  .named = true,
	  .calibration = {"dso/camchain.yaml"},
	  .raw = true}},
	/* mav0 itself, and dso itself */
	{"../dso/camchain.yaml",
	 {"TUM-VI",
	  {"cam0/data", "cam1/data"},
	  {"cam0/data.csv", "cam1/data.csv"},
	  SX_TIMES_CSV,
	  .named = true,
	  .calibration = {"../dso/camchain.yaml"},
	  .raw = true}},
	{NULL,
	 {"EuRoC",
	  {"cam0/data", "cam1/data"},
	  {"cam0/data.csv", "cam1/data.csv"},
	  SX_TIMES_CSV,
	  .named = true,
	  .calibration = {SENSORS("")},
	  .raw = true}},
	{NULL,
	 {"TUM-VI",
	  {"cam0/images", "cam1/images"},
	  {"cam0/times.txt", "cam1/times.txt"},
	  SX_TIMES_NAMED,
	  .named = true,
	  .calibration = {"camchain.yaml"},
	  .raw = true}},
	/* KITTI's benchmarks stereo 2015 and 2012, and object, and odometry */
	{"calib_cam_to_cam", {"KITTI", {"image_2", "image_3"}, .each = "calib_cam_to_cam"}},
	{"calib", {"KITTI", {"image_2", "image_3"}, .each = "calib"}},
	{"times.txt",
	 {"KITTI",
	  {"image_2", "image_3"},
	  {"times.txt", "times.txt"},
	  SX_TIMES_SECONDS,
	  .calibration = {"calib.txt"}}},
	{"calib.txt", {"KITTI", {"image_2", "image_3"}, .calibration = {"calib.txt"}}},
	{NULL, {NULL, {"image_2", "image_3"}}},
	{"calib", {"KITTI", {"image_0", "image_1"}, .each = "calib"}},
	{"times.txt",
	 {"KITTI",
	  {"image_0", "image_1"},
	  {"times.txt", "times.txt"},
	  SX_TIMES_SECONDS,
	  .calibration = {"calib.txt"}}},
	{"calib.txt", {"KITTI", {"image_0", "image_1"}, .calibration = {"calib.txt"}}},
	{NULL, {NULL, {"image_0", "image_1"}}},
	{"calib", {"KITTI", {"colored_0", "colored_1"}, .each = "calib"}},
	{NULL, {NULL, {"colored_0", "colored_1"}}},
	/* a drive of KITTI's raw data, colour before grey */
	{"image_02/timestamps.txt",
	 {"KITTI",
	  {"image_02/data", "image_03/data"},
	  {"image_02/timestamps.txt", "image_03/timestamps.txt"},
	  SX_TIMES_DATES,
	  .calibration = {"../calib_cam_to_cam.txt"}}},
	{NULL, {NULL, {"image_02/data", "image_03/data"}}},
	{"image_00/timestamps.txt",
	 {"KITTI",
	  {"image_00/data", "image_01/data"},
	  {"image_00/timestamps.txt", "image_01/timestamps.txt"},
	  SX_TIMES_DATES,
	  .calibration = {"../calib_cam_to_cam.txt"}}},
	{NULL, {NULL, {"image_00/data", "image_01/data"}}},
	/* a scene of Middlebury 2014 or 2021, or of ETH3D */
	{"calib.txt", {"Middlebury", {"im0.png", "im1.png"}, .calibration = {"calib.txt"}}},
	{NULL, {NULL, {"left", "right"}}},
};

static bool exists_in(const char *folder, const char *name)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) &&
	       access(path, F_OK) == 0;
}

/* Checks for the images of one side: a folder, or a PNG file. */
static bool has_side(const char *folder, const struct sx_dataset *d, int side)
{
	char path[PATH_MAX];

	if (sx_dataset_is_one_pair(d))
		return exists_in(folder, d->images[side]);
	return snprintf(path, sizeof(path), "%s/%s", folder, d->images[side]) < (int)sizeof(path) &&
	       sx_paths_is_folder(path);
}

bool sx_dataset_is_one_pair(const struct sx_dataset *d)
{
	return strstr(d->images[0], ".png") != NULL;
}

bool sx_dataset_find(const char *folder, struct sx_dataset *ret)
{
	for (size_t i = 0; i < COUNT(layouts); i++) {
		const struct sx_dataset *d = &layouts[i].dataset;

		if (!has_side(folder, d, 0) || !has_side(folder, d, 1) ||
		    (layouts[i].mark && !exists_in(folder, layouts[i].mark)))
			continue;
		*ret = *d;
		return true;
	}
	return false;
}

bool sx_dataset_lacks(const char *folder, struct sx_why *why)
{
	for (size_t i = 0; i < COUNT(layouts); i++) {
		const struct sx_dataset *d = &layouts[i].dataset;
		const bool left = has_side(folder, d, 0);

		if (left == has_side(folder, d, 1))
			continue;
		sx_why_set(why, "%s: has %s, but no %s", folder, d->images[left ? 0 : 1],
			   d->images[left ? 1 : 0]);
		return true;
	}
	return false;
}

int sx_dataset_calibration(const char *folder, const struct sx_dataset *d, char *ret, size_t bytes,
			   struct sx_why *why)
{
	int n = 0;

	sx_must_be(d->name);
	if (d->each)
		return sx_why_fail(-ENOENT, why, "%s: each pair has a calibration of its own in %s/%s",
				   d->name, folder, d->each);
	for (int i = 0; i < 2 && d->calibration[i]; i++) {
		if (!exists_in(folder, d->calibration[i]))
			return sx_why_fail(-ENOENT, why, "%s: the calibration %s/%s is missing", d->name,
					   folder, d->calibration[i]);
		n += snprintf(ret + n, bytes - (size_t)n, "%s%s/%s", i ? "," : "", folder, d->calibration[i]);
		if (n >= (int)bytes)
			return sx_why_fail(-ENAMETOOLONG, why, "%s: the name of the calibration is too long",
					   d->name);
	}
	if (d->calibration[1] && strchr(folder, ','))
		return sx_why_fail(-EINVAL, why,
				   "%s: %s has a comma, which parts the names of two calibrations", d->name,
				   folder);
	return 0;
}
