/*
 * Decides which rings of scores and maps the daemon trusts, by their owner, group and mode.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_FEED_TRUST_H
#define SX_IPC_FEED_TRUST_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/why.h"

/*
 * Checks whether user may trust an object. It must belong to root, to user or to the group of writers
 * (writers 0: no such group), and only they may have write permission. Returns 0, or -EPERM with an error
 * message in why.
 */
int sx_feed_trusted_by(uid_t user, const struct stat *st, gid_t writers, const char *path,
		       struct sx_why *why);
/* Same for the user of this process. */
int sx_feed_trust(const struct stat *st, gid_t writers, const char *path, struct sx_why *why);
/*
 * Explains why open() failed with EACCES: names the owner, and the user that has to join the group. Returns
 * -EPERM or -EACCES.
 */
int sx_feed_forbidden(const char *path, gid_t writers, struct sx_why *why);

#endif
