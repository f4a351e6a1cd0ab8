/*
 * Name, folder and lock of an instance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/runtime_dirs.h"
#include "base/why.h"

int sx_instance_check(const char *name, struct sx_why *why)
{
	size_t n = name ? strlen(name) : 0;

	if (n == 0 || n > 64)
		return sx_why_fail(-EINVAL, why, "instance name has %zu characters, allowed are 1 to 64", n);
	if (name[0] == '.')
		return sx_why_fail(-EINVAL, why, "instance name '%s' begins with a dot", name);
	for (size_t i = 0; i < n; i++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-", name[i]))
			return sx_why_fail(
				-EINVAL, why,
				"instance name has a character at position %zu that is not one of A-Z "
				"a-z 0-9 _ . -",
				i + 1);
	return 0;
}

/* Creates every missing folder of path. Returns 1 if it created the last one. */
static int make_folders(char *path)
{
	int created = 0;

	sx_must_or(return -EINVAL, path[0], !=, 0);
	for (char *p = path + 1;; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = 0;
		created = mkdir(path, 0755) == 0;
		if (!created && errno != EEXIST && errno != EROFS && errno != EACCES)
			return -errno;
		*p = c;
		if (!c)
			break;
	}
	return created;
}

static int ends_in(const char *path, const char *name)
{
	size_t p = strlen(path), n = strlen(name);

	return p > n && path[p - n - 1] == '/' && memcmp(path + p - n, name, n) == 0;
}

/*
 * Finds the folder without systemd: for root in the system's runtime directory, for other users in the first
 * of the user's runtime directories.
 */
static bool instance_runtime_dir(const char *name, char *dir, size_t bytes)
{
	if (geteuid() == 0)
		return sx_runtime_dir_path(SX_RUNTIME_DIR_SYSTEM, name, NULL, dir, bytes);
	return sx_runtime_dir_path(sx_runtime_dir_name(SX_RUNTIME_DIR_XDG, dir, bytes) ? SX_RUNTIME_DIR_XDG
										       : SX_RUNTIME_DIR_USER,
				   name, NULL, dir, bytes);
}

/*
 * Returns the folder of RuntimeDirectory= for this instance, and its length: the one that ends in the name, else
 * the first. Colons separate several folders.
 */
static const char *instance_systemd_dir(const char *name, const char *folders, int *length)
{
	for (const char *at = folders; *at; at += *length, at += *at == ':') {
		char one[PATH_MAX];

		*length = (int)strcspn(at, ":");
		if ((size_t)snprintf(one, sizeof(one), "%.*s", *length, at) < sizeof(one) &&
		    ends_in(one, name))
			return at;
	}
	*length = (int)strcspn(folders, ":");
	return folders;
}

static bool instance_folder(const char *name, char *dir, size_t bytes)
{
	const char *systemd = getenv("RUNTIME_DIRECTORY");
	int length, n;

	if (!systemd || systemd[0] != '/')
		return instance_runtime_dir(name, dir, bytes);
	systemd = instance_systemd_dir(name, systemd, &length);
	n = snprintf(dir, bytes, "%.*s", length, systemd);
	if ((size_t)n < bytes && !ends_in(dir, name))
		n += snprintf(dir + n, bytes - (size_t)n, "/%s", name);
	return (size_t)n < bytes;
}

int sx_runtime_dir(const char *name, char *dir, size_t dir_bytes, struct sx_why *why)
{
	struct stat st;
	int created, r = sx_instance_check(name, why);

	if (r < 0)
		return r;
	if (!instance_folder(name, dir, dir_bytes))
		return sx_why_fail(-ENAMETOOLONG, why, "the path of the runtime folder is too long");
	created = r = make_folders(dir);
	if (r >= 0 && stat(dir, &st) < 0)
		r = -errno;
	if (r >= 0 && !S_ISDIR(st.st_mode))
		r = -ENOTDIR;
	if (r >= 0 && access(dir, W_OK | X_OK) < 0)
		r = -errno;
	if (r < 0 && created > 0)
		rmdir(dir);
	if (r < 0)
		return sx_why_fail(
			r, why,
			"cannot use the runtime folder %s: %s; RuntimeDirectory= of a unit, or %s of a "
			"login, names one that exists and is yours",
			dir, strerror(-r), SX_RUNTIME_DIR_VARIABLE);
	return 0;
}

static pid_t read_owner(int fd)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	long pid;

	if (n <= 0)
		return 0;
	text[n] = 0;
	pid = strtol(text, NULL, 10);
	return pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}

static int instance_refuse(int fd, const char *path, pid_t *owner, struct sx_why *why)
{
	pid_t pid = read_owner(fd);

	close(fd);
	if (owner)
		*owner = pid;
	if (!pid)
		return sx_why_fail(-EADDRINUSE, why, "the instance is already running (it holds %s)", path);
	return sx_why_fail(-EADDRINUSE, why,
			   "the instance is already running as process %d (it holds %s): stop it, or name "
			   "another one with -i",
			   (int)pid, path);
}

int sx_instance_lock(const char *dir, pid_t *owner, struct sx_why *why)
{
	char path[4096], text[32];
	int fd, n, r;

	if (owner)
		*owner = 0;
	n = snprintf(path, sizeof(path), "%s/lock", dir);
	if ((size_t)n >= sizeof(path))
		return sx_why_fail(-ENAMETOOLONG, why, "the path of the lock is too long");
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		r = -errno;
		/*
		 * a folder without a lock belongs to no process; rmdir() leaves a folder that contains a file
		 */
		rmdir(dir);
		return sx_why_fail(r, why, "cannot open the lock %s: %s", path, strerror(-r));
	}
	/* The lock file is never removed: after an unlink two processes could lock two files of one name. */
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		r = -errno;
		if (r == -EWOULDBLOCK)
			return instance_refuse(fd, path, owner, why);
		close(fd);
		return sx_why_fail(r, why, "cannot lock %s: %s", path, strerror(-r));
	}
	n = snprintf(text, sizeof(text), "%d\n", (int)getpid());
	/* The pid serves only the message of a second daemon. The lock holds without it. */
	if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) != n)
		(void)!ftruncate(fd, 0);
	return fd;
}
