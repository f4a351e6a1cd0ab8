/*
 * Opens folders without trusting what other users may have put there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/ctl/save_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/printable.h"
#include "tools/ctl/ctl.h"

#define LIVE_FILE "90-live.conf"
#define LINKS_MOST 40 /* links on one path, the limit of the Linux kernel */

/* Kinds of paths: which folders and links a path may contain. */
enum way {
	WAY_CALLER, /* any folder; links of root or the caller */
	WAY_ROOT,   /* folders and links of root or the caller */
	WAY_DAEMON  /* folders of root or the caller, no link */
};

static bool is_ours(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

/*
 * Returns true if other users may write. In a folder with the sticky bit they may add names but not remove
 * any.
 */
static bool is_open(const struct stat *st, bool sticky_counts)
{
	const bool group = (st->st_mode & S_IWGRP) && st->st_gid != 0 && st->st_gid != getegid();

	if (sticky_counts && S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX))
		return false;
	return group || (st->st_mode & S_IWOTH);
}

/* Prints the owner. Returns the exit code. */
static int not_trusted(const char *what, const char *name, const struct stat *st)
{
	return ctl_fail(EX_NOPERM,
			"save: %s '%s' %s user %u%s: nothing was written; name the file to be written, if "
			"you trust it: stixelctl save FILE",
			what, name, is_ours(st) ? "may be written by others than" : "belongs to",
			(unsigned)st->st_uid, is_ours(st) ? "" : ", neither root nor the caller");
}

static void move_to(int *at, int fd)
{
	if (*at >= 0)
		close(*at);
	*at = fd;
}

/* Removes the first name from rest and returns it in name. Empty: rest has no more names. */
static void take_name(char *rest, char name[NAME_MAX + 1])
{
	char *from = rest + strspn(rest, "/");
	const size_t n = strcspn(from, "/");

	snprintf(name, NAME_MAX + 1, "%.*s", (int)n, from);
	memmove(rest, from + n, strlen(from + n) + 1);
}

/*
 * Follows a link of the path: the link's target becomes the beginning of rest. Returns 0, a negative errno,
 * or prints an error and returns the exit code.
 */
static int follow(int link, int *at, char rest[PATH_MAX], int *links, const char *name, enum way way)
{
	char target[2 * PATH_MAX];
	struct stat st;
	ssize_t n;

	if (fstat(link, &st) < 0)
		return -errno;
	if (way == WAY_DAEMON || !is_ours(&st))
		return way == WAY_DAEMON
			       ? ctl_fail(EX_NOPERM,
					  "save: '%s' on the way of the file that the daemon names is a "
					  "link: nothing was written; name the file to be written: "
					  "stixelctl save FILE",
					  name)
			       : not_trusted("the link", name, &st);
	n = readlinkat(link, "", target, PATH_MAX);
	if (n <= 0 || n >= PATH_MAX)
		return n < 0 ? -errno : -ENAMETOOLONG;
	if (++*links > LINKS_MOST)
		return -ELOOP;
	snprintf(target + n, sizeof(target) - (size_t)n, "/%s", rest);
	if (strlen(target) >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(rest, target, strlen(target) + 1);
	if (*rest != '/')
		return 0;
	move_to(at, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
	return *at < 0 ? -errno : 0;
}

/* Walks one name of the path. Returns as follow(). */
static int walk_step(int *at, char rest[PATH_MAX], int *links, const char *name, enum way way)
{
	int fd = openat(*at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), r = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0) {
		r = -errno;
	} else if (S_ISLNK(st.st_mode)) {
		r = follow(fd, at, rest, links, name, way);
	} else if (!S_ISDIR(st.st_mode)) {
		r = -ENOTDIR;
	} else if (way != WAY_CALLER && (!is_ours(&st) || is_open(&st, true))) {
		r = not_trusted("the folder", name, &st);
	} else {
		move_to(at, fd);
		return 0;
	}
	close(fd);
	return r;
}

/* Opens the folder and holds it in *ret. Returns as follow(). */
static int walk(int *ret, const char *path, enum way way)
{
	char rest[PATH_MAX], name[NAME_MAX + 1];
	int links = 0, r = 0, at;

	if ((size_t)snprintf(rest, sizeof(rest), "%s", path) >= sizeof(rest))
		return -ENAMETOOLONG;
	at = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return -errno;
	for (take_name(rest, name); r == 0 && *name; take_name(rest, name))
		r = walk_step(&at, rest, &links, name, way);
	if (r == 0)
		*ret = at;
	else if (at >= 0)
		close(at);
	return r;
}

int save_place_fail(const struct save_place *p, int r)
{
	return ctl_fail(EX_CANTCREAT, "cannot write %s: %s%s", p->path, strerror(-r),
			r == -EACCES || r == -EPERM ? " (root may: sudo stixelctl save)" : "");
}

/* Splits a path: opens and holds its folder, and copies the last name to name. Returns 0 or the exit code. */
static int hold_parent(struct save_place *p, const char *path, enum way way, char name[NAME_MAX + 1])
{
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	char folder[PATH_MAX];
	int r;

	if (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
		return save_place_fail(p, -EISDIR);
	if (strlen(last) > NAME_MAX || !slash)
		snprintf(folder, sizeof(folder), ".");
	else
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path) + 1, path);
	snprintf(name, NAME_MAX + 1, "%s", last);
	r = strlen(last) > NAME_MAX ? -ENAMETOOLONG : walk(&p->parent, folder, way);
	return r < 0 ? save_place_fail(p, r) : r;
}

