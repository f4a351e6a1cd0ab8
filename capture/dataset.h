/*
 * Layouts of published data sets, and the files that a data set has beside its images: calibration and time
 * stamps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_DATASET_H
#define SX_CAPTURE_DATASET_H

#include <limits.h>
#include <stdbool.h>

#include "base/why.h"
#include "capture/recorded_times.h"

/*
 * A layout. All paths are relative to the folder of the data set. NULL: the layout has none.
 * name: name for messages, such as "EuRoC"; NULL: subfolders of pairs that belong to no data set.
 * images: subfolders of the left and the right images, or one image file of each side.
 * times: files with the time stamps of the left and the right images.
 * named: the files with time stamps name the images, and pairs are made by time. Otherwise files of equal
 * names are a pair, and the number in a file's name, from 0, is the number of its line.
 * calibration: one file, or one of each camera.
 * each: folder with a calibration of each pair. The data set then has no calibration of all pairs.
 * raw: the images are not rectified.
 */
struct sx_dataset {
	const char *name;
	const char *images[2];
	const char *times[2];
	enum sx_times_format format;
	bool named;
	const char *calibration[2];
	const char *each;
	bool raw;
};

/*
 * Finds the layout of a folder: the first row of the table in dataset.c whose left and right images exist.
 * False: none.
 */
bool sx_dataset_find(const char *folder, struct sx_dataset *ret);
/* Checks whether images[] are two files, and not two folders. */
bool sx_dataset_is_one_pair(const struct sx_dataset *d);
/* Checks whether a folder has the images of one side only, in any layout. why then names what is missing. */
bool sx_dataset_lacks(const char *folder, struct sx_why *why);

/*
 * Writes the value of camera.calibration: the path of the file, or of both as "LEFT,RIGHT". Returns 0;
 * -ENOENT with a sentence: the data set has no such file, or a calibration of each pair only; -EINVAL with a
 * sentence: the path has a comma; -ENAMETOOLONG.
 */
int sx_dataset_calibration(const char *folder, const struct sx_dataset *d, char *ret, size_t bytes,
			   struct sx_why *why);

#endif
