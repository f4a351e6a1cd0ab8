/*
 * Checks the passwords of requests. Guessing is slow and delays no other user.
 *
 * A browser sends the password with every request. A password that was right before is recognised at once by
 * its digest. For any other password the hash is computed, one at a time, and the answer to a wrong password
 * waits 1 s. Client addresses take turns, and each address has at most eight tries under way; further tries
 * wait. So a user at another address waits for at most one hash per guessing address, however many
 * connections guess. A logged-in user does not wait.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_LOGIN_H
#define SX_TOOLS_WEB_LOGIN_H

#include <stdbool.h>
#include <sys/socket.h>

#include "tools/web/users.h"

struct web_logins;

/*
 * Creates the logins and takes over users, which may be NULL. NULL: out of memory, or built without libcrypt
 * and GnuTLS.
 */
struct web_logins *web_logins_create(struct web_users *users);
/* Frees the logins. No thread may be waiting in them. Accepts NULL. */
void web_logins_destroy(struct web_logins *l);
/* Makes waiting answers go out at once, from now on. */
void web_logins_stop(struct web_logins *l);
/* Replaces the users from now on. Takes over users. */
void web_logins_replace(struct web_logins *l, struct web_users *users);
/*
 * Checks a password and returns true if it is right. Sleeps 1 s if it is wrong. from: address of the client.
 * Any thread.
 */
bool web_login_check(struct web_logins *l, const struct sockaddr *from, const char *name,
		     const char *password);

#endif
