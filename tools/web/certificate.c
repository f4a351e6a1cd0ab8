/*
 * Handles the TLS certificate and its key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/web/certificate.h"

#include <errno.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "tools/web/secret.h"
#include "tools/web/server.h"

enum { CHAIN_MOST = 16 };

/* Time after which a handshake that began with an old certificate has ended or was cut off. */
#define USED_NS (6 * WEB_CLIENT_TIMEOUT_S * SX_NS_PER_S)

struct certificate {
	gnutls_pcert_st chain[CHAIN_MOST];
	unsigned count;
	gnutls_privkey_t key;
	time_t begins, ends;
	int64_t replaced_ns;
	struct certificate *next; /* older */
};

static struct {
	pthread_mutex_t lock;
	struct certificate *newest;
} certificates = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void certificate_destroy(struct certificate *c)
{
	for (unsigned i = 0; i < c->count; i++)
		gnutls_pcert_deinit(&c->chain[i]);
	if (c->key)
		gnutls_privkey_deinit(c->key);
	free(c);
}

/* Gives the certificate to a handshake, without copying it. Thread: the handshake's. */
static int retrieve(gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count,
		    const gnutls_pk_algorithm_t *algorithms, int algorithm_count, gnutls_pcert_st **chain,
		    unsigned *count, gnutls_privkey_t *key)
{
	const struct certificate *c;

	pthread_mutex_lock(&certificates.lock);
	c = certificates.newest;
	pthread_mutex_unlock(&certificates.lock);
	*chain = (gnutls_pcert_st *)(uintptr_t)c->chain;
	*count = c->count;
	*key = c->key;
	return 0;
}

void web_certificate_options(struct MHD_OptionItem to[WEB_CERTIFICATE_OPTIONS])
{
	static char versions[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
	const union {
		gnutls_certificate_retrieve_function2 *function;
		void *pointer;
	} callback = {.function = retrieve};

	to[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_CERT_CALLBACK, 0, callback.pointer};
	to[1] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, versions};
	to[2] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
}

static gnutls_datum_t datum_of(const struct web_secret *file)
{
	return (gnutls_datum_t){.data = (unsigned char *)file->text, .size = (unsigned)file->bytes};
}

/* Imports the certificate chain. Returns 0 or an error of GnuTLS. */
static int take_chain(struct certificate *c, const struct web_secret *file)
{
	gnutls_x509_crt_t list[CHAIN_MOST];
	const gnutls_datum_t pem = datum_of(file);
	unsigned count = CHAIN_MOST;
	int r = gnutls_x509_crt_list_import(list, &count, &pem, GNUTLS_X509_FMT_PEM,
					    GNUTLS_X509_CRT_LIST_IMPORT_FAIL_IF_EXCEED);

	if (r < 0)
		return r;
	c->begins = gnutls_x509_crt_get_activation_time(list[0]);
	c->ends = gnutls_x509_crt_get_expiration_time(list[0]);
	for (unsigned i = 0; i < count; i++) {
		r = r < 0 ? r : gnutls_pcert_import_x509(&c->chain[i], list[i], 0);
		c->count += r >= 0;
		gnutls_x509_crt_deinit(list[i]);
	}
	return r < 0 ? r : 0;
}

/* Imports the private key. Returns 0 or an error of GnuTLS. */
static int take_key(struct certificate *c, const struct web_secret *file)
{
	const gnutls_datum_t pem = datum_of(file);
	int r = gnutls_privkey_init(&c->key);

	return r < 0 ? r : gnutls_privkey_import_x509_raw(c->key, &pem, GNUTLS_X509_FMT_PEM, NULL, 0);
}

/* Checks that chain and key belong together. Returns 0 or an error of GnuTLS. */
static int check_pair(const struct web_secret *chain, const struct web_secret *key)
{
	const gnutls_datum_t chain_pem = datum_of(chain), key_pem = datum_of(key);
	gnutls_certificate_credentials_t both;
	int r = gnutls_certificate_allocate_credentials(&both);

	if (r < 0)
		return r;
	r = gnutls_certificate_set_x509_key_mem(both, &chain_pem, &key_pem, GNUTLS_X509_FMT_PEM);
	gnutls_certificate_free_credentials(both);
	return r < 0 ? r : 0;
}

static int certificate_wrong(struct sx_why *why, const char *path, const char *what, int error)
{
	return sx_why_fail(-EBADMSG, why, "%s: %s: %s", path, what, gnutls_strerror(error));
}

static int check_end(const struct certificate *c, const char *path, struct sx_why *why)
{
	struct tm ends;
	char text[40];

	if (c->ends >= time(NULL))
		return 0;
	gmtime_r(&c->ends, &ends);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &ends);
	return sx_why_fail(-EBADMSG, why, "%s: the certificate expired on %s UTC", path, text);
}

static int certificate_fill(struct certificate *c, const char *certificate, const char *key,
			    struct sx_why *why)
{
	struct web_secret chain_file, key_file = {0};
	int error, r = web_secret_read(&chain_file, certificate, false, why);

	if (r == 0)
		r = web_secret_read(&key_file, key, true, why);
	if (r < 0)
		goto end;
	if ((error = take_chain(c, &chain_file)) < 0)
		r = certificate_wrong(why, certificate, "no certificate as PEM", error);
	else if ((error = take_key(c, &key_file)) < 0)
		r = certificate_wrong(why, key, "no private key as PEM, without a password", error);
	else if ((error = check_pair(&chain_file, &key_file)) < 0)
		r = certificate_wrong(why, key, "not the key of the certificate", error);
	else
		r = check_end(c, certificate, why);
end:
	web_secret_finish(&chain_file);
	web_secret_finish(&key_file);
	return r;
}

int web_certificate_load(const char *certificate, const char *key, struct sx_why *why)
{
	struct certificate *c;
	int r;

	if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
		return sx_why_fail(-ENOTSUP, why, "--certificate: libmicrohttpd was built without TLS");
	c = calloc(1, sizeof(*c));
	if (!c)
		return sx_why_fail(-ENOMEM, why, "out of memory");
	r = certificate_fill(c, certificate, key, why);
	if (r < 0) {
		certificate_destroy(c);
		return r;
	}
	pthread_mutex_lock(&certificates.lock);
	if (certificates.newest)
		certificates.newest->replaced_ns = sx_now_ns();
	c->next = certificates.newest;
	certificates.newest = c;
	pthread_mutex_unlock(&certificates.lock);
	return 0;
}

bool web_certificate_times(time_t *begins, time_t *ends)
{
	const struct certificate *c;

	pthread_mutex_lock(&certificates.lock);
	c = certificates.newest;
	if (c) {
		*begins = c->begins;
		*ends = c->ends;
	}
	pthread_mutex_unlock(&certificates.lock);
	return c != NULL;
}

void web_certificate_tick(void)
{
	struct certificate **at, *old = NULL;

	pthread_mutex_lock(&certificates.lock);
	at = certificates.newest ? &certificates.newest->next : &old;
	while (*at && (*at)->replaced_ns + USED_NS > sx_now_ns())
		at = &(*at)->next;
	/* free this certificate and all following ones, which are older */
	old = *at;
	*at = NULL;
	pthread_mutex_unlock(&certificates.lock);
	while (old) {
		struct certificate *next = old->next;

		certificate_destroy(old);
		old = next;
	}
}

void web_certificate_finish(void)
{
	struct certificate *next;

	for (struct certificate *c = certificates.newest; c; c = next) {
		next = c->next;
		certificate_destroy(c);
	}
	certificates.newest = NULL;
}
