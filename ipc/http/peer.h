/*
 * Who is at the other end of a Unix socket, and what that allows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_HTTP_PEER_H
#define SX_IPC_HTTP_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#define SX_PEER_GROUPS_MAX 256 /* of a peer with more, only its own counts */

struct sx_peer {
	uid_t uid;
	gid_t groups[SX_PEER_GROUPS_MAX + 1]; /* its own first, then the supplementary ones */
	int count;
};

/* As the kernel knew the process when it connected. Negative errno. */
int sx_peer_of(int fd, struct sx_peer *ret);
/* Its user and its process; -1 and 0 where the kernel does not tell, 0 also for one of another namespace. */
void sx_peer_process(int fd, uid_t *uid, pid_t *pid);
/*
 * Tells whether this peer may change what a daemon of user own does: that user, root, and members of group
 * tuners (SX_TUNERS_GROUP; 0: there is none) may. Everybody else may at most read, whatever mode, owner and
 * group the socket's file has.
 */
bool sx_peer_may_change(const struct sx_peer *p, uid_t own, gid_t tuners);

#endif
