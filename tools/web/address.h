/*
 * Where stixel-web listens, by which names it may be asked, and how many connections each address may have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_ADDRESS_H
#define SX_TOOLS_WEB_ADDRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define WEB_ADDRESSES 4
#define WEB_HOSTS 8

struct web_address {
	struct sockaddr_storage socket;
	socklen_t bytes;
};

/*
 * "127.0.0.1:8470", "[::1]:8470", "localhost:8470", or a port alone for 127.0.0.1. Addresses are numeric: a
 * name would be looked up. Port 0: the system chooses. -EINVAL; why then says what is wanted instead.
 */
int web_address_parse(struct web_address *ret, const char *text, char *why, size_t why_bytes);

/*
 * Binds and listens; *address then has the port that was given.
 * Descriptor, or negative errno with a sentence.
 */
int web_address_listen(struct web_address *address, char *why, size_t why_bytes);

/* Who asks, as bounds count it: an IPv4 address, or the /64 of an IPv6 address, which one host has all of. */
#define WEB_KEY_BYTES 8
struct web_key {
	uint8_t byte[WEB_KEY_BYTES + 1]; /* the first: which family */
};
/* from: NULL is a key, too. */
struct web_key web_address_key(const struct sockaddr *from);
/* A numeric address without port; false: text is none. */
bool web_address_parse_key(const char *text, struct web_key *ret);

/* "127.0.0.1:8470", "[::1]:8470". */
void web_address_print(const struct web_address *address, char *text, size_t bytes);
bool web_address_is_loopback(const struct web_address *address);

/*
 * Names by which a browser may call us. A page elsewhere can make its own name point to this machine (DNS
 * rebinding) and would then count as ours: so names are refused that nobody told us. A numeric address cannot
 * be pointed elsewhere; it is taken when we listen there.
 */
struct web_hosts {
	const char *name[WEB_HOSTS];
	size_t names;
	const struct web_address *address;
	size_t addresses;
};

/* A name as --host takes it: letters, digits, '-' and '.', no port. */
bool web_host_check(const char *name);
/* host: a Host header, with or without port; NULL is refused. */
bool web_host_allowed(const struct web_hosts *hosts, const char *host);

/* ---- how many connections each address may have, so that others find a place ---- */

#define WEB_CONNECTIONS 96 /* at once, all listeners together; more are closed as they come */
#define WEB_CONNECTIONS_EACH (WEB_CONNECTIONS / 4)
#define WEB_PROXIES 4

/* Thread: any. */
struct web_share {
	pthread_mutex_t lock;
	struct web_key proxy[WEB_PROXIES]; /* they stand for many, and bound those themselves */
	size_t proxies;
	struct {
		struct web_key key;
		unsigned connections; /* 0: free */
	} of[WEB_CONNECTIONS + WEB_ADDRESSES];
};

/* proxy and proxies are the caller's, before. */
void web_share_init(struct web_share *s);
void web_share_finish(struct web_share *s);
/* Whether one more of this address may come. */
bool web_share_has_room(struct web_share *s, const struct sockaddr *from);
void web_share_join(struct web_share *s, const struct sockaddr *from);
void web_share_leave(struct web_share *s, const struct sockaddr *from);

#endif
