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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "tools/web/address.h"

enum {
	SOURCES = 2 * WEB_CONNECTIONS, /* addresses that are remembered: more than there can be tries */
	UNDER_WAY_EACH = 8,	       /* of one address: a browser has six connections */
	DIGEST_BYTES = 32	       /* of SHA-256 */
};

#define DELAY_NS SX_NS_PER_S
#define QUIET_NS (60 * SX_NS_PER_S) /* one line in the log for an address that goes on */

struct source {
	struct web_key key;
	unsigned tries;	    /* that wait or are under way */
	unsigned under_way; /* computed, or wrong and not yet answered */
	uint64_t turn;	    /* when it comes: the least first */
	int64_t wrong_ns;   /* the last wrong try; 0: none */
};

/* A password that has to be computed, or the digest that made this unnecessary. */
struct attempt {
	struct attempt *next;  /* that came later and waits, too */
	struct source *source; /* NULL: none has to be computed */
	uint64_t generation;
	ptrdiff_t user;	  /* -1: no user has this name */
	int64_t until_ns; /* a wrong one is answered then */
	uint8_t digest[DIGEST_BYTES];
	char hash[WEB_HASH_BYTES];
};

struct web_logins {
	pthread_mutex_t lock;	/* over all of it */
	pthread_cond_t changed; /* somebody's turn may have come, or it stops */
	bool stopping;
	bool computing;		 /* one hash at a time: the camera needs the processor */
	struct attempt *waiting; /* in the order in which they came */
	uint64_t turn;		 /* of the address that was let in last */
	struct web_users *users;
	uint64_t generation; /* of users */
	/* of name and password that were right, in the order of users; all zero: not yet */
	uint8_t right[WEB_USERS][DIGEST_BYTES];
	uint8_t digest_key[DIGEST_BYTES]; /* of this process alone */
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

/* Under the lock: the place of this address, or the one whose last try is longest ago. */
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

/* Under the lock: it was right before. */
static bool is_known(const struct web_logins *l, const struct attempt *a)
{
	static const uint8_t none[DIGEST_BYTES];
	const uint8_t *right = a->user < 0 ? none : l->right[a->user];

	return gnutls_memcmp(right, none, DIGEST_BYTES) != 0 &&
	       gnutls_memcmp(right, a->digest, DIGEST_BYTES) == 0;
}

/* Under the lock: takes the user as of now. True: the password was right before. */
static bool look_up(struct web_logins *l, struct attempt *a, const char *name)
{
	const struct web_user *u = web_users_find(l->users, name);

	a->user = u ? u - l->users->user : -1;
	a->generation = l->generation;
	/*
	 * of a name that is not there the hash that takes longest: no answer comes sooner for being right
	 * there
	 */
	snprintf(a->hash, sizeof(a->hash), "%s", (u ? u : &l->users->user[l->users->costliest])->hash);
	return is_known(l, a);
}

/*
 * Under the lock: whose turn it is. Addresses come by turns, however many tries each has; of one address the
 * first that came.
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

	/* one that was away has not saved up turns, and one that comes anew does not pass those that wait */
	if (a->source->turn <= l->turn)
		a->source->turn = l->turn + 1;
	while (*at)
		at = &(*at)->next;
	*at = a;
}

/*
 * Under the lock, which it leaves while it waits for its turn. True: to be computed now, by the caller. Else
 * *known says whether the password has become known meanwhile; or the server stops.
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
 * Under the lock, which it leaves for as long as it sleeps. The time does not depend on whose hash was
 * computed: it would tell who is there.
 */
static void wait_wrong(struct web_logins *l, const struct attempt *a)
{
	const struct timespec until = {.tv_sec = a->until_ns / SX_NS_PER_S,
				       .tv_nsec = a->until_ns % SX_NS_PER_S};

	while (!l->stopping && pthread_cond_timedwait(&l->changed, &l->lock, &until) != ETIMEDOUT)
		continue;
}

/* Under the lock. */
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

/* Under the lock, which it leaves while it waits and computes. */
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
