/*
 * Users of stixel-web. libcrypt (libxcrypt) makes and compares the hashes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/web/users.h"

#include <crypt.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tools/web/secret.h"

/* Computes the hash of a password with crypt(). False: hash is not valid. */
static bool compute(const char *hash, const char *password, char *ret, size_t ret_bytes)
{
	struct crypt_data *data = calloc(1, sizeof(*data));
	const char *computed = data ? crypt_r(password, hash, data) : NULL;
	const bool done = computed && computed[0] != '*';

	if (done)
		snprintf(ret, ret_bytes, "%s", computed);
	if (data)
		explicit_bzero(data, sizeof(*data));
	free(data);
	return done;
}

bool web_password_matches(const char *hash, const char *password)
{
	char computed[WEB_HASH_BYTES] = "";
	const size_t n = strlen(hash);

	return compute(hash, password, computed, sizeof(computed)) && strlen(computed) == n &&
	       gnutls_memcmp(computed, hash, n) == 0;
}

/*
 * Returns true for yescrypt, gost-yescrypt, scrypt, bcrypt and SHA-512. Older libcrypts rate MD5 and DES as
 * equally good.
 */
static bool is_strong(const char *hash)
{
	static const char *const kinds[] = {"$y$", "$gy$", "$7$", "$2b$", "$2y$", "$2a$", "$6$"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(hash, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return false;
}

/* Returns true if the hash is complete and of a strong kind. */
static bool hash_is_sound(const char *hash)
{
	char computed[WEB_HASH_BYTES] = "";

	return is_strong(hash) && crypt_checksalt(hash) == CRYPT_SALT_OK &&
	       compute(hash, "", computed, sizeof(computed)) && strlen(computed) == strlen(hash);
}

/* Adds the user of a line. Returns NULL, or the error in the line. */
static const char *take_line(struct web_users *u, char *line)
{
	char *colon = strchr(line, ':');
	const char *hash = colon ? colon + 1 : "";
	struct web_user *to = &u->user[u->count];
	int64_t began_ns, took_ns;

	if (!colon || colon == line || colon - line >= WEB_USER_BYTES || strlen(hash) >= WEB_HASH_BYTES)
		return "expected USER:HASH";
	*colon = '\0';
	if (web_users_find(u, line))
		return "this user was there before";
	if (u->count == WEB_USERS)
		return "more users than this program takes, which is 32";
	began_ns = sx_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (!hash_is_sound(hash))
		return "not a hash of a strong kind: make it by \"htpasswd -B\" or \"mkpasswd\"";
	snprintf(to->name, sizeof(to->name), "%s", line);
	snprintf(to->hash, sizeof(to->hash), "%s", hash);
	took_ns = sx_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
	if (took_ns > u->costliest_ns) {
		u->costliest_ns = took_ns;
		u->costliest = u->count;
	}
	u->count++;
	return NULL;
}

static int take_lines(struct web_users *u, char *text, const char *path, struct sx_why *why)
{
	const char *wrong = NULL;
	unsigned number = 0;
	char *line;

	while ((line = strsep(&text, "\n")) && !wrong) {
		line[strcspn(line, "\r")] = '\0';
		number++;
		if (line[0] && line[0] != '#')
			wrong = take_line(u, line);
	}
	if (wrong)
		sx_why_set(why, "%s:%u: %s", path, number, wrong);
	else if (!u->count)
		sx_why_set(why, "%s: there is no user in it", path);
	return wrong || !u->count ? -EBADMSG : 0;
}

int web_users_read(struct web_users **ret, const char *path, struct sx_why *why)
{
	struct web_secret file;
	struct web_users *u;
	int r = web_secret_read(&file, path, true, why);

	if (r < 0)
		return r;
	u = calloc(1, sizeof(*u));
	if (u) {
		r = take_lines(u, file.text, path, why);
	} else {
		r = -ENOMEM;
		sx_why_set(why, "out of memory");
	}
	web_secret_finish(&file);
	if (r < 0)
		web_users_destroy(u);
	else
		*ret = u;
	return r;
}

void web_users_destroy(struct web_users *u)
{
	if (u)
		explicit_bzero(u, sizeof(*u));
	free(u);
}

const struct web_user *web_users_find(const struct web_users *u, const char *name)
{
	for (size_t i = 0; i < u->count; i++)
		if (strcmp(u->user[i].name, name) == 0)
			return &u->user[i];
	return NULL;
}
