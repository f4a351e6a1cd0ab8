/*
 * The table of semantic classes: which class a plane of scores is of, and what stixels of it may be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CLASSES_H
#define SX_CONFIG_CLASSES_H

#include <stddef.h>

#include "config/settings.h"

#define SX_CLASS_NAME_BYTES 32

struct sx_class_names {
	char name[SX_CLASSES_MAX][SX_CLASS_NAME_BYTES];
};

/*
 * Reads "road:ground car sky:sky": names in the order of the planes, each with the kind of its stixels
 * (ground, object, sky; object where it does not say). p and names (may be NULL) are written on success.
 * -EINVAL with a sentence that names the entry: an empty table, more than SX_CLASSES_MAX, a name twice or of
 * other characters than A-Z a-z 0-9 _ . -
 */
int sx_classes_parse(const char *text, struct sx_semantic_params *p, struct sx_class_names *names, char *why,
		     size_t why_bytes);

#endif
