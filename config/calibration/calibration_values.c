/*
 * Reads words, numbers and matrices of a calibration in YAML.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "config/calibration/calibration_yaml.h"
#include "config/text/number.h"

#define NUMBERS_MAX 16 /* largest number of entries of a matrix */

yaml_node_t *sx_yaml_get(const struct sx_yaml *y, yaml_node_t *map, const char *key)
{
	if (!map || map->type != YAML_MAPPING_NODE)
		return NULL;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		yaml_node_t *k = yaml_document_get_node(y->doc, p->key);

		if (k && k->type == YAML_SCALAR_NODE && !strcmp((const char *)k->data.scalar.value, key))
			return yaml_document_get_node(y->doc, p->value);
	}
	return NULL;
}

const char *sx_yaml_first(const struct sx_yaml *y, yaml_node_t *map, const char *const *names)
{
	for (; *names; names++)
		if (sx_yaml_get(y, map, *names))
			return *names;
	return NULL;
}

/*
 * Notes a value that ends where the text ends: if the file is an incomplete copy, the value may lack its last
 * characters. A value in quotes has its own end.
 */
static void note_end(const struct sx_yaml *y, const yaml_node_t *node)
{
	size_t blanks;

	if (!y->end || !node || node->type != YAML_SCALAR_NODE ||
	    node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return;
	blanks = node->data.scalar.length ? 0 : y->end->blanks;
	if (node->end_mark.index + blanks >= y->end->chars)
		y->end->touched = true;
}

const char *sx_yaml_word(const struct sx_yaml *y, yaml_node_t *map, const char *key)
{
	const yaml_node_t *node = sx_yaml_get(y, map, key);

	if (!node)
		return NULL;
	note_end(y, node);
	return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";
}

static int read_scalar(const struct sx_yaml *y, const yaml_node_t *node, double *ret)
{
	const char *rest;

	note_end(y, node);
	if (!node || node->type != YAML_SCALAR_NODE ||
	    sx_number_real((const char *)node->data.scalar.value, ret, &rest) < 0 || *rest)
		return -EINVAL;
	return 0;
}

/* Returns the entries of a list; NULL: the node is no list. */
static const yaml_node_item_t *items(const yaml_node_t *node, int *count)
{
	if (!node || node->type != YAML_SEQUENCE_NODE)
		return NULL;
	*count = (int)(node->data.sequence.items.top - node->data.sequence.items.start);
	return node->data.sequence.items.start;
}

/* Reads a list of at most max numbers and returns their count. -EINVAL: there are more, or other values. */
static int read_list(const struct sx_yaml *y, const yaml_node_t *node, double *ret, int max)
{
	int count = 0;
	const yaml_node_item_t *item = items(node, &count);

	if (!item || count > max)
		return -EINVAL;
	for (int i = 0; i < count; i++)
		if (read_scalar(y, yaml_document_get_node(y->doc, item[i]), &ret[i]) < 0)
			return -EINVAL;
	return count;
}

/* Reads a list of rows of equal length. */
static int read_rows(const struct sx_yaml *y, const yaml_node_t *node, double *ret, int *rows, int *cols)
{
	const yaml_node_item_t *item = items(node, rows);
	int room = NUMBERS_MAX;

	for (int i = 0; i < *rows; i++) {
		int n = read_list(y, yaml_document_get_node(y->doc, item[i]), ret, room);

		if (n <= 0 || (i && n != *cols))
			return -EINVAL;
		*cols = n;
		ret += n;
		room -= n;
	}
	return 0;
}

/* Reads up to NUMBERS_MAX numbers, row by row. A flat list is one row. An empty list is 0 x 0. */
static int read_any(const struct sx_yaml *y, yaml_node_t *node, double *ret, int *rows, int *cols)
{
	int count = 0;
	const yaml_node_item_t *item = items(node, &count);
	const yaml_node_t *first = item && count ? yaml_document_get_node(y->doc, item[0]) : NULL;
	double r, c;

	if (first && first->type == YAML_SEQUENCE_NODE)
		return read_rows(y, node, ret, rows, cols);
	if (item) {
		*cols = read_list(y, node, ret, NUMBERS_MAX);
		*rows = *cols > 0;
		return *cols < 0 ? *cols : 0;
	}
	if (read_scalar(y, sx_yaml_get(y, node, "rows"), &r) < 0 ||
	    read_scalar(y, sx_yaml_get(y, node, "cols"), &c) < 0)
		return -EINVAL;
	count = read_list(y, sx_yaml_get(y, node, "data"), ret, NUMBERS_MAX);
	if (count < 0 || !(r >= 0 && r <= NUMBERS_MAX && c >= 0 && c <= NUMBERS_MAX) || r * c != count)
		return -EINVAL;
	*rows = count ? (int)r : 0;
	*cols = count ? (int)c : 0;
	return *rows * *cols == count ? 0 : -EINVAL; /* refuses sizes such as 2.5 x 4 */
}

int sx_yaml_number(const struct sx_yaml *y, yaml_node_t *map, const char *key, double *ret)
{
	yaml_node_t *node = sx_yaml_get(y, map, key);

	if (!node)
		return 0;
	if (!read_scalar(y, node, ret))
		return 1;
	return sx_calibration_refuse(y->why, "line %zu: '%s' is not a number", node->start_mark.line + 1,
				     key);
}

int sx_yaml_matrix(const struct sx_yaml *y, yaml_node_t *map, const char *key, int rows, int cols,
		   double *ret)
{
	yaml_node_t *node = sx_yaml_get(y, map, key);
	double numbers[NUMBERS_MAX];
	int r = 0, c = 0;

	if (!node)
		return 0;
	if (!read_any(y, node, numbers, &r, &c) &&
	    ((r == rows && c == cols) || (node->type == YAML_SEQUENCE_NODE && r == 1 && c == rows * cols))) {
		memcpy(ret, numbers, sizeof(*ret) * (size_t)(rows * cols));
		return 1;
	}
	return sx_calibration_refuse(y->why, "line %zu: '%s' is not a matrix of %d x %d numbers",
				     node->start_mark.line + 1, key, rows, cols);
}

int sx_yaml_vector(const struct sx_yaml *y, yaml_node_t *map, const char *key, double *ret, int max)
{
	yaml_node_t *node = sx_yaml_get(y, map, key);
	double numbers[NUMBERS_MAX];
	int r = 0, c = 0;

	if (!node)
		return 0;
	if (!read_any(y, node, numbers, &r, &c) && (r <= 1 || c == 1) && r * c <= max) {
		memcpy(ret, numbers, sizeof(*ret) * (size_t)(r * c));
		return 1 + r * c;
	}
	return sx_calibration_refuse(y->why, "line %zu: '%s' is not one row or column of up to %d numbers",
				     node->start_mark.line + 1, key, max);
}

struct sx_yaml sx_yaml_fault(const struct sx_yaml *y, struct sx_calibration_raw *raw)
{
	struct sx_yaml fault = *y;

	fault.why = sx_why_is_empty(&raw->fault) ? &raw->fault : NULL; /* NULL keeps the first fault */
	return fault;
}
