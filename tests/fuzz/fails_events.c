/*
 * Makes event descriptors fail. Linked in place of the real calls (-Wl,--wrap).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sys/timerfd.h>

#include "tests/fuzz/fails_call.h"

FAILS_CALL(int, epoll_create1, (int flags), (flags))
FAILS_CALL(int, eventfd, (unsigned first, int flags), (first, flags))
FAILS_CALL(int, timerfd_create, (int clock, int flags), (clock, flags))
