/*
 * Where stixel-web listens, and by which names it may be asked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_ADDRESS_H
#define SX_TOOLS_WEB_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
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

#endif
