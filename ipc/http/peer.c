/*
 * Identity of the client of a Unix socket, and its permissions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/contract.h"
#include "ipc/http/peer.h"

#include <errno.h>
#include <sys/socket.h>

int sx_peer_of(int fd, struct sx_peer *ret)
{
	socklen_t bytes = sizeof(struct ucred), groups_bytes = SX_PEER_GROUPS_MAX * sizeof(gid_t);
	struct ucred c;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &bytes) < 0)
		return -errno;
	ret->uid = c.uid;
	ret->groups[0] = c.gid;
	ret->count = 1;
	/* if the kernel cannot report groups, or reports more than fit, only the primary group counts */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, ret->groups + 1, &groups_bytes) == 0)
		ret->count += (int)(groups_bytes / sizeof(gid_t));
	sx_must(ret->count, <=, SX_PEER_GROUPS_MAX + 1);
	return 0;
}

void sx_peer_process(int fd, uid_t *uid, pid_t *pid)
{
	struct ucred c = {.uid = (uid_t)-1};
	socklen_t bytes = sizeof(c);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &bytes) < 0)
		c = (struct ucred){.uid = (uid_t)-1};
	*uid = c.uid;
	*pid = c.pid;
}

bool sx_peer_may_change(const struct sx_peer *p, uid_t own, gid_t tuners)
{
	sx_must(p->count, >, 0);
	if (p->uid == 0 || p->uid == own)
		return true;
	for (int i = 0; tuners && i < p->count; i++)
		if (p->groups[i] == tuners)
			return true;
	return false;
}
