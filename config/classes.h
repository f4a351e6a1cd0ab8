/*
 * The table of semantic classes: the class of each plane of scores, and the kind of stixels that it allows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CLASSES_H
#define SX_CONFIG_CLASSES_H

#include <stddef.h>

#include "base/why.h"
#include "config/settings.h"

#define SX_CLASS_NAME_BYTES 32

struct sx_class_names {
	char name[SX_CLASSES_MAX][SX_CLASS_NAME_BYTES];
};

/*
 * Reads "road:ground car sky:sky": names in the order of the planes, each with its kind of stixels (ground,
 * object or sky; object by default). p and names are written on success only; names may be NULL. Returns
 * -EINVAL with a message that names the entry if the table is empty, has more than SX_CLASSES_MAX entries,
 * has a name twice, or has a name with characters other than A-Z a-z 0-9 _ . -
 */
int sx_classes_parse(const char *text, struct sx_semantic_params *p, struct sx_class_names *names,
		     struct sx_why *why);

#endif
