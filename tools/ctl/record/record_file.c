/*
 * Handles the file of a recording.
 *
 * A recording cannot be repeated. So a lock (flock) keeps a second recorder from the file, and --force writes
 * to a temporary file beside the existing one. The existing file is replaced once the first frames have
 * reached the new one. A recorder that gets no frame, or finds no disk space, destroys nothing. After that
 * moment a crash leaves the new recording under its name, readable up to its last whole chunk, as without
 * --force.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "recording/recording.h"
#include "tools/ctl/ctl.h"
#include "tools/ctl/record/record_file.h"

enum { LOCK_TRIES = 10 };

static int refuse_file(const struct record_file *f, int error)
{
	if (error == -EWOULDBLOCK)
		return ctl_fail(EX_CANTCREAT,
				"%s is being written by another recorder: stop it, or choose another name",
				f->name);
	if (error == -EEXIST)
		return ctl_exists(f->name);
	return ctl_fail(EX_CANTCREAT, "cannot write %s: %s", f->name, strerror(-error));
}

/*
 * Locks the file. -EWOULDBLOCK: another recorder holds the lock. A file system without locks counts as
 * success.
 */
static int lock(int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	return errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL ? 0 : -errno;
}

static bool leads_to(const char *path, int fd)
{
	struct stat named, mine;

	return stat(path, &named) == 0 && fstat(fd, &mine) == 0 && named.st_ino == mine.st_ino &&
	       named.st_dev == mine.st_dev;
}

/* Opens and locks the file at path. Creates it if there is none. Returns a descriptor or a negative errno. */
static int open_locked(const char *path, bool force)
{
	int fd, e;

	for (int i = 0; i < LOCK_TRIES; i++) {
		fd = open(path, O_WRONLY | O_CREAT | (force ? 0 : O_EXCL) | O_CLOEXEC, 0666);
		if (fd < 0)
			return -errno;
		e = lock(fd);
		if (e == 0 && leads_to(path, fd))
			return fd;
		close(fd);
		if (e < 0)
			return e;
		/* another recorder placed its file here between the open and the lock */
	}
	return -EBUSY;
}

/*
 * Creates an empty file beside the existing one, with its owner and mode as far as the caller may set them.
 */
static int open_beside(struct record_file *f, const struct stat *old)
{
	int n = snprintf(f->temporary, sizeof(f->temporary), "%s.XXXXXX", f->path), e = 0;

	if (n < 0 || (size_t)n >= sizeof(f->temporary)) {
		f->temporary[0] = 0;
		return -ENAMETOOLONG;
	}
	f->fd = mkostemp(f->temporary, O_CLOEXEC);
	if (f->fd < 0) {
		e = -errno;
		f->temporary[0] = 0;
		return e;
	}
	if (fchown(f->fd, old->st_uid, old->st_gid) < 0 && errno != EPERM)
		return -errno;
	if (fchmod(f->fd, old->st_mode & 0777) < 0)
		return -errno;
	return lock(f->fd);
}

static int open_regular(struct record_file *f, const char *operand, bool force)
{
	struct stat st;
	int fd = open_locked(operand, force), e;

	if (fd < 0)
		return refuse_file(f, fd);
	if (fstat(fd, &st) < 0 || st.st_size == 0 || !realpath(operand, f->path)) {
		f->fd = fd;
		f->regular = true;
		return 0;
	}
	f->replaced_fd = fd;
	e = open_beside(f, &st);
	f->regular = true;
	return e < 0 ? ctl_fail(EX_CANTCREAT, "cannot make a temporary file beside %s: %s", f->name,
				strerror(-e))
		     : 0;
}

int record_file_open(struct record_file *f, const char *operand, bool force)
{
	struct stat st;

	*f = (struct record_file){.name = operand, .fd = -1, .replaced_fd = -1};
	if (strcmp(operand, "-") == 0) {
		f->name = "standard output";
		if (isatty(STDOUT_FILENO))
			return ctl_fail(EX_USAGE,
					"a recording is not for a terminal: give a file, or a pipe");
		f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	} else if (stat(operand, &st) == 0 && !S_ISREG(st.st_mode)) {
		f->fd = open(operand, O_WRONLY | O_CLOEXEC);
	} else {
		return open_regular(f, operand, force);
	}
	return f->fd < 0 ? refuse_file(f, -errno) : 0;
}

bool record_file_beside(const struct record_file *f)
{
	return f->temporary[0] != 0;
}

int record_file_place(struct record_file *f)
{
	struct stat st;

	if (!record_file_beside(f))
		return 0;
	/*
	 * The lock belongs to the old file. A file that has taken its name since then belongs to another
	 * process.
	 */
	if (lstat(f->path, &st) == 0 && !leads_to(f->path, f->replaced_fd))
		return -EEXIST;
	if (rename(f->temporary, f->path) < 0)
		return -errno;
	f->temporary[0] = 0;
	close(f->replaced_fd);
	f->replaced_fd = -1;
	return 0;
}

int record_file_whole(const struct record_file *f, uint64_t frames)
{
	struct sx_recording *recording;
	struct sx_record record;
	char path[64];
	struct sx_why why;
	bool whole;
	int e;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	e = sx_recording_open(&recording, path, &why);
	if (e < 0)
		return e == -EBADMSG || e == -ENODATA || e == -ENOMSG ? 0 : e;
	while ((e = sx_recording_next(recording, &record)) > 0 || e == -EINTR)
		frames -= e > 0 && record.kind == SX_RECORD_FRAME;
	whole = frames == 0 && sx_recording_state(recording)->ended &&
		sx_recording_state(recording)->damaged_places == 0;
	sx_recording_close(recording);
	return e < 0 ? e : whole;
}

void record_file_close(struct record_file *f)
{
	if (record_file_beside(f))
		unlink(f->temporary);
	if (f->fd >= 0)
		close(f->fd);
	if (f->replaced_fd >= 0)
		close(f->replaced_fd);
}
