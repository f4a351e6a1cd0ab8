/*
 * Blocks the signals of the daemon, and opens their descriptor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/instance/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>

int sx_signals_open(void)
{
	sigset_t ours, all;
	int fd;

	sigemptyset(&ours);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGHUP);
	all = ours;
	sigaddset(&all, SIGPIPE);
	sigaddset(&all, SIGUSR1);
	sigaddset(&all, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}
