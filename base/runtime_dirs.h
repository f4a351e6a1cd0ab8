/*
 * Folder of an instance, for its lock and its sockets, in one of three runtime directories. Only this file
 * has their names. The daemon, libstixel, all programs and the completion of the shells include it, and
 * Python asks libstixel (stixel_place()).
 *
 * A program that looks for an instance asks the runtime directories in the order of enum sx_runtime_dir and
 * takes the first one that answers. sx_runtime_dir_passed() tells after which failures it asks the next
 * directory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_RUNTIME_DIRS_H
#define SX_BASE_RUNTIME_DIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SX_RUN_DIR "/run"
#define SX_RUNTIME_DIR_PROGRAM "stixeld"
#define SX_RUNTIME_DIR_OF_SYSTEM SX_RUN_DIR "/" SX_RUNTIME_DIR_PROGRAM
#define SX_RUNTIME_DIR_VARIABLE "XDG_RUNTIME_DIR"
#define SX_RUNTIME_DIR_OF_USER SX_RUN_DIR "/user"	     /* prefix of /run/user/UID */
#define SX_RUNTIME_DIR_OF_PROGRAM "/" SX_RUNTIME_DIR_PROGRAM /* folder below both directories of a user */
/* Other programs that have a folder in these directories. */
#define SX_RUNTIME_DIR_BRIDGE "stixel-bridge"
#define SX_RUNTIME_DIR_SEGMENT "stixel-segment"
/* Folder of programs that write for daemons: ipc/feed/feed_dirs.h. */
#define SX_RUNTIME_DIR_FEED "stixel-feed"

/* End of the name of the ring with the pairs that an instance offers to other processes (external.pairs). */
#define SX_OFFER_SUFFIX ".pairs"

/* Sockets in an instance's folder. */
#define SX_STATUS_SOCKET "status.sock"
#define SX_FRAMES_SOCKET "frames.sock"
#define SX_PAIRS_SOCKET "pairs.sock"

enum sx_runtime_dir {
	SX_RUNTIME_DIR_SYSTEM, /* /run/stixeld: daemons of root and of systemd */
	SX_RUNTIME_DIR_XDG,    /* $XDG_RUNTIME_DIR/stixeld: daemons of the user */
	SX_RUNTIME_DIR_USER,   /* /run/user/UID/stixeld: daemons of the user if the variable is not set */
	SX_RUNTIME_DIRS
};

/*
 * Writes the path of the daemon's folder in the runtime directory `place`. The folders of instances lie in
 * it. False, and folder is empty: the directory does not exist here. Either the variable is not set, is not
 * an absolute path or must not be trusted (set-user-ID, file capabilities), or folder has too few bytes. The
 * function does not check the disk: the folder need not exist. Any thread, while no thread changes the
 * environment.
 */
bool sx_runtime_dir_name(enum sx_runtime_dir place, char *folder, size_t bytes);
/*
 * Writes the path of a program's folder in the runtime directory `place`, as sx_runtime_dir_name() does for
 * the daemon. program: SX_RUNTIME_DIR_PROGRAM or the name of another program, such as SX_RUNTIME_DIR_BRIDGE.
 */
bool sx_runtime_dir_name_of(enum sx_runtime_dir place, const char *program, char *folder, size_t bytes);
/*
 * Writes the path FOLDER/instance/file, or FOLDER/instance if file is NULL. The caller checks the name. False
 * as for sx_runtime_dir_name().
 */
bool sx_runtime_dir_path(enum sx_runtime_dir place, const char *instance, const char *file, char *path,
			 size_t bytes);
/*
 * Returns true if a ring of this owner may be the instance's. All users may write to /dev/shm: before the
 * daemon starts, any user may put an object there. Trusted owners are root, the caller, and the owner of the
 * instance's folder in /run, where only root and systemd make folders. If instance is empty, only root and
 * the caller are trusted. The ring of offered pairs, instance.pairs, has no folder: its owner may be that of
 * the instance's folder.
 */
bool sx_runtime_dir_trusts(uid_t owner, const char *instance);
/*
 * Takes the errno (positive or negative) of a failed connection. True: no process listens in this directory,
 * or this user may not enter it, so the caller asks the next directory. False: the error comes from an
 * instance that exists.
 */
bool sx_runtime_dir_passed(int error);

#endif
