/*
 * Handles the TLS certificate of stixel-web and its private key. libmicrohttpd implements TLS with GnuTLS and
 * asks for the certificate at each handshake. So a new certificate can replace the old one while the server
 * runs.
 *
 * The process has one certificate, because GnuTLS passes no user pointer to its callback.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_CERTIFICATE_H
#define SX_TOOLS_WEB_CERTIFICATE_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/why.h"

#define WEB_CERTIFICATE_OPTIONS 3

/*
 * Reads a certificate chain, the server's certificate first, and its key, both PEM. Uses them for handshakes
 * from now on.
 *
 * On an error returns a negative errno with a sentence in why, and keeps the old certificate. Errors are
 * those of web_secret_read(), where only the key must be unreadable for other users; -EBADMSG: a file has no
 * certificate or key, they do not belong together, or the certificate has expired; -ENOTSUP: stixel-web or
 * libmicrohttpd was built without GnuTLS. A certificate that is not valid yet is accepted, because boards
 * without a battery start with a date in the past.
 */
int web_certificate_load(const char *certificate, const char *key, struct sx_why *why);
/* Fills the options that MHD_start_daemon() needs beside MHD_USE_TLS. */
void web_certificate_options(struct MHD_OptionItem to[WEB_CERTIFICATE_OPTIONS]);
/* Returns the period of validity. False: there is no certificate. */
bool web_certificate_times(time_t *begins, time_t *ends);
/* Frees old certificates that no handshake can use any more. Call once per second. */
void web_certificate_tick(void);
/* Frees all certificates. Call when no handshake runs. */
void web_certificate_finish(void);

#endif
