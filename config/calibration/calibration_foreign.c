/*
 * Calibration files of other programs that are not read, and advice for the user.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#include <strings.h>

#include "config/calibration/calibration_priv.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define BY_PYTHON "read it in Python, and write K1, D1, K2, D2, R and T by cv2.FileStorage into a .yml"
#define BY_MATLAB                                                                                        \
	"write K1, D1, K2, D2, R and T as OpenCV's YAML; its IntrinsicMatrix and RotationOfCamera2 are " \
	"transposed, and T is in the unit of the board, mostly mm"

static bool ends_in(const char *path, const char *ending)
{
	const size_t n = strlen(path), end = strlen(ending);

	return n >= end && strcasecmp(path + n - end, ending) == 0;
}

const char *sx_calibration_foreign_binary(const char *path, const char *data, size_t bytes)
{
	static const struct {
		const char *ending, *begin;
		const char *sentence;
	} files[] = {
		{".npz", "PK\003\004", "an archive of NumPy (.npz): " BY_PYTHON},
		{".npy", "\223NUMPY", "an array of NumPy (.npy): " BY_PYTHON},
		{".mat", "MATLAB ", "a file of MATLAB: " BY_MATLAB},
		{".mat", "\211HDF", "a file of MATLAB, or HDF5: " BY_MATLAB},
		{".pkl", "\200", "a pickle of Python: " BY_PYTHON},
		{".pickle", "\200", "a pickle of Python: " BY_PYTHON},
	};

	for (size_t i = 0; data && i < COUNT(files); i++)
		if (bytes >= strlen(files[i].begin) &&
		    memcmp(data, files[i].begin, strlen(files[i].begin)) == 0)
			return files[i].sentence;
	for (size_t i = 0; i < COUNT(files); i++)
		if (ends_in(path, files[i].ending))
			return files[i].sentence;
	return NULL;
}

const char *sx_calibration_foreign_text(const char *text)
{
	/* The reader of lines finds no values in ost.txt, because each name is on a line without numbers. */
	if (strstr(text, "# oST version") ||
	    (strstr(text, "\ncamera matrix") && strstr(text, "\nrectification")))
		return "ost.txt of ROS: take the ost.yaml, or left.yaml and right.yaml, that "
		       "camera_calibration writes beside it, or make it: rosrun camera_calibration_parsers "
		       "convert ost.txt ost.yaml";
	if (strncmp(text, "Calibration results", strlen("Calibration results")) == 0)
		return "a report of Kalibr: name the camchain (.yaml) that Kalibr writes beside it";
	return NULL;
}
