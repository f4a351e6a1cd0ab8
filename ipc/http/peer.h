/*
 * Identity of the client of a Unix socket, and its permissions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_HTTP_PEER_H
#define SX_IPC_HTTP_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#define SX_PEER_GROUPS_MAX 256 /* for a client with more groups, only its primary group counts */

struct sx_peer {
	uid_t uid;
	gid_t groups[SX_PEER_GROUPS_MAX + 1]; /* the primary group first, then the supplementary groups */
	int count;
};

/* Returns the identity that the process had when it connected. Negative errno on failure. */
int sx_peer_of(int fd, struct sx_peer *ret);
/*
 * Finds user and process of the client. -1 and 0 if the kernel does not give them; pid 0 also for a process
 * of another namespace.
 */
void sx_peer_process(int fd, uid_t *uid, pid_t *pid);
/*
 * True if this client may change the settings of a daemon of user own: that user, root, and members of group
 * tuners (SX_TUNERS_GROUP; 0: no such group) may. Other users may at most read, whatever mode, owner and
 * group the socket file has.
 */
bool sx_peer_may_change(const struct sx_peer *p, uid_t own, gid_t tuners);

#endif
