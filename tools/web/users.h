/*
 * Who may look: users and the hashes of their passwords, as crypt(3) makes them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_USERS_H
#define SX_TOOLS_WEB_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEB_USERS 32
#define WEB_USER_BYTES 65
#define WEB_HASH_BYTES 384

struct web_user {
	char name[WEB_USER_BYTES], hash[WEB_HASH_BYTES];
};

struct web_users {
	size_t count;	      /* at least 1 */
	size_t costliest;     /* whose hash takes longest */
	int64_t costliest_ns; /* of processor time, when it was read */
	struct web_user user[WEB_USERS];
};

/*
 * Reads lines USER:HASH, as htpasswd -B and mkpasswd make them; empty ones and those that begin with # are
 * passed over. Each hash is computed once, so it takes as long as a login for each. For web_users_destroy().
 *
 * Negative errno and a sentence: as web_secret_read(); -EBADMSG: a line is wrong, a hash is weak or unknown;
 * -ENOTSUP: built without libcrypt.
 */
int web_users_read(struct web_users **ret, const char *path, char *why, size_t why_bytes);
/* Accepts NULL. */
void web_users_destroy(struct web_users *u);
/* NULL: nobody of this name. */
const struct web_user *web_users_find(const struct web_users *u, const char *name);

/*
 * True: it is the password that the hash was made of. Takes up to a tenth of a second, by the hash; its time
 * says nothing of where they differ.
 */
bool web_password_matches(const char *hash, const char *password);

#endif
