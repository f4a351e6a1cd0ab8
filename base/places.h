/*
 * Where an instance lives: a folder for lock and sockets, in one of three places. Only this text spells
 * them: the daemon, libstixel, every program and the completion of the shells include it, and Python asks
 * libstixel (stixel_place()).
 *
 * Whoever looks for an instance asks the places in the order of enum sx_place and takes the first that
 * answers. sx_place_passed() says which failures let it go on.
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
#define SX_PLACE_USER_DIR SX_PLACE_RUN_DIR "/user" /* /UID follows */
#define SX_PLACE_PROGRAM_DIR "/" SX_PLACE_PROGRAM  /* below both places of a user */
#define SX_PLACE_BRIDGE "stixel-bridge"		   /* the other program that has a folder in these places */
#define SX_PLACE_FEED "stixel-feed" /* the folder of those who write for daemons: ipc/feed/place.h */

/* Of an instance's folder. */
#define SX_STATUS_SOCKET "status.sock"
#define SX_FRAMES_SOCKET "frames.sock"

enum sx_place {
	SX_PLACE_SYSTEM,  /* /run/stixeld: daemons of root and of systemd */
	SX_PLACE_RUNTIME, /* $XDG_RUNTIME_DIR/stixeld: the user's own */
	SX_PLACE_USER,	  /* /run/user/UID/stixeld: the same without the variable */
	SX_PLACES
};

/*
 * The folder of a place; folders of instances lie in it. False, and folder is empty: there is no such place
 * here, because the variable is not set, is no absolute path or must not be trusted (set-user-ID, file
 * capabilities), or because folder has too few bytes. Nothing is looked up on disk: the folder need not
 * exist. Any thread, while nobody changes the environment.
 */
bool sx_place_folder(enum sx_place place, char *folder, size_t bytes);
/* The same for another program's folder there: SX_PLACE_BRIDGE. */
bool sx_place_folder_of(enum sx_place place, const char *program, char *folder, size_t bytes);
/* The same for FOLDER/instance/file; file may be NULL: FOLDER/instance. The name is checked by the caller. */
bool sx_place_path(enum sx_place place, const char *instance, const char *file, char *path, size_t bytes);
/*
 * Whether a ring of this owner is the instance's. /dev/shm is open to all: before the daemon starts, any user
 * may put an object there. Trusted are root, the caller, and the owner of the instance's folder in /run,
 * where only root and systemd make folders; of no instance (empty) root and the caller.
 */
bool sx_place_trusts(uid_t owner, const char *instance);
/*
 * Errno (positive or negative) of a connection that failed: nobody listens in this place, or it is not open
 * to this user: the next place is asked. Anything else comes from an instance that is there.
 */
bool sx_place_passed(int error);

#endif
