/*
 * Finds the pairs of a "files" source by the rules in file_list.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/file_list.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/advice.h"
#include "base/clock.h"
#include "base/contract.h"
#include "capture/image/image_io.h"
#include "capture/paths.h"
#include "capture/recorded_pairs.h"
#include "capture/slots.h"

/*
 * Words that tell left from right names. stem: the word must be the whole name before the ending; otherwise
 * it may be anywhere in the name.
 */
static const struct word {
	const char *left, *right;
	bool stem;
} words[] = {
	{"left", "right", false}, {"Left", "Right", false}, {"LEFT", "RIGHT", false},
	{"_L.", "_R.", false},	  {"_l.", "_r.", false},    {"im0", "im1", true},
	{"im2", "im6", true},	  {"view1", "view5", true},
};

#define OTHERS_MAX 32 /* files of a folder that are examined */
#define OTHERS_DEEP 2 /* depth of nested folders, as in image_02/data */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static int no_partner(const char *folder, const char *name, const char *partner, struct sx_why *why)
{
	return sx_why_fail(-EINVAL, why, "%s%s%s has no partner %s", folder ? folder : "", folder ? "/" : "",
			   name, partner);
}

/* Returns the position of the word in the name; NULL: not found. */
static const char *find_word(const char *name, const char *word, bool stem)
{
	const char *at = strstr(name, word);

	if (!stem || !at)
		return at;
	return at == name && strrchr(name, '.') == name + strlen(word) ? at : NULL;
}

static int swap_word(const char *name, const char *from, const char *to, bool stem, char *ret, size_t bytes)
{
	const char *at = find_word(name, from, stem);

	sx_must_be(at);
	if (snprintf(ret, bytes, "%.*s%s%s", (int)(at - name), name, to, at + strlen(from)) >= (int)bytes)
		return -ENAMETOOLONG;
	return 0;
}

static int add_pair(struct sx_found *f, const char *left_folder, const char *left, const char *right_folder,
		    const char *right)
{
	int r = sx_paths_add(&f->left, left_folder, left);

	sx_must_be(r < 0 || f->left.count == f->right.count + 1);
	return r < 0 ? r : sx_paths_add(&f->right, right_folder, right);
}