/*
 * Opens the folder of drop-ins. Returns 0, or prints an error and returns the exit code. p->folder stays -1
 * if the folder does not exist yet.
 */
static int hold_folder(struct save_place *p)
{
	int fd = openat(p->parent, p->folder_name, O_PATH | O_NOFOLLOW | O_CLOEXEC), code = 0;
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		code = save_place_fail(p, -errno);
	else if (!S_ISDIR(st.st_mode))
		code = ctl_fail(EX_CANTCREAT, "save: %s.d is %s: nothing was written", p->main_file,
				S_ISLNK(st.st_mode) ? "a link" : "no folder");
	else if (!is_ours(&st) || is_open(&st, false))
		code = not_trusted("the folder", p->folder_name, &st);
	if (code && fd >= 0)
		close(fd);
	else
		p->folder = fd;
	return code;
}

/*
 * Checks that the main file belongs to root or the caller. With WAY_ROOT the file may be a link that root or
 * the caller made.
 */
static int check_main(const struct save_place *p, const char *name, enum way way)
{
	struct stat st;

	if (fstatat(p->parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return ctl_fail(EX_CONFIG,
				"save: the daemon says that it reads %s: %s: nothing was written; name the "
				"file to be written: stixelctl save FILE",
				p->main_file, strerror(errno));
	if (S_ISLNK(st.st_mode) && way == WAY_ROOT && is_ours(&st) && fstatat(p->parent, name, &st, 0) < 0)
		return ctl_fail(EX_CONFIG, "save: %s: %s", p->main_file, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return ctl_fail(
			EX_NOPERM,
			"save: %s, which the daemon says it reads, is %s: nothing was written; name the "
			"file to be written: stixelctl save FILE",
			p->main_file, S_ISLNK(st.st_mode) ? "a link" : "no regular file");
	return is_ours(&st) && !is_open(&st, false) ? 0 : not_trusted("the file", p->main_file, &st);
}

/* Returns true if a path leads to the folder of root's configurations, even through links. */
static bool is_in_config_folder(const char *path)
{
	char folder[PATH_MAX];
	struct stat own, st;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path) + 1, path);
	return stat(SAVE_CONFIG_FOLDER, &own) == 0 && stat(folder, &st) == 0 && own.st_dev == st.st_dev &&
	       own.st_ino == st.st_ino;
}

static void place_init(struct save_place *p)
{
	memset(p, 0, sizeof(*p));
	p->parent = p->folder = -1;
}

int save_place_of_daemon(struct save_place *p, const char *instance, const char *said)
{
	char own[PATH_MAX], name[NAME_MAX + 1];
	enum way way = WAY_DAEMON;
	int code;

	place_init(p);
	if (*said != '/' || strlen(said) > PATH_MAX - sizeof(".d/" LIVE_FILE) ||
	    !sx_utf8_valid(said, strlen(said)) || sx_unprintable(said))
		return ctl_fail(EX_DATAERR,
				"save: what instance '%s' names as its configuration is no path: nothing was "
				"written; name the file to be written: stixelctl save FILE",
				instance);
	snprintf(own, sizeof(own), SAVE_CONFIG_FOLDER "/%s.conf", instance);
	if (is_in_config_folder(said)) {
		if (strcmp(strrchr(said, '/'), strrchr(own, '/')) != 0)
			return ctl_fail(
				EX_NOPERM,
				"save: instance '%s' says that it reads %s, which may be that of another "
				"instance: nothing was written; if so, name the file to be written: "
				"stixelctl save %s.d/" LIVE_FILE,
				instance, said, said);
		said = own;
		way = WAY_ROOT;
	}
	snprintf(p->main_file, sizeof(p->main_file), "%s", said);
	snprintf(p->path, sizeof(p->path), "%.*s.d/" LIVE_FILE,
		 (int)(sizeof(p->path) - sizeof(".d/" LIVE_FILE)), said);
	snprintf(p->name, sizeof(p->name), LIVE_FILE);
	code = hold_parent(p, said, way, name);
	if (code)
		return code;
	if ((size_t)snprintf(p->folder_name, sizeof(p->folder_name), "%.*s.d", NAME_MAX - 2, name) !=
	    strlen(name) + 2)
		return save_place_fail(p, -ENAMETOOLONG);
	code = check_main(p, name, way);
	return code ? code : hold_folder(p);
}

int save_place_of_operand(struct save_place *p, const char *operand)
{
	int code;

	place_init(p);
	if ((size_t)snprintf(p->path, sizeof(p->path), "%s", operand) >= sizeof(p->path))
		return ctl_fail(EX_USAGE, "save: the path is too long");
	code = hold_parent(p, operand, WAY_CALLER, p->name);
	if (code)
		return code;
	p->folder = p->parent;
	p->parent = -1;
	return 0;
}

int save_place_look(const struct save_place *p, const char *head)
{
	/* non-blocking: a FIFO in place of the file must not block this program */
	int fd = p->folder < 0 ? -1
			       : openat(p->folder, p->name,
					O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char line[128] = "";
	struct stat st;
	FILE *f = NULL;
	int code = 0;

	if (p->folder < 0 || (fd < 0 && errno == ENOENT))
		return 0;
	if (fd < 0 && (errno == ELOOP || errno == ENXIO))
		return ctl_fail(EX_CANTCREAT, "%s exists, and is no regular file: nothing was written",
				p->path);
	if (fd < 0 || fstat(fd, &st) < 0)
		code = save_place_fail(p, -errno);
	else if (!S_ISREG(st.st_mode))
		code = ctl_fail(EX_CANTCREAT, "%s exists, and is no regular file: nothing was written",
				p->path);
	else if (!is_ours(&st))
		code = not_trusted("the file", p->path, &st);
	else if (!(f = fdopen(fd, "r")) || !fgets(line, sizeof(line), f) ||
		 strncmp(line, head, strlen(head)) != 0)
		code = ctl_fail(EX_CANTCREAT, "%s exists, and was not written by stixelctl save", p->path);
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	return code;
}

int save_place_make(struct save_place *p)
{
	if (p->folder >= 0)
		return 0;
	if (mkdirat(p->parent, p->folder_name, 0755) == 0)
		p->created = true;
	else if (errno != EEXIST)
		return -errno;
	/* independent of the umask, because the daemon is another user and must enter the folder */
	if (p->created && fchmodat(p->parent, p->folder_name, 0755, 0) < 0)
		return -errno;
	return hold_folder(p) ? -EPERM : p->folder < 0 ? -ENOENT : 0;
}

void save_place_held_path(const struct save_place *p, char *path, int bytes)
{
	snprintf(path, (size_t)bytes, "/proc/self/fd/%d/%s", p->folder, p->name);
}

void save_place_unmake(struct save_place *p)
{
	if (p->created)
		unlinkat(p->parent, p->folder_name, AT_REMOVEDIR);
	p->created = false;
}

void save_place_close(struct save_place *p)
{
	if (p->parent >= 0)
		close(p->parent);
	if (p->folder >= 0)
		close(p->folder);
	p->parent = p->folder = -1;
}
