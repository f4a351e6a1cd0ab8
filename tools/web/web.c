/*
 * Command line of stixel-web.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "config/cli/usage.h"
#include "ipc/instance.h"
#include "tools/web/certificate.h"
#include "tools/web/recordings/recordings.h"
#include "tools/web/server.h"

#define SX_PROGRAM "stixel-web"
#define DEFAULT_LISTEN "127.0.0.1:8470"

struct web_options {
	struct web_names only;
	struct web_hosts hosts;
	struct web_address address[WEB_ADDRESSES];
	size_t addresses;
	struct web_key proxy[WEB_PROXIES];
	size_t proxies;
	const char *password_file, *certificate, *key, *recordings;
	int quality, recordings_mb;
	bool tune;
};

/* Server with its stored answers and connections, which are too large for a stack. */
static struct web_server server;

static int web_fail(int code, const char *text)
{
	fprintf(stderr, SX_PROGRAM ": %s\n", text);
	return code;
}

static bool take_instance(void *target, const char *text, struct sx_why *why)
{
	struct web_names *only = &((struct web_options *)target)->only;

	if (sx_instance_check(text, NULL) < 0)
		sx_why_set(why, "needs up to 64 letters, digits, \"_\", \".\" and \"-\", no dot at first");
	else if (only->count == WEB_INSTANCES)
		sx_why_set(why, "may be given %d times", WEB_INSTANCES);
	else {
		if (only->count == 0 || !web_ask_may(only, text))
			snprintf(only->name[only->count++], WEB_NAME_BYTES, "%s", text);
		return true;
	}
	return false;
}

static bool take_listen(void *target, const char *text, struct sx_why *why)
{
	struct web_options *o = target;

	if (o->addresses == WEB_ADDRESSES) {
		sx_why_set(why, "may be given %d times", WEB_ADDRESSES);
		return false;
	}
	if (web_address_parse(&o->address[o->addresses], text, why) < 0)
		return false;
	o->addresses++;
	return true;
}

static bool take_host(void *target, const char *text, struct sx_why *why)
{
	struct web_hosts *hosts = &((struct web_options *)target)->hosts;

	if (hosts->names == WEB_HOSTS)
		sx_why_set(why, "may be given %d times", WEB_HOSTS);
	else if (!web_host_check(text))
		sx_why_set(why, "needs a name without port, such as robot.local");
	else {
		hosts->name[hosts->names++] = text;
		return true;
	}
	return false;
}

static bool take_proxy(void *target, const char *text, struct sx_why *why)
{
	struct web_options *o = target;

	if (o->proxies == WEB_PROXIES)
		sx_why_set(why, "may be given %d times", WEB_PROXIES);
	else if (!web_address_parse_key(text, &o->proxy[o->proxies]))
		sx_why_set(why, "needs a numeric address without port, such as 127.0.0.1");
	else {
		o->proxies++;
		return true;
	}
	return false;
}

#define TO(field) offsetof(struct web_options, field)

static const struct sx_usage_option options[] = {
	{"instance", 'i', "NAME", SX_USAGE_CALL, .take = take_instance, .offer = SX_OFFER_INSTANCE,
	 .many = true, .help = "show only this instance; may be repeated; default: all instances"},
	{"listen", 0, "ADDRESS:PORT", SX_USAGE_CALL, .take = take_listen, .many = true,
	 .help = "address to listen on, default " DEFAULT_LISTEN
		 "; [::1]:8470 for IPv6; may be repeated, up to 4 times"},
	{"host", 0, "NAME", SX_USAGE_CALL, .take = take_host, .many = true,
	 .help = "host name that requests may use besides localhost and the address; may be "
		 "repeated, up to 8 times"},
	{"proxy", 0, "ADDRESS", SX_USAGE_CALL, .take = take_proxy, .many = true,
	 .help = "address of a proxy, which may use all connections; any other address gets a "
		 "quarter of them; may be repeated, up to 4 times"},
	{"tune", 0, NULL, SX_USAGE_FLAG, TO(tune),
	 .help = "let every visitor of the page change settings of running instances; without "
		 "it, visitors can only read them"},
	{"recordings", 0, "FOLDER", SX_USAGE_TEXT, TO(recordings), .offer = SX_OFFER_FOLDER,
	 .help = "let visitors play and load the recordings in this folder; with --tune also make and "
		 "delete them"},
	{"recordings-mb", 0, "N", SX_USAGE_INT, TO(recordings_mb), 10, 100000000,
	 .help = "megabytes that all recordings of the folder may take, default 4000"},
	{"password-file", 0, "FILE", SX_USAGE_TEXT, TO(password_file), .offer = SX_OFFER_FILE,
	 .help = "ask visitors for user and password; FILE has lines USER:HASH, with hashes "
		 "from \"htpasswd -B\" or \"mkpasswd\", and only owner and group may read it; "
		 "without --certificate, passwords cross the network unencrypted"},
	{"certificate", 0, "FILE", SX_USAGE_TEXT, TO(certificate), .offer = SX_OFFER_FILE,
	 .help = "serve only HTTPS, with this certificate (PEM, followed by its chain)"},
	{"key", 0, "FILE", SX_USAGE_TEXT, TO(key), .offer = SX_OFFER_FILE,
	 .help = "private key of the certificate, PEM, without a password; only owner and "
		 "group may read it"},
	{"quality", 0, "N", SX_USAGE_INT, TO(quality), 10, 100,
	 .help = "quality of JPEG pictures, default 75"},
};

