/*
 * Lists of path names in natural order, and patterns with two sides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/paths.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/contract.h"
#include "capture/file_list.h"

#define WILDCARDS_MAX 32

int sx_paths_add(struct sx_paths *p, const char *folder, const char *name)
{
	char *copy;

	sx_must(p->count, <=, p->room);
	if (p->count == SX_FILE_LIST_MAX)
		return -E2BIG;
	if (p->count == p->room) {
		size_t room = p->room ? 2 * p->room : 64;
		char **more = realloc(p->name, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->name = more;
		p->room = room;
	}
	if (asprintf(&copy, "%s%s%s", folder ? folder : "", folder ? "/" : "", name) < 0)
		return -ENOMEM;
	p->name[p->count++] = copy;
	return 0;
}

void sx_paths_finish(struct sx_paths *p)
{
	sx_must(p->count, <=, p->room);
	for (size_t i = 0; i < p->count; i++)
		free(p->name[i]);
	free(p->name);
	*p = (struct sx_paths){0};
}

/* Compares two runs of digits by value: without leading zeros the longer one is larger. */
static int compare_numbers(const char **a, const char **b)
{
	size_t na, nb;
	int order;

	*a += strspn(*a, "0");
	*b += strspn(*b, "0");
	na = strspn(*a, "0123456789");
	nb = strspn(*b, "0123456789");
	order = na != nb ? (na < nb ? -1 : 1) : strncmp(*a, *b, na);
	*a += na;
	*b += nb;
	return order;
}

int sx_paths_compare(const char *a, const char *b)
{
	const char *a0 = a, *b0 = b;

	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			int order = compare_numbers(&a, &b);

			if (order)
				return order;
			continue;
		}
		if (*a != *b)
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		a++;
		b++;
	}
	if (*a || *b)
		return *a ? 1 : -1;
	return strcmp(a0, b0); /* for 01 and 1 any fixed order will do */
}

static int compare_entries(const void *a, const void *b)
{
	return sx_paths_compare(*(char *const *)a, *(char *const *)b);
}

static void paths_sort(struct sx_paths *p)
{
	if (p->count)
		qsort(p->name, p->count, sizeof(*p->name), compare_entries);
}

bool sx_paths_has(const struct sx_paths *p, const char *name)
{
	return p->count && bsearch(&name, p->name, p->count, sizeof(*p->name), compare_entries);
}

static bool has_image_ending(const char *name)
{
	static const char *const endings[] = {".png", ".pgm", ".ppm", ".pnm", ".jpg", ".jpeg"};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < sizeof(endings) / sizeof(endings[0]); i++)
		if (!strcasecmp(dot, endings[i]))
			return true;
	return false;
}

bool sx_paths_is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_folder_in(const char *folder, const char *name)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) &&
	       sx_paths_is_folder(path);
}

enum entries { IMAGES, FOLDERS, OTHERS };

static bool is_wanted(const char *folder, const char *name, enum entries wanted)
{
	if (wanted == IMAGES)
		return has_image_ending(name);
	return is_folder_in(folder, name) == (wanted == FOLDERS) &&
	       (wanted == FOLDERS || !has_image_ending(name));
}

static int list(struct sx_paths *ret, const char *folder, enum entries wanted)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	int r = 0;

	if (!dir)
		return -errno;
	while (r == 0) {
		errno = 0;
		e = readdir(dir);
		if (!e) {
			r = -errno; /* 0: end of the folder */
			break;
		}
		if (e->d_name[0] == '.')
			continue;
		if (is_wanted(folder, e->d_name, wanted))
			r = sx_paths_add(ret, NULL, e->d_name);
	}
	closedir(dir);
	paths_sort(ret);
	return r;
}

int sx_paths_images(struct sx_paths *ret, const char *folder)
{
	return list(ret, folder, IMAGES);
}

int sx_paths_folders(struct sx_paths *ret, const char *folder)
{
	return list(ret, folder, FOLDERS);
}

int sx_paths_others(struct sx_paths *ret, const char *folder)
{
	return list(ret, folder, OTHERS);
}

static int expand_folder(struct sx_paths *ret, const char *folder)
{
	struct sx_paths names = {0};
	int r = sx_paths_images(&names, folder);

	for (size_t i = 0; r == 0 && i < names.count; i++)
		r = sx_paths_add(ret, folder, names.name[i]);
	sx_paths_finish(&names);
	return r;
}

int sx_paths_expand(struct sx_paths *ret, const char *pattern)
{
	glob_t g = {0};
	int r;

	if (sx_paths_is_folder(pattern))
		return expand_folder(ret, pattern);
	switch (glob(pattern, GLOB_NOSORT, NULL, &g)) {
	case 0:
		r = 0;
		break;
	case GLOB_NOMATCH:
		r = -ENOENT;
		break;
	case GLOB_NOSPACE:
		r = -ENOMEM;
		break;
	default:
		r = -EIO;
	}
	for (size_t i = 0; r == 0 && i < g.gl_pathc; i++)
		r = sx_paths_add(ret, NULL, g.gl_pathv[i]);
	globfree(&g);
	paths_sort(ret);
	return r;
}

