/*
 * Folder of an instance, for its lock and its sockets, in one of three places. Only this file has the names
 * of the places. The daemon, libstixel, all programs and the completion of the shells include it, and Python
 * asks libstixel (stixel_place()).
 *
 * A program that looks for an instance asks the places in the order of enum sx_place and takes the first one
 * that answers. sx_place_passed() tells after which failures it asks the next place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_PLACES_H
#define SX_BASE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SX_PLACE_RUN_DIR "/run"
#define SX_PLACE_PROGRAM "stixeld"
#define SX_PLACE_SYSTEM_DIR SX_PLACE_RUN_DIR "/" SX_PLACE_PROGRAM
#define SX_PLACE_VARIABLE "XDG_RUNTIME_DIR"
#define SX_PLACE_USER_DIR SX_PLACE_RUN_DIR "/user" /* prefix of /run/user/UID */
#define SX_PLACE_PROGRAM_DIR "/" SX_PLACE_PROGRAM  /* folder below both places of a user */
#define SX_PLACE_BRIDGE "stixel-bridge"		   /* other program that has a folder in these places */
/* Folder of programs that write for daemons: ipc/feed/place.h. */
#define SX_PLACE_FEED "stixel-feed"

/* Sockets in an instance's folder. */
#define SX_STATUS_SOCKET "status.sock"
#define SX_FRAMES_SOCKET "frames.sock"

enum sx_place {
	SX_PLACE_SYSTEM,  /* /run/stixeld: daemons of root and of systemd */
	SX_PLACE_RUNTIME, /* $XDG_RUNTIME_DIR/stixeld: daemons of the user */
	SX_PLACE_USER,	  /* /run/user/UID/stixeld: daemons of the user if the variable is not set */
	SX_PLACES
};

/*
 * Writes the folder of a place. The folders of instances lie in it. False, and folder is empty: the place
 * does not exist here. Either the variable is not set, is not an absolute path or must not be trusted
 * (set-user-ID, file capabilities), or folder has too few bytes. The function does not check the disk: the
 * folder need not exist. Any thread, while no thread changes the environment.
 */
bool sx_place_folder(enum sx_place place, char *folder, size_t bytes);
/* Writes the folder of another program in that place: SX_PLACE_BRIDGE. */
bool sx_place_folder_of(enum sx_place place, const char *program, char *folder, size_t bytes);
/*
 * Writes the path FOLDER/instance/file, or FOLDER/instance if file is NULL. The caller checks the name. False
 * as for sx_place_folder().
 */
bool sx_place_path(enum sx_place place, const char *instance, const char *file, char *path, size_t bytes);
/*
 * Returns true if a ring of this owner may be the instance's. All users may write to /dev/shm: before the
 * daemon starts, any user may put an object there. Trusted owners are root, the caller, and the owner of the
 * instance's folder in /run, where only root and systemd make folders. If instance is empty, only root and
 * the caller are trusted.
 */
bool sx_place_trusts(uid_t owner, const char *instance);
/*
 * Takes the errno (positive or negative) of a failed connection. True: no process listens in this place, or
 * this user may not enter it, so the caller asks the next place. False: the error comes from an instance that
 * exists.
 */
bool sx_place_passed(int error);

#endif
