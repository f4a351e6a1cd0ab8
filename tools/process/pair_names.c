/*
 * Chooses the names of the result files of image pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/process/pair_names.h"

struct entry {
	char *path;  /* path of the left file; its folder is resolved if possible */
	char *name;  /* name of the results so far */
	int folders; /* number of folders that the name has in front */
};

/*
 * Resolves the folder of a path, so that "../left.png" gets a folder's name instead of two dots. Keeps the
 * file's own name.
 */
static char *resolve(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = NULL, *real, *whole = NULL;

	folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	real = folder ? realpath(folder, NULL) : NULL;
	if (real && asprintf(&whole, "%s/%s", real, slash ? slash + 1 : path) < 0)
		whole = NULL;
	else if (!real)
		whole = strdup(path);
	free(folder);
	free(real);
	return whole;
}

/* Returns the part of path that has `folders` folders before the file name. */
static const char *tail_of(const char *path, int folders)
{
	const char *p = path + strlen(path);

	while (p > path && folders >= 0) {
		p--;
		if (*p == '/' && folders-- == 0)
			return p + 1;
	}
	return *path == '/' ? path + 1 : path;
}

static bool can_grow(const struct entry *e)
{
	const char *whole = *e->path == '/' ? e->path + 1 : e->path;

	return tail_of(e->path, e->folders) > whole;
}

static int set_name(struct entry *e)
{
	const char *tail = tail_of(e->path, e->folders);
	char *name = strdup(tail), *dot;

	if (!name)
		return -ENOMEM;
	for (char *p = name; *p; p++)
		if (*p == '/')
			*p = '_';
	dot = strrchr(name, '.');
	if (dot && dot > name)
		*dot = '\0';
	free(e->name);
	e->name = name;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct entry *const *ea = a, *const *eb = b;
	int order = strcmp((*ea)->name, (*eb)->name);

	/* equal names stay in the order of the command line */
	return order ? order : (*ea > *eb) - (*ea < *eb);
}

/* Adds a folder to every name that occurs twice. Returns how many names changed. */
static int grow_collisions(struct entry **sorted, int count)
{
	int changed = 0;

	qsort(sorted, (size_t)count, sizeof(*sorted), by_name);
	for (int i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && strcmp(sorted[i]->name, sorted[end]->name) == 0;)
			end++;
		for (int k = i; end - i > 1 && k < end; k++) {
			if (!can_grow(sorted[k]))
				continue;
			sorted[k]->folders++;
			changed++;
		}
	}
	for (int i = 0; changed && i < count; i++)
		if (set_name(sorted[i]) < 0)
			return -ENOMEM;
	return changed;
}

/* Adds "-2", "-3" to names that no folder can distinguish. Returns how many names changed. */
static int number_collisions(struct entry **sorted, int count)
{
	int changed = 0;

	qsort(sorted, (size_t)count, sizeof(*sorted), by_name);
	for (int i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && strcmp(sorted[i]->name, sorted[end]->name) == 0; end++) {
			char *name;

			if (asprintf(&name, "%s-%d", sorted[end]->name, end - i + 1) < 0)
				return -ENOMEM;
			free(sorted[end]->name);
			sorted[end]->name = name;
			changed++;
		}
	}
	return changed;
}

static int make_different(struct entry *entries, struct entry **sorted, int count)
{
	int r;

	for (int i = 0; i < count; i++)
		sorted[i] = &entries[i];
	do {
		r = grow_collisions(sorted, count);
	} while (r > 0);
	while (r == 0) {
		r = number_collisions(sorted, count);
		if (r == 0)
			return 0;
		r = r > 0 ? 0 : r;
	}
	return r;
}

int sx_pair_names(char ***names, const char *const *left, int count)
{
	size_t n = count > 0 ? (size_t)count : 1;
	struct entry *entries = calloc(n, sizeof(*entries));
	struct entry **sorted = calloc(n, sizeof(struct entry *));
	char **table = calloc(n, sizeof(char *));
	int r = entries && sorted && table ? 0 : -ENOMEM;

	for (int i = 0; r == 0 && i < count; i++) {
		entries[i].path = resolve(left[i]);
		r = entries[i].path ? set_name(&entries[i]) : -ENOMEM;
	}
	if (r == 0)
		r = make_different(entries, sorted, count);
	for (int i = 0; entries && i < count; i++) {
		if (r == 0)
			table[i] = entries[i].name;
		else
			free(entries[i].name);
		free(entries[i].path);
	}
	free(entries);
	free(sorted);
	if (r == 0)
		*names = table;
	else
		free(table);
	return r;
}

void sx_pair_names_free(char **names, int count)
{
	for (int i = 0; names && i < count; i++)
		free(names[i]);
	free(names);
}
