/*
 * The folder of the instance below /run, its lock, and the sockets in it. Thread: main.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_RUN_FOLDER_H
#define SX_DAEMON_RUN_FOLDER_H

#include <stdbool.h>

#include "base/why.h"
#include "capture/source.h"

#define SX_RUN_PATH_BYTES 256

struct sx_status_server; /* ipc/http/status.h */

struct sx_run_folder {
	const char *instance;
	char dir[SX_RUN_PATH_BYTES], status_path[SX_RUN_PATH_BYTES], stream_path[SX_RUN_PATH_BYTES];
	bool status_created; /* this process has made the socket at status_path and removes it */
	int stream_fd;	     /* socket for frames from systemd, or -1 */
	char pairs_path[SX_RUN_PATH_BYTES];
	struct sx_pairs_socket pairs; /* socket for writers of pairs; fd -1: none */
	int lock_fd;		      /* -1: not locked */
};

/* Makes the folder and locks it. Negative errno with a sentence. */
int sx_run_folder_claim(struct sx_run_folder *f, struct sx_why *why);
/*
 * Makes the folder, its lock and the status socket again if they were removed. On an error, returns a
 * negative errno with a sentence and keeps what the daemon holds.
 */
int sx_run_folder_hold(struct sx_run_folder *f, struct sx_status_server *server, struct sx_why *why);
/*
 * Returns true if the lock file on disk is still the lock that this daemon holds. If it is not, the sockets
 * beside it may belong to another daemon.
 */
bool sx_run_folder_holds(const struct sx_run_folder *f);
/* Makes the status socket. Returns its descriptor, or a negative errno with a sentence. */
int sx_run_folder_listen(struct sx_run_folder *f, struct sx_why *why);
/*
 * Makes the socket for writers of pairs. Members of group stixel-feed may connect if this process may give
 * files to the group; otherwise its own user only. Negative errno with a sentence.
 */
int sx_run_folder_listen_pairs(struct sx_run_folder *f, struct sx_why *why);
/*
 * Makes the socket for writers of pairs again if its name is gone and this process holds the folder. Negative
 * errno with a sentence.
 */
int sx_run_folder_hold_pairs(const struct sx_run_folder *f, struct sx_why *why);
/* Removes the sockets that this process has made. Call it only while this process holds the folder. */
void sx_run_folder_unlink(const struct sx_run_folder *f);
/* Closes the descriptors. The lock goes last. */
void sx_run_folder_finish(struct sx_run_folder *f);

#endif
