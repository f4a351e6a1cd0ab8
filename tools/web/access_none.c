/*
 * Replaces login.c, users.c and certificate.c if libcrypt or GnuTLS is missing: options for passwords and
 * certificates are refused with a message.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>

#include "tools/web/certificate.h"
#include "tools/web/login.h"

static int refuse(const char *option, struct sx_why *why)
{
	return sx_why_fail(-ENOTSUP, why, "%s: this stixel-web was built without libcrypt and GnuTLS",
			   option);
}

int web_users_read(struct web_users **ret, const char *path, struct sx_why *why)
{
	return refuse("--password-file", why);
}

void web_users_destroy(struct web_users *u)
{
}

struct web_logins *web_logins_create(struct web_users *users)
{
	return NULL;
}

void web_logins_destroy(struct web_logins *l)
{
}

void web_logins_stop(struct web_logins *l)
{
}

void web_logins_replace(struct web_logins *l, struct web_users *users)
{
}

bool web_login_check(struct web_logins *l, const struct sockaddr *from, const char *name,
		     const char *password)
{
	return false;
}

int web_certificate_load(const char *certificate, const char *key, struct sx_why *why)
{
	return refuse("--certificate", why);
}

void web_certificate_options(struct MHD_OptionItem to[WEB_CERTIFICATE_OPTIONS])
{
	to[0] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
}

bool web_certificate_times(time_t *begins, time_t *ends)
{
	return false;
}

void web_certificate_tick(void)
{
}

void web_certificate_finish(void)
{
}
