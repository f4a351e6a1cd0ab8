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
 * Who may change what a daemon of user own does: that user, root, and members of the group that the socket's
 * file belongs to; (gid_t)-1: there is no such. Everybody else may at most read, whatever the file's mode.
 */
bool sx_peer_may_change(const struct sx_peer *p, uid_t own, gid_t group);
/* Group of the file that a listening socket is bound to; (gid_t)-1: it has none. */
gid_t sx_peer_socket_group(int listen_fd);

#endif
