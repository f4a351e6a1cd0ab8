/*
 * Advice for users: the sentences of base/advice.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/advice.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Cuts the last name off a path, in place. False: the path has no folder part. */
static bool cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !slash[1])
		return false;
	slash[slash == path] = 0;
	return true;
}

/*
 * Copies the part of a pattern before its first wildcard, without an incomplete last name. Empty: no such
 * part.
 */
static void take_fixed(const char *pattern, char *path, size_t bytes)
{
	const size_t n = strcspn(pattern, "*?[{%");

	snprintf(path, bytes, "%.*s", (int)n, pattern);
	if (pattern[n] && n && path[n - 1] != '/' && !cut_last(path))
		*path = 0;
	for (size_t end = strlen(path); end > 1 && path[end - 1] == '/'; end--)
		path[end - 1] = 0;
}

static void tell_absent(const char *path, struct sx_why *why)
{
	char there[PATH_MAX], target[256], folder[256];
	struct stat st;
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n > 0) {
		sx_why_set(why,
			   "%s is a link to %.*s, which does not exist: mend the link, or correct the path",
			   path, (int)n, target);
		return;
	}
	snprintf(there, sizeof(there), "%s", path);
	while (cut_last(there))
		if (stat(there, &st) == 0) {
			sx_why_set(why,
				   "%s does not exist, though %s does: correct the path, or make or mount "
				   "what is missing",
				   path, there);
			return;
		}
	sx_why_set(why, "%s does not exist, seen from %s: correct the path, or write it from / on", path,
		   getcwd(folder, sizeof(folder)) ? folder : "here");
}

bool sx_missing(const char *pattern, struct sx_why *why)
{
	char path[PATH_MAX];
	struct stat st;

	if (strlen(pattern) >= sizeof(path))
		/* The code that opens the path reports that it is too long. */
		return false;
	take_fixed(pattern, path, sizeof(path));
	if (!*path || stat(path, &st) == 0)
		return false;
	if (errno == ENOENT)
		tell_absent(path, why);
	else if (errno == ENOTDIR)
		sx_why_set(why, "%s does not exist: a part of the path is a file, not a folder", path);
	else if (errno == EACCES)
		sx_why_set(why,
			   "%s: Permission denied: user %u may not enter a folder of this path "
			   "(chmod o+x, or another place)",
			   path, (unsigned)geteuid());
	else
		sx_why_set(why, "%s: %s", path, strerror(errno));
	return true;
}

const char *sx_advice_too_slow(void)
{
	return "lower source.fps, source.size or stereo.disparities, widen stixels.width, or, with engine "
	       "cpu, give it more engine.threads";
}

const char *sx_advice_on_reason(const char *reason)
{
	return strstr(reason, "too slow") ? sx_advice_too_slow() : NULL;
}
