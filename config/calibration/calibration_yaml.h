/*
 * A calibration file as a YAML tree: functions to read numbers, words and matrices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CALIBRATION_YAML_H
#define SX_CONFIG_CALIBRATION_YAML_H

#include <stdbool.h>
#include <yaml.h>

#include "base/why.h"
#include "config/calibration/calibration_priv.h"

/*
 * End of a text. chars: length of the text in characters, as libyaml counts them. blanks: number of blanks at
 * its end. touched: a value was read that ends there, so that it may have lost its last characters.
 */
struct sx_yaml_end {
	size_t chars, blanks;
	bool touched;
};

/* A document, and the buffer for error messages. */
struct sx_yaml {
	yaml_document_t *doc;
	yaml_node_t *root;
	const char *format;	 /* name of an OpenCV format, for messages; NULL: YAML */
	struct sx_yaml_end *end; /* NULL: values have their own end, as in XML */
	struct sx_why *why;
};

/* Returns the value of a key in a mapping; NULL: no such key, or map is not a mapping. */
yaml_node_t *sx_yaml_get(const struct sx_yaml *y, yaml_node_t *map, const char *key);
/* Returns the first of `names` (NULL at the end) that is a key of the mapping; NULL: none. */
const char *sx_yaml_first(const struct sx_yaml *y, yaml_node_t *map, const char *const *names);
/* Returns the text of a scalar; "" for other nodes; NULL: no such key. */
const char *sx_yaml_word(const struct sx_yaml *y, yaml_node_t *map, const char *key);

/*
 * Checks that no mapping of the document has a key twice. Returns 0, or -EINVAL with a message that names
 * both lines.
 */
int sx_yaml_check_keys(const struct sx_yaml *y);
/*
 * Checks `names` (NULL at the end) of the same value: if two are present, they must agree. Returns as
 * sx_yaml_check_keys().
 */
int sx_yaml_check_names(const struct sx_yaml *y, yaml_node_t *map, const char *const *names);
/*
 * Finds the lens model of a camera in a mapping: distortion_model, or "fisheye" if its camera model, a key
 * such as "fisheye: 1" or a similar key says so. NULL: not given. Returns -EINVAL with a message if two keys
 * contradict each other.
 */
int sx_yaml_lens(const struct sx_yaml *y, yaml_node_t *map, const char **ret);

/*
 * Reads a number. Returns 1: *ret is set; 0: no such key; -EINVAL: the value is no number; the message names
 * line and key.
 */
int sx_yaml_number(const struct sx_yaml *y, yaml_node_t *map, const char *key, double *ret);
/*
 * Read finite numbers. A matrix is a mapping with rows, cols and data (OpenCV, ROS), a list (a printed
 * CameraInfo message), or a list of rows (Kalibr). Return 0: no such key; -EINVAL: the key has another value;
 * the message names line and key.
 */
int sx_yaml_matrix(const struct sx_yaml *y, yaml_node_t *map, const char *key, int rows, int cols,
		   double *ret); /* 1: read */
/* Reads 1 x N or N x 1 numbers, N up to max. Returns 1 + N. */
int sx_yaml_vector(const struct sx_yaml *y, yaml_node_t *map, const char *key, double *ret, int max);

/*
 * Returns a copy of y whose messages go to raw->fault, unless raw->fault already has one. For faults of the
 * raw cameras.
 */
struct sx_yaml sx_yaml_fault(const struct sx_yaml *y, struct sx_calibration_raw *raw);

/*
 * Read a document of one format. 1: read; 0: the document has another format; -EINVAL: it is of this format,
 * but broken.
 */
int sx_calibration_opencv(struct sx_calibration_raw *raw, const struct sx_yaml *y);
int sx_calibration_ros(struct sx_calibration_raw *raw, const struct sx_yaml *y);
int sx_calibration_kalibr(struct sx_calibration_raw *raw, const struct sx_yaml *y);
int sx_calibration_euroc(struct sx_calibration_raw *raw, const struct sx_yaml *y);
int sx_calibration_orb(struct sx_calibration_raw *raw, const struct sx_yaml *y);
/* Reads settings of VINS, without the files of the cameras that raw->file names. */
int sx_calibration_vins(struct sx_calibration_raw *raw, const struct sx_yaml *y);
int sx_calibration_camodocal(struct sx_calibration_raw *raw,
			     const struct sx_yaml *y); /* file of one camera */

/* Reads a whole document, from YAML or XML. Returns 0, or -EINVAL with a message. */
int sx_calibration_document(struct sx_calibration_raw *raw, const struct sx_yaml *y);

#endif