static const struct sx_usage_exit exits[] = {
	{0, "ended by a signal"},
	{EX_USAGE, "wrong usage, or an option that this build does not have"},
	{EX_DATAERR, "a password file, certificate or key is wrong, or the certificate has expired"},
	{EX_NOINPUT, "one of these files cannot be read"},
	{EX_UNAVAILABLE, "there is no stixelctl, which --recordings needs"},
	{EX_OSERR, "a thread cannot be created"},
	{EX_CANTCREAT,
	 "the program cannot listen on an address, write to the folder of recordings, or run stixelctl"},
	{EX_NOPERM, "every user may read the password file or the key, or write to the folder of recordings"},
};

static const struct sx_usage usage = {
	.program = SX_PROGRAM,
	.about = "Shows running instances of stixeld in a browser: picture with stixels, "
		 "disparity, free space from above, charts of latency, frames per second and "
		 "watts, and the settings. It reads frames only while a page is open. Without "
		 "--password-file, everyone who can reach the address sees the camera's "
		 "pictures.\n"
		 "SIGHUP rereads passwords, certificate and key. SIGINT, SIGTERM, and the "
		 "SIGHUP of a closed terminal end the program.",
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.own = {.operands = ""},
	.exits = exits,
	.exit_count = sizeof(exits) / sizeof(exits[0]),
};

/* Opens all listening sockets. Returns 0 or an exit code. */
static int listen_all(struct web_options *o, int *fds)
{
	struct sx_why why;

	for (size_t i = 0; i < o->addresses; i++) {
		fds[i] = web_address_listen(&o->address[i], &why);
		if (fds[i] >= 0)
			continue;
		while (i > 0)
			close(fds[--i]);
		return web_fail(EX_CANTCREAT, why.text);
	}
	return 0;
}

/* Warns about what any client can do at an address beyond this machine. */
static void web_warn(const struct web_options *o, const char *address)
{
	if (!o->password_file)
		sx_log(TOOLS, WARNING,
		       "%s can be reached from other machines, and there is no password: everyone who can reach it "
		       "sees the camera%s",
		       address, o->tune ? " and may change settings" : "");
	else if (!o->certificate)
		sx_log(TOOLS, WARNING,
		       "%s can be reached from other machines without encryption: everyone who listens on the way "
		       "reads the password; give --certificate and --key",
		       address);
}

static void web_tell(const struct web_options *o)
{
	char text[80];

	for (size_t i = 0; i < o->addresses; i++) {
		web_address_print(&o->address[i], text, sizeof(text));
		sx_log(TOOLS, NOTICE, "http%s://%s/", o->certificate ? "s" : "", text);
		if (!web_address_is_loopback(&o->address[i]))
			web_warn(o, text);
	}
}

/* ---- passwords and certificate ---- */

static int exit_of_file(int error)
{
	return error == -EBADMSG   ? EX_DATAERR
	       : error == -EPERM   ? EX_NOPERM
	       : error == -ENOTSUP ? EX_USAGE
	       : error == -ENOMEM  ? EX_OSERR
				   : EX_NOINPUT;
}

static void tell_certificate(const char *path)
{
	const time_t now = time(NULL), soon = 14 * 24 * 3600;
	time_t begins, ends;

	if (!web_certificate_times(&begins, &ends))
		return;
	if (begins > now)
		sx_log(TOOLS, WARNING, "%s: the certificate is not valid yet, by this machine's clock", path);
	else if (ends - now < soon)
		sx_log(TOOLS, WARNING, "%s: the certificate expires in %d days", path,
		       (int)((ends - now) / (24 * 3600)));
}

static int read_passwords(const struct web_options *o, struct sx_why *why)
{
	struct web_users *users = NULL;
	const int r = o->password_file ? web_users_read(&users, o->password_file, why) : 0;

	if (r < 0 || !users)
		return r;
	if (server.logins) {
		web_logins_replace(server.logins, users);
		return 0;
	}
	server.logins = web_logins_create(users);
	if (server.logins)
		return 0;
	return sx_why_fail(-ENOMEM, why, "out of memory");
}

