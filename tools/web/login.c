/*
 * Checks the passwords of requests.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "tools/web/address.h"

enum {
	SOURCES = 2 * WEB_CONNECTIONS, /* remembered addresses: more than there can be tries */
	/* tries of one address under way at a time; a browser opens six connections */
	UNDER_WAY_EACH = 8,
	DIGEST_BYTES = 32 /* bytes of a SHA-256 */
};

#define DELAY_NS SX_NS_PER_S
#define QUIET_NS (60 * SX_NS_PER_S) /* minimum time between two log lines about one address, ns */

struct source {
	struct web_key key;
	unsigned tries;	    /* number of tries that wait or are under way */
	unsigned under_way; /* number of tries being computed, or wrong and not yet answered */
	uint64_t turn;	    /* turn number; the lowest comes next */
	int64_t wrong_ns;   /* time of the last wrong try; 0: none */
};

/* A password whose hash must be computed, or whose known digest makes this unnecessary. */
struct attempt {
	struct attempt *next;  /* next waiting attempt, which came later */
	struct source *source; /* NULL: no hash must be computed */
	uint64_t generation;
	ptrdiff_t user;	  /* -1: no user has this name */
	int64_t until_ns; /* time of the answer if the password is wrong */
	uint8_t digest[DIGEST_BYTES];
	char hash[WEB_HASH_BYTES];
};

struct web_logins {
	pthread_mutex_t lock;	/* protects all members */
	pthread_cond_t changed; /* an attempt's turn may have come, or the server stops */
	bool stopping;
	bool computing;		 /* one hash is computed at a time, because the camera needs the processor */
	struct attempt *waiting; /* attempts in order of arrival */
	uint64_t turn;		 /* turn of the address that was admitted last */
	struct web_users *users;
	uint64_t generation; /* version of users */
	/* digests of names and passwords that were right, in the order of users; all zero: not yet */
	uint8_t right[WEB_USERS][DIGEST_BYTES];
	uint8_t digest_key[DIGEST_BYTES]; /* random key of this process */
	struct source source[SOURCES];
};

struct web_logins *web_logins_create(struct web_users *users)
{
	struct web_logins *l = calloc(1, sizeof(*l));

	if (!l || gnutls_rnd(GNUTLS_RND_KEY, l->digest_key, sizeof(l->digest_key)) < 0) {
		free(l);
		web_users_destroy(users);
		return NULL;
	}
	pthread_mutex_init(&l->lock, NULL);
	sx_cond_init(&l->changed);
	l->users = users;
	return l;
}

void web_logins_destroy(struct web_logins *l)
{
	if (!l)
		return;
	web_users_destroy(l->users);
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->lock);
	explicit_bzero(l, sizeof(*l));
	free(l);
}

