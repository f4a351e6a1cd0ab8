/*
 * Calibration in YAML: OpenCV's FileStorage and ROS camera_info.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "config/calibration_priv.h"
#include "config/number.h"

#define NESTING_MAX 16

bool sx_calibration_is_yaml(const char *text)
{
	return !strncmp(text, "%YAML", 5) || strstr(text, "opencv-matrix") ||
	       strstr(text, "projection_matrix") || strstr(text, "distortion_model");
}

/* Value of a key of a mapping, NULL: none, or no mapping. */
static yaml_node_t *get(yaml_document_t *doc, yaml_node_t *map, const char *key)
{
	if (!map || map->type != YAML_MAPPING_NODE)
		return NULL;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		yaml_node_t *k = yaml_document_get_node(doc, p->key);

		if (k && k->type == YAML_SCALAR_NODE && !strcmp((const char *)k->data.scalar.value, key))
			return yaml_document_get_node(doc, p->value);
	}
	return NULL;
}

static int read_scalar(const yaml_node_t *node, double *ret)
{
	const char *rest;

	if (!node || node->type != YAML_SCALAR_NODE ||
	    sx_number_real((const char *)node->data.scalar.value, ret, &rest) < 0 || *rest)
		return -EINVAL;
	return 0;
}

static int read_sequence(yaml_document_t *doc, yaml_node_t *node, double *ret, int n)
{
	if (!node || node->type != YAML_SEQUENCE_NODE ||
	    node->data.sequence.items.top - node->data.sequence.items.start != n)
		return -EINVAL;
	for (int i = 0; i < n; i++)
		if (read_scalar(yaml_document_get_node(doc, node->data.sequence.items.start[i]), &ret[i]) < 0)
			return -EINVAL;
	return 0;
}

/*
 * 1: the matrix is there, 0: no such key, -EINVAL: it is not rows x cols finite numbers. Matrices are
 * mappings with rows, cols and data (OpenCV, ROS), or a bare list (a printed CameraInfo message).
 */
static int read_matrix(yaml_document_t *doc, yaml_node_t *root, const char *key, int rows, int cols,
		       double *ret, char *why, size_t why_bytes)
{
	yaml_node_t *node = get(doc, root, key), *data = node;
	double r = rows, c = cols;

	if (!node)
		return 0;
	if (node->type == YAML_MAPPING_NODE) {
		data = get(doc, node, "data");
		if (read_scalar(get(doc, node, "rows"), &r) < 0 ||
		    read_scalar(get(doc, node, "cols"), &c) < 0)
			data = NULL;
	}
	if (r == rows && c == cols && !read_sequence(doc, data, ret, rows * cols))
		return 1;
	snprintf(why, why_bytes, "line %zu: '%s' is not a matrix of %d x %d numbers",
		 node->start_mark.line + 1, key, rows, cols);
	return -EINVAL;
}

static int read_size(yaml_document_t *doc, yaml_node_t *root, const char *key, double *ret, char *why,
		     size_t why_bytes)
{
	yaml_node_t *node = get(doc, root, key);

	if (!node || !read_scalar(node, ret))
		return 0;
	snprintf(why, why_bytes, "line %zu: '%s' is not a number", node->start_mark.line + 1, key);
	return -EINVAL;
}

static int read_ros(struct sx_calibration_raw *raw, yaml_document_t *doc, yaml_node_t *root, char *why,
		    size_t why_bytes)
{
	static const char *const names[] = {"projection_matrix", "P", "p"};
	int r = 0;

	for (int i = 0; i < 3 && !r; i++) {
		raw->left_name = names[i];
		r = read_matrix(doc, root, names[i], 3, 4, raw->left, why, why_bytes);
	}
	if (r < 0)
		return r;
	raw->have_left = r > 0;
	raw->format = "ROS camera_info";
	return r;
}

static int read_opencv(struct sx_calibration_raw *raw, yaml_document_t *doc, yaml_node_t *root, char *why,
		       size_t why_bytes)
{
	int left = read_matrix(doc, root, "P1", 3, 4, raw->left, why, why_bytes);
	int right = left < 0 ? left : read_matrix(doc, root, "P2", 3, 4, raw->right, why, why_bytes);
	int q = right < 0 ? right : read_matrix(doc, root, "Q", 4, 4, raw->q, why, why_bytes);

	if (q < 0)
		return q;
	if (left != right && !q) {
		snprintf(why, why_bytes, "P1 and P2 are both needed, '%s' is missing", left ? "P2" : "P1");
		return -EINVAL;
	}
	raw->format = "OpenCV YAML";
	raw->left_name = "P1";
	raw->right_name = "P2";
	raw->have_left = raw->have_right = left && right;
	raw->have_q = q > 0;
	return raw->have_left || raw->have_q;
}

static int read_document(struct sx_calibration_raw *raw, yaml_document_t *doc, char *why, size_t why_bytes)
{
	yaml_node_t *root = yaml_document_get_root_node(doc);
	int r = read_opencv(raw, doc, root, why, why_bytes);

	if (!r)
		r = read_ros(raw, doc, root, why, why_bytes);
	if (!r) {
		snprintf(why, why_bytes,
			 "no stereo rectification found: neither P1 and P2, nor Q (OpenCV), nor "
			 "projection_matrix (ROS)");
		return -EINVAL;
	}
	if (r < 0 || (r = read_size(doc, root, "image_width", &raw->width, why, why_bytes)) < 0 ||
	    (r = read_size(doc, root, "image_height", &raw->height, why, why_bytes)) < 0 ||
	    (r = read_size(doc, root, "width", &raw->width, why, why_bytes)) < 0)
		return r;
	return read_size(doc, root, "height", &raw->height, why, why_bytes);
}

/* libyaml needs quadratic time for nested brackets; a calibration has two levels. */
static bool nested_too_deeply(const char *text)
{
	int depth = 0;

	for (; *text && depth <= NESTING_MAX; text++) {
		depth += *text == '[' || *text == '{';
		depth -= (*text == ']' || *text == '}') && depth;
	}
	return depth > NESTING_MAX;
}

int sx_calibration_yaml(struct sx_calibration_raw *raw, const char *text, size_t size, char *why,
			size_t why_bytes)
{
	yaml_parser_t parser;
	yaml_document_t doc;
	size_t skip = 0;
	int r;

	/*
	 * OpenCV writes "%YAML:1.0", which is not YAML: the line is left out, its line
	 * end kept for the numbering
	 */
	if (!strncmp(text, "%YAML:", 6))
		skip = strcspn(text, "\n");
	if (nested_too_deeply(text)) {
		snprintf(why, why_bytes, "brackets are nested more than %d deep", NESTING_MAX);
		return -EINVAL;
	}
	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text + skip, size - skip);
	if (!yaml_parser_load(&parser, &doc)) {
		snprintf(why, why_bytes, "line %zu: not YAML: %s",
			 (parser.problem_mark.line ? parser.problem_mark.line : parser.context_mark.line) + 1,
			 parser.problem ? parser.problem : "unreadable");
		yaml_parser_delete(&parser);
		return -EINVAL;
	}
	r = read_document(raw, &doc, why, why_bytes);
	yaml_document_delete(&doc);
	yaml_parser_delete(&parser);
	return r < 0 ? r : 0;
}
