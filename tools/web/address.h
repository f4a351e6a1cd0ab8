/*
 * Addresses of stixel-web: where it listens, which host names it accepts, and how many connections each
 * client address may have.
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

#include "base/why.h"

#define WEB_ADDRESSES 4
#define WEB_HOSTS 8

struct web_address {
	struct sockaddr_storage socket;
	socklen_t bytes;
};

/*
 * Parses "127.0.0.1:8470", "[::1]:8470", "localhost:8470", or a port alone for 127.0.0.1. Other addresses
 * must be numeric, so that no name is looked up. Port 0: the system chooses. Returns -EINVAL for other text;
 * why then names the expected form.
 */
int web_address_parse(struct web_address *ret, const char *text, struct sx_why *why);

/*
 * Binds and listens. Sets the port in *address if the system chose it. Returns a descriptor, or a negative
 * errno with a sentence in why.
 */
int web_address_listen(struct web_address *address, struct sx_why *why);

/*
 * Client address as the limits count it: an IPv4 address, or the /64 of an IPv6 address, because one host has
 * the whole /64.
 */
#define WEB_KEY_BYTES 8
struct web_key {
	uint8_t byte[WEB_KEY_BYTES + 1]; /* the first byte: the address family */
};
/* Returns the key of an address. from NULL has a key too. */
struct web_key web_address_key(const struct sockaddr *from);
/* Parses a numeric address without port. False: text is not such an address. */
bool web_address_parse_key(const char *text, struct web_key *ret);

/* Writes "127.0.0.1:8470" or "[::1]:8470". */
void web_address_print(const struct web_address *address, char *text, size_t bytes);
bool web_address_is_loopback(const struct web_address *address);

/*
 * Host names by which a browser may call stixel-web. A foreign page can make its own name point to this
 * machine (DNS rebinding), and the browser would then treat it as a page of stixel-web. So only configured
 * names are accepted. A numeric address cannot be redirected; it is accepted if stixel-web listens there.
 */
struct web_hosts {
	const char *name[WEB_HOSTS];
	size_t names;
	const struct web_address *address;
	size_t addresses;
};

/* Checks a name for --host: letters, digits, '-' and '.', no port. */
bool web_host_check(const char *name);
/* Returns true if the Host header is allowed, with or without port. NULL is refused. */
bool web_host_allowed(const struct web_hosts *hosts, const char *host);

/* ---- limits the connections of each client address, so that no client can take all connections ---- */

#define WEB_CONNECTIONS 96 /* limit for all listeners together; further connections are closed on arrival */
#define WEB_CONNECTIONS_EACH (WEB_CONNECTIONS / 4)
#define WEB_PROXIES 4

/* Connections per address. Thread: any. */
struct web_share {
	pthread_mutex_t lock;
	struct web_key proxy[WEB_PROXIES]; /* each proxy limits its many clients */
	size_t proxies;
	struct {
		struct web_key key;
		unsigned connections; /* 0: this entry is free */
	} of[WEB_CONNECTIONS + WEB_ADDRESSES];
};

/* The caller sets proxy and proxies before this call. */
void web_share_init(struct web_share *s);
void web_share_finish(struct web_share *s);
/* Returns true if this address may open one more connection. */
bool web_share_has_room(struct web_share *s, const struct sockaddr *from);
void web_share_join(struct web_share *s, const struct sockaddr *from);
void web_share_leave(struct web_share *s, const struct sockaddr *from);

#endif
