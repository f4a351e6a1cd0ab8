/*
 * Logins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/web/login.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"

enum {
	SOURCES = 64,	    /* addresses that are remembered */
	UNDER_WAY_ALL = 32, /* tries, of 96 connections */
	UNDER_WAY_EACH = 8, /* of one address: a browser has six connections */
	DIGEST_BYTES = 32,  /* of SHA-256 */
	KEY_BYTES = 8	    /* of an address: IPv4, or the network of IPv6, which one host has all of */
};

#define DELAY_NS SX_NS_PER_S
#define QUIET_NS (60 * SX_NS_PER_S) /* one line in the log for an address that goes on */

struct source {
	uint8_t key[KEY_BYTES];
	unsigned under_way;
	int64_t wrong_ns; /* the last wrong try; 0: none */
};

struct web_logins {
	pthread_mutex_t computing; /* one hash at a time: the camera needs the processor */
	pthread_mutex_t lock;	   /* over the rest */
	pthread_cond_t stopped;
	bool stopping;
	struct web_users *users;
	uint64_t generation; /* of users */
	/* of name and password that were right, in the order of users; all zero: not yet */
	uint8_t right[WEB_USERS][DIGEST_BYTES];
	uint8_t digest_key[DIGEST_BYTES]; /* of this process alone */
	struct source source[SOURCES];
	unsigned under_way;
};

struct web_logins *web_logins_create(struct web_users *users)
{
	struct web_logins *l = calloc(1, sizeof(*l));

	if (!l || gnutls_rnd(GNUTLS_RND_KEY, l->digest_key, sizeof(l->digest_key)) < 0) {
		free(l);
		web_users_destroy(users);
		return NULL;
	}
	pthread_mutex_init(&l->computing, NULL);
	pthread_mutex_init(&l->lock, NULL);
	sx_cond_init(&l->stopped);
	l->users = users;
	return l;
}

void web_logins_destroy(struct web_logins *l)
{
	if (!l)
		return;
	web_users_destroy(l->users);
	pthread_cond_destroy(&l->stopped);
	pthread_mutex_destroy(&l->lock);
	pthread_mutex_destroy(&l->computing);
	explicit_bzero(l, sizeof(*l));
	free(l);
}

void web_logins_stop(struct web_logins *l)
{
	pthread_mutex_lock(&l->lock);
	l->stopping = true;
	pthread_cond_broadcast(&l->stopped);
	pthread_mutex_unlock(&l->lock);
}

void web_logins_replace(struct web_logins *l, struct web_users *users)
{
	struct web_users *old;

	pthread_mutex_lock(&l->lock);
	old = l->users;
	l->users = users;
	l->generation++;
	memset(l->right, 0, sizeof(l->right));
	pthread_mutex_unlock(&l->lock);
	web_users_destroy(old);
}

static void make_digest(const struct web_logins *l, const char *name, const char *password,
			uint8_t digest[DIGEST_BYTES])
{
	gnutls_hmac_hd_t hmac;

	memset(digest, 0, DIGEST_BYTES);
	if (gnutls_hmac_init(&hmac, GNUTLS_MAC_SHA256, l->digest_key, sizeof(l->digest_key)) < 0)
		return;
	gnutls_hmac(hmac, name, strlen(name) + 1);
	gnutls_hmac(hmac, password, strlen(password));
	gnutls_hmac_deinit(hmac, digest);
}

static void make_key(const struct sockaddr *from, uint8_t key[KEY_BYTES])
{
	memset(key, 0, KEY_BYTES);
	if (from && from->sa_family == AF_INET)
		memcpy(key, &((const struct sockaddr_in *)from)->sin_addr, 4);
	else if (from && from->sa_family == AF_INET6)
		memcpy(key, &((const struct sockaddr_in6 *)from)->sin6_addr, KEY_BYTES);
}

/* Under the lock: the place of this address, or the one whose last try is longest ago. */
static struct source *find_source(struct web_logins *l, const uint8_t key[KEY_BYTES])
{
	struct source *oldest = NULL;

	for (int i = 0; i < SOURCES; i++) {
		struct source *s = &l->source[i];

		if ((s->under_way || s->wrong_ns) && memcmp(s->key, key, KEY_BYTES) == 0)
			return s;
		/* some place has no try under way: there are more places than tries */
		if (!s->under_way && (!oldest || s->wrong_ns < oldest->wrong_ns))
			oldest = s;
	}
	*oldest = (struct source){0};
	memcpy(oldest->key, key, KEY_BYTES);
	return oldest;
}

