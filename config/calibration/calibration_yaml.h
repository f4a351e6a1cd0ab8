/*
 * A calibration file as a tree of YAML: getting numbers, words and matrices out of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CALIBRATION_YAML_H
#define SX_CONFIG_CALIBRATION_YAML_H

#include <stdbool.h>
#include <yaml.h>

#include "config/calibration/calibration_priv.h"

/* A document, and where sentences go. */
struct sx_yaml {
	yaml_document_t *doc;
	yaml_node_t *root;
	const char *format; /* of OpenCV's file, for sentences; NULL: YAML */
	char *why;
	size_t why_bytes;
};

/* Value of a key of a mapping, NULL: none, or no mapping. */
yaml_node_t *sx_yaml_get(const struct sx_yaml *y, yaml_node_t *map, const char *key);
/* The first of names, NULL at the end, that the mapping has; NULL: none. */
const char *sx_yaml_first(const struct sx_yaml *y, yaml_node_t *map, const char *const *names);
/* Text of a scalar, "" of anything else; NULL: no such key. */
const char *sx_yaml_word(const struct sx_yaml *y, yaml_node_t *map, const char *key);

/*
 * No key of a mapping of the document may occur twice: 0, or -EINVAL with a sentence that names both lines.
 */
int sx_yaml_check_keys(const struct sx_yaml *y);
/* Of names for the same thing, NULL at the end, two may be there if they say the same: as above. */
int sx_yaml_check_names(const struct sx_yaml *y, yaml_node_t *map, const char *const *names);
/*
 * What a mapping says of the lens of a camera: distortion_model, or "fisheye" where its camera model, a key
 * such as "fisheye: 1" or the like says so; NULL: nothing. -EINVAL with a sentence: two keys contradict
 * each other.
 */
int sx_yaml_lens(const struct sx_yaml *y, yaml_node_t *map, const char **ret);

/*
 * Reads a number. 1: *ret has it; 0: no such key; -EINVAL: it is something else; the sentence says line and
 * key.
 */
int sx_yaml_number(const struct sx_yaml *y, yaml_node_t *map, const char *key, double *ret);
/*
 * Both: 0: no such key, -EINVAL: there is, and it is something else; the sentence says line and key. Numbers
 * are finite. Matrices are mappings with rows, cols and data (OpenCV, ROS), lists (a printed CameraInfo
 * message), or lists of rows (Kalibr).
 */
int sx_yaml_matrix(const struct sx_yaml *y, yaml_node_t *map, const char *key, int rows, int cols,
		   double *ret); /* 1 */
/* 1 x N or N x 1, N up to max: 1 + N. */
int sx_yaml_vector(const struct sx_yaml *y, yaml_node_t *map, const char *key, double *ret, int max);

/* What is wrong with the raw cameras goes to raw->fault, if it is the first: a y for the above. */
struct sx_yaml sx_yaml_fault(const struct sx_yaml *y, struct sx_calibration_raw *raw);

/* 1: the document is of this format, 0: not, -EINVAL: it is and it is broken. */
int sx_calibration_opencv(struct sx_calibration_raw *raw, const struct sx_yaml *y);
int sx_calibration_ros(struct sx_calibration_raw *raw, const struct sx_yaml *y);
int sx_calibration_kalibr(struct sx_calibration_raw *raw, const struct sx_yaml *y);
int sx_calibration_euroc(struct sx_calibration_raw *raw, const struct sx_yaml *y);

/* The whole document, which XML gives as well: 0, or -EINVAL with a sentence. */
int sx_calibration_document(struct sx_calibration_raw *raw, const struct sx_yaml *y);

#endif
