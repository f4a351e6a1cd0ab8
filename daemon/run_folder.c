/*
 * The folder of the instance below /run: its lock and the status socket in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/places.h"
#include "daemon/run_priv.h"
#include "ipc/instance.h"

int sx_run_claim_folder(struct sx_run *run, struct sx_why *why)
{
	const int r = sx_runtime_dir(run->options->instance, run->dir, sizeof(run->dir), why);

	return r < 0 ? r : sx_instance_lock(run->dir, NULL, why);
}

bool sx_run_holds_folder(const struct sx_run *run)
{
	char path[SX_RUN_PATH_BYTES + 8];
	struct stat held, there;

	snprintf(path, sizeof(path), "%s/lock", run->dir);
	/*
	 * A failed call does not show which process owns the folder. Try again, before the sockets of this
	 * daemon are left behind.
	 */
	for (int i = 0; i < 2; i++) {
		if (fstat(run->lock_fd, &held) == 0 && stat(path, &there) == 0)
			return held.st_dev == there.st_dev && held.st_ino == there.st_ino;
		if (errno == ENOENT)
			return false;
	}
	return false;
}

int sx_run_hold_folder(struct sx_run *run, struct sx_why *why)
{
	int fd;

	sx_must(run->lock_fd, >=, 0);
	if (!sx_run_holds_folder(run)) {
		fd = sx_run_claim_folder(run, why);
		if (fd < 0)
			return fd;
		close(run->lock_fd);
		run->lock_fd = fd;
	}
	if (!run->status_made || access(run->status_path, F_OK) == 0)
		return 0;
	fd = sx_status_listen(run->status_path, SX_RUN_STATUS_MODE, why);
	if (fd < 0)
		return fd;
	fd = sx_status_move(run->pages->server, fd);
	if (fd < 0) {
		unlink(run->status_path);
		sx_why_set(why, "%s: %s", run->status_path, strerror(-fd));
	}
	return fd;
}