/* A password that has to be computed, or the digest that made this unnecessary. */
struct attempt {
	struct source *source; /* NULL: none has to be computed, or may be */
	uint64_t generation;
	ptrdiff_t user; /* -1: nobody of this name */
	uint8_t digest[DIGEST_BYTES];
	char hash[WEB_HASH_BYTES];
};

/* Under the lock: it was right before. */
static bool is_known(const struct web_logins *l, const struct attempt *a)
{
	static const uint8_t none[DIGEST_BYTES];
	const uint8_t *right = a->user < 0 ? none : l->right[a->user];

	return gnutls_memcmp(right, none, DIGEST_BYTES) != 0 &&
	       gnutls_memcmp(right, a->digest, DIGEST_BYTES) == 0;
}

/* Under the lock. */
static enum web_login begin_attempt(struct web_logins *l, struct attempt *a, const struct sockaddr *from,
				    const char *name)
{
	const struct web_user *u = web_users_find(l->users, name);
	uint8_t key[KEY_BYTES];
	struct source *s;

	a->user = u ? u - l->users->user : -1;
	if (is_known(l, a))
		return WEB_LOGIN_RIGHT;
	make_key(from, key);
	s = find_source(l, key);
	if (l->under_way >= UNDER_WAY_ALL || s->under_way >= UNDER_WAY_EACH)
		return WEB_LOGIN_BUSY;
	l->under_way++;
	s->under_way++;
	a->source = s;
	a->generation = l->generation;
	/* whoever is not there takes as long as somebody who is */
	memcpy(a->hash, u ? u->hash : l->users->user[0].hash, sizeof(a->hash));
	return WEB_LOGIN_WRONG;
}

static void tell_wrong(const struct sockaddr *from)
{
	char text[INET6_ADDRSTRLEN] = "?";

	if (from && from->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)from)->sin_addr, text, sizeof(text));
	else if (from && from->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)from)->sin6_addr, text, sizeof(text));
	sx_log(TOOLS, WARNING, "wrong user or password from %s", text);
}

/* Under the lock, which it leaves for as long as it sleeps. */
static void wait_wrong(struct web_logins *l)
{
	const int64_t until_ns = sx_now_ns() + DELAY_NS;
	const struct timespec until = {.tv_sec = until_ns / SX_NS_PER_S, .tv_nsec = until_ns % SX_NS_PER_S};

	while (!l->stopping && pthread_cond_timedwait(&l->stopped, &l->lock, &until) != ETIMEDOUT)
		continue;
}

static void end_attempt(struct web_logins *l, struct attempt *a, const struct sockaddr *from, bool right)
{
	pthread_mutex_lock(&l->lock);
	if (right && a->generation == l->generation) {
		memcpy(l->right[a->user], a->digest, DIGEST_BYTES);
	} else if (!right) {
		if (!a->source->wrong_ns || a->source->wrong_ns + QUIET_NS < sx_now_ns())
			tell_wrong(from);
		a->source->wrong_ns = sx_now_ns();
		wait_wrong(l);
	}
	a->source->under_way--;
	l->under_way--;
	pthread_mutex_unlock(&l->lock);
}

enum web_login web_login_check(struct web_logins *l, const struct sockaddr *from, const char *name,
			       const char *password)
{
	struct attempt a = {0};
	enum web_login login;
	bool right;

	make_digest(l, name, password, a.digest);
	pthread_mutex_lock(&l->lock);
	login = begin_attempt(l, &a, from, name);
	pthread_mutex_unlock(&l->lock);
	if (!a.source)
		return login;
	pthread_mutex_lock(&l->computing);
	/* a browser sends several requests at once */
	pthread_mutex_lock(&l->lock);
	right = a.generation == l->generation && is_known(l, &a);
	pthread_mutex_unlock(&l->lock);
	right = right || (web_password_matches(a.hash, password) && a.user >= 0);
	pthread_mutex_unlock(&l->computing);
	end_attempt(l, &a, from, right);
	explicit_bzero(&a, sizeof(a));
	return right ? WEB_LOGIN_RIGHT : WEB_LOGIN_WRONG;
}
