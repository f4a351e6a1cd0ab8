/*
 * Users of stixel-web and the hashes of their passwords, as made by crypt(3).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_USERS_H
#define SX_TOOLS_WEB_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"

#define WEB_USERS 32
#define WEB_USER_BYTES 65
#define WEB_HASH_BYTES 384

struct web_user {
	char name[WEB_USER_BYTES], hash[WEB_HASH_BYTES];
};

struct web_users {
	size_t count;	      /* at least 1 */
	size_t costliest;     /* index of the user whose hash takes longest */
	int64_t costliest_ns; /* processor time of this hash, measured when the file was read, ns */
	struct web_user user[WEB_USERS];
};

/*
 * Reads lines USER:HASH, as htpasswd -B and mkpasswd make them. Skips empty lines and lines that begin with
 * #. Computes each hash once, so reading takes as long as one login per user. Free with web_users_destroy().
 *
 * Returns 0, or a negative errno with a sentence in why: errors of web_secret_read(); -EBADMSG: a line is
 * wrong, or a hash is weak or unknown; -ENOTSUP: built without libcrypt.
 */
int web_users_read(struct web_users **ret, const char *path, struct sx_why *why);
/* Accepts NULL. */
void web_users_destroy(struct web_users *u);
/* Returns the user of this name. NULL: there is none. */
const struct web_user *web_users_find(const struct web_users *u, const char *name);

/*
 * Returns true if the hash was made of this password. Takes up to 0.1 s, depending on the hash. The time does
 * not reveal where the hashes differ.
 */
bool web_password_matches(const char *hash, const char *password);

#endif