static int read_certificate(const struct web_options *o, struct sx_why *why)
{
	const int r = o->certificate ? web_certificate_load(o->certificate, o->key, why) : 0;

	if (r < 0)
		return r;
	server.tls = o->certificate != NULL;
	tell_certificate(o->certificate);
	return 0;
}

/*
 * Reloads passwords and certificate independently; an unreadable file keeps its old content. So a removed
 * user loses access even if the certificate is broken.
 */
static void read_again(const struct web_options *o)
{
	struct sx_why why;
	bool all = true;

	if (read_passwords(o, &why) < 0) {
		all = false;
		sx_log(TOOLS, WARNING, "%s; what was read before stays in use", why.text);
	}
	if (read_certificate(o, &why) < 0) {
		all = false;
		sx_log(TOOLS, WARNING, "%s; what was read before stays in use", why.text);
	}
	if (all)
		sx_log(TOOLS, NOTICE, "files of passwords and certificates were read again");
}

/*
 * Returns true if the terminal was closed. SIGHUP also comes then, and standard input is no longer a
 * terminal.
 */
static bool terminal_is_gone(bool was_terminal)
{
	return was_terminal && !isatty(STDIN_FILENO);
}

/* Logs the requested instances that do not run. Without it their pages would wait with no message. */
static void tell_absent(const struct web_options *o)
{
	static struct web_names running;

	web_ask_instances(&running, &o->only);
	if (!o->only.count && !running.count)
		sx_log(TOOLS, NOTICE, "no instance runs: waiting for one");
	for (size_t i = 0; i < o->only.count; i++)
		if (!running.count || !web_ask_may(&running, o->only.name[i]))
			sx_log(TOOLS, NOTICE, "instance '%s' does not run: waiting for it", o->only.name[i]);
}

static void serve_until(const sigset_t *ends, const struct web_options *o)
{
	const struct timespec second = {.tv_sec = 1};
	const bool was_terminal = isatty(STDIN_FILENO);
	bool logged = false;

	for (;;) {
		const int number = sigtimedwait(ends, NULL, &second);

		if (number < 0) {
			web_server_tick(&server);
			if (!logged)
				tell_absent(o);
			logged = true;
		} else if (number == SIGHUP && !terminal_is_gone(was_terminal)) {
			read_again(o);
		} else {
			return;
		}
	}
}

static int open_recordings(const struct web_options *o)
{
	struct sx_why why;
	const int e = o->recordings ? web_recordings_open(&server.recordings, o->recordings,
							  (uint64_t)o->recordings_mb * 1000000, &why)
				    : 0;

	if (e == 0)
		return 0;
	return web_fail(e == -EPERM    ? EX_NOPERM
			: e == -ENOMEM ? EX_OSERR
			: e == -ENOPKG ? EX_UNAVAILABLE
				       : EX_CANTCREAT,
			why.text);
}

static int web_run(struct web_options *o)
{
	int fds[WEB_ADDRESSES], code;
	struct sx_why why;
	sigset_t ends;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	/* blocked before the files are read, because a reload may come meanwhile */
	sigprocmask(SIG_BLOCK, &ends, NULL);
	code = read_passwords(o, &why);
	if (code == 0)
		code = read_certificate(o, &why);
	if (code < 0)
		return web_fail(exit_of_file(code), why.text);
	code = listen_all(o, fds);
	if (code)
		return code;
	code = open_recordings(o);
	if (code) {
		while (o->addresses > 0)
			close(fds[--o->addresses]);
		return code;
	}
	server.only = o->only;
	server.hosts = o->hosts;
	server.hosts.address = o->address;
	server.hosts.addresses = o->addresses;
	memcpy(server.share.proxy, o->proxy, sizeof(o->proxy));
	server.share.proxies = o->proxies;
	server.quality = o->quality;
	server.tune = o->tune;
	if (web_server_start(&server, fds, o->addresses, &why) < 0)
		return web_fail(EX_OSERR, why.text);
	web_tell(o);
	serve_until(&ends, o);
	web_server_stop(&server);
	return 0;
}

int main(int argc, char **argv)
{
	static struct web_options o = {.quality = 75, .recordings_mb = 4000};
	struct sx_usage_words words;
	struct sx_why why;
	int code = sx_usage_parse(&usage, &o, argc, argv, &words);

	if (code >= 0)
		return code;
	if (!o.certificate != !o.key)
		return sx_usage_fail(&usage, words.command, "--certificate and --key need each other");
	if (!o.addresses && !take_listen(&o, DEFAULT_LISTEN, &why))
		return web_fail(EX_SOFTWARE, why.text);
	return web_run(&o);
}