/* Adds all pairs of names that the rule gives. A name with a word but without a partner is an error. */
static int pair_by_word(struct sx_found *f, const char *folder, const struct sx_paths *names,
			const struct word *w, struct sx_why *why)
{
	char partner[PATH_MAX];

	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->name[i];
		bool left = find_word(name, w->left, w->stem);
		int r;

		if (!left && !find_word(name, w->right, w->stem))
			continue;
		r = left ? swap_word(name, w->left, w->right, w->stem, partner, sizeof(partner))
			 : swap_word(name, w->right, w->left, w->stem, partner, sizeof(partner));
		if (r == 0 && !sx_paths_has(names, partner))
			r = no_partner(folder, name, partner, why);
		if (r == 0 && left)
			r = add_pair(f, folder, name, folder, partner);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool any_has(const struct sx_paths *names, const char *word, bool stem)
{
	for (size_t i = 0; i < names->count; i++)
		if (find_word(names->name[i], word, stem))
			return true;
	return false;
}

/* Pairs the files of one folder (rule 2). It is no error if no pair is found. */
static int pair_in_folder(struct sx_found *f, const char *folder, struct sx_why *why)
{
	struct sx_paths names = {0};
	int r = sx_paths_images(&names, folder);

	sx_must(f->left.count, ==, f->right.count);
	for (size_t k = 0; r == 0 && k < COUNT(words); k++) {
		if (!any_has(&names, words[k].left, words[k].stem) ||
		    !any_has(&names, words[k].right, words[k].stem))
			continue;
		r = pair_by_word(f, folder, &names, &words[k], why);
		break;
	}
	sx_paths_finish(&names);
	return r;
}

/* Checks that both lists hold the same names, sorted. The first difference is a file without partner. */
static int same_names(const char *left, const struct sx_paths *a, const char *right, const struct sx_paths *b,
		      struct sx_why *why)
{
	char partner[PATH_MAX];

	for (int side = 0; side < 2; side++) {
		const struct sx_paths *mine = side ? b : a, *other = side ? a : b;

		for (size_t i = 0; i < mine->count; i++)
			if (!sx_paths_has(other, mine->name[i])) {
				snprintf(partner, sizeof(partner), "%s/%s", side ? left : right,
					 mine->name[i]);
				return no_partner(side ? right : left, mine->name[i], partner, why);
			}
	}
	return 0;
}

static int pair_folders(struct sx_found *f, const char *left, const char *right, struct sx_why *why)
{
	struct sx_paths a = {0}, b = {0};
	int r = sx_paths_images(&a, left);

	sx_must(f->left.count, ==, f->right.count);
	if (r == 0)
		r = sx_paths_images(&b, right);
	if (r == 0)
		r = same_names(left, &a, right, &b, why);
	for (size_t i = 0; r == 0 && i < a.count; i++)
		r = add_pair(f, left, a.name[i], right, b.name[i]);
	sx_paths_finish(&a);
	sx_paths_finish(&b);
	return r;
}

/*
 * Checks the intervals of the pairs: a file with times in another unit must not let the daemon wait for days
 * or count pairs that come all at once.
 */
static int check_intervals(const struct sx_found *f, struct sx_why *why)
{
	const size_t last = f->left.count - 1;
	const int64_t *ns = f->ns[0];

	for (size_t i = 0; i <= last; i++)
		if (llabs(f->ns[1][i] - ns[i]) > SX_NS_PER_S)
			return sx_why_fail(-EBADMSG, why, "%s and %s were taken %.6g s apart",
					   f->left.name[i], f->right.name[i],
					   (double)llabs(f->ns[1][i] - ns[i]) / SX_NS_PER_S);
	for (size_t i = 1; i <= last; i++)
		if (ns[i] - ns[i - 1] > SX_FILE_LIST_GAP_S * SX_NS_PER_S)
			return sx_why_fail(-EBADMSG, why,
					   "%s was taken %.6g s after the image before, more than %d s",
					   f->left.name[i], (double)(ns[i] - ns[i - 1]) / SX_NS_PER_S,
					   SX_FILE_LIST_GAP_S);
	if ((double)last * SX_NS_PER_S > SX_FPS_MAX * (double)(ns[last] - ns[0]))
		return sx_why_fail(-EBADMSG, why,
				   "the time stamps of %zu images differ by %lld ns: wrong unit?",
				   f->left.count, (long long)(ns[last] - ns[0]));
	return 0;
}

/* Adds the capture times that the source asks for, and leaves no others. */
static int take_times(struct sx_found *f, const struct sx_source_params *p, const struct sx_dataset *d,
		      struct sx_why *why)
{
	int r = 0;

	if (p->recorded && f->left.count > 1 && d->times[0]) {
		if (!d->named)
			r = sx_recorded_pairs_date(f, p->path, d, why);
		if (r == 0)
			r = check_intervals(f, why);
		if (r < 0)
			sx_why_add(why, "; source.fps sets a rate instead of the time stamps");
		return r;
	}
	for (int i = 0; i < 2; i++) {
		free(f->ns[i]);
		f->ns[i] = NULL;
	}
	return 0;
}

/* Pairs the files of a data set or of two known subfolders (rule 1). */
static int pair_dataset(struct sx_found *f, const struct sx_source_params *p, struct sx_dataset *d,
			struct sx_why *why)
{
	char left[PATH_MAX], right[PATH_MAX];
	int r;

	if (!sx_dataset_find(p->path, d))
		return 0;
	if (snprintf(left, sizeof(left), "%s/%s", p->path, d->images[0]) >= PATH_MAX ||
	    snprintf(right, sizeof(right), "%s/%s", p->path, d->images[1]) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (d->named)
		r = sx_recorded_pairs(f, p->path, d, why);
	else
		r = sx_dataset_is_one_pair(d) ? add_pair(f, NULL, left, NULL, right)
					      : pair_folders(f, left, right, why);
	if (r == 0 && !f->left.count)
		*d = (struct sx_dataset){0}; /* empty folders: the other rules may find pairs */
	return r == 0 && f->left.count ? take_times(f, p, d, why) : r;
}

/* Pairs the files of each subfolder (rule 3). */
static int pair_in_subfolders(struct sx_found *f, const char *folder, struct sx_why *why)
{
	struct sx_paths names = {0};
	char path[PATH_MAX];
	int r = sx_paths_folders(&names, folder);

	sx_must(f->left.count, ==, 0);
	for (size_t i = 0; r == 0 && i < names.count; i++)
		r = snprintf(path, sizeof(path), "%s/%s", folder, names.name[i]) < (int)sizeof(path)
			    ? pair_in_folder(f, path, why)
			    : -ENAMETOOLONG;
	sx_paths_finish(&names);
	return r;
}

/* Returns the format of the first image in or below a folder that cannot be read; NULL: there is none. */
static const char *find_other(const char *folder, int deep, char path[PATH_MAX])
{
	struct sx_paths names = {0};
	const char *format = NULL;
	char below[PATH_MAX];

	sx_must(deep, >=, 0);
	if (sx_paths_others(&names, folder) == 0)
		for (size_t i = 0; !format && i < names.count && i < OTHERS_MAX; i++)
			if (snprintf(path, PATH_MAX, "%s/%s", folder, names.name[i]) < PATH_MAX)
				format = sx_image_other_format(path);
	sx_paths_finish(&names);
	if (!format && deep && sx_paths_folders(&names, folder) == 0)
		for (size_t i = 0; !format && i < names.count && i < OTHERS_MAX; i++)
			if (snprintf(below, sizeof(below), "%s/%s", folder, names.name[i]) <
			    (int)sizeof(below))
				format = find_other(below, deep - 1, path);
	sx_paths_finish(&names);
	return format;
}

/* Reports a folder without readable images. what: kind of images, for the message. Returns -ENOENT. */
static int none_found(const char *folder, const char *what, struct sx_why *why)
{
	char path[PATH_MAX];
	const char *format = find_other(folder, OTHERS_DEEP, path);

	if (format)
		sx_why_set(why,
			   "%s: no %s found: %.200s is %s, which cannot be read: convert all to PNG or PGM "
			   "(mogrify -format png FILES)",
			   folder, what, path, format);
	else if (strcmp(what, "pairs") == 0)
		sx_why_set(why,
			   "%s: no pairs found (image_2/image_3, left*/right*, *_left/*_right, im0/im1, or a "
			   "folder of these for each pair)",
			   folder);
	else
		sx_why_set(why, "%s: no %s found", folder, what);
	return -ENOENT;
}

static int find_in_folder(struct sx_found *f, const struct sx_source_params *p, struct sx_dataset *d,
			  struct sx_why *why)
{
	const char *folder = p->path;
	int r = pair_dataset(f, p, d, why);

	if (r == 0 && !f->left.count)
		r = pair_in_folder(f, folder, why);
	if (r == 0 && !f->left.count)
		r = pair_in_subfolders(f, folder, why);
	if (r == 0 && !f->left.count)
		return sx_dataset_lacks(folder, why) ? -ENOENT : none_found(folder, "pairs", why);
	return r;
}

static int expand(struct sx_paths *ret, const char *pattern, struct sx_why *why)
{
	int r = sx_paths_expand(ret, pattern);

	if (r == -ENOENT && sx_missing(pattern, why))
		return r;
	if (r == -ENOENT || (r == 0 && !ret->count))
		return none_found(pattern, "image files", why);
	return r;
}

static int check_partners(const char *from, const char *to, const struct sx_paths *mine,
			  const struct sx_paths *others, struct sx_found *f, struct sx_why *why)
{
	char partner[PATH_MAX];

	sx_must(mine->count, >, 0);
	for (size_t i = 0; i < mine->count; i++) {
		int r = sx_pattern_partner(from, to, mine->name[i], partner, sizeof(partner));

		if (r == -EINVAL)
			return sx_why_fail(r, why,
					   "%s: partner of %s cannot be determined (wildcards inside {|}?)",
					   to, mine->name[i]);
		if (r == 0 && !sx_paths_has(others, partner))
			r = no_partner(NULL, mine->name[i], partner, why);
		if (r == 0 && f)
			r = add_pair(f, NULL, mine->name[i], NULL, partner);
		if (r < 0)
			return r;
	}
	return 0;
}

static int find_by_sides(struct sx_found *f, const char *pattern, struct sx_why *why)
{
	char left[PATH_MAX], right[PATH_MAX];
	struct sx_paths a = {0}, b = {0};
	int r = sx_pattern_side(pattern, 0, left, sizeof(left));

	sx_must(f->left.count, ==, 0);
	if (r == 0)
		r = sx_pattern_side(pattern, 1, right, sizeof(right));
	/* each side may be a folder: use its images; the rule for partners holds, too */
	if (r == 0 && sx_paths_is_folder(left) && sx_paths_is_folder(right)) {
		r = pair_folders(f, left, right, why);
		return r == 0 && !f->left.count ? none_found(left, "image files", why) : r;
	}
	if (r == 0)
		r = expand(&a, left, why);
	if (r == 0)
		r = expand(&b, right, why);
	if (r == 0)
		r = check_partners(left, right, &a, &b, f, why);
	if (r == 0)
		r = check_partners(right, left, &b, &a, NULL, why);
	sx_paths_finish(&a);
	sx_paths_finish(&b);
	return r;
}

static int find_two_patterns(struct sx_found *f, const char *left, const char *right, struct sx_why *why)
{
	int r = expand(&f->left, left, why);

	sx_must_be(r < 0 || f->left.count > 0);
	if (r == 0)
		r = expand(&f->right, right, why);
	if (r == 0 && f->left.count != f->right.count)
		return sx_why_fail(-EINVAL, why, "%s has %zu image files, %s has %zu", left, f->left.count,
				   right, f->right.count);
	return r;
}

static bool is_set(const char *text)
{
	return text && *text;
}

static int find(struct sx_found *f, const struct sx_source_params *p, struct sx_dataset *d,
		struct sx_why *why)
{
	bool path = is_set(p->path), left = is_set(p->left), right = is_set(p->right);

	if (path == (left || right) || left != right)
		return sx_why_fail(-EINVAL, why, "source files needs either path, or left and right");
	if (p->layout != SX_LAYOUT_TWO && !path)
		return sx_why_fail(
			-EINVAL, why,
			"one file holds both images in this layout: give path, not left and right");
	if (p->layout != SX_LAYOUT_TWO)
		return expand(&f->left, p->path, why);
	if (!path)
		return find_two_patterns(f, p->left, p->right, why);
	if (sx_pattern_has_sides(p->path))
		return find_by_sides(f, p->path, why);
	if (sx_paths_is_folder(p->path))
		return find_in_folder(f, p, d, why);
	if (sx_missing(p->path, why))
		return -ENOENT;
	return sx_why_fail(-ENOENT, why, "%s: neither a folder nor a pattern with a {left|right} part",
			   p->path);
}

double sx_file_list_rate(const struct sx_file_list *l)
{
	const int64_t *ns = l->ns[0];

	return ns ? (double)(l->count - 1) * SX_NS_PER_S / (double)(ns[l->count - 1] - ns[0]) : 0;
}

static void tell_lost(struct sx_file_list *l, const char *what, const size_t count[2])
{
	const size_t n = strlen(l->text);

	if (count[0] || count[1])
		snprintf(l->text + n, sizeof(l->text) - n, "; %s: %zu left, %zu right", what, count[0],
			 count[1]);
}

/* Writes the sentence about a data set. */
static void tell_dataset(struct sx_file_list *l, const struct sx_found *f, const struct sx_dataset *d)
{
	const double rate = sx_file_list_rate(l);
	char at[40] = "";

	if (!d->name)
		return;
	if (rate > 0)
		snprintf(at, sizeof(at), " at %.4g pairs/s", rate);
	snprintf(l->text, sizeof(l->text), "%s: %zu pair%s%s", d->name, l->count, l->count == 1 ? "" : "s",
		 at);
	tell_lost(l, "images without a partner", f->alone);
	tell_lost(l, "time stamps without an image", f->absent);
}

int sx_file_list_find(struct sx_file_list *ret, const struct sx_source_params *p, struct sx_why *why)
{
	struct sx_found f = {0};
	struct sx_dataset d = {0};
	int r;

	sx_why_clear(why);
	r = find(&f, p, &d, why);
	if (r < 0) {
		if (why && sx_why_is_empty(why))
			sx_why_set(why, "%s: %s", is_set(p->path) ? p->path : p->left, strerror(-r));
		sx_found_finish(&f);
		return r;
	}
	sx_must(f.left.count, >, 0); /* the size of the source comes from its first pair */
	sx_must_be(!f.right.count || f.right.count == f.left.count);
	*ret = (struct sx_file_list){f.left.name, f.right.name, {f.ns[0], f.ns[1]}, f.left.count, ""};
	tell_dataset(ret, &f, &d);
	return 0;
}

void sx_file_list_finish(struct sx_file_list *l)
{
	sx_must_be(l->left || l->count == 0);
	for (size_t i = 0; i < l->count; i++) {
		free(l->left[i]);
		if (l->right)
			free(l->right[i]);
	}
	free(l->left);
	free(l->right);
	free(l->ns[0]);
	free(l->ns[1]);
	*l = (struct sx_file_list){0};
}
