/*
 * The certificate by which stixel-web proves who it is, and its private key. libmicrohttpd speaks TLS, by
 * GnuTLS; here is what it asks for at each handshake, so that another certificate can take over while it
 * serves.
 *
 * One for the process: GnuTLS hands its callback no pointer of ours.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_CERTIFICATE_H
#define SX_TOOLS_WEB_CERTIFICATE_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define WEB_CERTIFICATE_OPTIONS 3

/*
 * Reads a chain, the own certificate first, and its key, both PEM, and takes them for handshakes from now
 * on.
 *
 * Negative errno and a sentence, and what was there before stays: as web_secret_read(), which keeps to the
 * key; -EBADMSG: one of them is none, they do not belong together, or it has expired; -ENOTSUP: built
 * without GnuTLS, or libmicrohttpd was. One that is not valid yet is taken: boards without a battery wake up
 * in the past.
 */
int web_certificate_load(const char *certificate, const char *key, char *why, size_t why_bytes);
/* What MHD_start_daemon() has to be told beside MHD_USE_TLS. */
void web_certificate_options(struct MHD_OptionItem to[WEB_CERTIFICATE_OPTIONS]);
/* When it is valid. False: there is none. */
bool web_certificate_times(time_t *begins, time_t *ends);
/* Once a second: gives back those that no handshake can be using any more. */
void web_certificate_tick(void);
/* No handshake runs. */
void web_certificate_finish(void);

#endif
