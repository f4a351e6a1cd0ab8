/*
 * stixel-web: command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "ipc/instance.h"
#include "tools/args.h"
#include "tools/web/server.h"

#define DEFAULT_LISTEN "127.0.0.1:8470"

enum { OPT_LISTEN = 256, OPT_HOST, OPT_QUALITY, OPT_VERSION, QUALITY = 75 };

/* Over a megabyte with the answers it keeps: not on the stack. */
static struct web_server server;
static struct web_address addresses[WEB_ADDRESSES];
static size_t address_count;

static int fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail(int code, const char *format, ...)
{
	va_list args;

	fputs("stixel-web: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return code;
}

static void print_help(void)
{
	puts("Usage: stixel-web [-i NAME]... [--listen ADDRESS:PORT]... [--host NAME]... [--quality N]\n"
	     "\n"
	     "Shows running stixelds in a browser: picture and stixels, free space, charts. Reads what any "
	     "client may\n"
	     "read, and nothing while nobody looks. Without -i every instance is shown.\n"
	     "\n"
	     "  -i, --instance NAME        show this one; may be repeated\n"
	     "      --listen ADDRESS:PORT  where to listen, default " DEFAULT_LISTEN
	     "; [::1]:8470 for IPv6; up to 4\n"
	     "      --host NAME            a name by which browsers may ask, beside localhost and the "
	     "address; up to 8\n"
	     "      --quality N            of the JPEG pictures, 10 to 100, default 75\n"
	     "  -h, --help                 this text\n"
	     "      --version\n"
	     "\n"
	     "There is no password: who reaches the address sees the camera. Exit: 0 ended by a signal, 64 "
	     "wrong usage,\n"
	     "73 the address cannot be listened on.");
}

/* Each of these: exit code, or -1 to go on. */
static int add_instance(const char *name)
{
	struct web_names *only = &server.only;
	char why[256];

	if (sx_instance_check(name, why, sizeof(why)) < 0)
		return fail(EX_USAGE, "%s", why);
	if (only->count == WEB_INSTANCES)
		return fail(EX_USAGE, "at most %d instances", WEB_INSTANCES);
	if (only->count == 0 || !web_ask_may(only, name))
		snprintf(only->name[only->count++], WEB_NAME_BYTES, "%s", name);
	return -1;
}

static int add_address(const char *text)
{
	char why[256];

	if (address_count == WEB_ADDRESSES)
		return fail(EX_USAGE, "at most %d addresses to listen on", WEB_ADDRESSES);
	if (web_address_parse(&addresses[address_count], text, why, sizeof(why)) < 0)
		return fail(EX_USAGE, "--listen: %s", why);
	address_count++;
	return -1;
}

static int add_host(const char *name)
{
	if (server.hosts.names == WEB_HOSTS)
		return fail(EX_USAGE, "at most %d names", WEB_HOSTS);
	if (!web_host_check(name))
		return fail(EX_USAGE, "--host wants a name without port, such as robot.local, not '%s'",
			    name);
	server.hosts.name[server.hosts.names++] = name;
	return -1;
}

static int take_option(int option)
{
	switch (option) {
	case 'i':
		return add_instance(optarg);
	case OPT_LISTEN:
		return add_address(optarg);
	case OPT_HOST:
		return add_host(optarg);
	case OPT_QUALITY:
		return sx_parse_int(optarg, 10, 100, &server.quality)
			       ? -1
			       : fail(EX_USAGE, "--quality wants a number, 10 to 100, not '%s'", optarg);
	case 'h':
		print_help();
		return 0;
	case OPT_VERSION:
		puts("stixel-web " SX_VERSION);
		return 0;
	default:
		return fail(EX_USAGE, "wrong option; try --help");
	}
}

static int parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"instance", required_argument, NULL, 'i'},
		{"listen", required_argument, NULL, OPT_LISTEN},
		{"host", required_argument, NULL, OPT_HOST},
		{"quality", required_argument, NULL, OPT_QUALITY},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, OPT_VERSION},
		{0},
	};
	int option, code = -1;

	server.quality = QUALITY;
	while (code < 0 && (option = getopt_long(argc, argv, "i:h", options, NULL)) != -1)
		code = take_option(option);
	if (code < 0 && optind < argc)
		return fail(EX_USAGE, "what is '%s'? Try --help", argv[optind]);
	return code < 0 && address_count == 0 ? add_address(DEFAULT_LISTEN) : code;
}

/* 0, or an exit code. */
static int listen_all(int *fds)
{
	char why[256];

	for (size_t i = 0; i < address_count; i++) {
		fds[i] = web_address_listen(&addresses[i], why, sizeof(why));
		if (fds[i] >= 0)
			continue;
		while (i > 0)
			close(fds[--i]);
		return fail(EX_CANTCREAT, "%s", why);
	}
	server.hosts.address = addresses;
	server.hosts.addresses = address_count;
	return 0;
}

static void tell(void)
{
	char text[80];

	for (size_t i = 0; i < address_count; i++) {
		web_address_print(&addresses[i], text, sizeof(text));
		sx_log(TOOLS, NOTICE, "http://%s/", text);
		if (!web_address_is_loopback(&addresses[i]))
			sx_log(TOOLS, WARNING,
			       "%s can be reached from other machines, and there is no password: whoever "
			       "reaches it sees the "
			       "camera",
			       text);
	}
}

static int wait_for_end(const sigset_t *ends)
{
	const struct timespec second = {.tv_sec = 1};
	int number;

	while ((number = sigtimedwait(ends, NULL, &second)) < 0)
		web_server_tick(&server);
	return number;
}

int main(int argc, char **argv)
{
	int fds[WEB_ADDRESSES], code;
	char why[256];
	sigset_t ends;

	code = parse(argc, argv);
	if (code >= 0)
		return code;
	code = listen_all(fds);
	if (code)
		return code;
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	if (web_server_start(&server, fds, address_count, why, sizeof(why)) < 0)
		return fail(EX_OSERR, "%s", why);
	tell();
	wait_for_end(&ends);
	web_server_stop(&server);
	return 0;
}
