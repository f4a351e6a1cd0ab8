/*
 * Whose rings of scores and maps are read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_FEED_TRUST_H
#define SX_IPC_FEED_TRUST_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * 0: it belongs to root, to this user, who reads it, or to the group of the writers; 0 of writers: there is
 * none. -EPERM with a sentence.
 */
int sx_feed_trusted_by(uid_t user, const struct stat *st, gid_t writers, const char *path, char *why,
		       size_t why_bytes);
/* The same by the caller's user. */
int sx_feed_trust(const struct stat *st, gid_t writers, const char *path, char *why, size_t why_bytes);
/* Of what open() said EACCES: whose it is, and who has to join the group. -EPERM, -EACCES. */
int sx_feed_forbidden(const char *path, gid_t writers, char *why, size_t why_bytes);

#endif
