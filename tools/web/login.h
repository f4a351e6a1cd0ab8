/*
 * Logins: passwords that come with requests, checked so that guessing is slow and holds up nobody else.
 *
 * A browser sends the password with every request. One that was right is known again by its digest, at once.
 * Any other is computed, one at a time, and if it is wrong its answer waits a second. Addresses come by
 * turns, and of each eight tries are under way at most: what is beyond waits. However many guess from
 * however many connections, one that comes from elsewhere waits for one hash of each address, and whoever is
 * in does not notice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_LOGIN_H
#define SX_TOOLS_WEB_LOGIN_H

#include <stdbool.h>
#include <sys/socket.h>

#include "tools/web/users.h"

struct web_logins;

/* Takes over users, which may be NULL. NULL: out of memory, or built without libcrypt and GnuTLS. */
struct web_logins *web_logins_create(struct web_users *users);
/* Nobody waits any more. Accepts NULL. */
void web_logins_destroy(struct web_logins *l);
/* Answers that wait go out at once, from now on. */
void web_logins_stop(struct web_logins *l);
/* Others from now on. Takes over users. */
void web_logins_replace(struct web_logins *l, struct web_users *users);
/* Any thread, which sleeps a second where it is wrong. from: who asks. True: it is right. */
bool web_login_check(struct web_logins *l, const struct sockaddr *from, const char *name,
		     const char *password);

#endif
