/*
 * The folder of the instance below /run: its lock and the status socket in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/instance/run_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/runtime_dirs.h"
#include "ipc/http/status.h"
#include "ipc/instance.h"
#include "ipc/listener.h"
#include "ipc/writers.h"

#define STATUS_MODE 0660 /* mode of the status socket */
#define PAIRS_MODE 0660	 /* mode of the socket for pairs if it belongs to group stixel-feed */
#define PAIRS_MODE_ALONE 0600

/* Makes the folder and locks it. Returns the lock, or a negative errno. */
static int lock_folder(struct sx_run_folder *f, struct sx_why *why)
{
	const int r = sx_runtime_dir(f->instance, f->dir, sizeof(f->dir), why);

	return r < 0 ? r : sx_instance_lock(f->dir, NULL, why);
}

int sx_run_folder_claim(struct sx_run_folder *f, struct sx_why *why)
{
	sx_must(f->lock_fd, ==, -1);
	f->lock_fd = lock_folder(f, why);
	if (f->lock_fd < 0)
		return f->lock_fd;
	if ((size_t)snprintf(f->status_path, sizeof(f->status_path), "%s/" SX_STATUS_SOCKET, f->dir) >=
		    sizeof(f->status_path) ||
	    (size_t)snprintf(f->stream_path, sizeof(f->stream_path), "%s/" SX_FRAMES_SOCKET, f->dir) >=
		    sizeof(f->stream_path) ||
	    (size_t)snprintf(f->pairs_path, sizeof(f->pairs_path), "%s/" SX_PAIRS_SOCKET, f->dir) >=
		    sizeof(f->pairs_path)) {
		sx_why_set(why, "the path of the runtime directory is too long");
		return -ENAMETOOLONG;
	}
	return 0;
}

bool sx_run_folder_holds(const struct sx_run_folder *f)
{
	char path[SX_RUN_PATH_BYTES + 8];
	struct stat held, there;

	snprintf(path, sizeof(path), "%s/lock", f->dir);
	/*
	 * A failed call does not show which process owns the folder. Try again, before the sockets of this
	 * daemon are left behind.
	 */
	for (int i = 0; i < 2; i++) {
		if (fstat(f->lock_fd, &held) == 0 && stat(path, &there) == 0)
			return held.st_dev == there.st_dev && held.st_ino == there.st_ino;
		if (errno == ENOENT)
			return false;
	}
	return false;
}

int sx_run_folder_listen(struct sx_run_folder *f, struct sx_why *why)
{
	return sx_status_listen(f->status_path, STATUS_MODE, why);
}

/* Makes the socket, and gives it to the group of writers if that is possible. */
static int listen_pairs(const struct sx_run_folder *f, struct sx_why *why)
{
	gid_t group = 0;

	if (sx_writers_group(&group) < 0 || !group || (geteuid() != 0 && sx_writers_member(group) != 1))
		return sx_listener_make(f->pairs_path, PAIRS_MODE_ALONE, (gid_t)-1, why);
	return sx_listener_make(f->pairs_path, PAIRS_MODE, group, why);
}

int sx_run_folder_listen_pairs(struct sx_run_folder *f, struct sx_why *why)
{
	const int fd = listen_pairs(f, why);

	sx_must(f->pairs.fd, ==, -1);
	f->pairs = (struct sx_pairs_socket){.fd = fd < 0 ? -1 : fd, .path = f->pairs_path};
	return fd < 0 ? fd : 0;
}

int sx_run_folder_hold_pairs(const struct sx_run_folder *f, struct sx_why *why)
{
	int fd;

	if (f->pairs.fd < 0 || access(f->pairs_path, F_OK) == 0 || !sx_run_folder_holds(f))
		return 0;
	fd = listen_pairs(f, why);
	if (fd < 0)
		return fd;
	dup3(fd, f->pairs.fd, O_CLOEXEC); /* same number: the capture thread uses it */
	close(fd);
	return 0;
}

int sx_run_folder_hold(struct sx_run_folder *f, struct sx_status_server *server, struct sx_why *why)
{
	int fd;

	sx_must(f->lock_fd, >=, 0);
	if (!sx_run_folder_holds(f)) {
		fd = lock_folder(f, why);
		if (fd < 0)
			return fd;
		close(f->lock_fd);
		f->lock_fd = fd;
	}
	fd = sx_run_folder_hold_pairs(f, why);
	if (fd < 0 || !f->status_created || access(f->status_path, F_OK) == 0)
		return fd;
	fd = sx_run_folder_listen(f, why);
	if (fd < 0)
		return fd;
	fd = sx_status_move(server, fd);
	if (fd < 0) {
		unlink(f->status_path);
		sx_why_set(why, "%s: %s", f->status_path, strerror(-fd));
	}
	return fd;
}

void sx_run_folder_unlink(const struct sx_run_folder *f)
{
	if (f->status_created)
		unlink(f->status_path);
	if (f->pairs.fd >= 0 && f->pairs.path)
		unlink(f->pairs_path);
}

void sx_run_folder_finish(struct sx_run_folder *f)
{
	if (f->stream_fd >= 0)
		close(f->stream_fd);
	if (f->pairs.fd >= 0)
		close(f->pairs.fd);
	if (f->lock_fd >= 0)
		close(f->lock_fd);
	f->stream_fd = f->pairs.fd = f->lock_fd = -1;
}
