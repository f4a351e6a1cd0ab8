/*
 * Makes pairs of recorded images by their time stamps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/recorded_pairs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

/* Left or right side of a data set: the folder of the images, and the time stamps of the existing images. */
struct recorded_side {
	char folder[PATH_MAX], times[PATH_MAX];
	struct sx_recorded_times t;
};

static int recorded_path(char ret[PATH_MAX], const char *folder, const char *name, struct sx_why *why)
{
	if (snprintf(ret, PATH_MAX, "%s/%s", folder, name) < PATH_MAX)
		return 0;
	return sx_why_fail(-ENAMETOOLONG, why, "%.200s...: %s", folder, strerror(ENAMETOOLONG));
}

/* Removes the time stamps of images that are not in the folder. Only names that the folder has are kept. */
static int drop_absent(struct recorded_side *s, size_t *absent, struct sx_why *why)
{
	struct sx_paths names = {0};
	const int r = sx_paths_images(&names, s->folder);
	size_t n = 0;

	for (size_t i = 0; r == 0 && i < s->t.count; i++) {
		if (sx_paths_has(&names, s->t.image[i].name))
			s->t.image[n++] = s->t.image[i];
		else
			free(s->t.image[i].name);
	}
	sx_paths_finish(&names);
	if (r < 0)
		return sx_why_fail(r, why, "%s: %s", s->folder, strerror(-r));
	*absent = s->t.count - n;
	s->t.count = n;
	if (n)
		return 0;
	return *absent ? sx_why_fail(-ENOENT, why, "none of the %zu images of %s is in %s", *absent, s->times,
				     s->folder)
		       : sx_why_fail(-ENOENT, why, "%s names no image", s->times);
}

static int read_side(struct recorded_side *s, const char *folder, const struct sx_dataset *d, int side,
		     size_t *absent, struct sx_why *why)
{
	int r = recorded_path(s->folder, folder, d->images[side], why);

	if (r == 0)
		r = recorded_path(s->times, folder, d->times[side], why);
	if (r == 0)
		r = sx_recorded_times_read(&s->t, s->times, d->format, why);
	if (r == -ENOENT)
		return sx_why_fail(r, why, "%s: the time stamps %s are missing", d->name, s->times);
	return r < 0 ? r : drop_absent(s, absent, why);
}

static int recorded_add(struct sx_found *f, const struct recorded_side side[2], const size_t at[2])
{
	const size_t n = f->left.count;
	int r = sx_paths_add(&f->left, side[0].folder, side[0].t.image[at[0]].name);

	if (r == 0)
		r = sx_paths_add(&f->right, side[1].folder, side[1].t.image[at[1]].name);
	for (int i = 0; r == 0 && i < 2; i++)
		f->ns[i][n] = side[i].t.image[at[i]].ns;
	return r;
}

/* Checks whether the next image of a side is nearer to an image of the other side than the current one. */
static bool next_is_nearer(const struct sx_recorded_times *t, size_t at, int64_t to_ns)
{
	return at + 1 < t->count && llabs(t->image[at + 1].ns - to_ns) < llabs(t->image[at].ns - to_ns);
}

/* Goes through both sides by time. No time is negative, so differences do not overflow. */
static int pair_by_time(struct sx_found *f, const struct recorded_side side[2])
{
	const struct sx_recorded_times *l = &side[0].t, *r = &side[1].t;
	size_t at[2] = {0};

	while (at[0] < l->count && at[1] < r->count) {
		const int64_t left_ns = l->image[at[0]].ns, right_ns = r->image[at[1]].ns;
		int e;

		if (left_ns < right_ns - SX_RECORDED_APART_NS || next_is_nearer(l, at[0], right_ns)) {
			at[0]++;
		} else if (right_ns < left_ns - SX_RECORDED_APART_NS || next_is_nearer(r, at[1], left_ns)) {
			at[1]++;
		} else {
			e = recorded_add(f, side, at);
			if (e < 0)
				return e;
			at[0]++;
			at[1]++;
		}
	}
	f->alone[0] = l->count - f->left.count;
	f->alone[1] = r->count - f->left.count;
	return 0;
}

static int recorded_make_room(struct sx_found *f, size_t count)
{
	for (int i = 0; i < 2; i++) {
		f->ns[i] = calloc(count ? count : 1, sizeof(*f->ns[i]));
		if (!f->ns[i])
			return -ENOMEM;
	}
	return 0;
}

int sx_recorded_pairs(struct sx_found *f, const char *folder, const struct sx_dataset *d, struct sx_why *why)
{
	struct recorded_side *side = calloc(2, sizeof(*side));
	int r = side ? 0 : -ENOMEM;

	sx_must_be(d->named && !f->ns[0]);
	for (int i = 0; r == 0 && i < 2; i++)
		r = read_side(&side[i], folder, d, i, &f->absent[i], why);
	if (r == 0)
		r = recorded_make_room(f, side[0].t.count);
	if (r == 0)
		r = pair_by_time(f, side);
	if (r == 0 && !f->left.count)
		r = sx_why_fail(-ENOENT, why, "%s: no image of %s has one of %s within %d ms", d->name,
				side[0].times, side[1].times, (int)(SX_RECORDED_APART_NS / 1000000));
	for (int i = 0; side && i < 2; i++)
		sx_recorded_times_finish(&side[i].t);
	free(side);
	return r;
}

/* Returns the number that is the name of an image, before its ending. -1: the name is no number. */
static long number_of(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t n;

	name = name ? name + 1 : path;
	n = strspn(name, "0123456789");
	return n > 0 && n < 16 && name[n] == '.' ? strtol(name, NULL, 10) : -1;
}

static int date_side(int64_t *ns, const struct sx_paths *images, const char *times,
		     const struct sx_recorded_times *t, struct sx_why *why)
{
	for (size_t i = 0; i < images->count; i++) {
		const long number = number_of(images->name[i]);

		if (number < 0)
			return sx_why_fail(-EBADMSG, why,
					   "%s: the name is no number, so %s does not say when it was taken",
					   images->name[i], times);
		if ((size_t)number >= t->count)
			return sx_why_fail(-EBADMSG, why, "%s has %zu time stamps, none for %s", times,
					   t->count, images->name[i]);
		ns[i] = t->image[number].ns;
		if (i && ns[i] <= ns[i - 1]) /* 1.png and 01.png */
			return sx_why_fail(-EBADMSG, why, "%s: another image has this number, too",
					   images->name[i]);
	}
	return 0;
}

int sx_recorded_pairs_date(struct sx_found *f, const char *folder, const struct sx_dataset *d,
			   struct sx_why *why)
{
	int r = recorded_make_room(f, f->left.count);
	char path[PATH_MAX];

	sx_must_be(!d->named && d->times[0]);
	for (int side = 0; r == 0 && side < 2; side++) {
		struct sx_recorded_times t = {0};

		r = recorded_path(path, folder, d->times[side], why);
		if (r == 0)
			r = sx_recorded_times_read(&t, path, d->format, why);
		if (r == 0)
			r = date_side(f->ns[side], side ? &f->right : &f->left, path, &t, why);
		sx_recorded_times_finish(&t);
	}
	return r;
}

void sx_found_finish(struct sx_found *f)
{
	sx_paths_finish(&f->left);
	sx_paths_finish(&f->right);
	free(f->ns[0]);
	free(f->ns[1]);
	*f = (struct sx_found){0};
}
