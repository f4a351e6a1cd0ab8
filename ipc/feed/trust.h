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

/* Group stixel-feed; 0: the machine has none. May take long where groups come over a network. */
gid_t sx_feed_writers(void);
/* 0: it belongs to root, to the caller's user or to the group of the writers. -EPERM with a sentence. */
int sx_feed_trust(const struct stat *st, gid_t writers, const char *path, char *why, size_t why_bytes);

#endif
