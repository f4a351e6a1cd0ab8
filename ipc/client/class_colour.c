/*
 * Colours of semantic classes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
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

static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		const char x = *a == '_' ? '-' : *a >= 'A' && *a <= 'Z' ? (char)(*a - 'A' + 'a') : *a;

		if (x != *b)
			return false;
	}
	return *a == *b;
}

void stixel_class_colour(const char *name, uint32_t label, uint8_t rgb[3])
{
	for (size_t i = 0; name && i < NAMED; i++) {
		if (!same_name(name, named[i].name))
			continue;
		memcpy(rgb, named[i].rgb, 3);
		return;
	}
	memcpy(rgb, others[label % (sizeof(others) / sizeof(others[0]))], 3);
}
