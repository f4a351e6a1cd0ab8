/*
 * Semantic classes: their colours, and their labels by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "include/stixel.h"

static const struct named {
	const char *name;
	uint8_t rgb[3];
} named[] = {
	{"road", {128, 64, 128}},
	{"sidewalk", {244, 35, 232}},
	{"building", {70, 70, 70}},
	{"wall", {102, 102, 156}},
	{"fence", {190, 153, 153}},
	{"pole", {153, 153, 153}},
	{"traffic-light", {250, 170, 30}},
	{"traffic-sign", {220, 220, 0}},
	{"vegetation", {107, 142, 35}},
	{"terrain", {152, 251, 152}},
	{"sky", {70, 130, 180}},
	{"person", {220, 20, 60}},
	{"rider", {255, 0, 0}},
	{"car", {0, 0, 142}},
	{"truck", {0, 0, 70}},
	{"bus", {0, 60, 100}},
	{"train", {0, 80, 100}},
	{"motorcycle", {0, 0, 230}},
	{"bicycle", {119, 11, 32}},
};

enum { NAMED = sizeof(named) / sizeof(named[0]) };

/* Colours far from each other, for names that are not in the table above. */
static const uint8_t others[][3] = {
	{230, 159, 0},	 {86, 180, 233},  {0, 158, 115},  {240, 228, 66}, {0, 114, 178},
	{213, 94, 0},	 {204, 121, 167}, {170, 110, 40}, {128, 0, 0},	  {145, 30, 180},
	{250, 190, 212}, {170, 255, 195}, {128, 128, 0},  {255, 225, 25},
};

static char plain(char c)
{
	return c == '_' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* A name within a text. */
struct word {
	const char *at;
	size_t length;
};

static bool same_name(struct word a, struct word b)
{
	if (a.length != b.length)
		return false;
	for (size_t i = 0; i < a.length; i++)
		if (plain(a.at[i]) != plain(b.at[i]))
			return false;
	return true;
}

static struct word word_of(const char *name)
{
	return (struct word){name, strlen(name)};
}

/* Takes the next name of a list, without a ":" and what follows it. False: there is none. */
static bool next_word(const char **list, struct word *word)
{
	static const char between[] = " \t\n,";

	*list += strspn(*list, between);
	word->at = *list;
	word->length = strcspn(*list, " \t\n,:");
	*list += strcspn(*list, between);
	return *list > word->at;
}

void stixel_class_colour(const char *name, uint32_t label, uint8_t rgb[3])
{
	for (size_t i = 0; name && i < NAMED; i++) {
		if (!same_name(word_of(name), word_of(named[i].name)))
			continue;
		memcpy(rgb, named[i].rgb, 3);
		return;
	}
	memcpy(rgb, others[label % (sizeof(others) / sizeof(others[0]))], 3);
}

/* Adds the bit of a class to *labels. Returns 0; -ENOENT: no class has this name; -EINVAL: too many classes. */
static int add_label(const char *classes, struct word name, uint32_t *labels)
{
	struct word one;

	for (unsigned label = 0; next_word(&classes, &one); label++) {
		if (label == STIXEL_CLASSES_MAX)
			return -EINVAL;
		if (!same_name(name, one))
			continue;
		*labels |= 1u << label;
		return 0;
	}
	return -ENOENT;
}

int stixel_labels_of(const char *classes, const char *names, uint32_t *labels)
{
	uint32_t found = 0;
	struct word name;

	if (!classes || !names || !labels)
		return -EINVAL;
	while (next_word(&names, &name)) {
		const int r = add_label(classes, name, &found);

		if (r < 0)
			return r;
	}
	if (found == 0)
		return -EINVAL;
	*labels = found;
	return 0;
}
