/*
 * One HTTP GET or POST over a Unix socket: how stixelctl asks a daemon for its status.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_COMMON_HTTP_GET_H
#define SX_TOOLS_COMMON_HTTP_GET_H

#include <stddef.h>

/*
 * Asks the server at socket_path for target ("/status"). Returns the HTTP status code (200, 404, 503, ...)
 * and the body, malloc'ed and zero-terminated, for the caller to free; or negative errno and a sentence in
 * why: -ENOENT, -ECONNREFUSED nobody listens, -ETIMEDOUT no answer within timeout_ms, -EMSGSIZE more than 1
 * MiB, -EPROTO not HTTP, a chunked answer, or an answer cut short.
 */
int sx_http_get(const char *socket_path, const char *target, int timeout_ms, char **body, char *why,
		size_t why_bytes);
/* The same with POST; text: the body. */
int sx_http_post(const char *socket_path, const char *target, const char *text, int timeout_ms, char **body,
		 char *why, size_t why_bytes);

#endif
