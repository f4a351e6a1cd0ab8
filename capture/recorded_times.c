/*
 * Reads files with the time stamps of recorded images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/recorded_times.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "capture/file_list.h"

#define LINE_BYTES 512
#define SECONDS_MAX INT64_C(9000000000) /* later than any date, and less than INT64_MAX ns */

static const char *const times_forms[] = {
	[SX_TIMES_CSV] = "TIME_NS,NAME",
	[SX_TIMES_NAMED] = "NAME SECONDS",
	[SX_TIMES_SECONDS] = "SECONDS",
	[SX_TIMES_DATES] = "YYYY-MM-DD HH:MM:SS.FRACTION",
};

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

/* Reads up to 18 digits. Returns their number; 0: no digit, or too many. */
static size_t read_digits(const char *p, int64_t *ret)
{
	const size_t n = strspn(p, "0123456789");

	*ret = 0;
	for (size_t i = 0; i < n && i < 18; i++)
		*ret = 10 * *ret + (p[i] - '0');
	return n > 18 ? 0 : n;
}

/*
 * Reads nanoseconds: up to 19 digits. Returns the text after them; NULL: not a number, or more than
 * INT64_MAX.
 */
static const char *read_ns(const char *p, int64_t *ret)
{
	const size_t n = strspn(p, "0123456789");
	char *end;

	errno = 0;
	*ret = strtoll(p, &end, 10);
	return n == 0 || errno ? NULL : end;
}

/* Reads "12.0345" as seconds, exactly. Returns the text after it; NULL: no number, or beyond SECONDS_MAX. */
static const char *read_decimal(const char *p, int64_t *ret)
{
	int64_t seconds, fraction = 0;
	size_t n = read_digits(p, &seconds), digits = 0;

	if (!n || seconds > SECONDS_MAX)
		return NULL;
	p += n;
	if (*p == '.')
		for (p++; isdigit((unsigned char)*p); p++, digits++)
			if (digits < 9)
				fraction = 10 * fraction + (*p - '0');
	for (; digits < 9; digits++)
		fraction *= 10;
	*ret = seconds * SX_NS_PER_S + fraction;
	return p;
}

/* Reads a number with an exponent as seconds. Returns as read_decimal(). */
static const char *read_exponent(const char *p, int64_t *ret)
{
	char *end;
	const double s = strtod(p, &end);

	if (end == p || !(s >= 0 && s <= (double)SECONDS_MAX))
		return NULL;
	*ret = (int64_t)llround(s * (double)SX_NS_PER_S);
	return end;
}

/* Reads a date and a time of day as if they were UTC: only differences matter. Returns as read_decimal(). */
static const char *read_date(const char *p, int64_t *ret)
{
	struct tm t = {0};
	const char *end = strptime(p, "%Y-%m-%d %H:%M:", &t);
	int64_t ns;
	time_t s;

	if (!end || !(p = read_decimal(end, &ns)) || ns > 61 * SX_NS_PER_S)
		return NULL;
	s = timegm(&t);
	if (s < 0 || (int64_t)s > SECONDS_MAX)
		return NULL;
	*ret = (int64_t)s * SX_NS_PER_S + ns;
	return p;
}

/* Checks whether a text is the name of a folder's entry. */
static bool is_entry_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Reads one line, which ends in 0, without its end. Returns 0, -EINVAL if it has another form, or -ENOMEM. */
static int read_line(const char *line, enum sx_times_format format, struct sx_recorded_time *ret)
{
	const char *end;
	char name[LINE_BYTES] = "";

	switch (format) {
	case SX_TIMES_CSV:
		end = read_ns(line, &ret->ns);
		end = end ? skip_blanks(end) : NULL;
		if (!end || *end++ != ',')
			return -EINVAL;
		end = skip_blanks(end);
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(end, ", \t"), end);
		break;
	case SX_TIMES_NAMED:
		snprintf(name, sizeof(name), "%.*s.png", (int)strcspn(line, " \t"), line);
		end = read_decimal(skip_blanks(line + strcspn(line, " \t")), &ret->ns);
		if (!end || !strchr(" \t", *end)) /* also true at the end of the line */
			return -EINVAL;
		break;
	default:
		end = format == SX_TIMES_DATES ? read_date(line, &ret->ns) : read_exponent(line, &ret->ns);
		if (!end || *skip_blanks(end))
			return -EINVAL;
		ret->name = NULL;
		return 0;
	}
	if (!is_entry_name(name))
		return -EINVAL;
	ret->name = strdup(name);
	return ret->name ? 0 : -ENOMEM;
}

