/*
 * Writes a file that appears complete or not at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common/outfile.h"

/* Sets the mode that the user's umask gives any new file, because mkstemp() makes private files. */
static void set_usual_mode(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	fchmod(fd, 0666 & ~mask);
}

int sx_outfile_open(struct sx_outfile *o, const char *path)
{
	int fd, n, r;

	o->f = NULL;
	o->fresh = false;
	n = snprintf(o->path, sizeof(o->path), "%s", path);
	if (n < 0 || (size_t)n >= sizeof(o->path))
		return -ENAMETOOLONG;
	n = snprintf(o->temporary, sizeof(o->temporary), "%s.XXXXXX", path);
	if (n < 0 || (size_t)n >= sizeof(o->temporary))
		return -ENAMETOOLONG;
	fd = mkostemp(o->temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	set_usual_mode(fd);
	o->f = fdopen(fd, "w");
	if (o->f)
		return 0;
	r = -errno;
	close(fd);
	unlink(o->temporary);
	return r;
}

int sx_outfile_open_new(struct sx_outfile *o, const char *path)
{
	struct stat st;
	int r;

	o->f = NULL;
	if (lstat(path, &st) == 0)
		return -EEXIST;
	r = sx_outfile_open(o, path);
	o->fresh = true;
	return r;
}

/*
 * Renames in one step without overwriting. If the file system cannot do this (FAT), a file created in between
 * is overwritten.
 */
static int rename_fresh(const char *from, const char *to)
{
	struct stat st;

	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (lstat(to, &st) == 0)
		return -EEXIST;
	return rename(from, to) < 0 ? -errno : 0;
}

int sx_outfile_commit(struct sx_outfile *o)
{
	int r = 0;

	if (ferror(o->f) || fflush(o->f) != 0)
		r = errno ? -errno : -EIO;
	if (fclose(o->f) != 0 && r == 0)
		r = -errno;
	o->f = NULL;
	if (r == 0 && o->fresh)
		r = rename_fresh(o->temporary, o->path);
	else if (r == 0 && rename(o->temporary, o->path) < 0)
		r = -errno;
	if (r < 0)
		unlink(o->temporary);
	return r;
}

void sx_outfile_abort(struct sx_outfile *o)
{
	if (!o->f)
		return;
	fclose(o->f);
	o->f = NULL;
	unlink(o->temporary);
}
