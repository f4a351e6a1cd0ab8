/*
 * Addresses of stixel-web: where it listens, which host names it accepts, and how many connections each
 * client address may have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/web/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "tools/common/args.h"

enum { NAME_BYTES = 256 };

/* Parses a numeric address of either family, without port. */
static bool parse_numeric(struct web_address *ret, const char *text)
{
	struct sockaddr_in *four = (struct sockaddr_in *)&ret->socket;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&ret->socket;

	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		ret->bytes = sizeof(*four);
		return true;
	}
	if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1) {
		six->sin6_family = AF_INET6;
		ret->bytes = sizeof(*six);
		return true;
	}
	return false;
}

/*
 * Splits "NAME", "NAME:PORT", "[NAME]:PORT". *port is NULL without a port. False: the text has another form.
 */
static bool split(const char *text, char *name, size_t name_bytes, const char **port)
{
	const char *end = *text == '[' ? strchr(text, ']') : text + strcspn(text, ":");
	const char *start = *text == '[' ? text + 1 : text;

	if (!end || (size_t)(end - start) >= name_bytes)
		return false;
	memcpy(name, start, (size_t)(end - start));
	name[end - start] = '\0';
	end += *text == '[';
	*port = *end == ':' ? end + 1 : NULL;
	return *end == '\0' || *end == ':';
}

int web_address_parse(struct web_address *ret, const char *text, struct sx_why *why)
{
	const char *port_text = NULL;
	char name[NAME_BYTES];
	int port;

	if (sx_parse_int(text, 0, 65535, &port)) {
		snprintf(name, sizeof(name), "127.0.0.1");
	} else if (!split(text, name, sizeof(name), &port_text) || !port_text ||
		   !sx_parse_int(port_text, 0, 65535, &port))
		return sx_why_fail(-EINVAL, why, "needs ADDRESS:PORT, such as 127.0.0.1:8470 or [::1]:8470");
	if (!parse_numeric(ret, strcmp(name, "localhost") == 0 ? "127.0.0.1" : name))
		return sx_why_fail(-EINVAL, why,
				   "needs a numeric address before the port, such as 127.0.0.1 or [::1]");
	if (ret->socket.ss_family == AF_INET)
		((struct sockaddr_in *)&ret->socket)->sin_port = htons((uint16_t)port);
	else
		((struct sockaddr_in6 *)&ret->socket)->sin6_port = htons((uint16_t)port);
	return 0;
}

struct web_key web_address_key(const struct sockaddr *from)
{
	struct web_key key = {{0}};

	if (from && from->sa_family == AF_INET) {
		key.byte[0] = 4;
		memcpy(key.byte + 1, &((const struct sockaddr_in *)from)->sin_addr, 4);
	} else if (from && from->sa_family == AF_INET6) {
		key.byte[0] = 6;
		memcpy(key.byte + 1, &((const struct sockaddr_in6 *)from)->sin6_addr, WEB_KEY_BYTES);
	}
	return key;
}

bool web_address_parse_key(const char *text, struct web_key *ret)
{
	struct web_address numeric;

	if (!parse_numeric(&numeric, text))
		return false;
	*ret = web_address_key((const struct sockaddr *)&numeric.socket);
	return true;
}

int web_address_listen(struct web_address *address, struct sx_why *why)
{
	struct sockaddr *socket_address = (struct sockaddr *)&address->socket;
	int fd, r, on = 1;
	char text[80];

	fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		goto fail;
	/* a restart must not wait for old connections to end */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    (address->socket.ss_family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0))
		goto fail;
	if (bind(fd, socket_address, address->bytes) < 0 || listen(fd, SOMAXCONN) < 0 ||
	    getsockname(fd, socket_address, &address->bytes) < 0)
		goto fail;
	return fd;
fail:
	r = -errno;
	web_address_print(address, text, sizeof(text));
	sx_why_set(why, "cannot listen on %s: %s%s", text, strerror(-r),
		   r == -EADDRINUSE ? "; --listen takes another port" : "");
	if (fd >= 0)
		close(fd);
	return r;
}

void web_address_print(const struct web_address *address, char *text, size_t bytes)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)&address->socket;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&address->socket;
	char name[INET6_ADDRSTRLEN] = "?";

	if (address->socket.ss_family == AF_INET) {
		inet_ntop(AF_INET, &four->sin_addr, name, sizeof(name));
		snprintf(text, bytes, "%s:%u", name, ntohs(four->sin_port));
	} else {
		inet_ntop(AF_INET6, &six->sin6_addr, name, sizeof(name));
		snprintf(text, bytes, "[%s]:%u", name, ntohs(six->sin6_port));
	}
}

