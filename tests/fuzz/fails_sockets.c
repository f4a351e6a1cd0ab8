/*
 * Makes socket calls fail. Linked in place of the real calls (-Wl,--wrap).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sys/epoll.h>
#include <sys/socket.h>

#include "tests/fuzz/fails_call.h"

FAILS_CALL(int, accept4, (int fd, struct sockaddr *from, socklen_t *bytes, int flags),
	   (fd, from, bytes, flags))
FAILS_CALL(int, epoll_ctl, (int fd, int what, int of, struct epoll_event *event), (fd, what, of, event))
FAILS_CALL(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *bytes),
	   (fd, level, name, value, bytes))
FAILS_CALL(ssize_t, recv, (int fd, void *to, size_t bytes, int flags), (fd, to, bytes, flags))
FAILS_CALL(ssize_t, send, (int fd, const void *from, size_t bytes, int flags), (fd, from, bytes, flags))
FAILS_CALL(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t bytes),
	   (fd, level, name, value, bytes))
FAILS_CALL(int, socket, (int family, int type, int protocol), (family, type, protocol))
FAILS_CALL(int, socketpair, (int family, int type, int protocol, int pair[2]), (family, type, protocol, pair))