static int times_add(struct sx_recorded_times *t, const struct sx_recorded_time *one)
{
	sx_must(t->count, <=, t->room);
	if (t->count == t->room) {
		const size_t room = t->room ? 2 * t->room : 256;
		struct sx_recorded_time *more = realloc(t->image, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		t->image = more;
		t->room = room;
	}
	t->image[t->count++] = *one;
	return 0;
}

/*
 * Reads a line of the file and cuts its end off. Returns 1; 0: end of the file; -EINVAL: too long, or a NUL
 * byte.
 */
static int next_line(FILE *f, char line[LINE_BYTES])
{
	size_t n;

	/* fgets() does not say how many bytes it has read: what it left alone is not 0 */
	memset(line, 0xff, LINE_BYTES);
	if (!fgets(line, LINE_BYTES, f))
		return 0;
	n = strlen(line);
	if (n && line[n - 1] == '\n')
		line[--n] = 0;
	else if (!feof(f) || memchr(line + n + 1, 0, LINE_BYTES - n - 1))
		return -EINVAL;
	while (n && strchr("\r \t", line[n - 1]))
		line[--n] = 0;
	return 1;
}

static int take_line(struct sx_recorded_times *t, const char *path, size_t number, char *line,
		     enum sx_times_format format, struct sx_why *why)
{
	struct sx_recorded_time one = {0};
	const char *p = skip_blanks(line);
	int r;

	if (!*p || *p == '#')
		return 0;
	r = read_line(p, format, &one);
	if (r == -EINVAL && number == 1 && isalpha((unsigned char)*p) &&
	    (format == SX_TIMES_CSV || format == SX_TIMES_NAMED))
		return 0; /* the names of the columns */
	if (r == -EINVAL)
		return sx_why_fail(-EBADMSG, why, "%s:%zu: found '%.60s', expected %s", path, number, p,
				   times_forms[format]);
	if (r == 0 && t->count && one.ns <= t->image[t->count - 1].ns)
		r = sx_why_fail(-EBADMSG, why,
				"%s:%zu: the time is not later than that of the image before (by %lld ns)",
				path, number, (long long)(t->image[t->count - 1].ns - one.ns));
	else if (r == 0 && t->count == SX_FILE_LIST_MAX)
		r = sx_why_fail(-E2BIG, why, "%s: more than %d images", path, SX_FILE_LIST_MAX);
	else if (r == 0)
		r = times_add(t, &one);
	if (r == -ENOMEM)
		sx_why_set(why, "%s: %s", path, strerror(ENOMEM));
	if (r < 0)
		free(one.name);
	return r;
}

static FILE *open_regular(const char *path, struct sx_why *why, int *r)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	FILE *f = NULL;

	*r = fd < 0 || fstat(fd, &st) < 0 ? -errno : 0;
	if (*r == 0 && !S_ISREG(st.st_mode)) {
		*r = sx_why_fail(-EBADMSG, why, "%s: not a file", path);
	} else {
		if (*r == 0 && !(f = fdopen(fd, "r")))
			*r = -errno;
		if (*r < 0)
			sx_why_set(why, "%s: %s", path, strerror(-*r));
	}
	if (!f && fd >= 0)
		close(fd);
	return f;
}

int sx_recorded_times_read(struct sx_recorded_times *ret, const char *path, enum sx_times_format format,
			   struct sx_why *why)
{
	struct sx_recorded_times t = {0};
	char line[LINE_BYTES];
	int r, more;
	FILE *f = open_regular(path, why, &r);

	if (!f)
		return r;
	for (size_t number = 1; r == 0 && (more = next_line(f, line)) != 0; number++)
		r = more < 0 ? sx_why_fail(-EBADMSG, why, "%s:%zu: longer than %d bytes, or a NUL byte", path,
					   number, LINE_BYTES)
			     : take_line(&t, path, number, line, format, why);
	if (r == 0 && ferror(f))
		r = sx_why_fail(-EIO, why, "%s: %s", path, strerror(EIO));
	fclose(f);
	if (r < 0)
		sx_recorded_times_finish(&t);
	else
		*ret = t;
	return r;
}

void sx_recorded_times_finish(struct sx_recorded_times *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->image[i].name);
	free(t->image);
	*t = (struct sx_recorded_times){0};
}