bool web_address_is_loopback(const struct web_address *address)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)&address->socket;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&address->socket;

	if (address->socket.ss_family == AF_INET)
		return ntohl(four->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

static bool is_wildcard(const struct web_address *address)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)&address->socket;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&address->socket;

	if (address->socket.ss_family == AF_INET)
		return four->sin_addr.s_addr == htonl(INADDR_ANY);
	return IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr);
}

static bool same_host(const struct web_address *a, const struct web_address *b)
{
	if (a->socket.ss_family != b->socket.ss_family)
		return false;
	if (a->socket.ss_family == AF_INET)
		return ((const struct sockaddr_in *)&a->socket)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)&b->socket)->sin_addr.s_addr;
	return IN6_ARE_ADDR_EQUAL(&((const struct sockaddr_in6 *)&a->socket)->sin6_addr,
				  &((const struct sockaddr_in6 *)&b->socket)->sin6_addr);
}

bool web_host_check(const char *name)
{
	size_t n = strlen(name);

	if (n < 1 || n > 253)
		return false;
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '-' && *c != '.')
			return false;
	return true;
}

bool web_host_allowed(const struct web_hosts *hosts, const char *host)
{
	struct web_address numeric;
	char name[NAME_BYTES];
	const char *port;
	int number;

	if (!host || !split(host, name, sizeof(name), &port) ||
	    (port && !sx_parse_int(port, 1, 65535, &number)))
		return false;
	if (strcasecmp(name, "localhost") == 0)
		return true;
	for (size_t i = 0; i < hosts->names; i++)
		if (strcasecmp(name, hosts->name[i]) == 0)
			return true;
	if (!parse_numeric(&numeric, name))
		return false;
	if (web_address_is_loopback(&numeric))
		return true;
	for (size_t i = 0; i < hosts->addresses; i++)
		if (is_wildcard(&hosts->address[i]) || same_host(&hosts->address[i], &numeric))
			return true;
	return false;
}

/* ---- connections per address ---- */

static bool same_key(const struct web_key *a, const struct web_key *b)
{
	return memcmp(a->byte, b->byte, sizeof(a->byte)) == 0;
}

/*
 * Returns the counter of this key; call with the lock held. NULL: the key has none, and with make there is no
 * room for one.
 */
static unsigned *count_of(struct web_share *s, const struct web_key *key, bool make)
{
	const size_t count = sizeof(s->of) / sizeof(s->of[0]);
	size_t unused = count;

	for (size_t i = 0; i < count; i++) {
		if (s->of[i].connections && same_key(&s->of[i].key, key))
			return &s->of[i].connections;
		if (!s->of[i].connections)
			unused = i;
	}
	if (!make || unused == count)
		return NULL;
	s->of[unused].key = *key;
	return &s->of[unused].connections;
}

void web_share_init(struct web_share *s)
{
	memset(s->of, 0, sizeof(s->of));
	pthread_mutex_init(&s->lock, NULL);
}

void web_share_finish(struct web_share *s)
{
	pthread_mutex_destroy(&s->lock);
}

bool web_share_has_room(struct web_share *s, const struct sockaddr *from)
{
	const struct web_key key = web_address_key(from);
	const unsigned *n;
	bool has;

	for (size_t i = 0; i < s->proxies; i++)
		if (same_key(&s->proxy[i], &key))
			return true;
	pthread_mutex_lock(&s->lock);
	n = count_of(s, &key, false);
	has = !n || *n < WEB_CONNECTIONS_EACH;
	pthread_mutex_unlock(&s->lock);
	return has;
}

void web_share_join(struct web_share *s, const struct sockaddr *from)
{
	const struct web_key key = web_address_key(from);
	unsigned *n;

	pthread_mutex_lock(&s->lock);
	n = count_of(s, &key, true);
	if (n)
		++*n;
	pthread_mutex_unlock(&s->lock);
}

void web_share_leave(struct web_share *s, const struct sockaddr *from)
{
	const struct web_key key = web_address_key(from);
	unsigned *n;

	pthread_mutex_lock(&s->lock);
	n = count_of(s, &key, false);
	if (n)
		--*n;
	pthread_mutex_unlock(&s->lock);
}
