/*
 * Keys of a calibration in YAML: checks that no two contradict each other, and finds the lens that they name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/calibration/calibration_yaml.h"

struct key {
	const char *text;
	size_t line;
};

static int by_text(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int check_mapping(const struct sx_yaml *y, const yaml_node_t *map)
{
	const size_t most = (size_t)(map->data.mapping.pairs.top - map->data.mapping.pairs.start);
	struct key *key = malloc((most ? most : 1) * sizeof(*key));
	size_t count = 0;
	int r = 0;

	if (!key)
		return -ENOMEM;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const yaml_node_t *k = yaml_document_get_node(y->doc, p->key);

		/* "<<" merges another mapping, and may appear twice */
		if (k && k->type == YAML_SCALAR_NODE && strcmp((const char *)k->data.scalar.value, "<<") != 0)
			key[count++] =
				(struct key){(const char *)k->data.scalar.value, k->start_mark.line + 1};
	}
	qsort(key, count, sizeof(*key), by_text);
	for (size_t i = 1; i < count && r == 0; i++)
		if (!strcmp(key[i - 1].text, key[i].text))
			r = sx_calibration_refuse(
				y->why,
				"'%.40s' occurs twice, in line %zu and in line %zu: which one is "
				"meant?",
				key[i].text, key[i - 1].line, key[i].line);
	free(key);
	return r;
}

int sx_yaml_check_keys(const struct sx_yaml *y)
{
	int r = 0;

	for (yaml_node_t *n = y->doc->nodes.start; n < y->doc->nodes.top && r == 0; n++)
		if (n->type == YAML_MAPPING_NODE)
			r = check_mapping(y, n);
	return r;
}

/*
 * Returns true if two nodes have the same value. depth: nesting of brackets and indents; its limit stops at
 * an alias within itself.
 */
static bool same_value(const struct sx_yaml *y, const yaml_node_t *a, const yaml_node_t *b, int depth)
{
	if (!a || !b || a->type != b->type || depth > 4)
		return a == b;
	if (a->type == YAML_SCALAR_NODE)
		return !strcmp((const char *)a->data.scalar.value, (const char *)b->data.scalar.value);
	if (a->type == YAML_SEQUENCE_NODE) {
		const yaml_node_item_t *i = a->data.sequence.items.start, *j = b->data.sequence.items.start;

		if (a->data.sequence.items.top - i != b->data.sequence.items.top - j)
			return false;
		for (; i < a->data.sequence.items.top; i++, j++)
			if (!same_value(y, yaml_document_get_node(y->doc, *i),
					yaml_document_get_node(y->doc, *j), depth + 1))
				return false;
		return true;
	}
	/* Compares all keys, including rows and cols: they give the layout of the numbers in data. */
	for (yaml_node_pair_t *p = a->data.mapping.pairs.start; p && p < a->data.mapping.pairs.top; p++) {
		const yaml_node_t *key = yaml_document_get_node(y->doc, p->key);

		if (key && key->type == YAML_SCALAR_NODE &&
		    !same_value(y, yaml_document_get_node(y->doc, p->value),
				sx_yaml_get(y, (yaml_node_t *)b, (const char *)key->data.scalar.value),
				depth + 1))
			return false;
	}
	return true;
}

int sx_yaml_check_names(const struct sx_yaml *y, yaml_node_t *map, const char *const *names)
{
	const char *first = sx_yaml_first(y, map, names);
	yaml_node_t *a = first ? sx_yaml_get(y, map, first) : NULL;

	for (; first && *names; names++) {
		yaml_node_t *b = sx_yaml_get(y, map, *names);

		if (b && !same_value(y, a, b, 0))
			return sx_calibration_refuse(
				y->why,
				"'%s' in line %zu and '%s' in line %zu are names of one thing and "
				"differ: which one is meant?",
				first, a->start_mark.line + 1, *names, b->start_mark.line + 1);
	}
	return 0;
}

/* ---- lenses ---- */

static bool names_fisheye(const char *word)
{
	static const char *const words[] = {"fisheye",	      "fish-eye",	"equidistant",	  "equi",
					    "kannala_brandt", "kannala-brandt", "kannalabrandt8", "kb4"};

	for (size_t i = 0; word && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(word, words[i]))
			return true;
	return false;
}

/* Reads the flag for fisheye. Returns 1: yes, 0: no, -1: not given, -EINVAL: the value has no meaning. */
static int is_flagged(const struct sx_yaml *y, yaml_node_t *map, const char **key)
{
	static const char *const names[] = {"fisheye", "fisheye_model", "is_fisheye", NULL};
	static const char *const words[] = {"0", "1", "false", "true", "no", "yes"};
	const char *word;

	*key = sx_yaml_first(y, map, names);
	if (!*key)
		return -1;
	word = sx_yaml_word(y, map, *key);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(word, words[i]))
			return i & 1;
	return sx_calibration_refuse(y->why, "'%s' is '%.40s', must be 0 or 1", *key, word);
}

static int contradict(const struct sx_yaml *y, const char *model, const char *key, const char *word)
{
	return sx_calibration_refuse(y->why,
				     "distortion_model is '%.40s', but %s is '%.40s': which lens is it?",
				     model, key, word);
}

int sx_yaml_lens(const struct sx_yaml *y, yaml_node_t *map, const char **ret)
{
	static const char *const others[] = {"camera_model",	 "model_type",	"lens_model",
					     "projection_model", "camera_type", "lens_type"};
	const char *model = sx_yaml_word(y, map, "distortion_model"), *key;
	int flagged = is_flagged(y, map, &key);

	if (flagged == -EINVAL)
		return flagged;
	if (model && !*model)
		model = NULL;
	*ret = model;
	if (flagged >= 0 && model && names_fisheye(model) != flagged)
		return contradict(y, model, key, sx_yaml_word(y, map, key));
	if (flagged > 0 && !model)
		*ret = "fisheye";
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		const char *word = sx_yaml_word(y, map, others[i]);

		if (!names_fisheye(word))
			continue;
		if (model && !names_fisheye(model))
			return contradict(y, model, others[i], word);
		if (flagged == 0)
			return sx_calibration_refuse(y->why,
						     "%s is '%.40s', but %s is '%.40s': which lens is it?",
						     others[i], word, key, sx_yaml_word(y, map, key));
		if (!model)
			*ret = "fisheye";
	}
	if (names_fisheye(*ret))
		*ret = "fisheye";
	return 0;
}