/* Parses {a|b} or {a,b} at p: its parts and the character after it. */
static bool find_sides(const char *p, const char *part[2], size_t length[2], const char **end)
{
	const char *close, *middle;

	if (*p != '{')
		return false;
	close = strchr(p, '}');
	middle = close ? p + strcspn(p, "|,}") : NULL;
	if (!close || middle >= close)
		return false;
	sx_must_be(middle > p);
	part[0] = p + 1;
	length[0] = (size_t)(middle - part[0]);
	part[1] = middle + 1;
	length[1] = (size_t)(close - part[1]);
	*end = close + 1;
	return true;
}

bool sx_pattern_has_sides(const char *pattern)
{
	const char *part[2], *end;
	size_t length[2];

	for (; *pattern; pattern++)
		if (find_sides(pattern, part, length, &end))
			return true;
	return false;
}

/* A text buffer of fixed size that is being filled. */
struct out {
	char *text;
	size_t bytes, used;
};

static int path_put(struct out *o, const char *text, size_t n)
{
	sx_must(o->used, <=, o->bytes);
	if (n >= o->bytes - o->used)
		return -ENAMETOOLONG;
	memcpy(o->text + o->used, text, n);
	o->used += n;
	o->text[o->used] = 0;
	return 0;
}

/*
 * Replaces a number placeholder. %d: any text; %4d, %06d: that number of digits. Returns the length of the
 * placeholder; 0: there is none.
 */
static size_t put_number(struct out *o, const char *p, int *r)
{
	size_t n = strspn(p + 1, "0123456789");
	long digits = 0;

	sx_must(*r, ==, 0);
	if (*p != '%' || p[1 + n] != 'd' || n > 2)
		return 0;
	for (size_t i = 0; i < n; i++)
		digits = 10 * digits + p[1 + i] - '0';
	if (!digits)
		*r = path_put(o, "*", 1);
	for (long i = 0; *r == 0 && i < digits; i++)
		*r = path_put(o, "[0-9]", 5);
	return n + 2;
}

int sx_pattern_side(const char *pattern, int side, char *ret, size_t bytes)
{
	struct out o = {ret, bytes, 0};
	int r = 0;

	sx_must_index(side, 2);
	while (r == 0 && *pattern) {
		const char *part[2], *end;
		size_t length[2], n;

		if (find_sides(pattern, part, length, &end)) {
			r = path_put(&o, part[side], length[side]);
			pattern = end;
		} else if ((n = put_number(&o, pattern, &r)) > 0) {
			pattern += n;
		} else {
			r = path_put(&o, pattern++, 1);
		}
	}
	return r;
}

struct piece {
	const char *at;
	size_t length;
};

/* Returns the length of the wildcard at p: 1, the length of a bracket expression, or 0. */
static size_t wildcard(const char *p)
{
	const char *close;

	if (*p == '*' || *p == '?')
		return 1;
	if (*p != '[')
		return 0;
	close = strchr(p + 2 + (p[1] == '!' || p[1] == '^'), ']');
	return p[1] && close ? (size_t)(close - p) + 1 : 0;
}

/*
 * Matches like fnmatch(3) with FNM_PATHNAME, and stores what each wildcard matched. The number of wildcards
 * bounds the recursion depth.
 */
static bool path_match(const char *p, const char *s, struct piece *pieces, int n)
{
	char one[64], letter[2];
	size_t w;

	sx_must_index(n, WILDCARDS_MAX + 1);
	for (; (w = wildcard(p)) == 0; p++, s++) {
		if (*p == '\\' && p[1])
			p++;
		if (*p != *s)
			return false;
		if (!*p) {
			pieces[n].at = NULL;
			return true;
		}
	}
	if (n == WILDCARDS_MAX)
		return false;
	if (*p == '*') {
		for (size_t k = 0;; k++) {
			pieces[n] = (struct piece){s, k};
			if (path_match(p + 1, s + k, pieces, n + 1))
				return true;
			if (!s[k] || s[k] == '/')
				return false;
		}
	}
	if (!*s || *s == '/' || w >= sizeof(one))
		return false;
	memcpy(one, p, w);
	one[w] = 0;
	letter[0] = *s;
	letter[1] = 0;
	if (fnmatch(one, letter, 0))
		return false;
	pieces[n] = (struct piece){s, 1};
	return path_match(p + w, s + 1, pieces, n + 1);
}

int sx_pattern_partner(const char *from, const char *to, const char *path, char *ret, size_t bytes)
{
	struct piece pieces[WILDCARDS_MAX + 1];
	struct out o = {ret, bytes, 0};
	int n = 0, r = 0;

	if (bytes)
		*ret = 0;
	if (!path_match(from, path, pieces, 0))
		return -EINVAL;
	while (r == 0 && *to) {
		size_t w = wildcard(to);

		if (w && !pieces[n].at)
			return -EINVAL; /* `from` has fewer wildcards: one is inside a {left|right} part */
		if (w) {
			sx_must_index(n, WILDCARDS_MAX);
			r = path_put(&o, pieces[n].at, pieces[n].length);
			n++;
			to += w;
			continue;
		}
		if (*to == '\\' && to[1])
			to++;
		r = path_put(&o, to++, 1);
	}
	return r;
}
