/*
 * Decides where stixelctl save may write. stixelctl save often runs as root, and a file name from the daemon
 * comes from a process of another user. So folders are opened one by one and held, and no link can lead
 * elsewhere, now or later.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_SAVE_PLACE_H
#define SX_TOOLS_CTL_SAVE_PLACE_H

#include <limits.h>
#include <stdbool.h>

#define SAVE_CONFIG_FOLDER "/etc/stixeld"

struct save_place {
	char path[PATH_MAX];	  /* file that is written */
	char main_file[PATH_MAX]; /* main file that the folder belongs to; empty: an operand named the path */
	char folder_name[NAME_MAX + 1],
		name[NAME_MAX + 1]; /* names of the folder in parent, and of the file in folder */
	int parent, folder;	    /* descriptors; -1: none, or folder does not exist yet */
	bool created;		    /* save_place_make() made the folder */
};

/*
 * Finds the place FILE.d/90-live.conf of a daemon's configuration FILE. FILE is /etc/stixeld/NAME.conf if the
 * daemon says that it reads this file. Otherwise FILE is the file that the daemon names, under three
 * conditions: the file and all folders of its path, FILE.d too, belong to root or the caller, no other user
 * may write there, and the path has no link. Another file of /etc/stixeld is refused, because it belongs to
 * another instance. Returns 0, or prints an error and returns the exit code. Call save_place_close() in both
 * cases.
 */
int save_place_of_daemon(struct save_place *p, const char *instance, const char *said);
/* Finds the place that the caller names. Follows links of the path if they belong to root or the caller. */
int save_place_of_operand(struct save_place *p, const char *operand);
/*
 * Checks what exists at the place: nothing, or a file that begins with the line head and belongs to root or
 * the caller. Returns 0, or prints an error and returns the exit code.
 */
int save_place_look(const struct save_place *p, const char *head);
/* Creates the folder if necessary. Returns 0 or a negative errno. */
int save_place_make(struct save_place *p);
/*
 * Writes a path through which p's file is created in the held folder, even if the folder's name now leads
 * elsewhere.
 */
void save_place_held_path(const struct save_place *p, char *path, int bytes);
/* Removes the folder if save_place_make() created it and it is empty. */
void save_place_unmake(struct save_place *p);
void save_place_close(struct save_place *p);
/* Prints that the file cannot be written, with this negative errno. Returns the exit code. */
int save_place_fail(const struct save_place *p, int r);

#endif