void web_logins_stop(struct web_logins *l)
{
	pthread_mutex_lock(&l->lock);
	l->stopping = true;
	pthread_cond_broadcast(&l->changed);
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

/*
 * Returns the entry of this address. If there is none, reuses the entry without tries whose last wrong try is
 * the oldest. NULL: all entries have tries. Call with the lock held.
 */
static struct source *find_source(struct web_logins *l, const struct sockaddr *from)
{
	const struct web_key key = web_address_key(from);
	struct source *oldest = NULL;

	for (int i = 0; i < SOURCES; i++) {
		struct source *s = &l->source[i];

		if ((s->tries || s->wrong_ns) && memcmp(&s->key, &key, sizeof(key)) == 0)
			return s;
		if (!s->tries && (!oldest || s->wrong_ns < oldest->wrong_ns))
			oldest = s;
	}
	if (oldest)
		*oldest = (struct source){.key = key};
	return oldest;
}

/* Returns true if the password was right before. Call with the lock held. */
static bool is_known(const struct web_logins *l, const struct attempt *a)
{
	static const uint8_t none[DIGEST_BYTES];
	const uint8_t *right = a->user < 0 ? none : l->right[a->user];

	return gnutls_memcmp(right, none, DIGEST_BYTES) != 0 &&
	       gnutls_memcmp(right, a->digest, DIGEST_BYTES) == 0;
}

/*
 * Looks up the user in the present list. Returns true if the password was right before. Call with the lock
 * held.
 */
static bool look_up(struct web_logins *l, struct attempt *a, const char *name)
{
	const struct web_user *u = web_users_find(l->users, name);

	a->user = u ? u - l->users->user : -1;
	a->generation = l->generation;
	/*
	 * An unknown name gets the hash that takes longest, so that the time of an answer does not reveal
	 * which names exist.
	 */
	snprintf(a->hash, sizeof(a->hash), "%s", (u ? u : &l->users->user[l->users->costliest])->hash);
	return is_known(l, a);
}

/*
 * Returns the attempt whose turn it is. Addresses take turns, however many tries each has. Within an address
 * the first attempt to arrive goes first. Call with the lock held.
 */
static const struct attempt *find_next(const struct web_logins *l)
{
	const struct attempt *best = NULL;

	for (const struct attempt *a = l->waiting; a; a = a->next)
		if (a->source->under_way < UNDER_WAY_EACH && (!best || a->source->turn < best->source->turn))
			best = a;
	return best;
}

static void leave_queue(struct web_logins *l, const struct attempt *a)
{
	struct attempt **at = &l->waiting;

	while (*at && *at != a)
		at = &(*at)->next;
	if (*at)
		*at = a->next;
}

static void join_queue(struct web_logins *l, struct attempt *a)
{
	struct attempt **at = &l->waiting;

	/* an address that was idle has no saved turns, and a new address does not overtake waiting ones */
	if (a->source->turn <= l->turn)
		a->source->turn = l->turn + 1;
	while (*at)
		at = &(*at)->next;
	*at = a;
}

/*
 * Waits for the attempt's turn. Call with the lock held; it is released while waiting. True: the caller must
 * compute the hash now. False: *known says whether the password has become known meanwhile, or the server
 * stops.
 */
static bool wait_turn(struct web_logins *l, struct attempt *a, const char *name, bool *known)
{
	bool mine;

	join_queue(l, a);
	for (;;) {
		*known = look_up(l, a,
				 name); /* a browser sends several requests at once, and users may change */
		mine = !*known && !l->stopping && !l->computing && find_next(l) == a;
		if (*known || l->stopping || mine)
			break;
		pthread_cond_wait(&l->changed, &l->lock);
	}
	leave_queue(l, a);
	if (mine) {
		l->computing = true;
		l->turn = a->source->turn++;
		a->source->under_way++;
		a->until_ns = sx_now_ns() + DELAY_NS + l->users->costliest_ns;
	} else {
		pthread_cond_broadcast(&l->changed);
	}
	return mine;
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

/*
 * Waits until the answer to a wrong password is due. Call with the lock held; it is released while sleeping.
 * The waiting time does not depend on the computed hash, because that would reveal which users exist.
 */
static void wait_wrong(struct web_logins *l, const struct attempt *a)
{
	const struct timespec until = {.tv_sec = a->until_ns / SX_NS_PER_S,
				       .tv_nsec = a->until_ns % SX_NS_PER_S};

	while (!l->stopping && pthread_cond_timedwait(&l->changed, &l->lock, &until) != ETIMEDOUT)
		continue;
}

/* Ends an attempt. Call with the lock held. */
static void end_attempt(struct web_logins *l, struct attempt *a, const struct sockaddr *from, bool right)
{
	l->computing = false;
	pthread_cond_broadcast(&l->changed);
	if (right && a->generation == l->generation) {
		memcpy(l->right[a->user], a->digest, DIGEST_BYTES);
	} else if (!right) {
		if (!a->source->wrong_ns || a->source->wrong_ns + QUIET_NS < sx_now_ns())
			tell_wrong(from);
		a->source->wrong_ns = sx_now_ns();
		wait_wrong(l, a);
	}
	a->source->under_way--;
	pthread_cond_broadcast(&l->changed);
}

/* Runs one attempt. Call with the lock held; it is released while waiting and computing. */
static bool login_try(struct web_logins *l, struct attempt *a, const struct sockaddr *from, const char *name,
		      const char *password)
{
	bool right = false;

	a->source = find_source(l, from);
	if (!a->source)
		return false;
	a->source->tries++;
	if (wait_turn(l, a, name, &right)) {
		pthread_mutex_unlock(&l->lock);
		right = web_password_matches(a->hash, password) && a->user >= 0;
		pthread_mutex_lock(&l->lock);
		end_attempt(l, a, from, right);
	}
	a->source->tries--;
	return right;
}

bool web_login_check(struct web_logins *l, const struct sockaddr *from, const char *name,
		     const char *password)
{
	struct attempt a = {0};
	bool right;

	make_digest(l, name, password, a.digest);
	pthread_mutex_lock(&l->lock);
	right = look_up(l, &a, name) || login_try(l, &a, from, name, password);
	pthread_mutex_unlock(&l->lock);
	explicit_bzero(&a, sizeof(a));
	return right;
}
