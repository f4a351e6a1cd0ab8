/*
 * Where stixelctl save may write: it often runs as root, and what the daemon says of a file comes from a
 * process of another user. Folders are opened one by one and held, so that no link leads elsewhere, now or
 * later.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_SAVE_PLACE_H
#define SX_TOOLS_CTL_SAVE_PLACE_H

#include <limits.h>
#include <stdbool.h>

#define SAVE_CONFIG_FOLDER "/etc/stixeld"

struct save_place {
	char path[PATH_MAX];	  /* of the file that is written */
	char main_file[PATH_MAX]; /* that its folder belongs to; empty: an operand named the path */
	char folder_name[NAME_MAX + 1], name[NAME_MAX + 1]; /* in parent, and in folder */
	int parent, folder;				    /* held; -1: none, or folder is not there yet */
	bool made;					    /* folder was made by save_place_make() */
};

/*
 * The place of FILE.d/90-live.conf. FILE is /etc/stixeld/NAME.conf if the daemon says that it reads this
 * file; else what the daemon says, where that file and all folders on the way, FILE.d too, are root's or
 * the caller's, no other user may write there, and no link is on the way. Not another file of
 * /etc/stixeld, which is that of another instance. 0, or the exit code after a sentence. To be closed
 * either way.
 */
int save_place_of_daemon(struct save_place *p, const char *instance, const char *said);
/* The place that the caller names. Links on the way are followed if they are root's or the caller's. */
int save_place_of_operand(struct save_place *p, const char *operand);
/*
 * Looks at what lies there: nothing, or a file that begins with the line head and is root's or the
 * caller's. 0, or the exit code after a sentence.
 */
int save_place_look(const struct save_place *p, const char *head);
/* Makes the folder if need be. Negative errno. */
int save_place_make(struct save_place *p);
/* Gives a path by which p's file is made in the held folder, whatever has its name. */
void save_place_held_path(const struct save_place *p, char *path, int bytes);
/* Removes the folder if it was made here, and is empty. */
void save_place_unmake(struct save_place *p);
void save_place_close(struct save_place *p);
/* Tells that the file cannot be written, for this negative errno. Returns the exit code. */
int save_place_fail(const struct save_place *p, int r);

#endif
